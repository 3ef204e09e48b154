"""From rows to the cells of a Query's tables.

``tabulate`` is the one way from rows to numbers on a screen. What belongs to every row of a table is read for all of
them at once: a table may have thousands, and a call for each costs more than what it does.
"""

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, compress, pairwise, repeat
from math import fsum
from typing import Any, NamedTuple

import numpy as np

from perfdb.analysis import dimensions, metrics
from perfdb.analysis.comparison.samples import Samples, sample_intervals
from perfdb.analysis.dimensions import Value
from perfdb.analysis.metrics import Measure
from perfdb.analysis.query.query import REPEATS, Pick, Query, Summary
from perfdb.analysis.tables.coded_columns import Groups, Places, group_rows
from perfdb.analysis.tables.experiments import RUN, group_experiments
from perfdb.analysis.tables.observations import Key, Note, Observations
from perfdb.analysis.tables.table import NO_VALUES, Cell, CellKey, Noted, Point, Table, key_order, layout_order
from perfdb.analysis.units import count_decimals, decimal_step, decimals_for


def tabulate(query: Query, observations: Observations) -> list[Table]:
    """The tables of a query: for each value of its split, one for each of its metrics, in their order.

    Without any run there is still an empty table for each metric, so that a page can say what is missing.
    """
    query = show_trials(query)
    kept, unpicked = pick_best_runs(query.pick, query.summary, observations)
    notes = (*observations.warnings, *unpicked)
    splits = _splits(query, observations, kept)
    named = query.split if any(splits) else ()
    return [
        table
        for split in sorted(splits, key=layout_order(query, named))
        for table in _tables(query, observations, split, splits[split], notes)
    ]


def show_trials(query: Query) -> Query:
    """With summary=trial and nothing to pick, the trials are columns of their own."""
    if query.summary is not Summary.TRIAL or query.pick is not None:
        return query
    columns = query.columns if "trial" in query.layout_names else (*query.columns, "trial")
    return query.replace(columns=columns, summary=Summary.MEAN)


def pick_best_runs(pick: Pick | None, summary: Summary, observations: Observations) -> tuple[Places, tuple[Note, ...]]:
    """The places of the runs that a pick keeps, and what it could not choose from.

    An experiment counts with the arithmetic mean over its runs, as the published maximum-throughput tables do; with
    summary=trial each run counts by itself. Of equals the first in natural order is kept.
    """
    if pick is None:
        return observations.places, ()
    names = (RUN,) if summary is Summary.TRIAL else observations.experiment_dimensions
    found = group_experiments(observations, pick.dimensions, names, pick.measure)
    kept = [found.rows(each.best) for each in found.chosen]
    notes = tuple(_unpicked(pick, key) for key in sorted(found.lacking, key=key_order))
    return np.concatenate(kept) if kept else observations.places[:0], notes


def _unpicked(pick: Pick, key: Key) -> Note:
    what = dimensions.describe_values(pick.dimensions, key)
    return Note("not-picked", f"{what}: no run has {pick.measure}, by which the best was to be picked")


class _Laid(NamedTuple):
    """The runs of one split by cells: the keys of these, and their runs in the order of trials."""

    keys: list[CellKey]
    runs: Groups


def _splits(query: Query, observations: Observations, kept: Places) -> dict[Key, _Laid]:
    """The runs of each cell: split → (row key, column key) → runs."""
    columns = [observations.coded_column(name) for name in query.layout_names]
    by_trial = np.lexsort((observations.runs[kept], observations.coded_column("trial").ranks()[kept]))
    groups = group_rows(columns, kept[by_trial])
    firsts = groups.firsts
    keys = list(zip(*(column.values_at(firsts) for column in columns), strict=True)) or [()] * len(groups.sizes)
    first, second = len(query.split), len(query.split) + len(query.rows)
    cells: list[CellKey] = [(key[first:second], key[second:]) for key in keys]
    if not first or not keys:
        return {(): _Laid(cells, groups)}
    splits: dict[Key, list[int]] = defaultdict(list)
    for place, key in enumerate(keys):
        splits[key[:first]].append(place)
    return {split: _Laid([cells[at] for at in places], groups.select(places)) for split, places in splits.items()}


def _tables(
    query: Query, observations: Observations, split: Key, laid: _Laid, notes: tuple[Note, ...]
) -> Iterator[Table]:
    """The tables of one split, a measure each; rows, columns and what is common are the same in all of them."""
    distinct = _distinct(query, observations, laid.runs.rows)
    common = {name: next(iter(values)) for name, values in distinct.items() if len(values) == 1}
    hidden = [name for name, values in distinct.items() if len(values) > 1 and dimensions.dimension(name).explains]
    sampler = _Sampler(query.summary, observations, hidden, laid.runs)
    patterns = _patterns(query, common, split, laid.keys)
    rows = tuple(sorted({row for row, _ in laid.keys}, key=layout_order(query, query.rows)))
    columns = tuple(sorted({column for _, column in laid.keys}, key=layout_order(query, query.columns)))
    for measure in query.metrics:
        made, samples = sampler.cells(measure, patterns)
        cells = dict(zip(laid.keys, made, strict=True))
        least = metrics.BY_NAME[measure.metric].decimals
        decimals = decimals_for([cell.centre for cell in made if cell.centre is not None], least)
        yield Table(query, measure, split, rows, columns, cells, common, notes, decimals=decimals, samples=samples)


def pattern_reader(query: Query, common: Mapping[str, Value]) -> Callable[[Key], str]:
    """What tells the traffic pattern of a cell by the values of all dimensions shown: cells of one vary alike.

    Empty where the cell mixes several.
    """
    if "workload" not in query.layout_names:
        pattern = _pattern(common.get("workload"))
        return lambda _: pattern
    at = query.layout_names.index("workload")
    return lambda key: _pattern(key[at])


def _pattern(workload: Value) -> str:
    return str(workload or "").partition(" ")[0]


def _patterns(query: Query, common: Mapping[str, Value], split: Key, keys: Sequence[CellKey]) -> list[str]:
    """What tells the traffic pattern of each cell."""
    pattern = pattern_reader(query, common)
    if "workload" not in query.layout_names:
        return [pattern(())] * len(keys)
    return [pattern(split + row + column) for row, column in keys]


def _distinct(query: Query, observations: Observations, rows: Places) -> dict[str, set[Value]]:
    """The values of each dimension that is not shown; without rows those that the filters ask for."""
    if not len(rows):
        return {name: set(values) for name, values in query.filters.items() if name not in query.layout_names}
    hidden = [name for name in observations.dimensions if name not in query.layout_names]
    # Which trial it is says something only where it was asked for.
    telling = [name for name in hidden if name not in REPEATS or name in query.filters]
    found = {name: set(observations.coded_column(name).distinct_values(rows)) for name in telling}
    return {name: values for name, values in found.items() if values != {None}}


class _Sampler:
    """Makes a cell of each group of runs; what all its measures share is read once, for all runs end to end."""

    def __init__(self, summary: Summary, observations: Observations, hidden: Sequence[str], groups: Groups) -> None:
        self._summarise = SUMMARISE[summary]
        self._observations = observations
        self._hidden = hidden
        self._groups = groups
        self._runs: list[int] = observations.runs[groups.rows].tolist()
        run_ids = observations.dimension_at("run_id", groups.rows)
        self._run_ids = ["" if name is None else str(name) for name in run_ids]
        self._trials = observations.dimension_at("trial", groups.rows)
        self._numbers = observations.numbers("trial")

    def cells(self, measure: Measure, patterns: Sequence[str]) -> tuple[list[Cell], Samples]:
        """The cell of each group with its values of a measure, and these end to end; ``patterns`` are noise groups."""
        members, sizes = self._groups.sizes, self._groups.sizes
        values, there = self._values(measure)
        points = tuple(map(_point, zip(self._runs, self._run_ids, self._trials, values, strict=True)))
        rows = self._groups.rows
        if there is not None:
            ends = list(accumulate(members, initial=0))
            counted = list(accumulate(there, initial=0))
            sizes = [counted[end] - counted[start] for start, end in pairwise(ends)]
            points, values, rows = tuple(compress(points, there)), list(compress(values, there)), rows[there]
        samples = Samples(values, sizes, patterns, _steps(values, sizes), self._numbers[rows])
        each = samples.each
        means = [_mean(sample) if sample else None for sample in each]
        centres = (
            means if self._summarise is _mean else [self._summarise(sample) if sample else None for sample in each]
        )
        here = [slice(end - size, end) for size, end in zip(sizes, accumulate(sizes), strict=True)]
        cells = zip(
            [points[at] for at in here],
            means,
            centres,
            sample_intervals(samples, [0.0 if mean is None else mean for mean in means]),
            self._hidden_values(rows, sizes),
            [() if 1 < n == runs else _notes(n, runs) for n, runs in zip(sizes, members, strict=True)],
            repeat(None),
            samples.steps,
            repeat(""),
            self._noted(),
            strict=False,
        )
        return list(map(_cell, cells)), samples

    def _values(self, measure: Measure) -> tuple[list[float], list[bool] | None]:
        """The values of all runs, and which of them there are; None where all are. What is no finite number is not."""
        found = self._observations.measure_values(measure)
        if found is None:
            return [0.0] * len(self._runs), [False] * len(self._runs)
        values = found[self._groups.rows]
        there = np.isfinite(values)
        return values.tolist(), None if there.all() else there.tolist()

    def _hidden_values(self, rows: Places, sizes: Sequence[int]) -> Iterable[Mapping[str, tuple[Value, ...]]]:
        """For each cell the values of the hidden dimensions among the runs that it has values of."""
        if not self._hidden:
            return repeat(NO_VALUES)
        columns = [self._observations.coded_column(name).distinct_by_group(rows, sizes) for name in self._hidden]
        return [dict(zip(self._hidden, values, strict=True)) for values in zip(*columns, strict=True)]

    def _noted(self) -> Iterable[tuple[Noted, ...]]:
        """For each cell what was written about its runs, with and without a value."""
        notes = self._observations.notes
        if not notes:
            return repeat(())
        named = list(zip(self._runs, self._run_ids, self._trials, strict=True))
        sizes = self._groups.sizes
        cells = (named[end - size : end] for size, end in zip(sizes, accumulate(sizes), strict=True))
        return [tuple([Noted(*run, text) for run in cell for text in notes.get(run[0], ())]) for cell in cells]


def _steps(values: Sequence[float], sizes: Sequence[int]) -> list[float | None]:
    """One in the last digit of the finest value of each cell, None for a cell without values."""
    if not values:
        return [None] * len(sizes)
    filled = [size for size in sizes if size]
    finest = np.maximum.reduceat(list(map(count_decimals, values)), list(accumulate(filled[:-1], initial=0))).tolist()
    step = {decimals: decimal_step(decimals) for decimals in set(finest)}
    if len(filled) == len(sizes):
        return list(map(step.__getitem__, finest))
    known = map(step.__getitem__, finest)
    return [next(known) if size else None for size in sizes]


# What ``Point`` and ``Cell`` themselves do, without the way through Python.
_point: Callable[[Iterable[Any]], Point] = partial(tuple.__new__, Point)
_cell: Callable[[Iterable[Any]], Cell] = partial(tuple.__new__, Cell)


def _notes(n: int, runs: int) -> tuple[Note, ...]:
    notes = []
    if n < runs:
        notes.append(Note("missing", f"{runs - n} of {runs} runs {'has' if runs - n == 1 else 'have'} no value"))
    if n == 1:
        notes.append(Note("single", "a single run: its spread is not known"))
    return tuple(notes)


def _mean(values: Sequence[float]) -> float:
    return fsum(values) / len(values)


SUMMARISE: dict[Summary, Callable[[Sequence[float]], float]] = {
    Summary.MEAN: _mean,
    Summary.MEDIAN: statistics.median,
    Summary.MIN: min,
    Summary.MAX: max,
    Summary.LAST: lambda values: values[-1],
    # The best single run was picked before; what is left is summarised as usual.
    Summary.TRIAL: statistics.fmean,
}
