"""The picture of a history: points over time, its levels, and where it changed."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from perfdb.analysis.trends.changes import Shape
from perfdb.analysis.trends.histories import History
from perfdb.analysis.trends.judge import Judged, State
from perfdb.analysis.trends.words import day_text
from perfdb.analysis.units import significant_text
from perfdb.web.links import to_run

_LEFT, _EDGE, _FOOT = 64, 8, 24
_MOST_TICKS = 5


@dataclass(frozen=True, slots=True)
class Dot:
    """A campaign's mean or, ``faint``, a trial, with the address of its run."""

    x: float
    y: float
    title: str
    address: str = ""


@dataclass(frozen=True, slots=True)
class Plot:
    """A picture in pixels.

    ``levels``: (start, end, height) of the means between changes. ``places``: (start, width) of where a change may
    lie. ``across`` and ``up``: (place, text) of the ticks.
    """

    width: int
    height: int
    trials: list[Dot]
    means: list[Dot]
    levels: list[tuple[float, float, float]]
    places: list[tuple[float, float]]
    across: list[tuple[float, str]]
    up: list[tuple[float, str]]

    @property
    def line(self) -> str:
        """Return the means as the points of a line."""
        return " ".join(f"{dot.x},{dot.y}" for dot in self.means)


def draw_history(history: History, judged: Judged, width: int, height: int, *, large: bool = False) -> Plot:
    """Return the picture of a history; a ``large`` one has axes and trials."""
    left, foot = (_LEFT, _FOOT) if large else (_EDGE, _EDGE)
    moments = _moments(history)
    values = [value for point in history.points for value in (point.values if large else (point.mean,))]
    low, high = min(values), max(values)
    span = (high - low) or abs(high) or 1.0
    low, high = low - 0.06 * span, high + 0.06 * span
    whole = (moments[-1] - moments[0]) or 1.0

    def across(moment: float) -> float:
        return round(left + (moment - moments[0]) / whole * (width - left - _EDGE), 1)

    def up(value: float) -> float:
        return round(_EDGE + (high - value) / (high - low) * (height - foot - _EDGE), 1)

    means = [
        Dot(across(at), up(point.mean), f"{day_text(point.began)}: {significant_text(point.mean, 4)}",
            to_run(point.runs[0]) if large else "")
        for at, point in zip(moments, history.points, strict=True)
    ]  # fmt: skip
    trials = [
        Dot(across(at), up(value), "") for at, point in zip(moments, history.points, strict=True)
        for value in point.values if len(point.values) > 1
    ]  # fmt: skip
    shown = [
        each.change for each in judged.findings if each.state is not State.NOT_SHOWN and each.change.shape is Shape.STEP
    ]
    return Plot(
        width,
        height,
        trials if large else [],
        means,
        [
            (across(moments[start]), across(moments[end - 1]), up(_mean(history, start, end)))
            for start, end in pairwise([0, *(change.k for change in shown), len(moments)])
        ],
        [
            (across(moments[first]), round(max(2.0, across(moments[last]) - across(moments[first])), 1))
            for first, last in (change.place for change in shown)
        ],
        _day_ticks(history, [each.x for each in means]) if large else [],
        [(up(value), significant_text(value, 3)) for value in _round_values(low, high)] if large else [],
    )


def _moments(history: History) -> list[float]:
    """Return the moments of the points; even spacing if any is unknown."""
    if all(point.began for point in history.points):
        return [datetime.fromisoformat(point.began).timestamp() for point in history.points]
    return [float(at) for at in range(len(history.points))]


def _mean(history: History, start: int, end: int) -> float:
    means = [point.mean for point in history.points[start:end]]
    return sum(means) / len(means)


def _day_ticks(history: History, places: Sequence[float]) -> list[tuple[float, str]]:
    """Return the days of some points, evenly chosen; the first and the last are among them."""
    last = len(places) - 1
    chosen = sorted({round(last * step / (_MOST_TICKS - 1)) for step in range(_MOST_TICKS)})
    return [(places[at], day_text(history.points[at].began)) for at in chosen]


def _round_values(low: float, high: float) -> list[float]:
    return [low + (high - low) * share for share in (0.1, 0.5, 0.9)]
