"""The traces of a figure: a line or group of bars for each series, and its trials as points.

Each point carries the runs behind it (``customdata``), what is said of it (``hovertext``), and how the list of runs
asks for them: ``meta.runs`` is that of the whole series, ``meta.at`` what each point adds to it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import urlencode

from perfdb.analysis.dimensions import Value
from perfdb.analysis.parameters import spelled
from perfdb.analysis.query import Query
from perfdb.analysis.render import labels
from perfdb.analysis.render.axes import lines
from perfdb.analysis.render.drawing import Draw, Drawing, Trials
from perfdb.analysis.render.json import point_data
from perfdb.analysis.render.scaling import Drawn, scaled
from perfdb.analysis.render.series import Plan, place
from perfdb.analysis.render.thinning import share, thinned
from perfdb.analysis.table import Cell, Key, Point, Table
from perfdb.analysis.units import round_half_up

Figure = dict[str, Any]
Shown = Sequence[tuple[Key, Drawn]]

# So many runs a point names; the list of runs has them all.
MOST_NAMED = 8
_MOST_CLICKED = 24


def series_of(plan: Plan, table: Table, drawing: Drawing) -> list[tuple[int, list[tuple[Key, Drawn]]]]:
    """For each series of the plan that the table has cells of: its number, and its cells along the axis."""
    found: dict[Key, dict[Key, Drawn]] = defaultdict(dict)
    for key, drawn in scaled(table, drawing).items():
        x, name = place(table.query, *key)
        found[name][x] = drawn
    numbered = ((number, found[key]) for number, key in enumerate(plan.series) if key in found)
    return [(number, [(x, cells[x]) for x in plan.xs if x in cells]) for number, cells in numbered]


def traces(plan: Plan, table: Table, drawing: Drawing) -> list[Figure]:
    """One trace a series, then one for its trials where these are drawn; never more points than a browser bears."""
    found = series_of(plan, table, drawing)
    part = share(sum(len(shown) for _, shown in found))
    data = [_trace(plan, table, drawing, number, thinned(shown, part, _height)) for number, shown in found]
    return data + (_trials(plan, table, drawing, found) if drawing.trials is Trials.POINTS else [])


def _height(shown: tuple[Key, Drawn]) -> float | None:
    return shown[1].y


def _trace(plan: Plan, table: Table, drawing: Drawing, number: int, shown: Shown) -> Figure:
    trace = _named(plan, number) | {
        "meta": runs_meta(plan, table, number, [x for x, _ in shown]),
        "x": [plan.position(x) for x, _ in shown],
        "y": [drawn.y for _, drawn in shown],
        "customdata": [clicked(table, drawn.cell) for _, drawn in shown],
        "hovertext": [hover(plan, table, number, x, drawn.cell) for x, drawn in shown],
        # Facets name a series where it first appears; the legend keeps the order all the same.
        "legendrank": number + 1,
        **_drawn_as(plan, drawing, number),
    }
    if plan.places and trace["type"] == "bar":
        # A device has its own colour also where it is a bar among others of one series.
        styles = [plan.places[plan.xs.index(x)] for x, _ in shown]
        trace["meta"] |= {"series": [style.colour for style in styles]}
        trace["marker"] = {"pattern": {"shape": [style.hatch for style in styles]}}
    return trace | error_bars("error_y", [drawn for _, drawn in shown])


def _named(plan: Plan, number: int) -> Figure:
    name = escape(plan.names[number], quote=False)
    return {"name": name, "legendgroup": name, "hoverinfo": "text"}


def _trials(plan: Plan, table: Table, drawing: Drawing, found: Sequence[tuple[int, Shown]]) -> list[Figure]:
    """The measurements behind each mean as small marks of its colour."""
    part = share(sum(drawn.cell.n for _, shown in found for _, drawn in shown))
    on = "lines" if lines(plan, drawing) else "bars"
    return [
        _points(plan, table, number, on, thinned(_single(shown), part, lambda each: each[1].value))
        for number, shown in found
    ]


def _single(shown: Shown) -> list[tuple[Key, Point, float]]:
    """Every measurement that is not alone, with its place on the axis, and what stands for 1."""
    repeated = [(x, drawn.unit, drawn.cell.sample) for x, drawn in shown if drawn.unit and drawn.cell.n > 1]
    return [(x, point, unit) for x, unit, sample in repeated for point in sample]


def _points(plan: Plan, table: Table, number: int, on: str, single: Sequence[tuple[Key, Point, float]]) -> Figure:
    return _named(plan, number) | {
        "meta": {"series": plan.styles[number].colour, "trials": on},
        "type": "scatter",
        "mode": "markers",
        "x": [plan.position(x) for x, _, _ in single],
        "y": [point.value / unit for _, point, unit in single],
        "customdata": [[_click(table, point)] for _, point, _ in single],
        "hovertext": [_said([plan.names[number], plan.label(x), _point_text(table, point)]) for x, point, _ in single],
        "showlegend": False,
        "marker": {"symbol": "circle", "size": 5},
        **({"offsetgroup": str(number)} if on == "bars" else {}),
    }


def error_bars(axis: str, drawn: Sequence[Drawn]) -> Figure:
    """The error bars along an axis (``error_x`` or ``error_y``); nothing where no point has one."""
    if all(each.reach == (0.0, 0.0) for each in drawn):
        return {}
    return {
        axis: {
            "type": "data",
            "symmetric": False,
            "array": [each.reach[1] for each in drawn],
            "arrayminus": [each.reach[0] for each in drawn],
        }
    }


def _drawn_as(plan: Plan, drawing: Drawing, number: int) -> Figure:
    style = plan.styles[number]
    if not lines(plan, drawing):
        bar: Figure = {"type": "bar", "marker": {"pattern": {"shape": style.hatch}}}
        # What stands on a bar must find it; else bars stand closest without groups of their own.
        carries = drawing.trials is Trials.POINTS or drawing.draw is Draw.BOTH
        return bar | {"offsetgroup": str(number)} if carries else bar
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "line": {"dash": style.line},
        "marker": {"symbol": style.marker},
    }


# What a point leads to.


def clicked(table: Table, cell: Cell) -> list[dict[str, Any]]:
    """The runs that a click may lead to, with their values as they are printed."""
    return [_click(table, point) for point in cell.sample[:_MOST_CLICKED]]


def _click(table: Table, point: Point) -> dict[str, Any]:
    return point_data(point) | {"printed": round_half_up(point.value, table.decimals)}


def asked(query: Query, fixed: Mapping[str, Value]) -> str:
    """The query string by which the list of runs shows those of a question that have these values."""
    filters = {**query.filters, **{name: (value,) for name, value in fixed.items()}}
    return Query(filters=filters, exclude=query.exclude, ranges=query.ranges).encode()


def also(names: Sequence[str], key: Key) -> str:
    """What a point adds to the question for the runs of its series, or says in place of it."""
    return urlencode([(name, spelled(value)) for name, value in zip(names, key, strict=False)])


def runs_meta(plan: Plan, table: Table, number: int, xs: Sequence[Key]) -> dict[str, Any]:
    """A series' colour, and how the list of runs asks for all of it and for each of its points."""
    query, style = table.query, plan.styles[number]
    # The one table without runs has no key, whatever the split.
    fixed = zip((*query.split, *plan.by), (*table.split, *plan.series[number]), strict=False)
    return {"series": style.colour, "runs": asked(query, dict(fixed)), "at": [also(plan.axis, x) for x in xs]}


# What is said of a point.


def hover(plan: Plan, table: Table, number: int, x: Key, cell: Cell) -> str:
    """All there is to know of a cell, in lines."""
    return _said([plan.names[number], plan.label(x), *cell_lines(table, cell)])


def cell_lines(table: Table, cell: Cell) -> list[str]:
    """The cell's value with its interval, comparison, runs and notes."""
    said = []
    if cell.centre is not None:
        said.append(f"{round_half_up(cell.centre, table.decimals)} {table.metric.unit} ({_sample_text(table, cell)})")
    if cell.interval is not None:
        low, high = (round_half_up(end, table.decimals) for end in cell.interval)
        said.append(f"95 % of means: {low} to {high}")
    if cell.comparison is not None:
        said.append(labels.comparison_text(table, cell.comparison))
    said += [_point_text(table, point) for point in cell.sample[:MOST_NAMED]]
    if cell.n > MOST_NAMED:
        said.append(f"and {cell.n - MOST_NAMED} more runs")
    return said + list(labels.notes(cell))


def _said(texts: Iterable[str]) -> str:
    return "<br>".join(escape(text, quote=False) for text in texts if text)


def _sample_text(table: Table, cell: Cell) -> str:
    return "n = 1" if cell.n == 1 else f"{table.query.summary} of n = {cell.n}"


def _point_text(table: Table, point: Point) -> str:
    name = point.run_id or f"run {point.run}"
    named = name if point.trial is None else f"{name}, trial {point.trial}"
    return f"{named}: {round_half_up(point.value, table.decimals)}"
