"""Several tables as small figures with common axes, side by side in one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil

from perfdb.analysis.metrics import Measure
from perfdb.analysis.render import labels
from perfdb.analysis.render.charts.axes import Figure, error_text, heading, trials_text, value_axis, x_axis
from perfdb.analysis.render.charts.axis_range import Extent
from perfdb.analysis.render.charts.chart_options import Drawing
from perfdb.analysis.render.charts.chart_series import Plan
from perfdb.analysis.render.charts.plotly_chart import AS_USUAL, base_layout
from perfdb.analysis.render.charts.series_styles import PLAIN, Looks
from perfdb.analysis.render.charts.traces import traces
from perfdb.analysis.tables.table import Table

# How many stand beside each other; more make further rows.
ACROSS = 3
# Between columns, and between rows: there the ticks and the next heading stand.
_BESIDE, _BELOW = 0.06, 0.18
# Pixels: of a row, and of title and legend together.
_HEIGHT, _AROUND = 280, 140


def facets(tables: Sequence[Table], drawing: Drawing = AS_USUAL, looks: Looks = PLAIN) -> Figure:
    """One figure of several tables that are laid out alike, a small one for each, in their order.

    All have the same x axis, and those of one measure the same y axis, so that heights can be compared; a series has
    one entry in the legend. Raises ValueError without any table, and for tables that are not laid out alike.
    """
    if len({(table.query.rows, table.query.columns) for table in tables}) != 1:
        raise ValueError("facets are tables with the same rows and columns")
    plan = Plan.of(tables, looks)
    measures = list(dict.fromkeys(table.measure for table in tables))
    extents = {each: Extent.of([table for table in tables if table.measure == each], drawing) for each in measures}
    layout = base_layout(plan, tables, drawing) | {
        "title": _title(plan, tables, drawing, extents),
        "showlegend": len(plan.series) > 1,
        "height": _HEIGHT * ceil(len(tables) / ACROSS) + _AROUND,
        "annotations": [],
    }
    # How many there are, for a page that is too narrow for several beside each other.
    layout["meta"] |= {"facets": len(tables)}
    data, named, first = [], set[str](), dict[Measure, str]()
    for number, table in enumerate(tables):
        at = _Place(number, len(tables), alone=len(measures) > 1)
        for trace in traces(plan, table, drawing):
            # What the first facet says of a series needs no repeating.
            again = trace["name"] in named
            named.add(trace["name"])
            data.append(trace | at.names | {"showlegend": not again})
        scale = first.setdefault(table.measure, at.names["yaxis"])
        layout |= at.axes(x_axis(plan, drawing), value_axis(table, drawing, extents[table.measure]), scale)
        layout["annotations"].append(at.heading(_heading(table, measures)))
    return {"data": data, "layout": layout}


def _heading(table: Table, measures: Sequence[Measure]) -> str:
    """What tells a facet apart: the value of the split, the measure, or both."""
    measure = labels.measure_title(table.measure) if len(measures) > 1 else ""
    return " · ".join(part for part in (measure, labels.split_text(table)) if part)


def _title(plan: Plan, tables: Sequence[Table], drawing: Drawing, extents: Mapping[Measure, Extent]) -> Figure:
    shared = {name: value for name, value in tables[0].common.items() if _everywhere(tables, name)}
    titles = dict.fromkeys(map(labels.measure_title, extents))
    errors = error_text(*extents.values())
    return heading(", ".join(titles), plan.common, labels.say(shared), errors, trials_text(tables, drawing))


def _everywhere(tables: Sequence[Table], name: str) -> bool:
    return all(name in table.common and table.common[name] == tables[0].common[name] for table in tables)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a facet stands among ``count`` of them; ``alone``: each needs the title of its own y axis."""

    number: int
    count: int
    alone: bool

    @property
    def _suffix(self) -> str:
        return "" if self.number == 0 else str(self.number + 1)

    @property
    def names(self) -> dict[str, str]:
        """The axes that its traces belong to."""
        return {"xaxis": f"x{self._suffix}", "yaxis": f"y{self._suffix}"}

    def axes(self, x: Figure, y: Figure, scale: str) -> Figure:
        """Its axes: of the scale of the y axis that it names, with a title only where nobody else says it."""
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
        """The value of the split, above the facet."""
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
    """The share of the figure's width or height that a place in it has."""
    size = (1 - gap * (count - 1)) / count
    start = number * (size + gap)
    return [round(start, 4), round(min(1.0, start + size), 4)]
