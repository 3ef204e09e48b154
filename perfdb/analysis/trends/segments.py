"""Several steps in one series: exact segmentation by least squares, then a test of each step between its neighbours."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from perfdb.analysis.trends import noise
from perfdb.analysis.trends.splits import LEAST, split_ps

Floats = NDArray[np.float64]

# A stretch is searched where its p is below, or where neighbouring means differ by so many errors.
_LOOK, _MOVED = 0.2, 2.5
_SPANS = (3, 6, 12, 24)
KEPT = 0.05


@dataclass(frozen=True, slots=True)
class Stretch:
    """A series' values and tamed values with its autocorrelation; ``p`` and ``best`` are those of its best split."""

    values: Floats
    tamed: Floats
    rho: float
    p: float
    best: int

    @property
    def points(self) -> int:
        """Return the number of points."""
        return len(self.values)

    @property
    def inflation(self) -> float:
        """Return F, by which autocorrelation raises the variance of a mean."""
        return noise.inflation(self.rho)

    def split(self, start: int, end: int) -> tuple[float, int]:
        """Return p and place of the best split of a part."""
        p, at = split_ps(self.values[None, start:end], self.tamed[None, start:end], np.array([self.inflation]))
        return float(p[0]), start + int(at[0])


@dataclass(frozen=True, slots=True)
class Step:
    """A step before point ``k``."""

    k: int
    p: float


def find_steps(stretches: Sequence[Stretch]) -> list[list[Step]]:
    """Return the steps of stretches of equally many points, in order."""
    tamed = np.array([each.tamed for each in stretches])
    rho = np.array([each.rho for each in stretches])
    inflation = (1 + rho) / (1 - rho)
    variance = noise.lag_squares(tamed, 1) / 2 / (1 - rho)
    looked = (np.array([each.p for each in stretches]) < _LOOK) | _moves(tamed, variance * inflation)
    prices = 2 * variance[looked] * inflation[looked] * math.log(tamed.shape[1])
    candidates = iter(_segment(tamed[looked], prices))
    return [_steps(each, next(candidates)) if look else [] for each, look in zip(stretches, looked, strict=True)]


def _steps(stretch: Stretch, candidates: list[int]) -> list[Step]:
    found = _settle(stretch, candidates)
    if not found and stretch.p <= KEPT:
        return [Step(stretch.best, stretch.p)]
    return found


def _moves(tamed: Floats, variance: Floats) -> NDArray[np.bool_]:
    """Return of each row whether the means of neighbouring spans differ by more than noise."""
    points = tamed.shape[1]
    sums = np.concatenate((np.zeros((len(tamed), 1)), np.cumsum(tamed, axis=1)), axis=1)
    found = np.zeros(len(tamed), bool)
    for span in _SPANS:
        if 2 * span <= points:
            means = (sums[:, span:] - sums[:, :-span]) / span
            most = np.abs(means[:, span:] - means[:, :-span]).max(axis=1)
            found |= (variance > 0) & (most > _MOVED * np.sqrt(variance * 2 / span))
    return found


def _segment(tamed: Floats, prices: Floats) -> list[list[int]]:
    """Return the steps of each row that least squares with a price for each choose (dynamic programme)."""
    rows, points = tamed.shape
    centred = tamed - tamed.mean(axis=1, keepdims=True)
    sums, squares = (np.zeros((rows, points + 1)) for _ in range(2))
    np.cumsum(centred, axis=1, out=sums[:, 1:])
    np.cumsum(centred**2, axis=1, out=squares[:, 1:])
    cost = np.full((rows, points + 1), np.inf)
    cost[:, 0] = -prices
    before = np.zeros((rows, points + 1), np.intp)
    every = np.arange(rows)
    for end in range(LEAST, points + 1):
        starts = np.arange(0, end - LEAST + 1)
        gained = (sums[:, end, None] - sums[:, : len(starts)]) ** 2 / (end - starts)
        total = cost[:, : len(starts)] - squares[:, : len(starts)] - gained
        before[:, end] = total.argmin(axis=1)
        cost[:, end] = total[every, before[:, end]] + squares[:, end] + prices
    return [_walk_back(row) for row in before]


def _walk_back(before: NDArray[np.intp]) -> list[int]:
    """Return the beginnings of the levels that lead to the last point."""
    found = []
    end = len(before) - 1
    while before[end]:
        end = int(before[end])
        found.append(end)
    return found[::-1]


def _settle(stretch: Stretch, candidates: list[int]) -> list[Step]:
    """Drop what chance may have made, and move each step to its best split, until nothing moves."""
    places = list(candidates)
    steps: list[Step] = []
    for _ in range(4 * len(candidates) + 4):
        steps, moved = _drop(stretch, places)
        ends = [0, *moved, stretch.points]
        too_short = any(right - left < LEAST for left, right in pairwise(ends))
        if too_short or moved == [step.k for step in steps]:
            return steps
        places = moved
    return steps


def _drop(stretch: Stretch, places: list[int]) -> tuple[list[Step], list[int]]:
    """Return the steps that are left when the weakest are dropped one by one, and where each would split best."""
    left = list(places)
    while left:
        ends = [0, *left, stretch.points]
        tested = [_test(stretch, *ends[at : at + 3]) for at in range(len(left))]
        worst = max(range(len(left)), key=lambda at: tested[at][0])
        if tested[worst][0] <= KEPT:
            return [Step(k, p) for k, (p, _) in zip(left, tested, strict=True)], [at for _, at in tested]
        del left[worst]
    return [], []


def _test(stretch: Stretch, start: int, k: int, end: int) -> tuple[float, int]:
    """Return p, raised for a short level, and best place between a step's neighbours."""
    p, at = stretch.split(start, end)
    if (start, end) != (0, stretch.points):
        p = min(1.0, p * stretch.points / min(k - start, end - k))
    return p, at
