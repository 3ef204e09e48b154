"""The best split of a stretch in two levels, and how often chance makes one as good.

The largest t over all splits of an unchanged series has a distribution from simulated tables: ``size`` is for values
and allows for autocorrelation up to 0.5, ``rank`` for normal scores of ranks.
"""

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special
from scipy.stats import rankdata

from perfdb.analysis.verdicts.distributions import Floats

Places = NDArray[np.intp]

# A level has so many points at least.
LEAST = 3
_LEAST_P = 1e-12
# Up to so many points the distribution of ranks is an exact step function.
_EXACT = 16
_TIE = 1e-6


def split_statistics(values: Floats) -> Floats:
    """Return t², by the larger error, of each row's splits at i + 3."""
    points = values.shape[1]
    centred = values - values.mean(axis=1, keepdims=True)
    sums, squares = np.cumsum(centred, axis=1), np.cumsum(centred**2, axis=1)
    left = np.arange(LEAST, points - LEAST + 1)
    right = points - left
    left_sum, left_squares = sums[:, left - 1], squares[:, left - 1]
    right_sum, right_squares = sums[:, -1:] - left_sum, squares[:, -1:] - left_squares
    left_rest = np.maximum(left_squares - left_sum**2 / left, 0.0)
    right_rest = np.maximum(right_squares - right_sum**2 / right, 0.0)
    welch = left_rest / (left - 1) / left + right_rest / (right - 1) / right
    pooled = (left_rest + right_rest) / (points - 2) * (1 / left + 1 / right)
    least = 1e-12 * squares[:, -1:] / points
    error = np.maximum(np.maximum(welch, pooled), least)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.where(error > 0, (right_sum / right - left_sum / left) ** 2 / error, 0.0)
    return found


def best_splits(values: Floats) -> tuple[Floats, Places]:
    """Return each row's largest t and the first point of its right level."""
    squares = split_statistics(values)
    at = squares.argmax(axis=1)
    return np.sqrt(np.take_along_axis(squares, at[:, None], axis=1)[:, 0]), at + LEAST


def normal_scores(values: Floats) -> Floats:
    """Return the normal scores of each row's ranks; ties have the average rank."""
    ranks = rankdata(values, axis=1)
    found: Floats = special.ndtri(ranks / (values.shape[1] + 1))
    return found


def split_ps(values: Floats, tamed: Floats, inflation: Floats) -> tuple[Floats, Places]:
    """Return each row's p of a change, the larger of those of size and of rank, and the best split of the sizes."""
    points = values.shape[1]
    size, at = best_splits(tamed)
    rank, _ = best_splits(normal_scores(values))
    p = np.maximum(size_p(size / np.sqrt(inflation), points), rank_p(rank, points))
    return np.where(np.ptp(tamed, axis=1) == 0, 1.0, p), at


@cache
def _tables() -> Mapping[str, Any]:
    text = (resources.files(__package__) / "null_tables.json").read_text(encoding="utf-8")
    found: Mapping[str, Any] = json.loads(text)
    return found


@cache
def _shape(kind: str, points: int) -> tuple[float, float]:
    """Return ν and K of P(T) = 1 − (1 − 2·P(t_ν > T))^K: linear in log points, the ends held."""
    table = _tables()[kind]
    at, known = math.log(points), np.log(table["n"])
    return float(np.interp(at, known, table["nu"])), float(np.interp(at, known, table["K"]))


def _fitted_p(kind: str, statistic: Floats, points: int) -> Floats:
    freedom, choices = _shape(kind, points)
    tails = np.minimum(2 * special.stdtr(freedom, -statistic), 1 - 1e-16)
    found: Floats = np.maximum(-np.expm1(choices * np.log1p(-tails)), _LEAST_P)
    return found


def size_p(statistic: Floats, points: int) -> Floats:
    """Return the p of largest t, already divided by the root of F."""
    return _fitted_p("size", statistic, points)


def rank_p(statistic: Floats, points: int) -> Floats:
    """Return the p of largest t of normal scores."""
    if points > _EXACT:
        return _fitted_p("rank", statistic, points)
    table = _tables()["rank_small"][str(points)]
    knots: Sequence[float] = table["T"][::-1]
    ps: Floats = np.array([1.0, *table["p"][::-1]])
    places = np.searchsorted(np.asarray(knots), statistic + _TIE, side="right")
    return np.maximum(ps[places], _LEAST_P)


def size_quantile(p: float, points: int) -> float:
    """Return the largest t of values that an unchanged series exceeds with this p."""
    freedom, choices = _shape("size", points)
    tail = -math.expm1(math.log1p(-p) / choices) / 2
    return -float(special.stdtrit(freedom, tail))
