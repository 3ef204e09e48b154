"""From observations to the tables of a Query.

Columns are read for all rows of a table at once, since a table may have thousands of rows.
"""

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, compress, repeat
from typing import Any, NamedTuple

import numpy as np

from perfdb.analysis import dimensions
from perfdb.analysis.dimensions import Value
from perfdb.analysis.metrics import Measure
from perfdb.analysis.query.query import REPEATS, Pick, Query, Summary
from perfdb.analysis.tables.coded_columns import Groups, Places, group_rows
from perfdb.analysis.tables.experiments import RUN, group_experiments
from perfdb.analysis.tables.observations import Key, Note, Observations
from perfdb.analysis.tables.table import (
    NO_VALUES,
    SAME_WORK,
    Cell,
    CellKey,
    Noted,
    Point,
    Table,
    key_order,
    layout_order,
)
from perfdb.analysis.units import count_decimals, decimal_step
from perfdb.analysis.verdicts.trials import find_noise, mean, mean_intervals, split
from perfdb.analysis.workloads import traffic_pattern


def tabulate(query: Query, observations: Observations) -> list[Table]:
    """Return a query's tables by split and metric, an empty one without runs."""
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
    """Give each trial a column, and so a cell, for summary=trial without pick."""
    if query.summary is not Summary.TRIAL or query.pick is not None:
        return query
    columns = query.columns if "trial" in query.layout_names else (*query.columns, "trial")
    return query.replace(columns=columns, summary=Summary.MEAN)


def pick_best_runs(pick: Pick | None, summary: Summary, observations: Observations) -> tuple[Places, tuple[Note, ...]]:
    """Return the indexes of the runs that a pick keeps, with notes.

    The notes are on groups without a value. An experiment counts with its mean, as in published tables of maximum
    throughput; with summary=trial each run counts. Of equal experiments the one with most measures and trials is kept.
    """
    if pick is None:
        return observations.places, ()
    names = (RUN,) if summary is Summary.TRIAL else observations.experiment_dimensions
    found = group_experiments(observations, pick.dimensions, names, pick.measure)
    kept = [found.rows(each.best) for each in found.chosen]
    lacking = [dimensions.describe_values(pick.dimensions, key) for key in sorted(found.lacking, key=key_order)]
    why = f"no run has {pick.measure}, by which the best was to be picked"
    notes = tuple(Note("not-picked", f"{each}: {why}") for each in lacking)
    return np.concatenate(kept) if kept else observations.places[:0], notes


class _Laid(NamedTuple):
    """The cells of one split: keys, and runs in order of trials."""

    keys: list[CellKey]
    runs: Groups


def _splits(query: Query, observations: Observations, kept: Places) -> dict[Key, _Laid]:
    """Group runs by split and cell."""
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
    """Yield the tables of one split; rows, columns and common values are shared."""
    distinct = _distinct(query, observations, laid.runs.rows)
    common = {name: next(iter(values)) for name, values in distinct.items() if len(values) == 1}
    hidden = [name for name, values in distinct.items() if len(values) > 1 and dimensions.dimension(name).explains]
    sampler = _Sampler(query.summary, observations, hidden, laid.runs)
    pattern = pattern_reader(query, common)
    patterns = [pattern(split + row + column) for row, column in laid.keys]
    rows = tuple(sorted({row for row, _ in laid.keys}, key=layout_order(query, query.rows)))
    columns = tuple(sorted({column for _, column in laid.keys}, key=layout_order(query, query.columns)))
    for measure in query.metrics:
        cells = dict(zip(laid.keys, sampler.cells(measure, patterns), strict=True))
        yield Table(query, measure, split, rows, columns, cells, common, notes)


def pattern_reader(query: Query, common: Mapping[str, Value]) -> Callable[[Key], str]:
    """Return a function from full key to traffic pattern, which is empty for mixes."""
    if "workload" not in query.layout_names:
        pattern = traffic_pattern(common.get("workload"))
        return lambda _: pattern
    at = query.layout_names.index("workload")
    return lambda key: traffic_pattern(key[at])


def _distinct(query: Query, observations: Observations, rows: Places) -> dict[str, set[Value]]:
    """Return the values of each dimension outside the layout; without rows, the filters' values."""
    if not len(rows):
        return {name: set(values) for name, values in query.filters.items() if name not in query.layout_names}
    hidden = [name for name in observations.dimensions if name not in query.layout_names]
    # Dimensions of single runs count only if filtered.
    telling = [name for name in hidden if name not in REPEATS or name in query.filters]
    found = {name: set(observations.coded_column(name).distinct_values(rows)) for name in telling}
    return {name: values for name, values in found.items() if values != {None}}


class _Sampler:
    """Maker of the cells of groups of runs; columns are read once."""

    def __init__(self, summary: Summary, observations: Observations, hidden: Sequence[str], groups: Groups) -> None:
        self._summarise = SUMMARISE[summary]
        self._observations = observations
        self._hidden = hidden
        self._groups = groups
        self._runs: list[int] = observations.runs[groups.rows].tolist()
        run_ids = observations.coded_column("run_id").values_at(groups.rows)
        self._run_ids = ["" if name is None else str(name) for name in run_ids]
        self._trials = observations.coded_column("trial").values_at(groups.rows)

    def cells(self, measure: Measure, patterns: Sequence[str]) -> list[Cell]:
        """Return the cells of a measure; those of one of the ``patterns`` vary alike."""
        members, sizes = self._groups.sizes, self._groups.sizes
        values, there = self._values(measure)
        points = tuple(map(_point, zip(self._runs, self._run_ids, self._trials, values, strict=True)))
        rows = self._groups.rows
        if there is not None:
            sizes = list(map(sum, split(there, members)))
            points, values, rows = tuple(compress(points, there)), list(compress(values, there)), rows[there]
        hidden = self._hidden_values(rows, sizes)
        steps = _steps(values, sizes)
        # Runs that did different work have no mean.
        mixed = [any(len(each) > 1 and name not in SAME_WORK for name, each in named.items()) for named in hidden]
        each = [() if apart else sample for sample, apart in zip(split(values, sizes), mixed, strict=True)]
        means = [mean(sample) if sample else None for sample in each]
        summed = self._summarise is not mean
        centres = [self._summarise(sample) if sample else None for sample in each] if summed else means
        noises, _ = find_noise(each, patterns, steps)
        cells = zip(
            split(points, sizes),
            means,
            centres,
            mean_intervals(each, noises),
            hidden,
            [() if 1 < n == runs else _notes(n, runs) for n, runs in zip(sizes, members, strict=True)],
            repeat(None),
            steps,
            repeat(""),
            self._noted(),
            noises,
            strict=False,
        )
        return list(map(_cell, cells))

    def _values(self, measure: Measure) -> tuple[list[float], list[bool] | None]:
        """Return the values of all runs, and which are finite; None if all are."""
        found = self._observations.measure_values(measure)
        if found is None:
            return [0.0] * len(self._runs), [False] * len(self._runs)
        values = found[self._groups.rows]
        there = np.isfinite(values)
        return values.tolist(), None if there.all() else there.tolist()

    def _hidden_values(self, rows: Places, sizes: Sequence[int]) -> list[Mapping[str, tuple[Value, ...]]]:
        """Return the hidden dimensions' values among the measured runs of each cell."""
        if not self._hidden:
            return [NO_VALUES] * len(sizes)
        columns = [self._observations.coded_column(name).distinct_by_group(rows, sizes) for name in self._hidden]
        return [dict(zip(self._hidden, values, strict=True)) for values in zip(*columns, strict=True)]

    def _noted(self) -> Iterable[tuple[Noted, ...]]:
        """Return the notes on runs of each cell, with and without a value."""
        notes = self._observations.notes
        if not notes:
            return repeat(())
        cells = split(list(zip(self._runs, self._run_ids, self._trials, strict=True)), self._groups.sizes)
        return [tuple([Noted(*run, text) for run in cell for text in notes.get(run[0], ())]) for cell in cells]


def _steps(values: Sequence[float], sizes: Sequence[int]) -> list[float | None]:
    """Return one in the last digit of each cell's finest value, if any."""
    if not values:
        return [None] * len(sizes)
    filled = [size for size in sizes if size]
    finest = np.maximum.reduceat(list(map(count_decimals, values)), list(accumulate(filled[:-1], initial=0))).tolist()
    step = {decimals: decimal_step(decimals) for decimals in set(finest)}
    known = map(step.__getitem__, finest)
    return [next(known) if size else None for size in sizes]


# Construct the named tuples in C.
_point: Callable[[Iterable[Any]], Point] = partial(tuple.__new__, Point)
_cell: Callable[[Iterable[Any]], Cell] = partial(tuple.__new__, Cell)


def _notes(n: int, runs: int) -> tuple[Note, ...]:
    notes = []
    if n < runs:
        notes.append(Note("missing", f"{runs - n} of {runs} runs {'has' if runs - n == 1 else 'have'} no value"))
    if n == 1:
        notes.append(Note("single", "a single run: its spread is not known"))
    return tuple(notes)


SUMMARISE: dict[Summary, Callable[[Sequence[float]], float]] = {
    Summary.MEAN: mean,
    Summary.MEDIAN: statistics.median,
    Summary.MIN: min,
    Summary.MAX: max,
    Summary.LAST: lambda values: values[-1],
    # The best single runs were picked before.
    Summary.TRIAL: statistics.fmean,
}
