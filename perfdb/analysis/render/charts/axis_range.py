"""How far the axis of values of a figure goes, and what its error bars are.

The interval of a mean of few trials that do not fit each other may reach many times as high as all that was measured:
an axis that went along would press everything else flat. So it goes no further beyond what was measured than ROOM, and
the figure says how many bars go on beyond it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from perfdb.analysis.query.query import Summary
from perfdb.analysis.render.charts.chart_options import Drawing, Errors, Trials
from perfdb.analysis.render.charts.error_bars import Drawn, scaled
from perfdb.analysis.tables.table import Table

ROOM = 1.0
"""So many times the height of what was measured there is for error bars, above it and below it."""


@dataclass(frozen=True, slots=True)
class Extent:
    """Of the tables of one measure that share an axis: whether there are error ``bars``, and whether these are
    intervals of means. ``ends`` are those of the axis where error bars go on beyond them, and ``cut`` is how many do.
    """

    bars: bool
    intervals: bool
    ends: tuple[float, float] | None = None
    cut: int = 0

    @classmethod
    def of(cls, tables: Sequence[Table], drawing: Drawing, axis: str = "y") -> "Extent":
        """The extent along an axis. One that is logarithmic bears whatever an interval reaches to."""
        drawn = [each for table in tables for each in scaled(table, drawing).values() if each.y is not None]
        bars = any(each.reach != (0.0, 0.0) for each in drawn)
        intervals = drawing.errors is Errors.INTERVAL and tables[0].query.summary is Summary.MEAN
        if not bars or not intervals or drawing.log_axis(axis) or not _cut(drawn, _ends(map(_height, drawn))):
            return cls(bars, intervals)
        heights = map(_height, drawn)
        ends = _ends([*heights, *_trials(drawn)] if drawing.trials is Trials.POINTS else heights)
        cut = _cut(drawn, ends)
        return cls(bars, intervals, ends, cut) if cut else cls(bars, intervals)


def _height(drawn: Drawn) -> float:
    return drawn.y or 0.0


def _trials(drawn: Iterable[Drawn]) -> list[float]:
    return [point.value / each.unit for each in drawn if each.unit for point in each.cell.sample]


def _ends(heights: Iterable[float]) -> tuple[float, float]:
    """Those of an axis from zero over these heights, with room above and below."""
    known = [0.0, *heights]
    low, high = min(known), max(known)
    room = ROOM * (high - low)
    return low - room, high + room


def _cut(drawn: Iterable[Drawn], ends: tuple[float, float]) -> int:
    """How many error bars go on beyond the ends of the axis."""
    low, high = ends
    return sum(_height(each) - each.reach[0] < low or _height(each) + each.reach[1] > high for each in drawn)
