"""The tables of a split as small figures with common axes, side by side in one."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil

from perfdb.analysis.render import labels
from perfdb.analysis.render.drawing import Drawing
from perfdb.analysis.render.figure import AS_USUAL, Figure, error_text, lines, traces, x_axis, y_axis
from perfdb.analysis.render.looks import PLAIN, Looks
from perfdb.analysis.render.series import Plan
from perfdb.analysis.table import Table

# How many stand beside each other; more make further rows.
ACROSS = 3
# Between columns, and between rows: there the ticks and the next heading stand.
_BESIDE, _BELOW = 0.06, 0.18
# Pixels: of a row, and of title and legend together.
_HEIGHT, _AROUND = 280, 140


def facets(tables: Sequence[Table], drawing: Drawing = AS_USUAL, looks: Looks = PLAIN) -> Figure:
    """One figure of the tables of one measure, a small one for each value of the split, in their order.

    All have the same axes, so that heights can be compared; a series has one entry in the legend. Raises ValueError
    without any table, and for tables of different measures.
    """
    if len({table.measure for table in tables}) != 1:
        raise ValueError("facets are tables of one measure")
    plan = Plan.of(tables, looks)
    layout: Figure = {
        "title": _title(plan, tables, drawing),
        "legend": {"title": {"text": escape(plan.legend, quote=False)}},
        "showlegend": len(plan.series) > 1,
        "hovermode": "closest",
        "height": _HEIGHT * ceil(len(tables) / ACROSS) + _AROUND,
        # How many there are, for a page that is too narrow for several beside each other.
        "meta": {"facets": len(tables)},
        "annotations": [],
    }
    if not lines(plan, drawing):
        layout["barmode"] = "group"
    data, named = [], set[str]()
    for number, table in enumerate(tables):
        at = _Place(number, len(tables))
        for trace in traces(plan, table, drawing):
            # What the first facet says of a series needs no repeating.
            again = trace["name"] in named
            named.add(trace["name"])
            data.append(trace | at.names | {"legendgroup": trace["name"], "showlegend": not again})
        layout |= at.axes(x_axis(plan, drawing), y_axis(table, drawing))
        layout["annotations"].append(at.heading(labels.split_text(table)))
    return {"data": data, "layout": layout}


def _title(plan: Plan, tables: Sequence[Table], drawing: Drawing) -> Figure:
    shared = {name: value for name, value in tables[0].common.items() if _everywhere(tables, name)}
    parts = (plan.common, labels.say(shared), error_text(tables[0], drawing))
    return {
        "text": escape(labels.measure_title(tables[0].measure), quote=False),
        "subtitle": {"text": escape(" · ".join(part for part in parts if part), quote=False)},
    }


def _everywhere(tables: Sequence[Table], name: str) -> bool:
    return all(name in table.common and table.common[name] == tables[0].common[name] for table in tables)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a facet stands among ``count`` of them."""

    number: int
    count: int

    @property
    def _suffix(self) -> str:
        return "" if self.number == 0 else str(self.number + 1)

    @property
    def names(self) -> dict[str, str]:
        """The axes that its traces belong to."""
        return {"xaxis": f"x{self._suffix}", "yaxis": f"y{self._suffix}"}

    def axes(self, x: Figure, y: Figure) -> Figure:
        """Its axes: of the first facet's scale, with a title only at the lower and at the left edge."""
        row, column = divmod(self.number, ACROSS)
        rows = ceil(self.count / ACROSS)
        lowest, leftmost = row == (self.count - 1 - column) // ACROSS, column == 0
        shared = ({"matches": "x"}, {"matches": "y"}) if self.number else ({}, {})
        across, up = _part(column, min(self.count, ACROSS), _BESIDE), _part(rows - 1 - row, rows, _BELOW / rows)
        untitled = {"title": {"text": ""}}
        return {
            f"xaxis{self._suffix}": x | self._in("y", across) | shared[0] | ({} if lowest else untitled),
            f"yaxis{self._suffix}": y | self._in("x", up) | shared[1] | ({} if leftmost else untitled),
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
