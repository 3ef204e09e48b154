"""Traces of a chart: a line or bars per series, trials, hover texts.

Each point has a text (``hovertext``), the runs behind it and the text line that names these (``customdata``).
``meta.runs`` is the run list's query of the series, ``meta.at`` each point's addition.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import accumulate
from typing import Any, TypeVar
from urllib.parse import urlencode

from perfdb.analysis.dimensions import Value
from perfdb.analysis.query.parameters import spell_value
from perfdb.analysis.query.query import Query, Summary
from perfdb.analysis.render import labels
from perfdb.analysis.render.charts.chart_options import Draw, Drawing, Errors, Scale, Trials
from perfdb.analysis.render.charts.chart_series import Plan, split_key
from perfdb.analysis.tables.observations import Key
from perfdb.analysis.tables.table import Cell, CellKey, Point, Table
from perfdb.analysis.units import significant_text


@dataclass(frozen=True, slots=True)
class Drawn:
    """A cell as drawn: height and error bar.

    ``y`` is None if the cell is not drawn. ``reach`` is that of the error bar below and above. ``unit`` is the value of
    1, in the metric's unit; None for a relative cell without baseline.
    """

    cell: Cell
    y: float | None
    reach: tuple[float, float] = (0.0, 0.0)
    unit: float | None = 1.0


def draw_cells(table: Table, drawing: Drawing) -> dict[CellKey, Drawn]:
    """Return each cell as drawn; relative to a missing baseline without height."""
    found = {}
    for key, cell in table.cells.items():
        unit: float | None = 1.0
        if drawing.scale is Scale.BASELINE:
            base = cell.comparison.base_mean if cell.comparison else cell.mean
            unit = base if base is not None and base > 0 else None
        if cell.centre is None or unit is None:
            found[key] = Drawn(cell, None, unit=unit)
        else:
            below, above = _reach(table, cell, drawing.errors, cell.centre)
            found[key] = Drawn(cell, cell.centre / unit, (below / unit, above / unit), unit)
    return found


def _reach(table: Table, cell: Cell, errors: Errors, centre: float) -> tuple[float, float]:
    """Return the error bar's reach below and above, 0 for a single run."""
    if errors is Errors.NONE or cell.n < 2:
        return 0.0, 0.0
    if errors is Errors.INTERVAL and table.query.summary is Summary.MEAN:
        return (centre - cell.interval[0], cell.interval[1] - centre) if cell.interval else (0.0, 0.0)
    values = [point.value for point in cell.sample]
    # Rounding may move the mean of equal numbers.
    return max(0.0, centre - min(values)), max(0.0, max(values) - centre)


# Runs named by a point; the run list has all.
MOST_NAMED = 8


@dataclass(frozen=True, slots=True)
class HoverText:
    """HTML lines of a point: ``before``, ``names`` of ``runs``, one each, and ``after``."""

    before: Sequence[str]
    names: Sequence[str] = ()
    runs: Sequence[int] = ()
    after: Sequence[str] = ()

    def under(self, *headings: str) -> "HoverText":
        """Prepend headings in plain text; empty ones are left out."""
        return HoverText([*_lines(headings), *self.before], self.names, self.runs, self.after)

    @property
    def text(self) -> str:
        """Return all lines for Plotly."""
        return "<br>".join((*self.before, *self.names, *self.after))


def hover_data(said: Iterable[HoverText]) -> dict[str, Any]:
    """Return a trace's hover fields; ``line`` is the first line that names a run."""
    every = list(said)
    return {
        "hovertext": [each.text for each in every],
        "customdata": [{"line": len(each.before), "runs": list(each.runs)} for each in every],
        "hoverinfo": "text",
    }


def cell_hover(table: Table, cell: Cell) -> HoverText:
    """Return a cell's hover text: value, interval, comparison, runs and notes."""
    lines = []
    if cell.centre is not None:
        sample = "n = 1" if cell.n == 1 else f"{table.query.summary} of n = {cell.n}"
        lines.append(f"{significant_text(cell.centre)} {table.metric.unit} ({sample})")
    if cell.range is not None:
        lines.append(f"{labels.range_text(cell)} {table.metric.unit}: the runs have no common mean")
    if cell.interval is not None:
        low, high = map(significant_text, cell.interval)
        lines.append(f"95% of means: {low} to {high}")
    if cell.comparison is not None:
        lines.append(labels.comparison_text(table, cell.comparison))
    named = cell.sample[:MOST_NAMED]
    more = [f"and {cell.n - MOST_NAMED} more runs"] if cell.n > MOST_NAMED else []
    return HoverText(
        _lines(lines),
        _lines(_point_text(table, point) for point in named),
        [point.run for point in named],
        _lines([*more, *labels.cell_notes(cell)]),
    )


def trial_hover(table: Table, point: Point) -> HoverText:
    """Return the hover text of a single measurement."""
    return HoverText((), _lines([_point_text(table, point)]), [point.run])


def _lines(texts: Iterable[str]) -> list[str]:
    return [escape(text, quote=False) for text in texts if text]


def _point_text(table: Table, point: Point) -> str:
    name = point.run_id or f"run {point.run}"
    named = name if point.trial is None else f"{name}, trial {point.trial}"
    return f"{named}: {significant_text(point.value)}"


# Enough for both extremes per pixel of a few lines on a wide screen. Browsers need WebGL for more,
# which perfdb's content security policy forbids.
MOST_POINTS = 3_500

# The part of a position that its bars take.
_GROUP = 0.8

_Each = TypeVar("_Each")


def drawn_share(points: int) -> float:
    """Return the share of a chart's points that is drawn."""
    return 1.0 if points <= MOST_POINTS else MOST_POINTS / points


def thin_points(points: Sequence[_Each], part: float, height: Callable[[_Each], float | None]) -> Sequence[_Each]:
    """Return about this share of points: first, last, and the extremes of each stretch.

    A point without height stays only if its whole stretch has none: it is a gap.
    """
    return points if part == 1 else [points[number] for number in keep_indexes([height(each) for each in points], part)]


def keep_indexes(heights: Sequence[float | None], part: float) -> Sequence[int]:
    """Return the indexes that ``thin_points`` keeps."""
    wanted = int(len(heights) * part)
    if wanted >= len(heights) or len(heights) <= 4:
        return range(len(heights))
    return sorted({0, len(heights) - 1, *_extremes(heights, max(1, wanted // 2 - 1))})


def _extremes(heights: Sequence[float | None], stretches: int) -> Iterator[int]:
    """Yield the indexes of lowest and highest point of equal stretches."""
    for stretch in range(stretches):
        start, end = (len(heights) * each // stretches for each in (stretch, stretch + 1))
        there = [height for height in heights[start:end] if height is not None]
        yield heights.index(min(there), start) if there else start
        yield heights.index(max(there), start) if there else start


Figure = dict[str, Any]
Shown = Sequence[tuple[Key, Drawn]]


def series_of(plan: Plan, table: Table, drawing: Drawing) -> list[tuple[int, list[tuple[Key, Drawn]]]]:
    """Return number and cells along the axis of each series that the table has."""
    found: dict[Key, dict[Key, Drawn]] = defaultdict(dict)
    for key, drawn in draw_cells(table, drawing).items():
        x, name = split_key(table.query, *key)
        found[name][x] = drawn
    numbered = ((number, found[key]) for number, key in enumerate(plan.series) if key in found)
    return [(number, [(x, cells[x]) for x in plan.xs if x in cells]) for number, cells in numbered]


def traces(plan: Plan, table: Table, drawing: Drawing) -> list[Figure]:
    """Return at most MOST_POINTS points: traces of series, ranges of mixed cells, trials."""
    found = series_of(plan, table, drawing)
    part = drawn_share(sum(len(shown) for _, shown in found))
    data = [
        _trace(plan, table, drawing, number, thin_points(shown, part, lambda each: each[1].y))
        for number, shown in found
    ]
    if data and data[0]["type"] == "bar" and "offsetgroup" not in data[0]:
        _centre_bars(data)
    data += [trace for number, shown in found for trace in _ranges(plan, table, drawing, number, shown)]
    if drawing.trials is Trials.POINTS:
        part = drawn_share(sum(drawn.cell.n for _, shown in found for _, drawn in shown))
        data += [_points(plan, table, number, drawing, _single(shown, part)) for number, shown in found]
    return data


def _centre_bars(bars: Sequence[Figure]) -> None:
    """Centre each position's bars on the tick, unless every series has bars everywhere.

    Marks on bars cannot follow: Plotly places these by the slots of all series.
    """
    there: dict[Any, list[int]] = defaultdict(list)
    for number, trace in enumerate(bars):
        for x, y in zip(trace["x"], trace["y"], strict=True):
            if y is not None:
                there[x].append(number)
    most = max(map(len, there.values()), default=0)
    if all(len(numbers) == len(bars) for numbers in there.values()) or not most:
        return
    width = _GROUP / most
    for number, trace in enumerate(bars):
        found = [there[x] for x in trace["x"]]
        trace["width"] = width
        trace["offset"] = [
            (numbers.index(number) - len(numbers) / 2) * width if number in numbers else 0.0 for numbers in found
        ]


def _trace(plan: Plan, table: Table, drawing: Drawing, number: int, shown: Shown) -> Figure:
    trace = _named(plan, number) | {
        "meta": runs_meta(plan, table, number, [x for x, _ in shown]),
        "x": [plan.position(x) for x, _ in shown],
        "y": [drawn.y for _, drawn in shown],
        **hover_data(cell_hover(table, drawn.cell).under(plan.whole[number], plan.label(x)) for x, drawn in shown),
        # Keeps the legend's order across facets.
        "legendrank": number + 1,
        **_drawn_as(plan, drawing, number),
    }
    if trace["type"] == "scatter" and drawing.draw is not Draw.BOTH:
        # Filled for repeated values, hollow for single runs.
        style = plan.styles[number]
        symbols = [f"{style.marker}-open" if drawn.cell.n == 1 else style.marker for _, drawn in shown]
        trace["marker"] = {"symbol": symbols[0] if len(set(symbols)) == 1 else symbols}
    if plan.places and trace["type"] == "bar":
        # Bars of one series have the colours of their devices.
        styles = [plan.places[plan.xs.index(x)] for x, _ in shown]
        trace["meta"] |= {"series": [style.colour for style in styles]}
        trace["marker"] = {"pattern": {"shape": [style.hatch for style in styles]}}
    return trace | error_bars("error_y", [drawn for _, drawn in shown])


def _ranges(plan: Plan, table: Table, drawing: Drawing, number: int, shown: Shown) -> list[Figure]:
    """Return upright lines from smallest to largest value of cells without mean, if any."""
    ranges = ((x, drawn.cell, drawn.cell.range, drawn.unit) for x, drawn in shown)
    mixed = [(x, cell, [end / unit for end in ends]) for x, cell, ends, unit in ranges if ends and unit]
    if not mixed:
        return []
    xs = [x for x, _, _ in mixed for _ in range(3)]
    texts = [cell_hover(table, cell).under(plan.whole[number], plan.label(x)) for x, cell, _ in mixed]
    trace = _named(plan, number) | {
        "meta": runs_meta(plan, table, number, xs),
        "type": "scatter",
        "mode": "lines+markers",
        "x": [plan.position(x) for x in xs],
        # Nothing joins one range with the next.
        "y": [end for _, _, ends in mixed for end in (*ends, None)],
        **hover_data(text for text in texts for _ in range(3)),
        "showlegend": False,
        "marker": {"symbol": "line-ew-open", "size": 12},
        **({} if plan.joins(drawing) else {"offsetgroup": str(number)}),
    }
    return [trace]


def _named(plan: Plan, number: int) -> Figure:
    name = escape(plan.names[number], quote=False)
    return {"name": name, "legendgroup": name}


def _single(shown: Shown, part: float) -> list[tuple[Key, Point, float]]:
    """Return some trials of repeated cells, with position and value drawn as 1."""
    repeated = [(x, drawn.unit, drawn.cell.sample) for x, drawn in shown if drawn.unit and drawn.cell.n > 1]
    points = [point for _, _, sample in repeated for point in sample]
    starts = list(accumulate([len(sample) for _, _, sample in repeated], initial=0))
    found = []
    for number in keep_indexes([point.value for point in points], part):
        x, unit, _ = repeated[bisect_right(starts, number) - 1]
        found.append((x, points[number], unit))
    return found


def _points(
    plan: Plan, table: Table, number: int, drawing: Drawing, single: Sequence[tuple[Key, Point, float]]
) -> Figure:
    """Return the measurements behind means as small marks."""
    on = "lines" if plan.joins(drawing) else "bars"
    # Thousands of trials share few positions.
    places = {x: (plan.position(x), plan.label(x)) for x in {x for x, _, _ in single}}
    return _named(plan, number) | {
        "meta": {"series": plan.styles[number].colour, "trials": on},
        "type": "scatter",
        "mode": "markers",
        "x": [places[x][0] for x, _, _ in single],
        "y": [point.value / unit for _, point, unit in single],
        **hover_data(trial_hover(table, point).under(plan.whole[number], places[x][1]) for x, point, _ in single),
        "showlegend": False,
        "marker": {"symbol": "circle", "size": 5},
        **({"offsetgroup": str(number)} if on == "bars" else {}),
    }


def error_bars(axis: str, drawn: Sequence[Drawn]) -> Figure:
    """Return the error bars of ``error_x`` or ``error_y``, empty without any."""
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
    if not plan.joins(drawing):
        bar: Figure = {"type": "bar", "marker": {"pattern": {"shape": style.hatch}}}
        # Marks on bars need offset groups; without marks bars are closer.
        carries = drawing.trials is Trials.POINTS or drawing.draw is Draw.BOTH
        return bar | {"offsetgroup": str(number)} if carries else bar
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "line": {"dash": style.line},
        "marker": {"symbol": style.marker},
    }


def runs_query(query: Query, fixed: Mapping[str, Value]) -> str:
    """Return the run list's query string: the query's filters and the fixed values."""
    filters = {**query.filters, **{name: (value,) for name, value in fixed.items()}}
    return Query(filters=filters, exclude=query.exclude, ranges=query.ranges).encode()


def point_query(names: Sequence[str], key: Key) -> str:
    """Return the parameters that a point adds to its series' query."""
    return urlencode([(name, spell_value(value)) for name, value in zip(names, key, strict=False)])


def runs_meta(plan: Plan, table: Table, number: int, xs: Sequence[Key]) -> dict[str, Any]:
    """Return a series' colour and the run-list queries of the series and its points."""
    query, style = table.query, plan.styles[number]
    # A table without runs has no key.
    fixed = zip((*query.split, *plan.by), (*table.split, *plan.series[number]), strict=False)
    return {
        "series": style.colour,
        "runs": runs_query(query, dict(fixed)),
        "at": [point_query(plan.axis, x) for x in xs],
    }
