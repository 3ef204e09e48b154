"""Many samples against one of them: which of them no test tells from it.

The same statistics as of the cells of a table, worked out as columns: there may be tens of thousands of samples, of
which a few are not changed, and only those are described.
"""

import math
from typing import NamedTuple

import numpy as np

from perfdb.analysis.comparing.cell import CHANGED, Contrast, Judged, describe
from perfdb.analysis.comparing.comparison import Comparison, Noise, NoiseSource
from perfdb.analysis.comparing.distributions import Floats, student_ps
from perfdb.analysis.comparing.noise import AllModerated, Freedoms, Pool, moderate_columns
from perfdb.analysis.comparing.pair import Pair
from perfdb.analysis.comparing.samples import Samples
from perfdb.analysis.comparing.spreads import Places, Sums
from perfdb.analysis.comparing.table import DELTA
from perfdb.analysis.metrics import Better


class Unmoved:
    """Samples that are compared with each other; the logarithms of all are taken once."""

    def __init__(self, samples: Samples) -> None:
        self._each = samples.each
        self._sizes = np.array(samples.sizes, np.intp)
        self._counts = samples.logs.counts
        self._means = samples.logs.means()
        self._sums = Sums.of(samples.logs)

    def against(self, base: int, others: Places, better: Better, delta: float = DELTA) -> list[tuple[int, Comparison]]:
        """Of these other samples those of which no test says that they differ from ``base``, each with its place.

        They are a table of one noise group by themselves.
        """
        found = self._contrasts(base, others)
        described = []
        for at in np.flatnonzero(~(found.qs < CHANGED)).tolist():
            other = int(others[at])
            judged = self._judged(base, other, at, found)
            described.append((other, describe(judged, _known(found.qs[at]), delta, better)))
        return described

    def _contrasts(self, base: int, others: Places) -> "_Columns":
        """The tests of these samples, NaN where there is none."""
        sums = Sums(*(each[base] + each[others] for each in self._sums))
        variances, freedoms = sums.squares / np.maximum(sums.freedom, 1.0), sums.freedom.astype(np.intp)
        there = (self._counts[base] > 0) & (self._counts[others] > 0)
        differences = np.where(there, self._means[others] - self._means[base], np.nan)
        nothing = np.full(len(others), np.nan)
        prior = Pool.of_columns(variances, freedoms).prior()
        if prior is None:
            return _Columns(freedoms, differences, None, nothing, nothing, nothing)
        used = moderate_columns(variances, freedoms, prior)
        with np.errstate(divide="ignore"):
            errors = np.sqrt(used.variances) * np.sqrt(1 / self._counts[base] + 1 / self._counts[others])
        tested = there & (freedoms > 0)
        ps, qs = nothing.copy(), nothing.copy()
        weights = np.array(used.freedoms, np.float64)
        ps[tested] = student_ps(differences[tested] / errors[tested], weights[tested])
        qs[tested] = false_discoveries(ps[tested])
        return _Columns(freedoms, differences, used, errors, ps, qs)

    def _judged(self, base: int, other: int, at: int, found: "_Columns") -> Judged:
        """All of one of them, as ``describe`` takes it."""
        complete = 0 < self._counts[base] == self._sizes[base] and 0 < self._counts[other] == self._sizes[other]
        difference, noise, contrast = _known(found.differences[at]), Noise(NoiseSource.NONE), None
        if (used := found.used) is not None:
            sd, freedom = math.sqrt(used.variances[at]), used.freedom(at)
            noise = Noise(NoiseSource.TRIALS, sd, freedom, bool(used.noisy[at]), not found.freedoms[at])
            if difference is not None:
                contrast = Contrast(difference, float(found.errors[at]), freedom)
        pair = Pair(self._each[base], self._each[other])
        return Judged(pair, noise, bool(complete), difference, contrast, _known(found.ps[at]))


class _Columns(NamedTuple):
    """Of each sample against the base, NaN where it is not known; ``used`` is None where the noise is not."""

    freedoms: Freedoms
    differences: Floats
    used: AllModerated | None
    errors: Floats
    ps: Floats
    qs: Floats


def _known(value: np.float64) -> float | None:
    return None if math.isnan(value) else float(value)


def false_discoveries(ps: Floats) -> Floats:
    """The q of each p, as ``false_discovery`` has it."""
    if not len(ps):
        return ps
    largest_first = np.argsort(-ps, kind="stable")
    ranks = np.arange(len(ps), 0, -1)
    qs = np.empty(len(ps))
    qs[largest_first] = np.minimum.accumulate(np.minimum(ps[largest_first] * len(ps) / ranks, 1.0))
    return qs
