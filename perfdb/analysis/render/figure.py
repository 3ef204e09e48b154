"""A Table as a Plotly figure: what is drawn is decided here, how it looks by the page's style sheet.

A trace carries no colour but the number of one (``meta.series``), which the page turns into a colour of its theme;
the same device has the same number in every figure. Dashes and markers tell series apart without colours. Only
scatter and bar traces are used: the WebGL ones need a content security policy that perfdb does not grant.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from perfdb.analysis.render import labels
from perfdb.analysis.render.json import point_data
from perfdb.analysis.render.series import Plan, place
from perfdb.analysis.table import Cell, Key, Point, Table
from perfdb.analysis.units import round_half_up

DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
SYMBOLS = ("circle", "square", "diamond", "cross", "x", "triangle-up", "triangle-down", "star")
PATTERNS = ("", "/", "\\", "x", "-", "|", "+", ".")

Figure = dict[str, Any]


def figure(table: Table) -> Figure:
    """``{"data", "layout"}`` as Plotly takes it: lines over a numeric dimension, grouped bars otherwise.

    The last dimension of the rows is the x axis and all other dimensions make the series; without rows each column
    is a bar.
    """
    return _figure(Plan.of([table]), table)


def figure_pair(throughput: Table, cost: Table) -> tuple[Figure, Figure]:
    """Two figures to stand beside each other: the same series in the same order and colours, the same x axis.

    Raises ValueError when the two are not laid out alike.
    """
    if (throughput.query.rows, throughput.query.columns) != (cost.query.rows, cost.query.columns):
        raise ValueError("a pair of figures needs tables with the same rows and columns")
    plan = Plan.of([throughput, cost])
    return _figure(plan, throughput), _figure(plan, cost)


def _figure(plan: Plan, table: Table) -> Figure:
    series: dict[Key, dict[Key, Cell]] = defaultdict(dict)
    for (row, column), cell in table.cells.items():
        x, name = place(table.query, row, column)
        series[name][x] = cell
    data = [_trace(plan, table, number, series[key]) for number, key in enumerate(plan.series) if key in series]
    layout = _layout(plan, table)
    if not any(cell.n for cell in table.cells.values()):
        return {"data": [], "layout": layout | _empty(table)}
    return {"data": data, "layout": layout}


def _trace(plan: Plan, table: Table, number: int, cells: Mapping[Key, Cell]) -> Figure:
    shown = [(x, cells[x]) for x in plan.xs if x in cells]
    drawn = [cell for _, cell in shown]
    trace: Figure = {
        "name": escape(plan.names[number], quote=False),
        "meta": {"series": plan.styles[number].colour, "variant": plan.styles[number].variant},
        "x": [plan.position(x) for x, _ in shown],
        "y": [cell.centre for cell in drawn],
        "customdata": [[_clicked(table, point) for point in cell.sample] for cell in drawn],
        "hovertext": [_hover(plan, table, number, x, cell) for x, cell in shown],
        "hoverinfo": "text",
        **_drawn_as(plan, number),
    }
    if any(cell.n > 1 for cell in drawn):
        trace["error_y"] = _spread(drawn)
    return trace


def _clicked(table: Table, point: Point) -> dict[str, Any]:
    """What a click on a point may lead to: a run, and its value as it is printed."""
    return point_data(point) | {"printed": round_half_up(point.value, table.metric.decimals)}


def _drawn_as(plan: Plan, number: int) -> Figure:
    if not plan.numeric:
        return {"type": "bar", "marker": {"pattern": {"shape": PATTERNS[number % len(PATTERNS)]}}}
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "line": {"dash": DASHES[plan.styles[number].variant % len(DASHES)]},
        "marker": {"symbol": SYMBOLS[number % len(SYMBOLS)]},
    }


def _spread(cells: Sequence[Cell]) -> Figure:
    """Error bars from the smallest to the largest of the trials; a single run has none."""
    reaches = [_reach(cell) for cell in cells]
    return {
        "type": "data",
        "symmetric": False,
        "array": [above for _, above in reaches],
        "arrayminus": [below for below, _ in reaches],
    }


def _reach(cell: Cell) -> tuple[float, float]:
    if cell.centre is None:
        return 0.0, 0.0
    values = [point.value for point in cell.sample]
    # The mean of equal numbers can lie beside them by its rounding.
    return max(0.0, cell.centre - min(values)), max(0.0, max(values) - cell.centre)


def _hover(plan: Plan, table: Table, number: int, x: Key, cell: Cell) -> str:
    metric = table.metric
    lines = [plan.names[number], plan.label(x)]
    if cell.centre is not None:
        lines.append(f"{round_half_up(cell.centre, metric.decimals)} {metric.unit} ({_sample_text(table, cell)})")
    lines += [f"{_run_text(point)}: {round_half_up(point.value, metric.decimals)}" for point in cell.sample]
    lines += labels.notes(cell)
    return "<br>".join(escape(line, quote=False) for line in lines if line)


def _sample_text(table: Table, cell: Cell) -> str:
    return "n = 1" if cell.n == 1 else f"{table.query.summary} of n = {cell.n}"


def _run_text(point: Point) -> str:
    name = point.run_id or f"run {point.run}"
    return name if point.trial is None else f"{name}, trial {point.trial}"


def _layout(plan: Plan, table: Table) -> Figure:
    parts = (labels.split_text(table), plan.common, labels.caption(table))
    layout: Figure = {
        "title": {
            "text": escape(labels.measure_title(table.measure), quote=False),
            "subtitle": {"text": escape(" · ".join(part for part in parts if part), quote=False)},
        },
        "xaxis": {"title": {"text": escape(plan.x_title, quote=False)}, **plan.ticks()},
        "yaxis": {"title": {"text": escape(labels.measure_heading(table.measure), quote=False)}, "rangemode": "tozero"},
        "legend": {"title": {"text": escape(plan.legend, quote=False)}},
        "showlegend": len(plan.series) > 1,
        "hovermode": "closest",
    }
    return layout if plan.numeric else layout | {"barmode": "group"}


def _empty(table: Table) -> Figure:
    """What to write where there is nothing to draw."""
    missing = f"No value of {labels.measure_heading(table.measure)}" if table.cells else "No runs"
    asked = labels.caption(table)
    text = f"{missing} for {asked}" if asked else missing
    note = {"text": escape(text, quote=False), "showarrow": False, "xref": "paper", "yref": "paper", "x": 0.5, "y": 0.5}
    return {"annotations": [note], "xaxis": {"visible": False}, "yaxis": {"visible": False}}
