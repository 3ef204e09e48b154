"""The experiments among runs as columns, each with the values of its trials: what the best is chosen from.

There may be tens of thousands, of which a few are told of; only those get a key.
"""

from collections.abc import Sequence
from itertools import accumulate
from math import fsum

import numpy as np
from numpy.typing import NDArray

from perfdb.analysis.coded import Coded, Places, grouped
from perfdb.analysis.comparing.distributions import Floats
from perfdb.analysis.comparing.samples import Samples
from perfdb.analysis.dimensions import Value
from perfdb.analysis.metrics import Better, Measure
from perfdb.analysis.table import Key, Observations, key_order

RUN = "run"
"""Among the names of dimensions the run itself, by its number."""


class Experiments:
    """Runs by some dimensions together, in the order in which they first appear; an experiment goes by its place.

    Attributes:
        names: What tells experiments of one group apart.
        samples: The values of each, in the order of its runs.
        sizes: How many each has; runs without a value do not count.
        means: Their arithmetic means, NaN of none.
    """

    def __init__(self, observations: Observations, groups: Sequence[str], names: Sequence[str], measure: Measure):
        self.names = names
        self._grouping = [_coded(observations, name) for name in groups]
        self._columns = [_coded(observations, name) for name in names]
        self._by = grouped([*self._grouping, *self._columns], observations.places)
        self._firsts = self._by.firsts
        self._ends = np.cumsum(np.array(self._by.sizes, np.intp))
        values, there = _values(observations, measure, self._by.rows)
        counted = np.concatenate(([0], np.cumsum(there)))
        self.sizes: Places = counted[self._ends] - counted[self._ends - np.array(self._by.sizes, np.intp)]
        self._measured = self._by.rows[there]
        self._runs = observations.runs
        self._values_end = np.cumsum(self.sizes)
        sizes = self.sizes.tolist()
        self.samples = Samples(values[there].tolist(), sizes, (), ())
        each = self.samples.each
        self.means: Floats = np.array([fsum(sample) / len(sample) if sample else np.nan for sample in each])

    def groups(self) -> list[tuple[Key, Places]]:
        """The experiments of each group, by its key."""
        by = grouped(self._grouping, self._firsts)
        # A row is the first of one experiment alone.
        place = np.empty(len(self._runs), np.intp)
        place[self._firsts] = np.arange(len(self._firsts))
        parts = np.split(place[by.rows], list(accumulate(by.sizes))[:-1]) if by.sizes else []
        keys = zip(*(column.at(by.firsts) for column in self._grouping), strict=True)
        return list(zip(keys, parts, strict=True))

    def measured(self, experiments: Places) -> Places:
        """Those of them that have a value."""
        return experiments[self.sizes[experiments] > 0]

    def best(self, experiments: Places, better: Better) -> int:
        """The one with the best mean among some that have values; of equals the first in natural order."""
        means = self.means[experiments] * (1 if better is Better.HIGHER else -1)
        best: list[int] = experiments[means == means.max()].tolist()
        return best[0] if len(best) == 1 else min(best, key=lambda place: key_order(self.key(place)))

    def key(self, place: int) -> Key:
        """What tells an experiment apart in its group."""
        row = self._firsts[place]
        return tuple([column.values[column.codes[row]] for column in self._columns])

    def rows(self, place: int) -> Places:
        """The places of its runs, with and without a value."""
        end = self._ends[place]
        return self._by.rows[end - self._by.sizes[place] : end]

    def runs(self, place: int) -> tuple[int, ...]:
        """The numbers of its runs that have a value."""
        return tuple(self._runs[self._measured[self._part(place)]].tolist())

    def sample(self, place: int) -> Sequence[float]:
        """Its values."""
        return self.samples.values[self._part(place)]

    def _part(self, place: int) -> slice:
        end = int(self._values_end[place])
        return slice(end - int(self.sizes[place]), end)

    def varying(self, experiments: Places) -> list[int]:
        """The places of the names in which some experiments differ."""
        rows = self._firsts[experiments]
        codes = (column.codes[rows] for column in self._columns)
        return [at for at, own in enumerate(codes) if len(own) and (own != own[0]).any()]

    def alike(self, place: int, experiments: Places, but: str) -> Places:
        """Those of some experiments that are equal to one in all names but this."""
        rows, first = self._firsts[experiments], self._firsts[place]
        equal = np.ones(len(rows), np.bool_)
        for name, column in zip(self.names, self._columns, strict=True):
            if name != but:
                equal &= column.codes[rows] == column.codes[first]
        return experiments[equal]

    def value(self, name: str, place: int) -> Value:
        """One of the dimensions of an experiment."""
        column = self._columns[self.names.index(name)]
        return column.values[int(column.codes[self._firsts[place]])]


def experiments_of(
    observations: Observations, groups: Sequence[str], names: Sequence[str], measure: Measure
) -> Experiments:
    """The experiments of these runs; the same ones however often they are asked for."""
    asked = (tuple(groups), tuple(names), measure)
    if asked not in observations.made:
        observations.made[asked] = Experiments(observations, groups, names, measure)
    made: Experiments = observations.made[asked]
    return made


def _coded(observations: Observations, name: str) -> Coded:
    if name != RUN:
        return observations.coded(name)
    return Coded(observations.runs.tolist(), observations.places)


def _values(observations: Observations, measure: Measure, rows: Places) -> tuple[Floats, NDArray[np.bool_]]:
    """The values of a measure of these runs, and which of them are there."""
    found = observations.values(measure)
    values = np.full(len(rows), np.nan) if found is None else found[rows]
    return values, np.isfinite(values)
