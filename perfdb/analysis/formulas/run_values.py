"""Values of one run as inputs of formulas, and derived values."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cached_property

from perfdb.analysis.metrics import Measure

LPAR = "lpar"


class InputKind(StrEnum):
    """Source of an input: measurement, counters, snapshot times, or circumstance."""

    METRIC = "metric"
    COUNTER = "counter"
    SNAPSHOT = "snapshot"
    FACT = "fact"


@dataclass(frozen=True, slots=True)
class Input:
    """A number in a derived value, with its source.

    ``term`` is its place in the formula: inputs of the same term are added. ``before`` and ``after`` are the
    readings of a counter, or the times of two snapshots; ``value`` is their difference.
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
    """A value derived within one run. ``formula`` is a Formula's id."""

    measure: Measure
    value: float
    formula: str
    version: int
    inputs: tuple[Input, ...]


@dataclass(frozen=True, slots=True)
class RunFigures:
    """Known values of one run; a missing input gives no result.

    ``metrics``: reported values by (metric, role), in storage units; ``printed``: their texts. ``counters``: readings
    before and after by (role, subject, name), in base units, of usable pairs only. ``taken``: local times of the
    snapshots before and after, by role. ``system_processors`` and ``given_processors`` replace a missing
    ``processors@lpar``, in this order. ``facts``: the numbers in a fact's text, by the fact's key. ``reports_whole`` is
    False if the monitor's report with CPU time was cut off. ``one_host``: client and server shared a machine, so each
    side's host values are of both. ``device``: the name of the run's device, perhaps an adapter's. ``of_processes``:
    the load tool's utilisation of client and server is of its own processes.
    """

    metrics: Mapping[tuple[str, str], float] = field(default_factory=dict)
    printed: Mapping[tuple[str, str], str] = field(default_factory=dict)
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
    device: str | None = None
    of_processes: bool = False


@dataclass(frozen=True)
class Known:
    """Values of a run, with those derived so far."""

    figures: RunFigures
    derived: dict[Measure, float] = field(default_factory=dict)
    answers: list[Derived] = field(default_factory=list)

    @cached_property
    def counted(self) -> Mapping[tuple[str, str], Sequence[tuple[str, float, float]]]:
        """Return subject and readings of counters by role and name, ordered by subject."""
        found: dict[tuple[str, str], list[tuple[str, float, float]]] = defaultdict(list)
        for (role, subject, name), pair in self.figures.counters.items():
            found[role, name].append((subject, *pair))
        return {key: sorted(those) for key, those in found.items()}

    @cached_property
    def subjects(self) -> Mapping[str, frozenset[str]]:
        """Return the subjects of each role's counters."""
        found: dict[str, set[str]] = defaultdict(set)
        for role, subject, _ in self.figures.counters:
            found[role].add(subject)
        return {role: frozenset(those) for role, those in found.items()}

    def best(self, metric: str, role: str) -> float | None:
        """Return the unrounded derived value, else the reported one."""
        return self.derived.get(Measure(metric, role), self.figures.metrics.get((metric, role)))

    def roles(self) -> list[str]:
        """Return every role with values except the LPAR, which contains the others."""
        named = {role for _, role in self.figures.metrics} | self.subjects.keys()
        named |= {role for _, at, role in (key.partition("@") for key in self.figures.facts) if at}
        return sorted(named - {LPAR})
