"""A run's raw evidence for its page: counters before and after, and the intervals and connections of its logs."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from perfdb.results.changes.provenance import Place
from perfdb.results.models import Run, Trace
from perfdb.results.runs.derive import TIME
from perfdb.results.runs.record import Counters as Captured
from perfdb.results.runs.record import RunRecord
from perfdb.web.runs.interval_charts import course

INTERVALS = "intervals"
# So many counters of a role stand open on the page.
_FEW = 30


@dataclass(frozen=True, slots=True)
class Counter:
    """One counter before and after. ``rate`` is the difference per elapsed second."""

    name: str
    before: float | None
    after: float | None
    difference: float | None
    rate: float | None
    before_place: Place | None
    after_place: Place | None


@dataclass(frozen=True, slots=True)
class Counters:
    """The counters of one role and subject; ``elapsed`` in seconds, None where the captures tell no time."""

    role: str
    subject: str
    host: str
    usable: bool
    elapsed: float | None
    counters: list[Counter]


@dataclass(frozen=True, slots=True)
class RoleCounters:
    """All counters of a role, those of the whole host first; ``elapsed`` is that of the first set that tells it."""

    role: str
    host: str
    elapsed: float | None
    sets: list[Counters]

    @property
    def count(self) -> int:
        """How many counters there are."""
        return sum(len(each.counters) for each in self.sets)

    @property
    def few(self) -> bool:
        """Whether they are so few that they need not be asked for."""
        return self.count <= _FEW


def counters(record: RunRecord, paths: Mapping[int, str]) -> list[RoleCounters]:
    """All counters of a run, role by role. ``paths``: artifact -> its path, for the links to lines."""
    sets = [_counters(each, paths) for each in record.counters]
    return [_of_role(role, list(group)) for role, group in groupby(sets, key=lambda each: each.role)]


def _of_role(role: str, sets: list[Counters]) -> RoleCounters:
    elapsed = next((each.elapsed for each in sets if each.elapsed is not None), None)
    return RoleCounters(role, next((each.host for each in sets if each.host), ""), elapsed, sets)


def _counters(found: Captured, paths: Mapping[int, str]) -> Counters:
    names = found.names
    differences = [_difference(before, after) for before, after in zip(found.before, found.after, strict=True)]
    elapsed = differences[names.index(TIME)] if TIME in names else None
    rows = [
        Counter(
            name,
            found.before[at],
            found.after[at],
            differences[at],
            # The difference of the captures' time is the elapsed time, and its rate says nothing.
            None if name == TIME else _per_second(differences[at], elapsed),
            _place(found.before_artifact, found.before_lines[at], paths),
            _place(found.after_artifact, found.after_lines[at], paths),
        )
        for at, name in enumerate(names)
    ]
    # The time first: whatever follows happened between these two moments.
    rows.sort(key=lambda row: row.name != TIME)
    return Counters(found.role, found.subject, found.host, found.usable, elapsed, rows)


def _difference(before: float | None, after: float | None) -> float | None:
    """How much a counter grew; one that fell was reset, or counts nothing."""
    return None if before is None or after is None or after < before else after - before


def _per_second(difference: float | None, elapsed: float | None) -> float | None:
    return difference / elapsed if difference is not None and elapsed else None


def _place(artifact: int, line: int, paths: Mapping[int, str]) -> Place | None:
    return Place(artifact, paths.get(artifact, ""), line) if artifact and line else None


@dataclass(frozen=True, slots=True)
class Listing:
    """Rows of a log that belong together: ``columns`` are (name, unit). Intervals have a figure too."""

    name: str
    columns: list[tuple[str, str]]
    rows: list[tuple[float | None, ...]]
    figure: dict[str, Any] | None


def listings(run: Run) -> list[Listing]:
    """The intervals and connections of a run, intervals first."""
    by_name: dict[str, list[Trace]] = {}
    for trace in run.traces.order_by("listing", "position"):
        by_name.setdefault(trace.listing, []).append(trace)
    names = sorted(by_name, key=lambda name: (name != INTERVALS, name))
    return [_listing(name, by_name[name]) for name in names]


def _listing(name: str, traces: Sequence[Trace]) -> Listing:
    samples = [[None if math.isnan(value) else value for value in trace.samples] for trace in traces]
    columns = [(trace.column, trace.unit) for trace in traces]
    drawn = course(columns, samples) if name == INTERVALS else None
    return Listing(name, columns, list(zip(*samples, strict=True)), drawn)
