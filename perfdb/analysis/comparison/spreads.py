"""Distributions, and spreads (variances of logarithms) of many cells at once.

``scipy.special`` is forty times as fast as ``scipy.stats``. Quantiles are cached, since few degrees of freedom
differ.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import special

from perfdb.analysis.comparison.comparison import Sample

Floats = NDArray[np.float64]


@lru_cache(maxsize=1024)
def student_quantile(probability: float, freedom: float) -> float:
    """Return the quantile of Student's t."""
    return float(special.stdtrit(freedom, probability))


def student_p(t: float, freedom: float) -> float:
    """Return the two-sided p of a t."""
    return float(2 * special.stdtr(freedom, -abs(t)))


def student_ps(ts: Floats, freedoms: Floats) -> Floats:
    """Return the two-sided p of each t."""
    found: Floats = 2 * special.stdtr(freedoms, -np.abs(ts))
    return found


@lru_cache(maxsize=1024)
def fisher_quantile(probability: float, above: float, below: float) -> float:
    """Return the quantile of F with ``above`` and ``below`` degrees of freedom."""
    return float(special.fdtri(above, below, probability))


def ratio(log_ratio: float) -> float:
    """Return exp, infinity on overflow."""
    try:
        return math.exp(log_ratio)
    except OverflowError:
        return math.inf


def ratio_interval(log_ratio: float, half_width: float) -> tuple[float, float]:
    """Return the ends of a symmetric interval of logarithms, as ratios."""
    return ratio(log_ratio - half_width), ratio(log_ratio + half_width)


def false_discovery(ps: Sequence[float], of: int = 0, smaller: int = 0) -> list[float]:
    """Return the q of each p (Benjamini and Hochberg 1995).

    The k-th smallest of m has q = p·m/k, or that of a larger p if smaller. ``of`` is the number of tests; missing
    tests have p = 1, except ``smaller`` ones, whose p is below all given.
    """
    tested = max(of, smaller + len(ps))
    largest_first = sorted(range(len(ps)), key=lambda place: ps[place], reverse=True)
    qs, least = [1.0] * len(ps), 1.0
    for rank, place in zip(range(smaller + len(ps), smaller, -1), largest_first, strict=True):
        least = min(least, ps[place] * tested / rank)
        qs[place] = least
    return qs


Places = NDArray[np.intp]
# Sums in another order differ by less than this.
_NEARLY = 1 + 1e-9


class Spread(NamedTuple):
    """A variance of logarithms with its degrees of freedom; 0 freedom if unknown."""

    variance: float = 0.0
    freedom: int = 0

    @property
    def is_known(self) -> bool:
        """Whether the spread is usable; equal values of unknown step have none."""
        return self.freedom > 0 and self.variance > 0


class Spreads(NamedTuple):
    """Spreads of many cells, as columns."""

    variances: Floats
    freedoms: Places

    @classmethod
    def from_each(cls, each: Iterable[Spread]) -> Self:
        """Return columns of single spreads."""
        listed = list(each)
        variances, freedoms = zip(*listed, strict=True) if listed else ((), ())
        return cls(np.array(variances, np.float64), np.array(freedoms, np.intp))

    def spread_at(self, place: int) -> Spread:
        """Return the spread of one cell."""
        return Spread(float(self.variances[place]), int(self.freedoms[place]))

    def select(self, places: Sequence[int] | Places) -> Self:
        """Return the spreads of some cells."""
        chosen = np.array(places, np.intp)
        return self.__class__(self.variances[chosen], self.freedoms[chosen])


def usable(values: Sequence[float]) -> list[float]:
    """Return the values that are positive and finite."""
    return [value for value in values if 0 < value < math.inf]


class Logs:
    """Logarithms of many samples, end to end; values without logarithm are left out.

    Attributes:
        sizes: Number of given values per sample.
        given: Mask of the values with a logarithm.
        values: Values with a logarithm.
        logs: Their logarithms.
        sample: Index of the sample, per value.
        counts: Number of logarithms per sample.
    """

    def __init__(self, given: Sequence[float], sizes: Sequence[int]) -> None:
        values, counts = np.array(given, np.float64), np.array(sizes, np.intp)
        sample = np.repeat(np.arange(len(counts)), counts)
        self.sizes: Places = counts
        has_log = (values > 0) & (values < np.inf)
        self.given: NDArray[np.bool_] = has_log
        if not has_log.all():
            values, sample = values[has_log], sample[has_log]
            counts = np.bincount(sample, minlength=len(counts))
        self.values: Floats = values
        self.sample: Places = sample
        self.counts: Places = counts
        # ``math.log``: numpy's may differ in the last digit.
        self._listed = list(map(math.log, values.tolist()))
        self.logs: Floats = np.array(self._listed)
        self._means: Floats | None = None
        self._ranges: Floats | None = None

    @classmethod
    def from_samples(cls, samples: Sequence[Sample]) -> Self:
        """Join samples."""
        return cls(list(chain.from_iterable(samples)), list(map(len, samples)))

    def means(self) -> Floats:
        """Return the mean logarithm of each sample, 0 if empty. The sums are exact."""
        if self._means is None:
            counts, ends, listed = self.counts.tolist(), np.cumsum(self.counts).tolist(), self._listed
            sums = [math.fsum(listed[end - count : end]) for count, end in zip(counts, ends, strict=True)]
            self._means = np.array(sums) / np.maximum(self.counts, 1)
        return self._means

    def summed(self, each: Floats) -> Floats:
        """Sum a column over each sample."""
        return summed(each, self.sample, len(self.counts))

    def ranges(self) -> Floats:
        """Return the range of each sample's logarithms, 0 if empty."""
        if self._ranges is None:
            self._ranges = ranges(self.logs, self.counts)
        return self._ranges

    def spreads(self, steps: Iterable[float | None]) -> Spreads:
        """Return the spread of each sample."""
        ends = np.cumsum(self.counts)

        def cell_values(at: int) -> list[float]:
            found: list[float] = self.values[ends[at] - self.counts[at] : ends[at]].tolist()
            return found

        return _spreads(Sums.from_logs(self), steps, cell_values)


def summed(each: Floats, places: Places, count: int) -> Floats:
    """Sum values by index."""
    # The type stubs declare weighted counts as integers.
    found: Floats = np.bincount(places, each, count).astype(np.float64, copy=False)
    return found


def ranges(values: Floats, counts: Places) -> Floats:
    """Return the range of each of consecutive samples, 0 if empty."""
    found = np.zeros(len(counts))
    filled = counts > 0
    if filled.any():
        # Empty samples have no elements.
        starts = (np.cumsum(counts) - counts)[filled]
        found[filled] = np.maximum.reduceat(values, starts) - np.minimum.reduceat(values, starts)
    return found


class Sums(NamedTuple):
    """Sums per sample for its spread: count, total, freedom and squares of logarithms."""

    counts: Floats
    totals: Floats
    freedom: Floats
    squares: Floats

    @classmethod
    def from_logs(cls, logs: Logs) -> Self:
        """Return the sums of each sample."""
        distances = logs.logs - logs.means()[logs.sample]
        # The mean of equal floats may differ in the last bit; equal trials have no spread.
        squares = np.where(logs.ranges() > 0, logs.summed(distances * distances), 0.0)
        counts = logs.counts.astype(np.float64)
        return cls(counts, logs.summed(logs.values), np.maximum(counts - 1, 0), squares)


class Logged:
    """Logarithms of distinct sample objects; a base shared by many cells is taken once."""

    def __init__(self, samples: Iterable[Sample]) -> None:
        self._distinct = {id(sample): sample for sample in samples}
        self._places = dict(zip(self._distinct, range(len(self._distinct)), strict=True))
        self.logs = Logs.from_samples(list(self._distinct.values()))

    def indexes(self, samples: Sequence[Sample]) -> Places:
        """Return the indexes of some of the samples."""
        return np.fromiter(map(self._places.__getitem__, map(id, samples)), np.intp, len(samples))

    def spreads(self, cells: Sequence[Sequence[Sample]], steps: Iterable[float | None]) -> Spreads:
        """Return the spread of each cell, pooled over its samples."""
        at = self.indexes(list(chain.from_iterable(cells)))
        of = np.repeat(np.arange(len(cells)), list(map(len, cells)))
        pooled = Sums(*(summed(each[at], of, len(cells)) for each in Sums.from_logs(self.logs)))
        return _spreads(pooled, steps, lambda place: [value for sample in cells[place] for value in usable(sample)])


def spread(samples: Sequence[Sample], step: float | None = None) -> Spread:
    """Return the pooled variance of the logarithms of samples, each around its own mean.

    ``step`` is one in the last printed digit. Rounding alone makes a variance of step²/12, the least that is
    returned.
    """
    return spreads([samples], [step]).spread_at(0)


def spreads(cells: Sequence[Sequence[Sample]], steps: Iterable[float | None]) -> Spreads:
    """Return the spread of each of many cells, each of one or several samples."""
    return Logged(chain.from_iterable(cells)).spreads(cells, steps)


def _spreads(sums: Sums, steps: Iterable[float | None], cell_values: Callable[[int], list[float]]) -> Spreads:
    """Return the spreads of sums; ``cell_values`` returns all values of a cell."""
    known = [step or 0.0 for step in steps]
    means = np.where(sums.counts > 0, sums.totals, 1.0) / np.maximum(sums.counts, 1.0)
    rounding = (np.array(known) / means) ** 2 / 12
    variance = sums.squares / np.maximum(sums.freedom, 1.0)
    for at in np.flatnonzero((rounding * _NEARLY >= variance) & (sums.freedom > 0)).tolist():
        values = cell_values(at)
        variance[at] = max(variance[at], rounding_variance(len(values), math.fsum(values), known[at]))
    return Spreads(variance, sums.freedom.astype(np.intp))


_Number = TypeVar("_Number", float, Floats)


def rounding_variance(count: _Number, total: _Number, step: _Number) -> _Number:
    """Return the variance of logarithms that rounding makes: (step/mean)²/12."""
    return (step * count / total) ** 2 / 12
