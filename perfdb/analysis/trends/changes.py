"""Changes of a series: steps, a drift, or two levels in turn, each with its size and place.

Steps are found by exact segmentation by least squares, then a test of each step between its neighbours.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from perfdb.analysis.trends import noise
from perfdb.analysis.trends.splits import LEAST, split_ps
from perfdb.analysis.verdicts.distributions import Floats, student_quantile

# A stretch is searched where its p is below, or where neighbouring means differ by so many errors.
_LOOK, _MOVED = 0.2, 2.5
_SPANS = (3, 6, 12, 24)
_KEPT = 0.05
_FEWEST_FOR_DRIFT = 20
_FEWEST_FOR_LEVELS, _LONGEST_LEVEL = 3, 12


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
    return [_settle(each, next(candidates)) if look else [] for each, look in zip(stretches, looked, strict=True)]


def _moves(tamed: Floats, variance: Floats) -> NDArray[np.bool_]:
    """Return per row whether means of neighbouring spans differ by more than noise."""
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
    found, end = [], len(before) - 1
    while before[end]:
        end = int(before[end])
        found.append(end)
    return found[::-1]


def _settle(stretch: Stretch, candidates: list[int]) -> list[Step]:
    """Drop what chance may have made, and move steps until nothing moves."""
    places, steps = list(candidates), list[Step]()
    for _ in range(4 * len(candidates) + 4):
        steps, moved = _drop(stretch, places)
        ends = [0, *moved, stretch.points]
        too_short = any(right - left < LEAST for left, right in pairwise(ends))
        if too_short or moved == [step.k for step in steps]:
            break
        places = moved
    # Without any left, the best split of all points counts if chance hardly made that.
    return steps or ([Step(stretch.best, stretch.p)] if stretch.p <= _KEPT else [])


def _drop(stretch: Stretch, places: list[int]) -> tuple[list[Step], list[int]]:
    """Return the steps that are left when the weakest are dropped one by one, and where each would split best."""
    left = list(places)
    while left:
        ends = [0, *left, stretch.points]
        tested = [_test(stretch, *ends[at : at + 3]) for at in range(len(left))]
        worst = max(range(len(left)), key=lambda at: tested[at][0])
        if tested[worst][0] <= _KEPT:
            return [Step(k, p) for k, (p, _) in zip(left, tested, strict=True)], [at for _, at in tested]
        del left[worst]
    return [], []


def _test(stretch: Stretch, start: int, k: int, end: int) -> tuple[float, int]:
    """Return p, raised for a short level, and best place between a step's neighbours."""
    p, at = stretch.split(start, end)
    if (start, end) != (0, stretch.points):
        p = min(1.0, p * stretch.points / min(k - start, end - k))
    return p, at


def in_percent(difference: float) -> float:
    """Return a difference of logarithms in per cent."""
    return 100 * math.expm1(difference)


class Shape(StrEnum):
    """How a series changed."""

    STEP = "step"
    DRIFT = "drift"
    LEVELS = "levels"


@dataclass(frozen=True, slots=True)
class Change:
    """A change from point ``k`` on, which the data place between the points ``place``.

    ``difference`` with its 95% ends ``low`` and ``high`` is that of tamed values: logarithms, or the metric's unit on
    a linear scale. Drifts and levels in turn begin at 0; of the latter ``steps`` are counted, and there is no interval.
    """

    k: int
    shape: Shape
    place: tuple[int, int]
    p: float
    difference: float
    low: float
    high: float
    steps: int | None = None


def describe_changes(stretch: Stretch, steps: Sequence[Step], step: float = 0.0) -> list[Change]:
    """Return a stretch's steps, or the drift or the levels in turn that explain them better.

    ``step``: one in the last printed digit over the mean (logarithms), or in the unit (linear).
    """
    if not steps:
        return []
    least = min(step.p for step in steps)
    if stretch.points >= _FEWEST_FOR_DRIFT and _drifts(stretch, steps):
        return [_drift(stretch, min(least, stretch.p))]
    if levels := _levels(stretch, steps, least):
        return [levels]
    ends = [0, *(step.k for step in steps), stretch.points]
    return [_step(stretch, one, ends[at], ends[at + 2], step) for at, one in enumerate(steps)]


def level_rests(values: Floats, places: Sequence[int]) -> float:
    """Return the sum of squares around the means of levels that begin at ``places``."""
    total = 0.0
    for start, end in pairwise([0, *places, len(values)]):
        centred = values[start:end] - values[start:end].mean()
        total += float(centred.dot(centred))
    return total


def _line(values: Floats) -> tuple[float, float]:
    """Return slope and sum of squares around the line of least squares."""
    at = np.arange(len(values)) - (len(values) - 1) / 2
    centred = values - values.mean()
    slope = float(at.dot(centred) / at.dot(at))
    rest = centred - slope * at
    return slope, float(rest.dot(rest))


def _drifts(stretch: Stretch, steps: Sequence[Step]) -> bool:
    n, (_, line) = stretch.points, _line(stretch.tamed)
    around = level_rests(stretch.tamed, [step.k for step in steps])
    if line <= 0 or around <= 0:
        return line <= 0 < around
    return n * math.log(line) + 2 * math.log(n) + 4 <= n * math.log(around) + (2 * len(steps) + 1) * math.log(n)


def _drift(stretch: Stretch, p: float) -> Change:
    n, (slope, rest) = stretch.points, _line(stretch.tamed)
    error = math.sqrt(rest / (n - 2) * stretch.inflation / (n * (n * n - 1) / 12)) * (n - 1)
    half = student_quantile(0.975, max(2.0, n / stretch.inflation - 2)) * error
    size = slope * (n - 1)
    return Change(0, Shape.DRIFT, (0, n - 1), p, size, size - half, size + half)


def _levels(stretch: Stretch, steps: Sequence[Step], p: float) -> Change | None:
    """Return the note on two levels in turn, if the steps are up and down between two kinds of level."""
    if len(steps) < _FEWEST_FOR_LEVELS:
        return None
    parts = list(pairwise([0, *(step.k for step in steps), stretch.points]))
    means = [float(stretch.tamed[start:end].mean()) for start, end in parts]
    ups = [after > before for before, after in pairwise(means)]
    if any(one == other for one, other in pairwise(ups)):
        return None
    odd, even = means[::2], means[1::2]
    difference = math.fsum(even) / len(even) - math.fsum(odd) / len(odd)
    apart = max(max(kind) - min(kind) for kind in (odd, even))
    inner = [end - start for start, end in parts[1:-1]]
    if apart >= abs(difference) / 2 or math.fsum(inner) / len(inner) >= _LONGEST_LEVEL:
        return None
    whole = (0, stretch.points - 1)
    return Change(0, Shape.LEVELS, whole, p, difference, difference, difference, len(steps))


def _step(stretch: Stretch, step: Step, start: int, end: int, printed: float) -> Change:
    left, right = stretch.tamed[start : step.k], stretch.tamed[step.k : end]
    n = end - start
    variance, inflation = level_rests(stretch.tamed[start:end], [step.k - start]) / (n - 2), stretch.inflation
    error = math.sqrt(max(variance, printed**2 / 12) * inflation * (1 / len(left) + 1 / len(right)))
    half = student_quantile(0.975, max(2.0, n / inflation - 2)) * error
    size = float(right.mean() - left.mean())
    place = _place(stretch.tamed[start:end], 6 * variance * inflation)
    return Change(step.k, Shape.STEP, (start + place[0], start + place[1]), step.p, size, size - half, size + half)


def _place(values: Floats, margin: float) -> tuple[int, int]:
    """Return the first and last split that fits as well as the best, but for a margin of squares."""
    n, sums = len(values), np.cumsum(values - values.mean())
    at = np.arange(LEAST, n - LEAST + 1)
    gained = sums[at - 1] ** 2 * (1 / at + 1 / (n - at))
    good = at[gained >= gained.max() - margin]
    return int(good[0]), int(good[-1])
