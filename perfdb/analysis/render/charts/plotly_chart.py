"""A Table as a Plotly figure: what is drawn is decided here, how it looks by the page's style sheet.

A trace carries no colour but the number of one (``meta.series``), which the page turns into a colour of its theme;
a value has the same number in every figure (``looks``). Dashes, symbols and patterns tell series apart without
colours. No trace needs WebGL, for which a content security policy would have to allow more than perfdb's does.
"""

from collections.abc import Sequence
from html import escape

from perfdb.analysis.render import labels
from perfdb.analysis.render.charts.axes import (
    Figure,
    error_text,
    heading,
    lines,
    source_text,
    trials_text,
    value_axis,
    x_axis,
)
from perfdb.analysis.render.charts.axis_range import Extent
from perfdb.analysis.render.charts.chart_options import Drawing
from perfdb.analysis.render.charts.chart_series import Plan
from perfdb.analysis.render.charts.series_styles import PLAIN, Looks
from perfdb.analysis.render.charts.traces import traces
from perfdb.analysis.tables.table import Table

AS_USUAL = Drawing()


def figure(table: Table, drawing: Drawing = AS_USUAL, looks: Looks = PLAIN) -> Figure:
    """``{"data", "layout"}`` as Plotly takes it: lines over a numeric dimension, grouped bars otherwise.

    The last dimension of the rows is the x axis and all other dimensions make the series; without rows each column
    is a bar.
    """
    return drawn(Plan.of([table], looks), table, drawing)


def figure_pair(
    throughput: Table, cost: Table, drawing: Drawing = AS_USUAL, looks: Looks = PLAIN
) -> tuple[Figure, Figure]:
    """Two figures to stand beside each other: the same series in the same order and colours, the same x axis.

    Raises ValueError when the two are not laid out alike.
    """
    check_alike(throughput, cost)
    plan = Plan.of([throughput, cost], looks)
    return drawn(plan, throughput, drawing), drawn(plan, cost, drawing)


def check_alike(throughput: Table, cost: Table) -> None:
    """Raises ValueError when the two are not laid out alike."""
    if (throughput.query.rows, throughput.query.columns) != (cost.query.rows, cost.query.columns):
        raise ValueError("a pair of figures needs tables with the same rows and columns")


def drawn(plan: Plan, table: Table, drawing: Drawing) -> Figure:
    """A table by a plan that it may share with others."""
    extent = Extent.of([table], drawing)
    title = heading(
        labels.measure_title(table.measure),
        labels.split_text(table),
        plan.common,
        labels.caption(table),
        error_text(extent),
        trials_text([table], drawing),
    )
    layout = base_layout(plan, [table], drawing) | {"title": title, "yaxis": value_axis(table, drawing, extent)}
    if not any(cell.n for cell in table.cells.values()):
        return {"data": [], "layout": layout | empty(table)}
    return {"data": traces(plan, table, drawing), "layout": layout}


def base_layout(plan: Plan, tables: Sequence[Table], drawing: Drawing) -> Figure:
    """What all kinds of figures over the plan's axis have in common."""
    layout: Figure = {
        "xaxis": x_axis(plan, drawing),
        "legend": {"title": {"text": escape(plan.legend, quote=False)}},
        "showlegend": len(plan.series) > 1,
        "hovermode": "closest",
        "meta": {"sources": source_text(tables)},
    }
    # The trials of a bar stand on it.
    return layout if lines(plan, drawing) else layout | {"barmode": "group", "scattermode": "group"}


def empty(table: Table) -> Figure:
    """What to write where there is nothing to draw."""
    missing = f"No value of {labels.measure_heading(table.measure)}" if table.cells else "No runs"
    asked = labels.caption(table)
    text = f"{missing} for {asked}" if asked else missing
    note = {"text": escape(text, quote=False), "showarrow": False, "xref": "paper", "yref": "paper", "x": 0.5, "y": 0.5}
    return {"annotations": [note], "xaxis": {"visible": False}, "yaxis": {"visible": False}}
