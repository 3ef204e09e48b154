"""Many samples against one of them: which of them no test tells from it.

The same statistics as of the cells of a table, worked out as columns, for many groups of samples at once: there may be
tens of thousands of samples, of which a few are not changed, and only those are described.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from perfdb.analysis.comparison.compare_pairs import DELTA
from perfdb.analysis.comparison.comparison import Comparison, Noise, NoiseSource
from perfdb.analysis.comparison.distributions import Floats, false_discovery, student_ps, student_quantile
from perfdb.analysis.comparison.judge_pair import CHANGED, Contrast, Judged, describe
from perfdb.analysis.comparison.noise_prior import AllModerated, Freedoms, Prior, moderate_all, pools
from perfdb.analysis.comparison.pair import Pair
from perfdb.analysis.comparison.samples import Samples
from perfdb.analysis.comparison.spreads import Places, Spreads, Sums
from perfdb.analysis.metrics import Better

# A p that is changed among so many is that for certain when it is as small as this by itself.
_CERTAIN = CHANGED / 10
# Stands for the prior of a group in which nothing tells the noise.
_UNKNOWN = Prior(math.nan, 1.0, 1)


class Unmoved:
    """Samples that are compared with each other; the logarithms of all are taken once."""

    def __init__(self, samples: Samples) -> None:
        self._each = samples.each
        self._sizes = samples.sizes
        self._counts = samples.logs.counts
        self._means = samples.logs.means()
        sums = Sums.of(samples.logs)
        self._freedoms, self._squares = sums.freedom.astype(np.intp), sums.squares

    def against(
        self, bases: Sequence[int], others: Sequence[Places], better: Better, delta: float = DELTA
    ) -> list[list[tuple[int, Comparison]]]:
        """Of the ``others`` of each base those of which no test says that they differ from it, each with its place.

        A base and its others are a table of one noise group by themselves.
        """
        sizes = list(map(len, others))
        found = self._contrasts(np.array(bases, np.intp), sizes, np.concatenate([*others, np.empty(0, np.intp)]))
        described: list[list[tuple[int, Comparison]]] = [[] for _ in bases]
        for group, at, p, q in found.unmoved():
            base, other = bases[group], int(found.others[at])
            described[group].append((other, describe(self._judged(base, other, at, p, found), q, delta, better)))
        return described

    def _contrasts(self, bases: Places, sizes: Sequence[int], others: Places) -> "_Columns":
        """What the tests of these samples need."""
        base = np.repeat(bases, sizes)
        counts, own_counts = self._counts[base], self._counts[others]
        freedoms = self._freedoms[base] + self._freedoms[others]
        variances = (self._squares[base] + self._squares[others]) / np.maximum(freedoms, 1)
        there = (counts > 0) & (own_counts > 0)
        differences = np.where(there, self._means[others] - self._means[base], np.nan)
        spreads = Spreads(variances, freedoms)
        priors = [pool.prior() or _UNKNOWN for pool in pools(spreads, sizes)]
        used = moderate_all(spreads, priors, sizes)
        with np.errstate(divide="ignore"):
            errors = np.sqrt(used.variances) * np.sqrt(1 / counts + 1 / own_counts)
        return _Columns(sizes, others, freedoms, differences, used, errors)

    def _judged(self, base: int, other: int, at: int, p: float | None, found: "_Columns") -> Judged:
        """All of one of them, as ``describe`` takes it."""
        complete = all(0 < self._counts[side] == self._sizes[side] for side in (base, other))
        difference, noise, contrast = _known(found.differences[at]), Noise(NoiseSource.NONE), None
        used = found.used
        if not math.isnan(used.variances[at]):
            sd, freedom = math.sqrt(used.variances[at]), used.freedom(at)
            noise = Noise(NoiseSource.TRIALS, sd, freedom, bool(used.noisy[at]), not found.freedoms[at])
            if difference is not None:
                contrast = Contrast(difference, float(found.errors[at]), freedom)
        return Judged(Pair(self._each[base], self._each[other]), noise, complete, difference, contrast, p)


class _Columns(NamedTuple):
    """Of each sample against its base, those of the first base first; NaN where it is not known.

    ``sizes``: how many samples each base has. ``freedoms`` are those of both sides by themselves.
    """

    sizes: Sequence[int]
    others: Places
    freedoms: Freedoms
    differences: Floats
    used: AllModerated
    errors: Floats

    def unmoved(self) -> Iterator[tuple[int, int, float | None, float | None]]:
        """Which are not changed: the place of the base, that of the sample, its p and its q if it has one."""
        tested = (self.freedoms > 0) & ~np.isnan(self.errors + self.differences)
        ts, weights = np.abs(self.differences / self.errors), self.used.by_freedom(float)
        asked = np.flatnonzero(~self._far(ts, weights, tested))
        ps = student_ps(ts[asked], weights[asked]).tolist()
        group = np.repeat(np.arange(len(self.sizes)), self.sizes)
        number = np.bincount(group[tested], minlength=len(self.sizes)).tolist()
        those: dict[int, list[tuple[int, float | None]]] = defaultdict(list)
        for base, at, p, known in zip(group[asked].tolist(), asked.tolist(), ps, tested[asked].tolist(), strict=True):
            those[base].append((at, p if known else None))
        for base, own in those.items():
            given = [p for _, p in own if p is not None]
            qs = iter(false_discovery(given, smaller=number[base] - len(given)))
            for at, p in own:
                q = None if p is None else next(qs)
                if q is None or q >= CHANGED:
                    yield base, at, p, q

    def _far(self, ts: Floats, weights: Floats, tested: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Those so far away that they are changed however many others are: most, and their p takes longest.

        By Bonferroni over all, at the smallest freedom of those that are not noisy.
        """
        calm = tested & ~self.used.noisy
        if not calm.any():
            return calm
        limit = student_quantile(1 - _CERTAIN / len(ts) / 2, float(weights[calm].min()))
        return calm & (ts > limit)


def _known(value: np.float64) -> float | None:
    return None if math.isnan(value) else float(value)
