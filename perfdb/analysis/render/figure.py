"""A Table as a Plotly figure: what is drawn is decided here, how it looks by the page's style sheet.

A trace carries no colour but the number of one (``meta.series``), which the page turns into a colour of its theme;
the same device has the same number in every figure. Dashes and markers tell series apart without colours. Only
scatter and bar traces are used: the WebGL ones need a content security policy that perfdb does not grant.
"""

from collections import defaultdict
from collections.abc import Mapping
from html import escape
from typing import Any

from perfdb.analysis.query import Summary
from perfdb.analysis.render import labels
from perfdb.analysis.render.drawing import Drawing, Errors, Marks, Scale
from perfdb.analysis.render.json import point_data
from perfdb.analysis.render.looks import PLAIN, Looks
from perfdb.analysis.render.scaling import Drawn, scaled
from perfdb.analysis.render.series import Plan, place
from perfdb.analysis.table import Cell, Key, Point, Table
from perfdb.analysis.units import round_half_up

Figure = dict[str, Any]
AS_USUAL = Drawing()


def figure(table: Table, drawing: Drawing = AS_USUAL, looks: Looks = PLAIN) -> Figure:
    """``{"data", "layout"}`` as Plotly takes it: lines over a numeric dimension, grouped bars otherwise.

    The last dimension of the rows is the x axis and all other dimensions make the series; without rows each column
    is a bar.
    """
    return _figure(Plan.of([table], looks), table, drawing)


def figure_pair(
    throughput: Table, cost: Table, drawing: Drawing = AS_USUAL, looks: Looks = PLAIN
) -> tuple[Figure, Figure]:
    """Two figures to stand beside each other: the same series in the same order and colours, the same x axis.

    Raises ValueError when the two are not laid out alike.
    """
    if (throughput.query.rows, throughput.query.columns) != (cost.query.rows, cost.query.columns):
        raise ValueError("a pair of figures needs tables with the same rows and columns")
    plan = Plan.of([throughput, cost], looks)
    return _figure(plan, throughput, drawing), _figure(plan, cost, drawing)


def _figure(plan: Plan, table: Table, drawing: Drawing) -> Figure:
    data, layout = traces(plan, table, drawing), _layout(plan, table, drawing)
    if not any(cell.n for cell in table.cells.values()):
        return {"data": [], "layout": layout | _empty(table)}
    return {"data": data, "layout": layout}


def traces(plan: Plan, table: Table, drawing: Drawing) -> list[Figure]:
    """One trace a series of the plan that the table has cells of."""
    series: dict[Key, dict[Key, Drawn]] = defaultdict(dict)
    for key, drawn in scaled(table, drawing).items():
        x, name = place(table.query, *key)
        series[name][x] = drawn
    return [_trace(plan, table, drawing, n, series[key]) for n, key in enumerate(plan.series) if key in series]


def _trace(plan: Plan, table: Table, drawing: Drawing, number: int, cells: Mapping[Key, Drawn]) -> Figure:
    shown = [(x, cells[x]) for x in plan.xs if x in cells]
    trace: Figure = {
        "name": escape(plan.names[number], quote=False),
        "meta": {"series": plan.styles[number].colour},
        "x": [plan.position(x) for x, _ in shown],
        "y": [drawn.y for _, drawn in shown],
        "customdata": [[_clicked(table, point) for point in drawn.cell.sample] for _, drawn in shown],
        "hovertext": [_hover(plan, table, number, x, drawn.cell) for x, drawn in shown],
        "hoverinfo": "text",
        # Facets name a series where it first appears; the legend keeps the order all the same.
        "legendrank": number + 1,
        **_drawn_as(lines(plan, drawing), plan, number),
    }
    reaches = [drawn.reach for _, drawn in shown]
    if any(reach != (0.0, 0.0) for reach in reaches):
        trace["error_y"] = {
            "type": "data",
            "symmetric": False,
            "array": [above for _, above in reaches],
            "arrayminus": [below for below, _ in reaches],
        }
    return trace


def lines(plan: Plan, drawing: Drawing) -> bool:
    """Whether values are joined by lines."""
    return plan.numeric if drawing.marks is Marks.AUTO else drawing.marks is Marks.LINES


def _clicked(table: Table, point: Point) -> dict[str, Any]:
    """What a click on a point may lead to: a run, and its value as it is printed."""
    return point_data(point) | {"printed": round_half_up(point.value, table.decimals)}


def _drawn_as(joined: bool, plan: Plan, number: int) -> Figure:
    if not joined:
        return {"type": "bar", "marker": {"pattern": {"shape": plan.styles[number].hatch}}}
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "line": {"dash": plan.styles[number].line},
        "marker": {"symbol": plan.styles[number].marker},
    }


def _hover(plan: Plan, table: Table, number: int, x: Key, cell: Cell) -> str:
    metric = table.metric
    said = [plan.names[number], plan.label(x)]
    if cell.centre is not None:
        said.append(f"{round_half_up(cell.centre, table.decimals)} {metric.unit} ({_sample_text(table, cell)})")
    if cell.interval is not None:
        low, high = (round_half_up(end, table.decimals) for end in cell.interval)
        said.append(f"95 % of means: {low} to {high}")
    if cell.comparison is not None:
        said.append(labels.comparison_text(table, cell.comparison))
    said += [f"{_run_text(point)}: {round_half_up(point.value, table.decimals)}" for point in cell.sample]
    said += labels.notes(cell)
    return "<br>".join(escape(line, quote=False) for line in said if line)


def _sample_text(table: Table, cell: Cell) -> str:
    return "n = 1" if cell.n == 1 else f"{table.query.summary} of n = {cell.n}"


def _run_text(point: Point) -> str:
    name = point.run_id or f"run {point.run}"
    return name if point.trial is None else f"{name}, trial {point.trial}"


def _layout(plan: Plan, table: Table, drawing: Drawing) -> Figure:
    parts = (labels.split_text(table), plan.common, labels.caption(table), error_text(table, drawing))
    layout: Figure = {
        "title": {
            "text": escape(labels.measure_title(table.measure), quote=False),
            "subtitle": {"text": escape(" · ".join(part for part in parts if part), quote=False)},
        },
        "xaxis": x_axis(plan, drawing),
        "yaxis": y_axis(table, drawing),
        "legend": {"title": {"text": escape(plan.legend, quote=False)}},
        "showlegend": len(plan.series) > 1,
        "hovermode": "closest",
    }
    return layout if lines(plan, drawing) else layout | {"barmode": "group"}


def x_axis(plan: Plan, drawing: Drawing) -> Figure:
    """The x axis: ticks where something was measured; logarithmic only where it has numbers above zero."""
    axis = {"title": {"text": escape(plan.x_title, quote=False)}, **plan.ticks()}
    positions = [plan.position(x) for x in plan.xs]
    numbers = [position for position in positions if isinstance(position, float | int)]
    if drawing.log_axis("x") and plan.numeric and numbers and min(numbers) > 0:
        return axis | {"type": "log", "ticktext": [f"{number:g}" for number in numbers]}
    return axis


def y_axis(table: Table, drawing: Drawing) -> Figure:
    """The y axis: in the metric's unit from zero, or as a ratio to the baseline."""
    text = labels.measure_heading(table.measure)
    if drawing.scale is Scale.BASELINE:
        text = f"{labels.measure_title(table.measure)}, relative to {labels.baseline_text(table.query)}"
    axis: Figure = {"title": {"text": escape(text, quote=False)}}
    return axis | ({"type": "log"} if drawing.log_axis("y") else {"rangemode": "tozero"})


def error_text(table: Table, drawing: Drawing) -> str:
    """What the error bars mean; empty where there are none."""
    if not any(drawn.reach != (0.0, 0.0) for drawn in scaled(table, drawing).values()):
        return ""
    interval = drawing.errors is Errors.INTERVAL and table.query.summary is Summary.MEAN
    return "bars: 95 % interval of the mean" if interval else "bars: smallest to largest trial"


def _empty(table: Table) -> Figure:
    """What to write where there is nothing to draw."""
    missing = f"No value of {labels.measure_heading(table.measure)}" if table.cells else "No runs"
    asked = labels.caption(table)
    text = f"{missing} for {asked}" if asked else missing
    note = {"text": escape(text, quote=False), "showarrow": False, "xref": "paper", "yref": "paper", "x": 0.5, "y": 0.5}
    return {"annotations": [note], "xaxis": {"visible": False}, "yaxis": {"visible": False}}
