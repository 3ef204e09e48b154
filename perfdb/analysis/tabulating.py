"""From rows to the cells of a Query's tables.

``tabulate`` is the one way from rows to numbers on a screen. What belongs to every row of a table is read for all of
them at once: a table may have thousands, and a call for each costs more than what it does.
"""

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, compress
from math import fsum, isfinite
from operator import itemgetter
from types import MappingProxyType
from typing import Any

from perfdb.analysis import dimensions, metrics
from perfdb.analysis.comparing.interval import mean_intervals
from perfdb.analysis.dimensions import Value
from perfdb.analysis.metrics import Better
from perfdb.analysis.parameters import ordered
from perfdb.analysis.query import REPEATS, Pick, Query, Summary
from perfdb.analysis.table import (
    Cell,
    CellKey,
    Key,
    Note,
    Noted,
    Observations,
    Point,
    Row,
    Table,
    best_unit,
    finite_values,
    key_order,
    layout_order,
)
from perfdb.analysis.units import decimals_for, decimals_of, step_of

_NOTHING: Mapping[str, tuple[Value, ...]] = MappingProxyType({})


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
    size, place = len(pick.dimensions), observations.place(pick.measure)
    units = _each_run(pick, observations) if summary is Summary.TRIAL else observations.experiments(pick.dimensions)
    groups: dict[Key, dict[Key, list[float]]] = defaultdict(dict)
    for key, rows in units.items():
        # A group is made even where its runs have no value, so that it can be named.
        group = groups[key[:size]]
        if values := finite_values(rows, place):
            group[key[size:]] = values
    sign = 1 if metrics.BY_NAME[pick.measure.metric].better is Better.HIGHER else -1
    chosen = {best_unit(group, sign) for group in groups.values() if group}
    notes = tuple(_unpicked(pick, key) for key in sorted(groups, key=key_order) if not groups[key])
    return [row for key, rows in units.items() if key[size:] in chosen for row in rows], notes


def _each_run(pick: Pick, observations: Observations) -> dict[Key, list[Row]]:
    group = observations.key(pick.dimensions)
    return {(*group(row), row[0]): [row] for row in observations.rows}


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
    by_run = sorted(rows, key=itemgetter(0))
    trials: dict[Value, list[Row]] = defaultdict(list)
    for trial, row in zip(observations.column("trial", by_run), by_run, strict=True):
        trials[trial].append(row)
    return [row for trial in sorted(trials, key=ordered) for row in trials[trial]]


def _tables(
    query: Query, observations: Observations, split: Key, groups: Mapping[CellKey, list[Row]], notes: tuple[Note, ...]
) -> Iterator[Table]:
    """The tables of one split, a measure each; rows, columns and what is common are the same in all of them."""
    members = list(groups.values())
    distinct = _distinct(query, observations, [row for rows in members for row in rows])
    common = {name: next(iter(values)) for name, values in distinct.items() if len(values) == 1}
    hidden = [name for name, values in distinct.items() if len(values) > 1 and dimensions.dimension(name).explains]
    sampler = _Sampler(query.summary, observations, hidden, members)
    pattern = pattern_of(query, common)
    patterns = [pattern(split + row + column) for row, column in groups]
    rows = tuple(sorted({row for row, _ in groups}, key=layout_order(query, query.rows)))
    columns = tuple(sorted({column for _, column in groups}, key=layout_order(query, query.columns)))
    for measure in query.metrics:
        cells = dict(zip(groups, sampler.cells(observations.place(measure), patterns), strict=True))
        least = metrics.BY_NAME[measure.metric].decimals
        decimals = decimals_for((cell.centre for cell in cells.values() if cell.centre is not None), least)
        yield Table(query, measure, split, rows, columns, cells, common, notes, decimals=decimals)


def pattern_of(query: Query, common: Mapping[str, Value]) -> Callable[[Key], str]:
    """What tells the traffic pattern of a cell by the values of all dimensions shown: cells of one vary alike.

    Empty where the cell mixes several.
    """
    if "workload" not in query.shown:
        pattern = _pattern(common.get("workload"))
        return lambda _: pattern
    at = query.shown.index("workload")
    return lambda key: _pattern(key[at])


def _pattern(workload: Value) -> str:
    return str(workload or "").partition(" ")[0]


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
    """Makes a cell of each group of rows; what all its measures share is read once, for all rows end to end."""

    def __init__(
        self, summary: Summary, observations: Observations, hidden: Sequence[str], groups: Sequence[Sequence[Row]]
    ) -> None:
        self._summarise = SUMMARISE[summary]
        self._hidden = [(name, observations.dimensions.index(name) + 1) for name in hidden]
        self._notes = observations.notes
        self._names = observations.key(["run_id", "trial"])
        self._groups = groups
        self._rows = [row for rows in groups for row in rows]
        self._runs = list(map(itemgetter(0), self._rows))
        self._run_ids = ["" if name is None else str(name) for name in observations.column("run_id", self._rows)]
        self._trials = observations.column("trial", self._rows)

    def cells(self, place: int | None, patterns: Sequence[str]) -> Iterator[Cell]:
        """The cell of each group, made of the values at this place of its rows; ``patterns`` are their noise groups."""
        values = self._values(place)
        runs = zip(self._runs, self._run_ids, self._trials, values, strict=True)
        points: tuple[Point, ...] = tuple(map(_point, runs))
        sizes, rows = list(map(len, self._groups)), self._rows
        if None in values:
            there = [value is not None for value in values]
            ends = list(accumulate(sizes))
            sizes = [sum(there[end - size : end]) for size, end in zip(sizes, ends, strict=True)]
            points, rows = tuple(compress(points, there)), list(compress(rows, there))
        known = [value for value in values if value is not None]
        here = [slice(end - size, end) for size, end in zip(sizes, accumulate(sizes), strict=True)]
        samples, decimals = [known[each] for each in here], decimals_of(known)
        steps = [step_of(max(decimals[each])) if size else None for each, size in zip(here, sizes, strict=True)]
        told = zip(samples, mean_intervals(samples, patterns, steps), steps, strict=True)
        for members, each, of_cell in zip(self._groups, here, told, strict=True):
            yield self._cell(members, rows[each] if self._hidden else (), points[each], of_cell)

    def _values(self, place: int | None) -> list[float | None]:
        """The values of all rows, None for those that are missing, no finite numbers among them."""
        if place is None:
            return [None] * len(self._rows)
        return [
            value if value is not None and isfinite(value) else None for value in map(itemgetter(place), self._rows)
        ]

    def _cell(
        self,
        members: Sequence[Row],
        measured: Sequence[Row],
        sample: tuple[Point, ...],
        told: tuple[Sequence[float], tuple[float, float] | None, float | None],
    ) -> Cell:
        """The cell of the rows of a group that have a value, with its values, their interval and step."""
        values, interval, step = told
        mean = _mean(values) if values else None
        return Cell(
            sample,
            mean,
            mean if mean is None or self._summarise is _mean else self._summarise(values),
            interval,
            self._hidden_values(measured) if self._hidden else _NOTHING,
            () if 1 < len(values) == len(members) else _notes(len(values), len(members)),
            None,
            step,
            "",
            tuple(self._noted(members)) if self._notes else (),
        )

    def _noted(self, members: Sequence[Row]) -> Iterator[Noted]:
        for row in members:
            for text in self._notes.get(row[0], ()):
                run_id, trial = self._names(row)
                yield Noted(row[0], "" if run_id is None else str(run_id), trial, text)

    def _hidden_values(self, rows: Sequence[Row]) -> dict[str, tuple[Value, ...]]:
        found = {name: {row[place] for row in rows} for name, place in self._hidden}
        return {name: _in_order(values) for name, values in found.items()}


# What ``Point`` itself does, without the way through Python.
_point: Callable[[Iterable[Any]], Point] = partial(tuple.__new__, Point)


def _in_order(values: set[Value]) -> tuple[Value, ...]:
    return tuple(values) if len(values) < 2 else tuple(sorted(values, key=ordered))


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
