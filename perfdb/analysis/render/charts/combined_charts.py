"""Charts of several tables: side by side, as small multiples, or with two axes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from math import ceil
from operator import attrgetter
from typing import Any

from perfdb.analysis.metrics import Measure
from perfdb.analysis.render import labels
from perfdb.analysis.render.charts import plotly_chart
from perfdb.analysis.render.charts.chart_options import Draw, Drawing, Marks
from perfdb.analysis.render.charts.chart_series import NO_RANKS, Looks, Plan, Style
from perfdb.analysis.render.charts.cost_chart import cost_chart
from perfdb.analysis.render.charts.heat_map import heat_map
from perfdb.analysis.render.charts.plotly_chart import DEFAULT_DRAWING, Extent
from perfdb.analysis.render.charts.reduced_tables import turn_lone_position
from perfdb.analysis.render.charts.traces import Figure, traces
from perfdb.analysis.tables.table import Table

# Facets per row.
ACROSS = 3
# Gaps between columns and between rows, with room for ticks and headings.
_BESIDE, _BELOW = 0.06, 0.18
# Pixels of a row, and of title with legend.
_HEIGHT, _AROUND = 280, 140


def facet_chart(tables: Sequence[Table], drawing: Drawing = DEFAULT_DRAWING, looks: Looks = NO_RANKS) -> Figure:
    """Return small multiples of tables with equal layout.

    The x axis is common, and the y axis per measure; a series has one legend entry. Raise ValueError without tables
    and for unequal layouts.
    """
    if len({(table.query.rows, table.query.columns) for table in tables}) != 1:
        raise ValueError("facets are tables with the same rows and columns")
    plan = Plan.from_tables(tables, looks)
    measures = list(dict.fromkeys(table.measure for table in tables))
    extents = {
        each: Extent.from_tables([table for table in tables if table.measure == each], drawing) for each in measures
    }
    layout = plotly_chart.base_layout(plan, tables, drawing) | {
        "title": _title(plan, tables, drawing, extents),
        "showlegend": len(plan.series) > 1,
        "height": _HEIGHT * ceil(len(tables) / ACROSS) + _AROUND,
        "annotations": [],
    }
    # For narrow pages.
    layout["meta"] |= {"facets": len(tables)}
    data, named, first = [], set[str](), dict[Measure, str]()
    for number, table in enumerate(tables):
        at = _Place(number, len(tables), alone=len(measures) > 1)
        for trace in traces(plan, table, drawing):
            # Each series has one legend entry.
            again = trace["name"] in named
            named.add(trace["name"])
            data.append(trace | at.names | {"showlegend": not again})
        scale = first.setdefault(table.measure, at.names["yaxis"])
        layout |= at.axes(
            plotly_chart.x_axis(plan, drawing), plotly_chart.value_axis(table, drawing, extents[table.measure]), scale
        )
        layout["annotations"].append(at.heading(_heading(table, measures)))
    return {"data": data, "layout": layout}


def _heading(table: Table, measures: Sequence[Measure]) -> str:
    """Return a facet's heading: its value of the split, its measure, or both."""
    measure = labels.measure_title(table.measure) if len(measures) > 1 else ""
    return " · ".join(part for part in (measure, labels.split_text(table)) if part)


def _title(plan: Plan, tables: Sequence[Table], drawing: Drawing, extents: Mapping[Measure, Extent]) -> Figure:
    shared = dict(each for each in tables[0].common.items() if all(each in table.common.items() for table in tables))
    titles = dict.fromkeys(map(labels.measure_title, extents))
    errors = plotly_chart.error_text(*extents.values())
    return plotly_chart.chart_title(
        ", ".join(titles),
        plan.common,
        labels.common_text(shared, tables[0].query),
        errors,
        plotly_chart.trials_text(tables, drawing),
    )


@dataclass(frozen=True, slots=True)
class _Place:
    """Position of a facet among ``count``; ``alone``: its y axis needs a title."""

    number: int
    count: int
    alone: bool

    @property
    def _suffix(self) -> str:
        return "" if self.number == 0 else str(self.number + 1)

    @property
    def names(self) -> dict[str, str]:
        """Return the names of the axes to which the facet's traces belong."""
        return {"xaxis": f"x{self._suffix}", "yaxis": f"y{self._suffix}"}

    def axes(self, x: Figure, y: Figure, scale: str) -> Figure:
        """Return axes titled only at the chart's edges; ``scale`` names y's scale."""
        row, column = divmod(self.number, ACROSS)
        rows = ceil(self.count / ACROSS)
        lowest, leftmost = row == (self.count - 1 - column) // ACROSS, column == 0
        shared_x = {"matches": "x"} if self.number else {}
        shared_y = {"matches": scale} if scale != self.names["yaxis"] else {}
        beside = 2 * _BESIDE if self.alone else _BESIDE
        across, up = _part(column, min(self.count, ACROSS), beside), _part(rows - 1 - row, rows, _BELOW / rows)
        untitled = {"title": {"text": ""}}
        return {
            f"xaxis{self._suffix}": x | self._in("y", across) | shared_x | ({} if lowest else untitled),
            f"yaxis{self._suffix}": y | self._in("x", up) | shared_y | ({} if leftmost or self.alone else untitled),
        }

    def _in(self, other: str, domain: list[float]) -> Figure:
        return {"domain": domain, "anchor": f"{other}{self._suffix}"}

    def heading(self, text: str) -> Figure:
        """Return the annotation above the facet."""
        return {
            "text": escape(text, quote=False),
            "showarrow": False,
            "xref": f"x{self._suffix} domain",
            "yref": f"y{self._suffix} domain",
            "x": 0.5,
            "y": 1.0,
            "yanchor": "bottom",
        }


def _part(number: int, count: int, gap: float) -> list[float]:
    """Return the domain of one of ``count`` places, as shares of the chart."""
    size = (1 - gap * (count - 1)) / count
    start = number * (size + gap)
    return [round(start, 4), round(min(1.0, start + size), 4)]


_RIGHT = {"overlaying": "y", "side": "right", "showgrid": False, "tickmode": "auto"}
# Line widths of the two sides in pixels; dashes already stand for values.
_BOLD, _FINE = 2.5, 1.0


def two_axis_chart(throughput: Table, cost: Table, drawing: Drawing, looks: Looks) -> Figure:
    """Chart two like tables: bold filled marks left, fine hollow marks right. Raise ValueError."""
    plotly_chart.check_alike(throughput, cost)
    plan = Plan.from_tables([throughput, cost], looks)
    left, right = (labels.measure_title(table.measure) for table in (throughput, cost))
    extents = [Extent.from_tables([table], drawing) for table in (throughput, cost)]
    layout = plotly_chart.base_layout(plan, [throughput, cost], drawing) | {
        "title": plotly_chart.chart_title(
            f"{left} and {right}",
            labels.split_text(throughput),
            plan.common,
            labels.table_caption(throughput),
            plotly_chart.error_text(*extents),
            plotly_chart.trials_text([throughput, cost], drawing),
        ),
        "yaxis": plotly_chart.value_axis(throughput, drawing, extents[0]),
        "yaxis2": plotly_chart.value_axis(cost, drawing, extents[1]) | _RIGHT,
        "showlegend": True,
    }
    if not (throughput.has_values or cost.has_values):
        return {"data": [], "layout": layout | plotly_chart.empty_layout(throughput)}
    first = [
        trace | {"line": trace["line"] | {"width": _BOLD}} if "line" in trace else trace
        for trace in traces(plan, throughput, drawing)
    ]
    named = {trace["name"] for trace in first}
    second = [_on_the_right(trace, plan) for trace in traces(plan, cost, drawing)]
    for trace in second:
        trace["showlegend"] = trace["name"] not in named
        named.add(trace["name"])
    return {"data": [*_keys(plan, drawing, left, right), *first, *second], "layout": layout}


def _on_the_right(trace: Figure, plan: Plan) -> Figure:
    """Return a trace by the right axis: hollow symbols, fine lines."""
    if trace.get("mode") == "markers":
        return trace | {"yaxis": "y2"}
    names = [escape(name, quote=False) for name in plan.names]
    style = plan.styles[names.index(trace["name"])]
    return trace | _fine(plan, style) | {"yaxis": "y2", "meta": trace["meta"] | {"hollow": True}}


def _fine(plan: Plan, style: Style) -> Figure:
    shape: dict[str, Any] = {"type": "scatter", "mode": "lines+markers" if plan.numeric else "markers"}
    return shape | {"line": {"dash": style.line, "width": _FINE}, "marker": {"symbol": style.marker, "size": 9}}


def _keys(plan: Plan, drawing: Drawing, left: str, right: str) -> list[Figure]:
    """Return legend entries that explain the marks of both axes."""
    filled: Figure = {
        "type": "scatter",
        "mode": "lines+markers",
        "line": {"dash": "solid", "width": _BOLD},
        "marker": {"symbol": "circle"},
    }
    if not plan.joins(drawing):
        filled = {"type": "bar", "marker": {}}
    side = {"yaxis": "y2", "meta": {"series": None, "hollow": True}}
    return [
        _key(left, "left axis") | filled,
        _key(right, "right axis") | _fine(plan, Style(0, "circle", "solid")) | side,
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


def figures(
    tables: Sequence[Table], drawing: Drawing = DEFAULT_DRAWING, looks: Looks = NO_RANKS
) -> list[Figure | None]:
    """Return the charts of a split's tables; None after a chart of two."""
    if drawing.draw is Draw.HEAT:
        return [heat_map(table) for table in tables]
    if drawing.draw in (Draw.BOTH, Draw.EFFICIENCY) and len(tables) > 1:
        together = two_axis_chart if drawing.draw is Draw.BOTH else cost_chart
        rest = [plotly_chart.figure(table, drawing, looks) for table in tables[2:]]
        return [together(tables[0], tables[1], drawing, looks), None, *rest]
    if drawing.marks is Marks.AUTO:
        tables = turn_lone_position(tables)
    if len(tables) == 2:
        return list(plotly_chart.figure_pair(tables[0], tables[1], drawing, looks))
    return [plotly_chart.figure(table, drawing, looks) for table in tables]


def question_charts(
    tables: Sequence[Table], drawing: Drawing = DEFAULT_DRAWING, looks: Looks = NO_RANKS
) -> list[Figure | None]:
    """Return a report's charts as `figures`, or small multiples of a single measure."""
    if len(tables) > 1 and len({table.measure for table in tables}) == 1:
        return [facet_chart(tables, drawing, looks)]
    by_split = groupby(tables, attrgetter("split"))
    return [drawn for _, of_split in by_split for drawn in figures(list(of_split), drawing, looks)]


def combine_charts(tables: Sequence[Table], looks: Looks = NO_RANKS) -> Figure:
    """Return all tables in one chart, as small multiples if several."""
    return facet_chart(tables, looks=looks) if len(tables) > 1 else plotly_chart.figure(tables[0], looks=looks)
