"""Where a cell is drawn: its height, and how far its error bar reaches, in the unit or relative to its baseline."""

from dataclasses import dataclass

from perfdb.analysis.query.query import Summary
from perfdb.analysis.render.charts.chart_options import Drawing, Errors, Scale
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


def scaled(table: Table, drawing: Drawing) -> dict[CellKey, Drawn]:
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
