"""What is answered: the cells of a Query, each with its sample, its centre and what it mixes.

Every page, chart and export renders Tables, which ``tabulating`` makes of rows. A key is a tuple of dimension values,
never a label. Missing is missing, never zero.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum, isfinite
from operator import itemgetter
from types import MappingProxyType
from typing import Any, NamedTuple

from perfdb.analysis import metrics
from perfdb.analysis.comparing.comparison import Comparison
from perfdb.analysis.comparing.comparison import Summary as ComparisonSummary
from perfdb.analysis.dimensions import Value
from perfdb.analysis.metrics import Measure, Metric
from perfdb.analysis.parameters import ordered
from perfdb.analysis.query import REPEATS, Query

Key = tuple[Value, ...]
# The run's number in the database, a value for each dimension, a value for each measure.
Row = tuple[Any, ...]
CellKey = tuple[Key, Key]

_NOTHING: Mapping[str, tuple[Value, ...]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Observations:
    """The runs a query is about, one row each: run number, then ``dimensions``, then ``measures``.

    Rows come as a cursor or ``values_list`` gives them, already filtered. Every dimension that the runs have belongs
    here, also those the query does not show: a cell can only name a mix that it is told of, and ``pick`` tells
    experiments apart by them. Values are in the metric's own unit, None where a run has none. ``notes``: what people
    wrote about runs, by the run's number; most runs have no note and are not in it.
    """

    dimensions: tuple[str, ...]
    measures: tuple[Measure, ...]
    rows: Sequence[Row]
    notes: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    def key(self, names: Sequence[str]) -> Callable[[Row], Key]:
        """What reads these dimensions from a row; a dimension that the runs do not have is None in all of them."""
        places = [self.dimensions.index(name) + 1 if name in self.dimensions else None for name in names]
        # The same tuple three times as fast, and this is the innermost loop.
        if None not in places and len(places) > 1:
            return itemgetter(*places)
        if len(places) == 1 and (only := places[0]) is not None:
            return lambda row: (row[only],)
        return lambda row: tuple([None if place is None else row[place] for place in places])

    def experiments(self, names: Sequence[str]) -> dict[Key, list[Row]]:
        """The rows of each experiment, by these dimensions and all that tell experiments apart."""
        read = self.key([*names, *self.telling])
        found: dict[Key, list[Row]] = defaultdict(list)
        for row in self.rows:
            found[read(row)].append(row)
        return found

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
    hidden: Mapping[str, tuple[Value, ...]] = _NOTHING
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
    value of the baseline's dimensions. ``decimals`` is how many its numbers are printed with.
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


def finite_values(rows: Iterable[Row], place: int | None) -> list[float]:
    """The values at a place of those rows that have one."""
    if place is None:
        return []
    return [value for row in rows if (value := row[place]) is not None and isfinite(value)]


def best_unit(units: Mapping[Key, Sequence[float]], sign: int) -> Key:
    """The experiment with the largest mean (``sign`` 1) or the smallest (-1), of equals the first."""
    means = {unit: sign * fsum(values) / len(values) for unit, values in units.items()}
    top = max(means.values())
    best = [unit for unit, mean in means.items() if mean == top]
    return best[0] if len(best) == 1 else min(best, key=key_order)
