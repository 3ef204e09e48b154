"""Borrowing noise: cells of a group tell each other how much they usually vary.

The one rule is used twice, for the spread between trials and for that between campaigns. It is empirical Bayes after
Smyth (2004) by maximum likelihood: ``s²/(θ + v)`` follows F with d and d0 degrees of freedom.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy import special

from perfdb.analysis.verdicts.distributions import Floats

_FREEDOMS = np.array([1, 1.5, 2, 3, 4, 6, 8])
# Halvings of an interval: the result is exact to the last bit.
_HALVINGS = 100


class Spread(NamedTuple):
    """A variance of logarithms of a ``group`` that varies alike; ``known`` is v."""

    variance: float
    freedom: float
    group: Hashable = None
    known: float = 0.0


class Usual(NamedTuple):
    """The usual variance θ of a group with the degrees of freedom of its spreads, T."""

    variance: float
    total: float


class Drawn(NamedTuple):
    """A variance with its degrees of freedom, drawn to the usual one."""

    variance: float
    freedom: float


class Prior(NamedTuple):
    """Freedom d0, usual variances of groups, and the log likelihood of each d0."""

    freedom: float
    usual: Mapping[Hashable, Usual]
    supports: Sequence[float] = ()

    def draw(self, variance: float, freedom: float, usual: Usual, known: float = 0.0) -> Drawn:
        """Return a spread drawn to the usual variance; the latter with freedom 0."""
        weight = self.freedom / (self.freedom + freedom)
        drawn = weight * (usual.variance + known) + (1 - weight) * variance
        return Drawn(drawn, 1 / (1 / (self.freedom + freedom) + weight * weight / usual.total))


def fit_trials(spreads: Sequence[Spread]) -> Prior | None:
    """Return the prior between trials, the smallest d0 supported within 1; None without spreads."""
    return _fit(spreads, within=1.0)


def fit_days(spreads: Sequence[Spread]) -> Prior | None:
    """Return the prior between campaigns, the d0 of largest likelihood; None without spreads."""
    return _fit(spreads, within=0.0)


def _fit(spreads: Sequence[Spread], within: float) -> Prior | None:
    groups: dict[Hashable, list[Spread]] = {}
    for spread in spreads:
        if spread.variance > 0 and spread.freedom > 0:
            groups.setdefault(spread.group, []).append(spread)
    if not groups:
        return None
    thetas, supports = {}, np.zeros(len(_FREEDOMS))
    for group, members in groups.items():
        variances, freedoms, known = (
            np.array([spread[at] for spread in members], np.float64)[:, None] for at in (0, 1, 3)
        )
        thetas[group] = _thetas(variances, freedoms, known)
        supports += _supports(variances, freedoms, thetas[group] + known)
    supports -= supports.max()
    at = int(np.flatnonzero(supports >= -within)[0])
    usual = {
        group: Usual(float(theta[at]), math.fsum(spread.freedom for spread in groups[group]))
        for group, theta in thetas.items()
    }
    return Prior(float(_FREEDOMS[at]), usual, supports.tolist())


def _thetas(variances: Floats, freedoms: Floats, known: Floats) -> Floats:
    """Solve Σ(d0+d)u/(d0+u) = Σd, u = d·s²/(θ+v), for θ by each d0; 0 if the sum is too small at 0."""
    low, high = np.zeros(len(_FREEDOMS)), np.full(len(_FREEDOMS), variances.max())
    total = freedoms.sum()
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        raised = freedoms * variances / (middle + known)
        too_small = ((_FREEDOMS + freedoms) * raised / (_FREEDOMS + raised)).sum(axis=0) < total
        high, low = np.where(too_small, middle, high), np.where(too_small, low, middle)
    # Variances without a known part are above zero, and so is what is usual of them.
    return np.where((low == 0) & bool(known.any()), 0.0, high)


def _supports(variances: Floats, freedoms: Floats, expected: Floats) -> Floats:
    """Return the log likelihood of each d0."""
    half, ratio = _FREEDOMS / 2, freedoms * variances / expected / _FREEDOMS
    each = special.gammaln(freedoms / 2 + half) - special.gammaln(half)
    each = each + freedoms / 2 * np.log(ratio) - (freedoms / 2 + half) * np.log1p(ratio)
    found: Floats = each.sum(axis=0)
    return found
