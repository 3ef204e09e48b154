"""Noise of a series: tamed outliers, and how far a point follows the one before."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from perfdb.analysis.verdicts.distributions import Floats

_WINDOW = 7
# The share of a normal distribution within 1.405 standard deviations.
_SHARE, _IN_DEVIATIONS = 0.84, 1.405
_LIMIT = 3.0
_CAP = 4.0
# The variance of a series' estimate is this over its points.
_VARIANCE = 2.25
_FEWEST_POINTS, _FEWEST_SERIES = 8, 20


class Group(NamedTuple):
    """The usual autocorrelation ``rho`` of a noise group and its spread ``tau``; ``small``: too few series to learn."""

    rho: float = 0.5
    tau: float = 0.15
    small: bool = True

    def draw(self, own: float, points: int) -> float:
        """Return a series' estimate drawn to that of the group; NaN, which is unknown, becomes the group's."""
        if math.isnan(own):
            return self.rho
        variance, usual = _VARIANCE / points, self.tau**2
        return min(0.8, max(0.0, (own / variance + self.rho / usual) / (1 / variance + 1 / usual)))


def tame(values: Floats) -> Floats:
    """Return rows with outliers drawn to three deviations from the running median of seven."""
    half = _WINDOW // 2
    padded = np.pad(values, ((0, 0), (half, half)), mode="reflect")
    middle = np.median(sliding_window_view(padded, _WINDOW, axis=1), axis=2)
    rest = values - middle
    limit = _LIMIT * np.quantile(np.abs(rest), _SHARE, axis=1, keepdims=True) / _IN_DEVIATIONS
    tamed: Floats = middle + np.clip(rest, -limit, limit)
    return tamed


def lag_squares(values: Floats, lag: int) -> Floats:
    """Return the mean square of the differences of points ``lag`` apart, each row's capped at four medians."""
    steps = np.abs(values[:, lag:] - values[:, :-lag])
    cap = _CAP * np.median(steps, axis=1, keepdims=True)
    capped = np.where(cap > 0, np.minimum(steps, cap), steps)
    found: Floats = np.mean(capped**2, axis=1)
    return found


def own_autocorrelation(values: Floats) -> Floats:
    """Return each row's autocorrelation from differences of lags 1 and 2, or NaN."""
    one, two = lag_squares(values, 1), lag_squares(values, 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.where(one > 0, np.clip(two / one - 1, -0.9, 0.95), np.nan)
    return found


def learn_group(own: Sequence[float], points: Sequence[int]) -> Group:
    """Return the usual autocorrelation of series that vary alike, weighted by their points."""
    used = [(rho, n) for rho, n in zip(own, points, strict=True) if n >= _FEWEST_POINTS]
    if len(used) < _FEWEST_SERIES:
        return Group()
    rho, weights = (np.array(each, np.float64) for each in zip(*used, strict=True))
    known = ~np.isnan(rho)
    rho, weights = rho[known], weights[known]
    if not len(rho):
        return Group(small=False)
    total = weights.sum()
    mean = float((weights * rho).sum() / total)
    spread = float((weights * (rho - mean) ** 2).sum() / total) - _VARIANCE * len(rho) / total
    tau = float(np.sqrt(np.clip(spread, 0.1**2, 0.25**2)))
    return Group(float(np.clip(mean + tau - 0.1, 0.0, 0.7)), tau, small=False)


def inflation(rho: float) -> float:
    """Return F, by which autocorrelation raises the variance of a mean."""
    return (1 + rho) / (1 - rho)
