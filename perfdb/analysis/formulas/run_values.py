"""The figures of one run as formulas see them, and what a derivation answers."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from perfdb.analysis.metrics import Measure

LPAR = "lpar"


class InputKind(StrEnum):
    """Where an input comes from: a measurement, a pair of counters, two snapshots' times, or a circumstance."""

    METRIC = "metric"
    COUNTER = "counter"
    SNAPSHOT = "snapshot"
    FACT = "fact"


@dataclass(frozen=True, slots=True)
class Input:
    """A number that went into a derived value, and where to find it.

    ``term`` is its place in the formula: inputs of the same term are added. ``before`` and ``after`` are the
    readings of a counter, or the moments of two snapshots; ``value`` is their difference.
    """

    term: str
    kind: InputKind
    name: str
    value: float
    unit: str
    role: str = ""
    subject: str = ""
    before: float | datetime | None = None
    after: float | datetime | None = None


@dataclass(frozen=True, slots=True)
class Derived:
    """A value that follows from others within one run. ``formula`` is a Formula's id."""

    measure: Measure
    value: float
    formula: str
    version: int
    inputs: tuple[Input, ...]


@dataclass(frozen=True, slots=True)
class RunFigures:
    """What is known of one run; what is absent gives no value.

    ``metrics``: reported values by (metric, role), in storage units. ``counters``: readings before and after by
    (role, subject, name), in base units, of usable pairs only. ``taken``: by role, when the snapshots before and
    after were taken (local time). ``system_processors`` and ``given_processors`` stand in, in this order, where
    no ``processors@lpar`` is reported. ``facts``: the numbers that a fact's text consists of, by the fact's key.
    ``reports_whole`` is False when the monitor's report that CPU time would be taken from was cut. ``one_host``: client
    and server shared a machine, and what each says of its host is of both. ``of_processes``: the utilisation that the
    load tool prints for client and server is that of its own processes.
    """

    metrics: Mapping[tuple[str, str], float] = field(default_factory=dict)
    counters: Mapping[tuple[str, str, str], tuple[float, float]] = field(default_factory=dict)
    taken: Mapping[str, tuple[datetime, datetime]] = field(default_factory=dict)
    pattern: str | None = None
    users: int | None = None
    request_bytes: int | None = None
    response_bytes: int | None = None
    think_ms: float | None = None
    system_processors: float | None = None
    given_processors: float | None = None
    facts: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    reports_whole: bool = True
    one_host: bool = False
    of_processes: bool = False


class Counted(NamedTuple):
    """A counter of a subject before and after."""

    subject: str
    before: float
    after: float


@dataclass(frozen=True)
class Known:
    """The figures of a run together with what has been derived from them so far."""

    figures: RunFigures
    derived: dict[Measure, float] = field(default_factory=dict)
    answers: list[Derived] = field(default_factory=list)

    @cached_property
    def counted(self) -> Mapping[tuple[str, str], Sequence[Counted]]:
        """The counters by role and name, in the order of their subjects: a host has hundreds."""
        found: dict[tuple[str, str], list[Counted]] = defaultdict(list)
        for (role, subject, name), pair in self.figures.counters.items():
            found[role, name].append(Counted(subject, *pair))
        return {key: sorted(those) for key, those in found.items()}

    @cached_property
    def subjects(self) -> Mapping[str, frozenset[str]]:
        """What each role has counters of."""
        found: dict[str, set[str]] = defaultdict(set)
        for role, subject, _ in self.figures.counters:
            found[role].add(subject)
        return {role: frozenset(those) for role, those in found.items()}

    def best(self, metric: str, role: str) -> float | None:
        """The derived value, which is not rounded, else the reported one."""
        return self.derived.get(Measure(metric, role), self.figures.metrics.get((metric, role)))

    def roles(self) -> list[str]:
        """Every role that has figures, the LPAR left out: it is everybody's, not one more beside them."""
        named = {role for _, role in self.figures.metrics} | self.subjects.keys()
        named |= {role for _, at, role in (key.partition("@") for key in self.figures.facts) if at}
        return sorted(named - {LPAR})
