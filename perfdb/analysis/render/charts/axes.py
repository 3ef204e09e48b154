"""The axes of a figure and the words around it: titles with units, what error bars mean, what is drawn of how much."""

from collections.abc import Sequence
from html import escape
from typing import Any

from perfdb.analysis.render import labels
from perfdb.analysis.render.charts.axis_range import Extent
from perfdb.analysis.render.charts.chart_options import Drawing, Marks, Scale, Trials
from perfdb.analysis.render.charts.chart_series import Plan
from perfdb.analysis.render.charts.downsample import MOST_POINTS
from perfdb.analysis.tables.table import Table

Figure = dict[str, Any]


def lines(plan: Plan, drawing: Drawing) -> bool:
    """Whether values are joined by lines."""
    return plan.numeric if drawing.marks is Marks.AUTO else drawing.marks is Marks.LINES


def x_axis(plan: Plan, drawing: Drawing) -> Figure:
    """The x axis: ticks where something was measured; logarithmic only where it has numbers above zero.

    Bars stand at equal distances, whatever the numbers.
    """
    axis = {"title": {"text": escape(plan.x_title, quote=False)}, **plan.ticks(lines(plan, drawing))}
    if axis["type"] == "category":
        return axis
    positions = [plan.position(x) for x in plan.xs]
    numbers = [position for position in positions if isinstance(position, float | int)]
    if drawing.log_axis("x") and numbers and min(numbers) > 0:
        return axis | {"type": "log", "ticktext": [f"{number:g}" for number in numbers]}
    return axis


def value_axis(table: Table, drawing: Drawing, extent: Extent, name: str = "y") -> Figure:
    """An axis of values: in the metric's unit from zero, or as a ratio to the baseline."""
    text = labels.measure_heading(table.measure)
    if drawing.scale is Scale.BASELINE:
        text = f"{labels.measure_title(table.measure)}, relative to {labels.baseline_text(table.query)}"
    axis: Figure = {"title": {"text": escape(text, quote=False)}}
    if drawing.log_axis(name):
        return axis | {"type": "log"}
    axis |= {"rangemode": "tozero"}
    if extent.ends is None:
        return axis
    low, high = extent.ends
    return axis | {"autorangeoptions": {"clipmin": low, "clipmax": high}}


def heading(title: str, *parts: str) -> Figure:
    """A title above what holds for the whole figure, each thing said once."""
    said = " · ".join(dict.fromkeys(each for part in parts for each in part.split(" · ") if each))
    return {"text": escape(title, quote=False), "subtitle": {"text": escape(said, quote=False)}}


def error_text(*extents: Extent) -> str:
    """What the error bars mean, and how many the figure has no room for; empty where there are none."""
    drawn = [each for each in extents if each.bars]
    if not drawn:
        return ""
    cut = sum(each.cut for each in drawn)
    beyond = f", {cut:,} of which {'goes' if cut == 1 else 'go'} on beyond the figure" if cut else ""
    return ("bars: 95 % interval of the mean" if drawn[0].intervals else "bars: smallest to largest trial") + beyond


def trials_text(tables: Sequence[Table], drawing: Drawing) -> str:
    """What the small marks are, and how many of them are drawn; or that not every cell is."""
    cells = max((len(table.cells) for table in tables), default=0)
    if drawing.trials is not Trials.POINTS:
        return _thinned("points", cells) if cells > MOST_POINTS else ""
    every = max(sum(cell.n for cell in table.cells.values()) for table in tables)
    some = f" · {_thinned('trials', every)}" if every > MOST_POINTS else ""
    return f"small circles: single trials{some}"


def _thinned(what: str, every: int) -> str:
    """What is drawn of very many points, and how to see all of them."""
    return f"drawn: {MOST_POINTS:,} of {every:,} {what}, each stretch's extremes; a narrower question draws all"


def source_text(tables: Sequence[Table]) -> str:
    """What a figure rests on, for one that leaves its page: ``24 runs``."""
    runs = {point.run for table in tables for cell in table.cells.values() for point in cell.sample}
    return f"{len(runs):,} run{'' if len(runs) == 1 else 's'}"
