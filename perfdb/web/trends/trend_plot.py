"""The picture of a history: points over time, its levels, and where it changed."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from statistics import fmean, stdev
from typing import NamedTuple

from perfdb.analysis.trends.changes import Shape
from perfdb.analysis.trends.histories import History
from perfdb.analysis.trends.states import KnownChange, Reason
from perfdb.analysis.trends.words import TONES, effect_text, point_text
from perfdb.analysis.units import significant_text
from perfdb.web.links import to_run

_LEFT, _EDGE, _FOOT = 64, 8, 24
_MOST_TICKS = 5
# Deviations within which 95% of the points of a level are to be expected.
_NORMAL = 1.96


@dataclass(frozen=True, slots=True)
class Dot:
    """A campaign's mean with the address of its run, or a trial."""

    x: float
    y: float
    title: str = ""
    address: str = ""


class LevelLine(NamedTuple):
    """The mean between two changes, and the range around it in which 95% of its points are to be expected."""

    start: float
    end: float
    width: float
    y: float
    top: float
    height: float


class Mark(NamedTuple):
    """A change at its first point; ``tone``: better, worse or none. A suspect one is hollow."""

    x: float
    tone: str
    hollow: bool
    title: str


@dataclass(frozen=True, slots=True)
class Plot:
    """A picture in pixels.

    ``places``: (start, width) of where a change may lie. ``across`` and ``up``: (place, text) of the ticks.
    """

    width: int
    height: int
    trials: list[Dot]
    means: list[Dot]
    levels: list[LevelLine]
    marks: list[Mark]
    places: list[tuple[float, float]]
    across: list[tuple[float, str]]
    up: list[tuple[float, str]]

    @property
    def line(self) -> str:
        """Return the means as the points of a line."""
        return " ".join(f"{dot.x},{dot.y}" for dot in self.means)


def draw_history(
    history: History, known: Sequence[KnownChange], width: int, height: int, *, large: bool = False
) -> Plot:
    """Return the picture of a history with its known changes in order; a ``large`` one has axes and trials."""
    left, foot = (_LEFT, _FOOT) if large else (_EDGE, _EDGE)
    moments = _moments(history)
    values = [value for point in history.points for value in (point.values if large else (point.mean,))]
    low, high = min(values), max(values)
    span = (high - low) or abs(high) or 1.0
    low, high = low - 0.06 * span, high + 0.06 * span
    ticks = [low + (high - low) * share for share in (0.1, 0.5, 0.9)]
    whole = (moments[-1] - moments[0]) or 1.0

    def across(moment: float) -> float:
        return round(left + (moment - moments[0]) / whole * (width - left - _EDGE), 1)

    def up(value: float) -> float:
        return round(_EDGE + (high - value) / (high - low) * (height - foot - _EDGE), 1)

    means = [
        Dot(across(at), up(point.mean), f"{point_text(history, number)}: {significant_text(point.mean)}",
            to_run(point.runs[0])) if large else Dot(across(at), up(point.mean))
        for number, (at, point) in enumerate(zip(moments, history.points, strict=True))
    ]  # fmt: skip
    trials = [
        Dot(across(at), up(value)) for at, point in zip(moments, history.points, strict=True)
        for value in point.values if large and len(point.values) > 1
    ]  # fmt: skip
    shown = [each for each in known if each.change.shape is Shape.STEP and each.reason is not Reason.NOISE]
    ends = [0, *(each.change.k for each in shown), len(moments)]

    def level(start: int, end: int) -> LevelLine:
        points = [point.mean for point in history.points[start:end]]
        middle = fmean(points)
        half = _NORMAL * stdev(points) if len(points) > 1 else 0.0
        top = up(middle + half)
        first, last = across(moments[start]), across(moments[end - 1])
        return LevelLine(first, last, round(last - first, 1), up(middle), top, round(up(middle - half) - top, 1))

    return Plot(
        width,
        height,
        trials,
        means,
        [level(start, end) for start, end in pairwise(ends) if end > start],
        [_mark(history, each, across(moments[each.change.k])) for each in shown],
        [
            (across(moments[first]), round(max(2.0, across(moments[last]) - across(moments[first])), 1))
            for first, last in (each.change.place for each in shown)
        ],
        _day_ticks(history, [each.x for each in means]) if large else [],
        [(up(value), significant_text(value, 3)) for value in ticks] if large else [],
    )


def _moments(history: History) -> list[float]:
    """Return the moments of the points; even spacing if any is unknown, or if something else orders them."""
    if all(point.began and not point.label for point in history.points):
        return [datetime.fromisoformat(point.began).timestamp() for point in history.points]
    return [float(at) for at in range(len(history.points))]


def _mark(history: History, known: KnownChange, x: float) -> Mark:
    effect = effect_text(history.metric, known.change.difference)
    return Mark(x, TONES.get(effect, ""), not known.sure, f"{effect} since {point_text(history, known.change.k)}")


def _day_ticks(history: History, places: Sequence[float]) -> list[tuple[float, str]]:
    """Return the days of some points, evenly chosen; the first and the last are among them."""
    last = len(places) - 1
    chosen = sorted({round(last * step / (_MOST_TICKS - 1)) for step in range(_MOST_TICKS)})
    return [(places[at], point_text(history, at)) for at in chosen]
