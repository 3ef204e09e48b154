"""Throughput and what it costs in one figure: the one by the left axis, the other by the right."""

from html import escape
from typing import Any

from perfdb.analysis.render import labels
from perfdb.analysis.render.charts.axes import Figure, error_text, heading, lines, trials_text, value_axis
from perfdb.analysis.render.charts.axis_range import Extent
from perfdb.analysis.render.charts.chart_options import Drawing
from perfdb.analysis.render.charts.chart_series import Plan
from perfdb.analysis.render.charts.plotly_chart import AS_USUAL, base_layout, check_alike, empty
from perfdb.analysis.render.charts.series_styles import PLAIN, SYMBOLS, Looks, Style
from perfdb.analysis.render.charts.traces import traces
from perfdb.analysis.tables.table import Table

_RIGHT = {"overlaying": "y", "side": "right", "showgrid": False, "tickmode": "auto"}
# The lines of the two sides, in pixels: a dash belongs to a size everywhere, so that it cannot tell the sides apart.
_BOLD, _FINE = 2.5, 1.0


def two_axes(throughput: Table, cost: Table, drawing: Drawing = AS_USUAL, looks: Looks = PLAIN) -> Figure:
    """One figure of two measures: a series has one colour, symbol and dash, bold and filled by the left axis, fine and
    hollow by the right.

    The legend names each series once, and before them how the two measures are told apart. Raises ValueError when
    the tables are not laid out alike.
    """
    check_alike(throughput, cost)
    plan = Plan.of([throughput, cost], looks)
    left, right = (labels.measure_title(table.measure) for table in (throughput, cost))
    extents = [Extent.of([table], drawing) for table in (throughput, cost)]
    layout = base_layout(plan, [throughput, cost], drawing) | {
        "title": heading(
            f"{left} and {right}",
            labels.split_text(throughput),
            plan.common,
            labels.caption(throughput),
            error_text(*extents),
            trials_text([throughput, cost], drawing),
        ),
        "yaxis": value_axis(throughput, drawing, extents[0]),
        "yaxis2": value_axis(cost, drawing, extents[1]) | _RIGHT,
        "showlegend": True,
    }
    if not any(cell.n for table in (throughput, cost) for cell in table.cells.values()):
        return {"data": [], "layout": layout | empty(throughput)}
    first = [_on_the_left(trace) for trace in traces(plan, throughput, drawing)]
    named = {trace["name"] for trace in first}
    second = [_on_the_right(trace, plan) for trace in traces(plan, cost, drawing)]
    for trace in second:
        trace["showlegend"] = trace["name"] not in named
        named.add(trace["name"])
    return {"data": [*_keys(plan, drawing, left, right), *first, *second], "layout": layout}


def _on_the_left(trace: Figure) -> Figure:
    return trace | {"line": trace["line"] | {"width": _BOLD}} if "line" in trace else trace


def _on_the_right(trace: Figure, plan: Plan) -> Figure:
    """The same series by the right axis: hollow symbols, joined by fine lines where the axis has numbers."""
    if trace.get("mode") == "markers":
        return trace | {"yaxis": "y2"}
    names = [escape(name, quote=False) for name in plan.names]
    style = plan.styles[names.index(trace["name"])]
    return trace | _fine(plan, style) | {"yaxis": "y2", "meta": trace["meta"] | {"hollow": True}}


def _fine(plan: Plan, style: Style) -> Figure:
    shape: dict[str, Any] = {"type": "scatter", "mode": "lines+markers" if plan.numeric else "markers"}
    # What is hollow already by the left axis has a dot in it here.
    symbol = SYMBOLS[style.symbol] + ("-dot" if style.hollow else "")
    return shape | {"line": {"dash": style.line, "width": _FINE}, "marker": {"symbol": symbol, "size": 9}}


def _keys(plan: Plan, drawing: Drawing, left: str, right: str) -> list[Figure]:
    """Two entries of the legend that say which marks belong to which axis."""
    filled: Figure = {
        "type": "scatter",
        "mode": "lines+markers",
        "line": {"dash": "solid", "width": _BOLD},
        "marker": {"symbol": "circle"},
    }
    if not lines(plan, drawing):
        filled = {"type": "bar", "marker": {}}
    side = {"yaxis": "y2", "meta": {"series": None, "hollow": True}}
    return [
        _key(left, "left axis") | filled,
        _key(right, "right axis") | _fine(plan, Style(colour=0, symbol=0, dash=0, pattern=0)) | side,
    ]


def _key(title: str, side: str) -> Figure:
    return {
        "name": escape(f"{title}, {side}", quote=False),
        "x": [None],
        "y": [None],
        "hoverinfo": "skip",
        "legendrank": 0,
        "meta": {"series": None},
    }
