"""Position, error bar and axis range of drawn cells.

The interval of a mean of few different trials may exceed all measurements by far and would flatten the chart, so the
axis is limited to ROOM beyond the measurements, and the chart counts the cut bars.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from perfdb.analysis.query.query import Summary
from perfdb.analysis.render.charts.chart_options import Drawing, Errors, Scale, Trials
from perfdb.analysis.tables.table import Cell, CellKey, Table


@dataclass(frozen=True, slots=True)
class Drawn:
    """A cell as drawn: height and error bar.

    ``y`` is None if the cell is not drawn. ``reach`` is that of the error bar below and above. ``unit`` is the value of
    1, in the metric's unit; None for a relative cell without baseline.
    """

    cell: Cell
    y: float | None
    reach: tuple[float, float] = (0.0, 0.0)
    unit: float | None = 1.0


def draw_cells(table: Table, drawing: Drawing) -> dict[CellKey, Drawn]:
    """Return each cell as drawn; relative to a missing baseline without height."""
    found = {}
    for key, cell in table.cells.items():
        unit = _unit(cell, drawing)
        if cell.centre is None or unit is None:
            found[key] = Drawn(cell, None, unit=unit)
        else:
            below, above = _reach(table, cell, drawing.errors, cell.centre)
            found[key] = Drawn(cell, cell.centre / unit, (below / unit, above / unit), unit)
    return found


def _unit(cell: Cell, drawing: Drawing) -> float | None:
    """Return the value drawn as 1: the unit, or the base's positive mean."""
    if drawing.scale is Scale.UNIT:
        return 1.0
    base = cell.comparison.base_mean if cell.comparison else cell.mean
    return base if base is not None and base > 0 else None


def _reach(table: Table, cell: Cell, errors: Errors, centre: float) -> tuple[float, float]:
    """Return the error bar's reach below and above, 0 for a single run."""
    if errors is Errors.NONE or cell.n < 2:
        return 0.0, 0.0
    if errors is Errors.INTERVAL and table.query.summary is Summary.MEAN:
        return (centre - cell.interval[0], cell.interval[1] - centre) if cell.interval else (0.0, 0.0)
    values = [point.value for point in cell.sample]
    # Rounding may move the mean of equal numbers.
    return max(0.0, centre - min(values)), max(0.0, max(values) - centre)


ROOM = 1.0
"""Room for error bars above and below the measurements, relative to their height."""


@dataclass(frozen=True, slots=True)
class Extent:
    """Extent of the axis that the tables of one measure share.

    ``bars``: there are error bars; ``intervals``: the bars are intervals of means. ``ends`` limit the axis if ``cut``
    bars reach beyond, else None.
    """

    bars: bool
    intervals: bool
    ends: tuple[float, float] | None = None
    cut: int = 0

    @classmethod
    def from_tables(cls, tables: Sequence[Table], drawing: Drawing, axis: str = "y") -> "Extent":
        """Return the extent along an axis; logarithmic axes need no limit."""
        drawn = [each for table in tables for each in draw_cells(table, drawing).values() if each.y is not None]
        bars = any(each.reach != (0.0, 0.0) for each in drawn)
        intervals = drawing.errors is Errors.INTERVAL and tables[0].query.summary is Summary.MEAN
        heights = [each.y or 0.0 for each in drawn]
        if not bars or not intervals or drawing.log_axis(axis) or not _cut(drawn, _ends(heights)):
            return cls(bars, intervals)
        if drawing.trials is Trials.POINTS:
            heights += [point.value / each.unit for each in drawn if each.unit for point in each.cell.sample]
        ends = _ends(heights)
        cut = _cut(drawn, ends)
        return cls(bars, intervals, ends, cut) if cut else cls(bars, intervals)


def _ends(heights: Iterable[float]) -> tuple[float, float]:
    """Return the ends of an axis from zero over the heights, with room."""
    known = [0.0, *heights]
    low, high = min(known), max(known)
    room = ROOM * (high - low)
    return low - room, high + room


def _cut(drawn: Iterable[Drawn], ends: tuple[float, float]) -> int:
    """Count the error bars beyond the ends."""
    low, high = ends
    bars = [((each.y or 0.0) - each.reach[0], (each.y or 0.0) + each.reach[1]) for each in drawn]
    return sum(start < low or end > high for start, end in bars)
