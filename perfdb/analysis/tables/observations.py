"""Runs of a query as rows and columns, and filters over these runs."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from math import isfinite, nan
from operator import itemgetter
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from perfdb.analysis.dimensions import Value
from perfdb.analysis.metrics import Measure
from perfdb.analysis.query.parameters import QueryError, Range, value_order
from perfdb.analysis.query.query import REPEATS, Query
from perfdb.analysis.tables.coded_columns import CodedColumn, Places, group_rows
from perfdb.analysis.verdicts.distributions import Floats
from perfdb.analysis.workloads import traffic_pattern

Key = tuple[Value, ...]
# The run number in the database, the dimensions, the measures.
Row = tuple[Any, ...]
Notes = Mapping[int, tuple[str, ...]]

# Dimensions in which campaigns of one configuration may differ: a campaign is named after its level by default.
COUPLED = frozenset({"level", "campaign"})
_NO_NOTES: Notes = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Note:
    """A warning: a stable ``code`` for scripts and a ``message`` for people."""

    code: str
    message: str


class Campaigns(NamedTuple):
    """The campaign of each run, and when each campaign began (anything that sorts)."""

    of_run: Mapping[int, Hashable]
    begins: Mapping[Hashable, str]


class Observations:
    """The runs of a query as rows: run number, then ``dimensions``, then ``measures``.

    ``dimensions`` are all that the runs have, since cells name mixed values of hidden dimensions and ``pick``
    separates experiments by them. Measures are in the metric's unit, None (NaN in columns) if missing. ``notes`` are
    people's notes by run number, ``warnings`` those of each table made of these runs. ``campaigns`` are read for
    comparisons only; without them a campaign is what has one name, or one day, on a system of a study.
    """

    def __init__(
        self,
        dimensions: tuple[str, ...],
        measures: tuple[Measure, ...],
        rows: Sequence[Row],
        notes: Notes = _NO_NOTES,
        warnings: tuple[Note, ...] = (),
    ) -> None:
        self.dimensions = dimensions
        self.measures = measures
        self.rows = rows
        self.notes = notes
        self.warnings = warnings
        self._campaigns: Campaigns | None = None
        self._columns: dict[str, CodedColumn] = {}
        # Results calculated from these runs, by their arguments.
        self.cache: dict[Any, Any] = {}

    def with_context(
        self, *, notes: Notes | None = None, warnings: tuple[Note, ...] = (), campaigns: Campaigns | None = None
    ) -> Self:
        """Return the same runs with other notes, warnings or campaigns."""
        made = copy(self)
        made.notes = self.notes if notes is None else notes
        made.warnings = warnings or self.warnings
        made._campaigns = campaigns or self._campaigns
        return made

    def select(self, rows: Sequence[Row]) -> Self:
        """Return some of the runs, or all in another order."""
        made = self.__class__(self.dimensions, self.measures, rows, self.notes, self.warnings)
        made._campaigns = self._campaigns
        return made

    @property
    def campaigns(self) -> Campaigns:
        """Return the campaigns of the runs."""
        return self._campaigns or self._campaigns_by_day

    @cached_property
    def _campaigns_by_day(self) -> Campaigns:
        read = self.key_reader(["study", "system", "campaign", "date"])
        of_run: dict[int, Hashable] = {}
        begins: dict[Hashable, str] = {}
        for row in self.rows:
            study, system, name, day = read(row)
            campaign = (study, system, name or str(day))
            of_run[row[0]] = campaign
            begins[campaign] = min(begins.get(campaign, str(day)), str(day))
        return Campaigns(of_run, begins)

    def by_campaign(self, values: Iterable[tuple[int, float]]) -> dict[Hashable, list[float]]:
        """Return the values of runs by campaign."""
        of_run, found = self.campaigns.of_run, defaultdict[Hashable, list[float]](list)
        for run, value in values:
            found[of_run[run]].append(value)
        return dict(found)

    @cached_property
    def runs(self) -> NDArray[np.int64]:
        """Return the run numbers in the database."""
        return np.array([row[0] for row in self.rows], np.int64)

    @cached_property
    def places(self) -> Places:
        """Return the indexes of all rows."""
        return np.arange(len(self.runs))

    def coded_column(self, name: str) -> CodedColumn:
        """Return a dimension of all runs, None in each of them if unknown."""
        if name not in self.dimensions:
            return CodedColumn.encode([None] * len(self.rows))
        if name not in self._columns:
            place = self.dimensions.index(name) + 1
            self._columns[name] = CodedColumn.encode([row[place] for row in self.rows])
        return self._columns[name]

    def distinct_keys(self, names: Sequence[str]) -> list[Key]:
        """Return the distinct combinations of these dimensions."""
        columns = [self.coded_column(name) for name in names]
        firsts = group_rows(columns, self.places).firsts
        return list(zip(*(column.values_at(firsts) for column in columns), strict=True))

    @cached_property
    def _measured(self) -> dict[Measure, Floats]:
        first = len(self.dimensions) + 1
        return {
            measure: np.array([nan if row[place] is None else row[place] for row in self.rows], np.float64)
            for place, measure in enumerate(self.measures, first)
        }

    def measure_values(self, measure: Measure) -> Floats | None:
        """Return a measure of all runs, NaN if missing; None if not read."""
        return self._measured.get(measure)

    def measure_index(self, measure: Measure) -> int | None:
        """Return the index of a measure in a row; None if not read."""
        return len(self.dimensions) + 1 + self.measures.index(measure) if measure in self.measures else None

    def key_reader(self, names: Sequence[str]) -> Callable[[Row], Key]:
        """Return a function that reads dimensions, None if unknown, from a row."""
        places = [self.dimensions.index(name) + 1 if name in self.dimensions else None for name in names]
        # ``itemgetter`` makes the same tuple three times as fast.
        if None not in places and len(places) > 1:
            return itemgetter(*places)
        return lambda row: tuple([None if place is None else row[place] for place in places])

    @property
    def experiment_dimensions(self) -> list[str]:
        """Return the dimensions that define experiments: those not of a single run."""
        return [name for name in self.dimensions if name not in REPEATS]


def finite_value(row: Row, place: int | None) -> float | None:
    """Return the value at an index; None for missing or infinite values."""
    value = None if place is None else row[place]
    return value if value is not None and isfinite(value) else None


_Test = Callable[[Row], bool]


def narrow_observations(query: Query, found: Observations) -> Observations:
    """Select runs like ``narrow_runs`` in the database. Raise QueryError for tags, never read."""
    wanted = [_among(found, name, values) for name, values in query.filters.items()]
    wanted += [_within(found, name, ends) for name, ends in query.ranges.items()]
    unwanted = [_among(found, name, values) for name, values in query.exclude.items()]
    rows = (row for row in found.rows if all(test(row) for test in wanted))
    return found.select([row for row in rows if not any(test(row) for test in unwanted)])


def _among(found: Observations, name: str, values: Sequence[Value]) -> _Test:
    if name == "tag":
        raise QueryError(name, "tags are not among what was read of these runs")
    wanted = set(values)
    if name == "run":
        return lambda row: row[0] in wanted
    read = found.key_reader([name])
    if name == "workload":
        # RR matches each workload of the pattern.
        return lambda row: (value := read(row)[0]) in wanted or traffic_pattern(value) in wanted
    return lambda row: read(row)[0] in wanted


def _within(found: Observations, name: str, ends: Range) -> _Test:
    read = found.key_reader([name])

    def test(row: Row) -> bool:
        (value,) = read(row)
        if value is None:
            return False
        above = ends.low is None or value_order(ends.low) <= value_order(value)
        return above and (ends.high is None or value_order(value) <= value_order(ends.high))

    return test
