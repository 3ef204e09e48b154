"""Experiments of runs as columns, from which a pick chooses the best.

There may be tens of thousands of experiments; keys are made for the chosen ones only.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from perfdb.analysis.dimensions import Value
from perfdb.analysis.metrics import BY_NAME, Better, Measure
from perfdb.analysis.tables.coded_columns import CodedColumn, Places, group_rows
from perfdb.analysis.tables.observations import Key, Observations
from perfdb.analysis.tables.table import key_order
from perfdb.analysis.verdicts.distributions import Floats
from perfdb.analysis.verdicts.trials import mean, split

RUN = "run"
"""Name that stands for the run number among the names of dimensions."""


class BestOfGroup(NamedTuple):
    """A group: its key, its experiments with a value, and the best of these."""

    key: Key
    experiments: Places
    best: int


class Surroundings(NamedTuple):
    """Relation to a group's best: names ``differing``, experiments ``alike`` but in one, ``repeated``."""

    differing: list[str]
    alike: list[int]
    repeated: bool


class Experiments:
    """Runs grouped by dimensions, in order of first appearance; an experiment is its index.

    ``names`` are dimensions that separate experiments of a group. ``samples`` are the values of each experiment, in
    order of runs, ``sizes`` their numbers, ``means`` are NaN without values.
    """

    def __init__(self, observations: Observations, groups: Sequence[str], names: Sequence[str], measure: Measure):
        self.names = names
        self._better = BY_NAME[measure.metric].better
        self._observations = observations
        self._grouping, self._columns = ([_coded(observations, name) for name in each] for each in (groups, names))
        self._by = group_rows([*self._grouping, *self._columns], observations.places)
        self._firsts = self._by.firsts
        self._ends = np.cumsum(np.array(self._by.sizes, np.intp))
        found = observations.measure_values(measure)
        values = np.full(len(self._by.rows), np.nan) if found is None else found[self._by.rows]
        there = np.isfinite(values)
        counted = np.concatenate(([0], np.cumsum(there)))
        self.sizes: Places = counted[self._ends] - counted[self._ends - np.array(self._by.sizes, np.intp)]
        self._measured = self._by.rows[there]
        self._runs = observations.runs
        self._values_end = np.cumsum(self.sizes)
        self.samples = split(values[there].tolist(), self.sizes.tolist())
        self.means: Floats = np.array([mean(sample) if sample else np.nan for sample in self.samples])

    @cached_property
    def chosen(self) -> list[BestOfGroup]:
        """Return each group's best by mean, most measures, most trials, natural order."""
        sign = 1 if self._better is Better.HIGHER else -1
        found = []
        for key, own in self._groups:
            if len(own):
                means = sign * self.means[own]
                found.append(BestOfGroup(key, own, self._first(own[means == means.max()].tolist())))
        return found

    @property
    def lacking(self) -> list[Key]:
        """Return the keys of groups without values."""
        return [key for key, own in self._groups if not len(own)]

    @cached_property
    def _groups(self) -> list[tuple[Key, Places]]:
        """Return each group's key and measured experiments."""
        by = group_rows(self._grouping, self._firsts)
        place = np.empty(len(self._runs), np.intp)
        place[self._firsts] = np.arange(len(self._firsts))
        keys = zip(*(column.values_at(by.firsts) for column in self._grouping), strict=True)
        experiments = place[by.rows]
        measured = self.sizes[experiments] > 0
        ends = np.concatenate(([0], np.cumsum(measured)))[np.cumsum([0, *by.sizes])].tolist()
        experiments = experiments[measured]
        return [(key, experiments[start:end]) for key, (start, end) in zip(keys, pairwise(ends), strict=True)]

    def _first(self, equals: list[int]) -> int:
        if len(equals) == 1:
            return equals[0]
        return min(equals, key=lambda at: (-self._count_measures(at), -self.sizes[at], key_order(self.key(at))))

    def _count_measures(self, place: int) -> int:
        """Return the number of measures of which an experiment has a value."""
        rows, read = self.rows(place), map(self._observations.measure_values, self._observations.measures)
        return sum(values is not None and bool(np.isfinite(values[rows]).any()) for values in read)

    def key(self, place: int) -> Key:
        """Return the values of ``names`` of an experiment."""
        row = self._firsts[place]
        return tuple([column.values[column.codes[row]] for column in self._columns])

    def rows(self, place: int) -> Places:
        """Return the row indexes of an experiment, with and without values."""
        end = self._ends[place]
        return self._by.rows[end - self._by.sizes[place] : end]

    def runs(self, place: int) -> tuple[int, ...]:
        """Return the run numbers of an experiment that have a value."""
        end = int(self._values_end[place])
        return tuple(self._runs[self._measured[end - int(self.sizes[place]) : end]].tolist())

    def surroundings(self, chosen: Sequence[BestOfGroup], but: str) -> list[Surroundings]:
        """Return the surroundings of each group's best; ``but`` may differ among ``alike``."""
        sizes = [len(each.experiments) for each in chosen]
        starts = np.cumsum([0, *sizes])[:-1]
        experiments = np.concatenate([each.experiments for each in chosen])
        rows, bests = self._firsts[experiments], self._firsts[[each.best for each in chosen]]
        differing: list[list[str]] = [[] for _ in chosen]
        equal = np.ones(len(rows), np.bool_)
        for name, column in zip(self.names, self._columns, strict=True):
            if len(column.values) > 1:
                same = column.codes[rows] == np.repeat(column.codes[bests], sizes)
                for at in np.flatnonzero(~np.logical_and.reduceat(same, starts)).tolist():
                    differing[at].append(name)
                if name != but:
                    equal &= same
        alike = np.split(experiments[equal], np.cumsum(np.add.reduceat(equal, starts, dtype=np.intp))[:-1])
        repeated = np.logical_or.reduceat(self.sizes[experiments] > 1, starts).tolist()
        return [
            Surroundings(*each) for each in zip(differing, (each.tolist() for each in alike), repeated, strict=True)
        ]

    def value(self, name: str, place: int) -> Value:
        """Return a dimension's value of an experiment."""
        column = self._columns[self.names.index(name)]
        return column.values[int(column.codes[self._firsts[place]])]


def group_experiments(
    observations: Observations, groups: Sequence[str], names: Sequence[str], measure: Measure
) -> Experiments:
    """Return the experiments of runs, cached in the observations."""
    asked = (tuple(groups), tuple(names), measure)
    if asked not in observations.cache:
        observations.cache[asked] = Experiments(observations, groups, names, measure)
    made: Experiments = observations.cache[asked]
    return made


def _coded(observations: Observations, name: str) -> CodedColumn:
    if name != RUN:
        return observations.coded_column(name)
    return CodedColumn(observations.runs.tolist(), observations.places)
