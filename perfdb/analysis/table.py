"""What is answered: the cells of a Query, each with its sample, its centre and what it mixes.

``tabulate`` is the one way from rows to numbers on a screen; every page, chart and export renders its Tables.
A key is a tuple of dimension values, never a label. Missing is missing, never zero.
"""

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum, isfinite
from operator import itemgetter
from types import MappingProxyType
from typing import Any, NamedTuple

from perfdb.analysis import dimensions, metrics
from perfdb.analysis.comparing.comparison import Comparison
from perfdb.analysis.comparing.comparison import Summary as ComparisonSummary
from perfdb.analysis.dimensions import Value
from perfdb.analysis.metrics import Better, Measure, Metric
from perfdb.analysis.parameters import ordered
from perfdb.analysis.query import REPEATS, Pick, Query, Summary
from perfdb.analysis.units import decimals_for, finest_step

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
    columns = [{value: rank for (value,), rank in _ranks((each,) for each in column).items()}
               for column in zip(*listed, strict=True)]  # fmt: skip
    return sorted(listed, key=lambda key: [ranks[value] for ranks, value in zip(columns, key, strict=True)])


def _ranks(keys: Iterable[Key]) -> dict[Key, int]:
    """The place of each of these keys among them."""
    return {key: rank for rank, key in enumerate(sorted(set(keys), key=key_order))}


def tabulate(query: Query, observations: Observations) -> list[Table]:
    """The tables of a query: for each value of its split, one for each of its metrics, in their order.

    Without any run there is still an empty table for each metric, so that a page can say what is missing.
    """
    query = each_trial(query)
    kept, notes = best_experiments(query.pick, query.summary, observations)
    splits = _grouped(query, observations, kept) or {(): {}}
    return [
        table
        for split in sorted(splits, key=layout_order(query, query.split if any(splits) else ()))
        for table in _tables(query, observations, split, splits[split], notes)
    ]


def each_trial(query: Query) -> Query:
    """With summary=trial and nothing to pick, the trials are columns of their own."""
    if query.summary is not Summary.TRIAL or query.pick is not None:
        return query
    columns = query.columns if "trial" in query.shown else (*query.columns, "trial")
    return query.replace(columns=columns, summary=Summary.MEAN)


def best_experiments(
    pick: Pick | None, summary: Summary, observations: Observations
) -> tuple[Sequence[Row], tuple[Note, ...]]:
    """The rows that a pick keeps, and what it could not choose from.

    An experiment counts with the arithmetic mean over its runs, as the published maximum-throughput tables do; with
    summary=trial each run counts by itself. Of equals the first in natural order is kept.
    """
    if pick is None:
        return observations.rows, ()
    unit = (
        (lambda row: (row[0],))
        if summary is Summary.TRIAL
        else observations.key([name for name in observations.dimensions if name not in REPEATS])
    )
    group = observations.key(pick.dimensions)
    place = observations.place(pick.measure)
    samples: dict[Key, dict[Key, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in observations.rows:
        # A group is made even where its runs have no value, so that it can be named.
        units = samples[group(row)]
        if (value := finite(row, place)) is not None:
            units[unit(row)].append(value)
    sign = 1 if metrics.BY_NAME[pick.measure.metric].better is Better.HIGHER else -1
    chosen = {best_unit(units, sign) for units in samples.values() if units}
    notes = tuple(_unpicked(pick, key) for key in sorted(samples, key=key_order) if not samples[key])
    return [row for row in observations.rows if unit(row) in chosen], notes


def finite(row: Row, place: int | None) -> float | None:
    """The value at a place; what is no finite number (a division by zero at the source) counts as missing."""
    value = None if place is None else row[place]
    return value if value is not None and isfinite(value) else None


def best_unit(units: Mapping[Key, Sequence[float]], sign: int) -> Key:
    """The experiment with the largest mean (``sign`` 1) or the smallest (-1), of equals the first."""
    means = {unit: sign * fsum(values) / len(values) for unit, values in units.items()}
    top = max(means.values())
    return min((unit for unit, mean in means.items() if mean == top), key=key_order)


def _unpicked(pick: Pick, key: Key) -> Note:
    what = dimensions.say(pick.dimensions, key)
    return Note("not-picked", f"{what}: no run has {pick.measure}, by which the best was to be picked")


def _grouped(query: Query, observations: Observations, rows: Sequence[Row]) -> dict[Key, dict[CellKey, list[Row]]]:
    """The rows of each cell, in one pass: split → (row key, column key) → rows."""
    read = observations.key(query.shown)
    whole: dict[Key, list[Row]] = defaultdict(list)
    for row in _by_trial(observations, rows):
        whole[read(row)].append(row)
    first, second = len(query.split), len(query.split) + len(query.rows)
    splits: dict[Key, dict[CellKey, list[Row]]] = defaultdict(dict)
    for key, members in whole.items():
        splits[key[:first]][key[first:second], key[second:]] = members
    return splits


def _by_trial(observations: Observations, rows: Sequence[Row]) -> list[Row]:
    """The rows in the order of their trials, then of their runs: what every sample keeps."""
    trial = observations.key(["trial"])
    ranks = _ranks(map(trial, rows))
    by_run = sorted(rows, key=itemgetter(0))
    return sorted(by_run, key=lambda row: ranks[trial(row)])


def _tables(
    query: Query, observations: Observations, split: Key, groups: Mapping[CellKey, list[Row]], notes: tuple[Note, ...]
) -> Iterator[Table]:
    """The tables of one split, a measure each; rows, columns and what is common are the same in all of them."""
    distinct = _distinct(query, observations, [row for members in groups.values() for row in members])
    common = {name: next(iter(values)) for name, values in distinct.items() if len(values) == 1}
    hidden = [name for name, values in distinct.items() if len(values) > 1 and dimensions.dimension(name).explains]
    sampler = _Sampler(query.summary, observations, hidden)
    rows = tuple(sorted({row for row, _ in groups}, key=layout_order(query, query.rows)))
    columns = tuple(sorted({column for _, column in groups}, key=layout_order(query, query.columns)))
    for measure in query.metrics:
        cells = {key: sampler.cell(members, observations.place(measure)) for key, members in groups.items()}
        least = metrics.BY_NAME[measure.metric].decimals
        decimals = decimals_for((cell.centre for cell in cells.values() if cell.centre is not None), least)
        yield Table(query, measure, split, rows, columns, cells, common, notes, decimals=decimals)


def _distinct(query: Query, observations: Observations, rows: Sequence[Row]) -> dict[str, set[Value]]:
    """The values of each dimension that is not shown; without rows those that the filters ask for."""
    if not rows:
        return {name: set(values) for name, values in query.filters.items() if name not in query.shown}
    hidden = {name: place for place, name in enumerate(observations.dimensions, 1) if name not in query.shown}
    # Which trial it is says something only where it was asked for.
    telling = {name: place for name, place in hidden.items() if name not in REPEATS or name in query.filters}
    found = {name: {row[place] for row in rows} for name, place in telling.items()}
    return {name: values for name, values in found.items() if values != {None}}


class _Sampler:
    """Makes cells of rows; knows where in a row the things stand that every cell needs."""

    def __init__(self, summary: Summary, observations: Observations, hidden: Sequence[str]) -> None:
        self._summarise = SUMMARISE[summary]
        self._names = observations.key(["run_id", "trial"])
        self._hidden = [(name, observations.dimensions.index(name) + 1) for name in hidden]
        self._notes = observations.notes

    def cell(self, members: Sequence[Row], place: int | None) -> Cell:
        known = [(row, value) for row in members if (value := finite(row, place)) is not None]
        measured, values = [row for row, _ in known], [value for _, value in known]
        mean = fsum(values) / len(values) if values else None
        return Cell(
            sample=tuple(map(self._point, measured, values)),
            mean=mean,
            centre=self._summarise(values) if values else None,
            hidden=self._hidden_values(measured) if self._hidden else _NOTHING,
            warnings=() if 1 < len(values) == len(members) else _notes(len(values), len(members)),
            step=finest_step(values),
            noted=tuple(self._noted(members)) if self._notes else (),
        )

    def _point(self, row: Row, value: float) -> Point:
        run_id, trial = self._names(row)
        return Point(row[0], "" if run_id is None else str(run_id), trial, value)

    def _noted(self, members: Sequence[Row]) -> Iterator[Noted]:
        for row in members:
            for text in self._notes.get(row[0], ()):
                run_id, trial = self._names(row)
                yield Noted(row[0], "" if run_id is None else str(run_id), trial, text)

    def _hidden_values(self, rows: Sequence[Row]) -> dict[str, tuple[Value, ...]]:
        found = {name: {row[place] for row in rows} for name, place in self._hidden}
        return {name: _in_order(values) for name, values in found.items()}


def _in_order(values: set[Value]) -> tuple[Value, ...]:
    return tuple(values) if len(values) < 2 else tuple(sorted(values, key=ordered))


def _notes(n: int, runs: int) -> tuple[Note, ...]:
    notes = []
    if n < runs:
        notes.append(Note("missing", f"{runs - n} of {runs} runs {'has' if runs - n == 1 else 'have'} no value"))
    if n == 1:
        notes.append(Note("single", "a single run: its spread is not known"))
    return tuple(notes)


SUMMARISE: dict[Summary, Callable[[Sequence[float]], float]] = {
    Summary.MEAN: lambda values: fsum(values) / len(values),
    Summary.MEDIAN: statistics.median,
    Summary.MIN: min,
    Summary.MAX: max,
    Summary.LAST: lambda values: values[-1],
    # The best single run was picked before; what is left is summarised as usual.
    Summary.TRIAL: statistics.fmean,
}
