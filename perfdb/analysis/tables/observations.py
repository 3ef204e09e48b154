"""Runs of a query as rows and columns, and filters over these runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite, nan
from operator import itemgetter
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from perfdb.analysis.comparison.spreads import Floats
from perfdb.analysis.dimensions import Value
from perfdb.analysis.metrics import Measure
from perfdb.analysis.query.parameters import QueryError, Range, value_order
from perfdb.analysis.query.query import REPEATS, Query
from perfdb.analysis.tables.coded_columns import CodedColumn, Places, group_rows

Key = tuple[Value, ...]
# The run's number in the database, a value for each dimension, a value for each measure.
Row = tuple[Any, ...]
Notes = Mapping[int, tuple[str, ...]]

_NO_NOTES: Notes = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Note:
    """A warning as data: ``code`` is stable and made for scripts, ``message`` for people."""

    code: str
    message: str


class Observations:
    """The runs a query is about: run number, then ``dimensions``, then ``measures`` of each.

    Every dimension that the runs have belongs here, also those the query does not show: a cell can only name a mix that
    it is told of, and ``pick`` tells experiments apart by them. Values are in the metric's own unit; None where a run
    has none, in columns NaN. ``notes``: what people wrote about runs, by the run's number; most runs have no note and
    are not in it. ``warnings``: what is to be said of every table that is made of these runs.
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
        self.notes = notes
        self.warnings = warnings
        self._columns: dict[str, CodedColumn] = {}
        self._lists: dict[str, Sequence[Value]] = {}
        # What was made of these runs, kept for others who want the same.
        self.cache: dict[Any, Any] = {}
        self.rows = rows

    def with_notes(self, notes: Notes) -> Self:
        """The same with other notes."""
        return self._again(self.__dict__, notes)

    def with_warnings(self, *warnings: Note) -> Self:
        """The same with these warnings."""
        made = self._again(self.__dict__, self.notes)
        made.warnings = warnings
        return made

    def select(self, rows: Sequence[Row]) -> Self:
        """Some of the runs, or all in another order."""
        return self._again({"rows": rows, "_columns": {}, "_lists": {}, "cache": {}}, self.notes)

    def _again(self, state: Mapping[str, Any], notes: Notes) -> Self:
        made = self.__class__.__new__(self.__class__)
        made.__dict__.update(state)
        made.dimensions, made.measures = self.dimensions, self.measures
        made.notes, made.warnings = notes, self.warnings
        return made

    @cached_property
    def runs(self) -> NDArray[np.int64]:
        """The numbers of the runs in the database."""
        return np.array([row[0] for row in self.rows], np.int64)

    @cached_property
    def places(self) -> Places:
        """The places of all rows."""
        return np.arange(len(self.runs))

    @cached_property
    def _measured(self) -> dict[Measure, Floats]:
        first = len(self.dimensions) + 1
        return {measure: _floats(self.rows, place) for place, measure in enumerate(self.measures, first)}

    def coded_column(self, name: str) -> CodedColumn:
        """A dimension of all runs; None in all of them where the runs do not have it."""
        if name not in self.dimensions:
            return CodedColumn.constant(None, len(self.runs))
        if name not in self._columns:
            self._columns[name] = CodedColumn.encode(self._listed(name))
        return self._columns[name]

    def numbers(self, name: str) -> Floats:
        """A dimension of all runs as numbers, 0 where it is none."""
        values, codes = self.coded_column(name)
        return np.array([value if isinstance(value, int) else 0 for value in values], np.float64)[codes]

    def _listed(self, name: str) -> Sequence[Any]:
        """A dimension that the runs have, one after the other."""
        if name not in self._lists:
            self._lists[name] = list(map(itemgetter(self.dimensions.index(name) + 1), self.rows))
        return self._lists[name]

    def dimension_at(self, name: str, rows: Places) -> list[Any]:
        """A dimension of the runs at some places."""
        if name in self._columns or name not in self.dimensions:
            return self.coded_column(name).values_at(rows)
        return list(map(self._listed(name).__getitem__, rows.tolist()))

    def distinct_keys(self, names: Sequence[str]) -> list[Key]:
        """What runs have of these dimensions together, each once."""
        columns = [self.coded_column(name) for name in names]
        firsts = group_rows(columns, self.places).firsts
        return list(zip(*(column.values_at(firsts) for column in columns), strict=True))

    def measure_values(self, measure: Measure) -> Floats | None:
        """A measure of all runs, NaN where a run has none; None when no run was asked for it."""
        return self._measured.get(measure)

    def key_reader(self, names: Sequence[str]) -> Callable[[Row], Key]:
        """What reads these dimensions from a row; a dimension that the runs do not have is None in all of them."""
        places = [self.dimensions.index(name) + 1 if name in self.dimensions else None for name in names]
        # The same tuple three times as fast, and this is the innermost loop.
        if None not in places and len(places) > 1:
            return itemgetter(*places)
        if len(places) == 1 and (only := places[0]) is not None:
            return lambda row: (row[only],)
        return lambda row: tuple([None if place is None else row[place] for place in places])

    @property
    def experiment_dimensions(self) -> list[str]:
        """The dimensions that tell experiments apart: those that are not of a single run."""
        return [name for name in self.dimensions if name not in REPEATS]

    def measure_index(self, measure: Measure) -> int | None:
        """Where a row has the value of a measure; None when no run was asked for it."""
        return len(self.dimensions) + 1 + self.measures.index(measure) if measure in self.measures else None


def _floats(rows: Sequence[Row], place: int) -> Floats:
    return np.array([nan if row[place] is None else row[place] for row in rows], np.float64)


def finite_value(row: Row, place: int | None) -> float | None:
    """The value at a place; what is no finite number (a division by zero at the source) counts as missing."""
    value = None if place is None else row[place]
    return value if value is not None and isfinite(value) else None


_Test = Callable[[Row], bool]


def narrow_observations(query: Query, found: Observations) -> Observations:
    """Of these runs those that a query's filters, exclusions and ranges leave; raises QueryError for a tag."""
    tests = [_among(found, name, values) for name, values in query.filters.items()]
    tests += [_not(_among(found, name, values)) for name, values in query.exclude.items()]
    tests += [_within(found, name, ends) for name, ends in query.ranges.items()]
    return found.select([row for row in found.rows if all(test(row) for test in tests)])


def _among(found: Observations, name: str, values: Sequence[Value]) -> _Test:
    if name == "tag":
        raise QueryError(name, "tags are not among what was read of these runs")
    wanted = set(values)
    if name == "run":
        return lambda row: row[0] in wanted
    read = found.key_reader([name])
    if name == "workload":
        # RR is every workload of that pattern, whatever its sizes.
        return lambda row: (text := read(row)[0]) in wanted or str(text or "").partition(" ")[0] in wanted
    return lambda row: read(row)[0] in wanted


def _not(test: _Test) -> _Test:
    return lambda row: not test(row)


def _within(found: Observations, name: str, ends: Range) -> _Test:
    read = found.key_reader([name])

    def test(row: Row) -> bool:
        (value,) = read(row)
        if value is None:
            return False
        above = ends.low is None or value_order(ends.low) <= value_order(value)
        return above and (ends.high is None or value_order(value) <= value_order(ends.high))

    return test
