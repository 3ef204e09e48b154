"""What is answered: the cells of a Query, each with its sample, its centre and what it mixes.

Every page, chart and export renders Tables, which ``tabulating`` makes of rows. A key is a tuple of dimension values,
never a label. Missing is missing, never zero.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite, nan
from operator import itemgetter
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from perfdb.analysis import metrics
from perfdb.analysis.coded import Coded, Places, grouped
from perfdb.analysis.comparison.comparison import Comparison
from perfdb.analysis.comparison.comparison import Summary as ComparisonSummary
from perfdb.analysis.comparison.samples import Samples
from perfdb.analysis.comparison.spreads import Floats
from perfdb.analysis.dimensions import Value
from perfdb.analysis.metrics import Measure, Metric
from perfdb.analysis.query.parameters import ordered
from perfdb.analysis.query.query import REPEATS, Query

Key = tuple[Value, ...]
# The run's number in the database, a value for each dimension, a value for each measure.
Row = tuple[Any, ...]
CellKey = tuple[Key, Key]
Notes = Mapping[int, tuple[str, ...]]

_NO_NOTES: Notes = MappingProxyType({})
NOTHING: Mapping[str, tuple[Value, ...]] = MappingProxyType({})


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
        warnings: "tuple[Note, ...]" = (),
    ) -> None:
        self.dimensions = dimensions
        self.measures = measures
        self.notes = notes
        self.warnings = warnings
        self._columns: dict[str, Coded] = {}
        self._lists: dict[str, Sequence[Value]] = {}
        # What was made of these runs, kept for others who want the same.
        self.made: dict[Any, Any] = {}
        self.rows = rows

    def noted(self, notes: Notes) -> Self:
        """The same with other notes."""
        return self._again(self.__dict__, notes)

    def warned(self, *warnings: "Note") -> Self:
        """The same with these warnings."""
        made = self._again(self.__dict__, self.notes)
        made.warnings = warnings
        return made

    def only(self, rows: Sequence[Row]) -> Self:
        """Some of the runs, or all in another order."""
        return self._again({"rows": rows, "_columns": {}, "_lists": {}, "made": {}}, self.notes)

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

    def coded(self, name: str) -> Coded:
        """A dimension of all runs; None in all of them where the runs do not have it."""
        if name not in self.dimensions:
            return Coded.constant(None, len(self.runs))
        if name not in self._columns:
            self._columns[name] = Coded.of(self._listed(name))
        return self._columns[name]

    def numbers(self, name: str) -> Floats:
        """A dimension of all runs as numbers, 0 where it is none."""
        values, codes = self.coded(name)
        return np.array([value if isinstance(value, int) else 0 for value in values], np.float64)[codes]

    def _listed(self, name: str) -> Sequence[Any]:
        """A dimension that the runs have, one after the other."""
        if name not in self._lists:
            self._lists[name] = list(map(itemgetter(self.dimensions.index(name) + 1), self.rows))
        return self._lists[name]

    def told(self, name: str, rows: Places) -> list[Any]:
        """A dimension of the runs at some places."""
        if name in self._columns or name not in self.dimensions:
            return self.coded(name).at(rows)
        return list(map(self._listed(name).__getitem__, rows.tolist()))

    def distinct(self, names: Sequence[str]) -> list[Key]:
        """What runs have of these dimensions together, each once."""
        columns = [self.coded(name) for name in names]
        firsts = grouped(columns, self.places).firsts
        return list(zip(*(column.at(firsts) for column in columns), strict=True))

    def values(self, measure: Measure) -> Floats | None:
        """A measure of all runs, NaN where a run has none; None when no run was asked for it."""
        return self._measured.get(measure)

    def key(self, names: Sequence[str]) -> Callable[[Row], Key]:
        """What reads these dimensions from a row; a dimension that the runs do not have is None in all of them."""
        places = [self.dimensions.index(name) + 1 if name in self.dimensions else None for name in names]
        # The same tuple three times as fast, and this is the innermost loop.
        if None not in places and len(places) > 1:
            return itemgetter(*places)
        if len(places) == 1 and (only := places[0]) is not None:
            return lambda row: (row[only],)
        return lambda row: tuple([None if place is None else row[place] for place in places])

    @property
    def telling(self) -> list[str]:
        """The dimensions that tell experiments apart: those that are not of a single run."""
        return [name for name in self.dimensions if name not in REPEATS]

    def column(self, name: str, rows: Sequence[Row]) -> list[Any]:
        """A dimension of some of the rows; None of all where the runs do not have it."""
        place = self.dimensions.index(name) + 1 if name in self.dimensions else None
        return [None] * len(rows) if place is None else list(map(itemgetter(place), rows))

    def place(self, measure: Measure) -> int | None:
        """Where a row has the value of a measure; None when no run was asked for it."""
        return len(self.dimensions) + 1 + self.measures.index(measure) if measure in self.measures else None


def _floats(rows: Sequence[Row], place: int) -> Floats:
    return np.array([nan if row[place] is None else row[place] for row in rows], np.float64)


@dataclass(frozen=True, slots=True)
class Note:
    """A warning as data: ``code`` is stable and made for scripts, ``message`` for people."""

    code: str
    message: str


class Point(NamedTuple):
    """One measurement of a sample and the run it comes from (a named tuple: there are as many as there are runs)."""

    run: int
    run_id: str
    trial: Value
    value: float


class Noted(NamedTuple):
    """What somebody wrote about a run, and which run that is."""

    run: int
    run_id: str
    trial: Value
    text: str


class Cell(NamedTuple):
    """The sample for one key, in the order of trials, and what became of it.

    ``centre`` is the query's summary and ``mean`` the arithmetic mean, both in the metric's unit and None for an
    empty sample. ``interval`` is where the mean lies with 95 %. ``hidden`` are the values of the explaining
    dimensions that are neither shown nor fixed. ``comparison`` is the cell against its base; a baseline's own cell
    has none. ``step`` is one in the last digit of the finest measurement. ``printed`` is the text of the document a
    single value was published in, empty for others. ``noted`` is what people wrote about its runs, also about those
    without a value, where a note may say why.
    """

    sample: tuple[Point, ...]
    mean: float | None
    centre: float | None
    interval: tuple[float, float] | None = None
    hidden: Mapping[str, tuple[Value, ...]] = NOTHING
    warnings: tuple[Note, ...] = ()
    comparison: Comparison | None = None
    step: float | None = None
    printed: str = ""
    noted: tuple[Noted, ...] = ()

    @property
    def mixes(self) -> Mapping[str, tuple[Value, ...]]:
        """The hidden dimensions in which the sample differs."""
        return {name: values for name, values in self.hidden.items() if len(values) > 1}

    @property
    def n(self) -> int:
        """The number of measurements; runs without a value do not count."""
        return len(self.sample)


@dataclass(frozen=True, slots=True)
class Table:
    """One measure laid out along the query's rows and columns, for one value of its split.

    ``rows`` and ``columns`` are keys in order, the same in all tables of a split; ``cells`` has those
    keys for which there are runs. ``common`` is what all runs of the table agree in and the layout does not show.
    Keys stand as the query orders them, a baseline first. ``summaries`` sum up the comparisons with each other
    value of the baseline's dimensions. ``decimals`` is how many its numbers are printed with. ``samples``: the values
    of the cells end to end, where the table was made of them.
    """

    query: Query
    measure: Measure
    split: Key
    rows: tuple[Key, ...]
    columns: tuple[Key, ...]
    cells: Mapping[CellKey, Cell]
    common: Mapping[str, Value] = field(default_factory=dict)
    warnings: tuple[Note, ...] = ()
    summaries: Mapping[Key, ComparisonSummary] = field(default_factory=dict)
    decimals: int = 0
    samples: Samples | None = field(default=None, compare=False, repr=False)

    @property
    def metric(self) -> Metric:
        """The declaration: title, unit, better direction, decimals."""
        return metrics.BY_NAME[self.measure.metric]


def layout_order(query: Query, names: Sequence[str]) -> Callable[[Key], tuple[object, ...]]:
    """A sort key for keys of these dimensions: as the query orders them, else a baseline first, else natural."""
    ranks = {
        name: {value: rank for rank, value in enumerate(query.order.get(name) or (query.baseline[name],))}
        for name in names
        if name in query.order or name in query.baseline
    }

    def order(key: Key) -> tuple[object, ...]:
        named = zip(names, key, strict=True)
        return tuple(
            (ranks[name].get(value, len(ranks[name])) if name in ranks else 0, ordered(value)) for name, value in named
        )

    return order


def key_order(key: Key) -> tuple[tuple[object, ...], ...]:
    """A sort key for keys: each dimension in its natural order, the first one leading."""
    return tuple(ordered(value) for value in key)


def in_order(keys: Iterable[Key]) -> list[Key]:
    """Keys of the same dimensions in this order. The few values of each are ranked first, which is quicker for many."""
    listed = list(keys)
    columns = zip(*listed, strict=True)
    # Most dimensions are the same in all keys, and to rank a value is to read the numbers in its text.
    differing = [(at, _ranks(values)) for at, column in enumerate(columns) if len(values := set(column)) > 1]
    return sorted(listed, key=lambda key: [ranks[key[at]] for at, ranks in differing])


def _ranks(values: Iterable[Value]) -> dict[Value, int]:
    """The place of each of these values among them."""
    return {value: rank for rank, value in enumerate(sorted(values, key=ordered))}


def finite(row: Row, place: int | None) -> float | None:
    """The value at a place; what is no finite number (a division by zero at the source) counts as missing."""
    value = None if place is None else row[place]
    return value if value is not None and isfinite(value) else None
