"""Cost over throughput: a path per series along the axis of the query."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import accumulate, islice

from perfdb.analysis.metrics import Better
from perfdb.analysis.render import labels
from perfdb.analysis.render.charts import plotly_chart, traces
from perfdb.analysis.render.charts.chart_options import Drawing
from perfdb.analysis.render.charts.chart_series import Looks, Plan
from perfdb.analysis.render.charts.plotly_chart import Extent
from perfdb.analysis.render.charts.traces import Drawn, Figure, HoverText, cell_hover, hover_data
from perfdb.analysis.tables.observations import Key
from perfdb.analysis.tables.table import Table


@dataclass(frozen=True, slots=True)
class Step:
    """A position on the axis with its throughput and cost."""

    x: Key
    rate: Drawn
    cost: Drawn

    @property
    def place(self) -> tuple[float, float]:
        """Return throughput and cost as drawn."""
        return self.rate.y or 0.0, self.cost.y or 0.0


# The least distance of labels, as shares of width and height.
_NEAR = (0.035, 0.07)
_SIGNS = {Better.HIGHER: 1, Better.LOWER: -1, Better.NEUTRAL: 0}
_POSITIONS = ("top center", "bottom center")


def place_labels(texts: Sequence[str], places: Sequence[tuple[float, float]]) -> Iterator[tuple[str, str]]:
    """Yield each label's text and side, so that no two overlap; no text near an equal or two others."""
    across, up = (max(abs(place[axis]) for place in places) * near for axis, near in enumerate(_NEAR))
    taken: list[tuple[str, str, tuple[float, float]]] = []
    for text, (x, y) in zip(texts, places, strict=True):
        near = [(each, side) for each, side, at in taken if abs(at[0] - x) < across and abs(at[1] - y) < up]
        free = next((side for side in _POSITIONS if side not in {side for _, side in near}), None)
        if free is None or text in {each for each, _ in near}:
            yield "", _POSITIONS[0]
        else:
            taken.append((text, free, (x, y)))
            yield text, free


def cost_chart(throughput: Table, cost: Table, drawing: Drawing, looks: Looks) -> Figure:
    """Return CPU cost vs throughput, with intervals both ways; best is right and down.

    Arrows follow the axis; undominated places are joined to a frontier. Raise ValueError for unequal layouts.
    """
    plotly_chart.check_alike(throughput, cost)
    plan = Plan.from_tables([throughput, cost], looks)
    rates, costs = (dict(traces.series_of(plan, table, drawing)) for table in (throughput, cost))
    paths = {number: _steps(rates[number], costs[number]) for number in rates if number in costs}
    along, up = Extent.from_tables([throughput], drawing, "x"), Extent.from_tables([cost], drawing)
    axis = plan.x_title
    layout: Figure = {
        "title": plotly_chart.chart_title(
            f"{labels.measure_title(cost.measure)} over {labels.measure_title(throughput.measure)}",
            labels.split_text(throughput),
            plan.common,
            labels.table_caption(throughput),
            f"numbers at points: {axis}" if axis else "",
            plotly_chart.error_text(along, up),
        ),
        "xaxis": plotly_chart.value_axis(throughput, drawing, along, "x"),
        "yaxis": plotly_chart.value_axis(cost, drawing, up),
        "legend": {"title": {"text": escape(plan.legend, quote=False)}},
        "showlegend": True,
        "hovermode": "closest",
        "meta": {"sources": plotly_chart.source_text([throughput, cost])},
    }
    if not any(paths.values()):
        return {"data": [], "layout": layout | plotly_chart.empty_layout(throughput)}
    steps = [step for path in paths.values() for step in path]
    every = [step.place for step in steps]
    said = [escape(", ".join(map(labels.value_text, step.x)), quote=False) for step in steps]
    named = place_labels(said, every)
    data = [
        trace
        for number, path in paths.items()
        if path
        for trace in _path(plan, (throughput, cost), number, path, list(islice(named, len(path))))
    ]
    return {"data": [*_frontier(every, throughput, cost), *data], "layout": layout}


def _steps(rates: Sequence[tuple[Key, Drawn]], costs: Sequence[tuple[Key, Drawn]]) -> list[Step]:
    """Return the positions with both values."""
    cost = dict(costs)
    return [Step(x, rate, cost[x]) for x, rate in rates if x in cost and rate.y is not None and cost[x].y is not None]


def _path(
    plan: Plan, tables: tuple[Table, Table], number: int, steps: Sequence[Step], texts: Sequence[tuple[str, str]]
) -> list[Figure]:
    style, name = plan.styles[number], escape(plan.names[number], quote=False)
    shared: Figure = {
        "type": "scatter",
        "x": [step.place[0] for step in steps],
        "y": [step.place[1] for step in steps],
        "name": name,
        "legendgroup": name,
        "legendrank": number + 2,
        "meta": traces.runs_meta(plan, tables[0], number, [step.x for step in steps]),
    }
    points = shared | {
        "mode": "lines+markers+text" if plan.numeric else "markers+text",
        "line": {"dash": style.line},
        "marker": {"symbol": style.marker},
        "text": [text for text, _ in texts],
        "textposition": [position for _, position in texts],
        "cliponaxis": False,
        **hover_data(_said(plan, tables, number, step) for step in steps),
        **traces.error_bars("error_x", [step.rate for step in steps]),
        **traces.error_bars("error_y", [step.cost for step in steps]),
    }
    return [points, shared | _arrows(steps)] if plan.numeric and len(steps) > 1 else [points]


def _arrows(steps: Sequence[Step]) -> Figure:
    """Return arrow heads before each point but the first."""
    return {
        "mode": "markers",
        "marker": {
            "symbol": "arrow",
            "angleref": "previous",
            "standoff": 5,
            "size": [0, *[9] * (len(steps) - 1)],
            "opacity": 0.75,
        },
        "showlegend": False,
        "hoverinfo": "skip",
    }


def _said(plan: Plan, tables: tuple[Table, Table], number: int, step: Step) -> HoverText:
    """Return the hover text of both values; the runs are named once."""
    rate, cost = (cell_hover(table, drawn.cell) for table, drawn in zip(tables, (step.rate, step.cost), strict=True))
    over, under = (f"<b>{escape(labels.measure_title(table.measure), quote=False)}</b>" for table in tables)
    both = HoverText(
        [over, *rate.before], rate.names, rate.runs, [*rate.after, under, *cost.before, *cost.names, *cost.after]
    )
    return both.under(plan.whole[number], plan.label(step.x))


def _frontier(every: Sequence[tuple[float, float]], throughput: Table, cost: Table) -> list[Figure]:
    """Return a line through the undominated places; none for measures without direction."""
    across, up = (_SIGNS[table.metric.better] for table in (throughput, cost))
    if not (across and up):
        return []
    best = undominated(every, (across, up))
    alone: Figure = {"mode": "markers", "marker": {"symbol": "circle-open", "size": 20}, "name": "best in both"}
    line: Figure = {"mode": "lines", "line": {"dash": "solid", "width": 9}, "opacity": 0.25}
    return [
        {
            "type": "scatter",
            "x": [x for x, _ in best],
            "y": [y for _, y in best],
            "hoverinfo": "skip",
            "legendrank": 1,
            "meta": {"series": None},
            **(alone if len(best) == 1 else line | {"name": "frontier: nothing is better in both"}),
        }
    ]


def undominated(places: Sequence[tuple[float, float]], signs: tuple[int, int]) -> list[tuple[float, float]]:
    """Return sorted places that none beats in both numbers; -1: smaller is better."""
    ranked = sorted(set(places), key=lambda each: (-signs[0] * each[0], -signs[1] * each[1]))
    best = accumulate((signs[1] * y for _, y in ranked), max)
    before = [float("-inf"), *best]
    return sorted(place for place, top in zip(ranked, before, strict=False) if signs[1] * place[1] > top)
