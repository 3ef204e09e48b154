"""How far the axis of values of a figure goes, and what its error bars are.

The interval of a mean of few trials that do not fit each other may reach many times as high as all that was measured:
an axis that went along would press everything else flat. So it goes no further beyond what was measured than ROOM, and
the figure says how many bars go on beyond it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from perfdb.analysis.query.query import Summary
from perfdb.analysis.render.charts.chart_options import Drawing, Errors, Scale, Trials
from perfdb.analysis.tables.table import Cell, CellKey, Table


@dataclass(frozen=True, slots=True)
class Drawn:
    """A cell, its height (None: nothing to draw), and the reach of its error bar below and above.

    ``unit`` is what stands for 1, in the metric's unit; None where a cell has no baseline to be related to.
    """

    cell: Cell
    y: float | None
    reach: tuple[float, float] = (0.0, 0.0)
    unit: float | None = 1.0


def draw_cells(table: Table, drawing: Drawing) -> dict[CellKey, Drawn]:
    """Each cell as it is drawn. Relative to a baseline, a cell without one is not drawn, and a baseline is 1."""
    return {key: _drawn(table, cell, drawing) for key, cell in table.cells.items()}


def _drawn(table: Table, cell: Cell, drawing: Drawing) -> Drawn:
    unit = _unit(cell, drawing)
    if cell.centre is None or unit is None:
        return Drawn(cell, None, unit=unit)
    below, above = _reach(table, cell, drawing.errors, cell.centre)
    return Drawn(cell, cell.centre / unit, (below / unit, above / unit), unit)


def _unit(cell: Cell, drawing: Drawing) -> float | None:
    """What stands for 1: the unit itself, or the mean of the base; a baseline's own cell is its own base."""
    if drawing.scale is Scale.UNIT:
        return 1.0
    base = cell.comparison.base_mean if cell.comparison else cell.mean
    return base if base is not None and base > 0 else None


def _reach(table: Table, cell: Cell, errors: Errors, centre: float) -> tuple[float, float]:
    """How far below and above the centre the error bar ends; nothing for a single run."""
    if errors is Errors.NONE or cell.n < 2:
        return 0.0, 0.0
    if errors is Errors.INTERVAL and table.query.summary is Summary.MEAN:
        return (centre - cell.interval[0], cell.interval[1] - centre) if cell.interval else (0.0, 0.0)
    values = [point.value for point in cell.sample]
    # The mean of equal numbers can lie beside them by its rounding.
    return max(0.0, centre - min(values)), max(0.0, max(values) - centre)


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
    def from_tables(cls, tables: Sequence[Table], drawing: Drawing, axis: str = "y") -> "Extent":
        """The extent along an axis. One that is logarithmic bears whatever an interval reaches to."""
        drawn = [each for table in tables for each in draw_cells(table, drawing).values() if each.y is not None]
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
