"""Changes of a series: steps, a drift, or two levels in turn, each with its size and place."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from perfdb.analysis.trends.segments import Step, Stretch
from perfdb.analysis.trends.splits import LEAST
from perfdb.analysis.verdicts.distributions import student_quantile

Floats = NDArray[np.float64]

_FEWEST_FOR_DRIFT = 20
_FEWEST_FOR_LEVELS, _LONGEST_LEVEL = 3, 12


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
    rest = level_rests(stretch.tamed[start:end], [step.k - start])
    variance = rest / (n - 2)
    inflation = stretch.inflation
    error = math.sqrt(max(variance, printed**2 / 12) * inflation * (1 / len(left) + 1 / len(right)))
    half = student_quantile(0.975, max(2.0, n / inflation - 2)) * error
    size = float(right.mean() - left.mean())
    place = _place(stretch.tamed[start:end], 6 * variance * inflation)
    return Change(step.k, Shape.STEP, (start + place[0], start + place[1]), step.p, size, size - half, size + half)


def _place(values: Floats, margin: float) -> tuple[int, int]:
    """Return the first and last split that fits as well as the best, but for a margin of squares."""
    n = len(values)
    centred = values - values.mean()
    sums = np.cumsum(centred)
    at = np.arange(LEAST, n - LEAST + 1)
    gained = sums[at - 1] ** 2 * (1 / at + 1 / (n - at))
    good = at[gained >= gained.max() - margin]
    return int(good[0]), int(good[-1])
