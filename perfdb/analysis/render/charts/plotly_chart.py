"""Tables as Plotly charts; the page's style sheet decides on colours.

A trace has the number of a colour (``meta.series``), which the page maps to its theme; a value has the same number
in all charts. Dashes, symbols and patterns identify series without colours. No trace needs WebGL, which perfdb's
content security policy forbids.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import zip_longest

from perfdb.analysis.query.query import Summary
from perfdb.analysis.render import labels
from perfdb.analysis.render.charts.chart_options import Axes, Drawing, Errors, Scale, Trials
from perfdb.analysis.render.charts.chart_series import NO_RANKS, Looks, Plan
from perfdb.analysis.render.charts.traces import MOST_POINTS, Drawn, Figure, draw_cells, traces
from perfdb.analysis.tables.table import Table

# Users whose ends differ by more than this factor would crowd at the left of a linear axis.
_FAR_APART = 16
# More lines than these have a legend instead of names at their ends.
_MOST_DIRECT = 8


ROOM = 1.0
"""Room for error bars above and below the measurements, relative to their height.

The interval of a mean of few different trials may exceed all measurements by far and would flatten the chart, so the
axis is limited, and the chart counts the cut bars.
"""


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


def x_axis(plan: Plan, drawing: Drawing) -> Figure:
    """Return the x axis with ticks at measured values; logarithmic for positive numbers alone.

    Bars are equidistant. Users are logarithmic by default if their ends are far apart.
    """
    axis = {"title": {"text": escape(plan.x_title, quote=False)}, **plan.ticks(plan.joins(drawing))}
    if axis["type"] == "category":
        return axis
    positions = [plan.position(x) for x in plan.xs]
    numbers = [position for position in positions if isinstance(position, float | int)]
    if not numbers or min(numbers) <= 0:
        return axis
    wide = plan.axis == ("users",) and max(numbers) > _FAR_APART * min(numbers)
    logs = drawing.log_axis("x") or (drawing.log is Axes.AUTO and wide)
    return axis | {"type": "log"} if logs else axis


def value_axis(table: Table, drawing: Drawing, extent: Extent, name: str = "y") -> Figure:
    """Return an axis from zero, in the metric's unit or relative to the baseline."""
    text = labels.measure_heading(table.measure)
    if drawing.scale is Scale.BASELINE:
        text = f"{labels.measure_title(table.measure)}, relative to {labels.values_text(table.query.baseline)}"
    axis: Figure = {"title": {"text": escape(text, quote=False)}}
    if drawing.log_axis(name):
        return axis | {"type": "log"}
    axis |= {"rangemode": "tozero"}
    if extent.ends is None:
        return axis
    low, high = extent.ends
    return axis | {"autorangeoptions": {"clipmin": low, "clipmax": high}}


def chart_title(title: str, *parts: str) -> Figure:
    """Return title and subtitle; repeated parts are printed once."""
    said = " · ".join(dict.fromkeys(each for part in parts for each in part.split(" · ") if each))
    return {"text": escape(title, quote=False), "subtitle": {"text": escape(said, quote=False)}}


def error_text(*extents: Extent) -> str:
    """Return the meaning of error bars and the number of cut ones, if any."""
    drawn = [each for each in extents if each.bars]
    if not drawn:
        return ""
    cut = sum(each.cut for each in drawn)
    beyond = f", {cut:,} of which {'goes' if cut == 1 else 'go'} on beyond the figure" if cut else ""
    return ("bars: 95% interval of the mean" if drawn[0].intervals else "bars: smallest to largest trial") + beyond


def trials_text(tables: Sequence[Table], drawing: Drawing) -> str:
    """Return the meaning of small marks, and the number drawn if not all."""
    cells = max((len(table.cells) for table in tables), default=0)
    if drawing.trials is not Trials.POINTS:
        return _thinned("points", cells) if cells > MOST_POINTS else ""
    every = max(sum(cell.n for cell in table.cells.values()) for table in tables)
    some = f" · {_thinned('trials', every)}" if every > MOST_POINTS else ""
    return f"small circles: single trials{some}"


def _thinned(what: str, every: int) -> str:
    return f"drawn: {MOST_POINTS:,} of {every:,} {what}, each stretch's extremes; a narrower question draws all"


def source_text(tables: Sequence[Table]) -> str:
    """Return the number of runs: ``24 runs``."""
    runs = {point.run for table in tables for cell in table.cells.values() for point in cell.sample}
    return f"{len(runs):,} run{'' if len(runs) == 1 else 's'}"


DEFAULT_DRAWING = Drawing()


def figure(table: Table, drawing: Drawing = DEFAULT_DRAWING, looks: Looks = NO_RANKS) -> Figure:
    """Return ``{"data", "layout"}`` for Plotly: lines over a numeric dimension, else grouped bars."""
    return plan_figure(Plan.from_tables([table], looks), table, drawing)


def figure_pair(
    throughput: Table, cost: Table, drawing: Drawing = DEFAULT_DRAWING, looks: Looks = NO_RANKS
) -> tuple[Figure, Figure]:
    """Return two charts with equal series and x axis. Raise ValueError for unlike layouts."""
    check_alike(throughput, cost)
    plan = Plan.from_tables([throughput, cost], looks)
    return plan_figure(plan, throughput, drawing), plan_figure(plan, cost, drawing)


def check_alike(throughput: Table, cost: Table) -> None:
    """Raise ValueError if two tables have unequal layouts."""
    if (throughput.query.rows, throughput.query.columns) != (cost.query.rows, cost.query.columns):
        raise ValueError("a pair of figures needs tables with the same rows and columns")


def plan_figure(plan: Plan, table: Table, drawing: Drawing) -> Figure:
    """Return the chart of a table by a shared plan."""
    extent = Extent.from_tables([table], drawing)
    title = chart_title(
        labels.measure_title(table.measure),
        labels.split_text(table),
        plan.common,
        labels.table_caption(table),
        error_text(extent),
        trials_text([table], drawing),
    )
    layout = base_layout(plan, [table], drawing) | {"title": title, "yaxis": value_axis(table, drawing, extent)}
    if not table.has_values:
        return {"data": [], "layout": layout | empty_layout(table)}
    data = traces(plan, table, drawing)
    if plan.numeric and plan.joins(drawing) and (ends := line_ends(data)):
        layout["meta"] |= {"direct": ends}
    return {"data": data, "layout": layout}


def line_ends(data: Sequence[Figure]) -> Figure | None:
    """Return the place of each line's last point, where its name may stand, and the largest value; None for too many.

    A series without a line keeps the legend.
    """
    lines = [trace for trace in data if trace.get("showlegend", True)]
    if not 1 < len(lines) <= _MOST_DIRECT:
        return None
    ends = []
    for trace in lines:
        points = [(x, y) for x, y in zip(trace["x"], trace["y"], strict=True) if y is not None]
        if not points:
            return None
        ends.append({"name": trace["name"], "x": points[-1][0], "y": points[-1][1]})
    reach = [
        (y or 0.0) + (up or 0.0)
        for trace in data
        for y, up in zip_longest(trace["y"], trace.get("error_y", {}).get("array", ()))
    ]
    return {"ends": ends, "top": max(reach)}


def base_layout(plan: Plan, tables: Sequence[Table], drawing: Drawing) -> Figure:
    """Return the layout common to all charts of a plan."""
    layout: Figure = {
        "xaxis": x_axis(plan, drawing),
        "legend": {"title": {"text": escape(plan.legend, quote=False)}},
        "showlegend": len(plan.series) > 1,
        "hovermode": "closest",
        "meta": {"sources": source_text(tables)},
    }
    # Trials are drawn on their bars.
    return layout if plan.joins(drawing) else layout | {"barmode": "group", "scattermode": "group"}


def empty_layout(table: Table) -> Figure:
    """Return the layout of a chart without data."""
    missing = f"No value of {labels.measure_heading(table.measure)}" if table.cells else "No runs"
    asked = labels.table_caption(table)
    text = f"{missing} for {asked}" if asked else missing
    return {"annotations": [centred_note(text)], "xaxis": {"visible": False}, "yaxis": {"visible": False}}


def centred_note(text: str) -> Figure:
    """Return an annotation in the middle of a chart without data."""
    return {"text": escape(text, quote=False), "showarrow": False, "xref": "paper", "yref": "paper", "x": 0.5, "y": 0.5}
