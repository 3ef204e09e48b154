"""Differences from the baseline as a coloured grid.

Colours mean better and worse, symmetric around no difference. Undecided cells are grey and hatched; cells that
hold in these runs alone, are likely, or were not repeated, are pale and hatched. Cells
are bars, which print sharply and take patterns.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from perfdb.analysis import dimensions
from perfdb.analysis.metrics import Better
from perfdb.analysis.render import labels
from perfdb.analysis.render.charts.chart_series import varying_indexes
from perfdb.analysis.render.charts.plotly_chart import centred_note, chart_title, source_text
from perfdb.analysis.render.charts.traces import Figure, cell_hover, hover_data, point_query, runs_query
from perfdb.analysis.render.labels import make_diff
from perfdb.analysis.tables.observations import Key
from perfdb.analysis.tables.table import Cell, Table
from perfdb.analysis.verdicts.cells import Comparison, Verdict
from perfdb.analysis.verdicts.words import is_tentative

# From this number of comparisons on, colours are easier than numbers.
MANY = 40
# Least and largest reach of colours in per cent; the least keeps noise pale.
_LEAST, _MOST = 5.0, 100.0
_HATCHED: Figure = {"pattern": {"shape": "/"}}
# Pixels of a line, and around the lines.
_LINE, _AROUND = 28, 150

_UNDECIDED = {Verdict.CANNOT_TELL, Verdict.WITHIN_NOISE, Verdict.NOT_COMPARABLE, Verdict.MIXED}


@dataclass(frozen=True, slots=True)
class _Place:
    """A compared cell with its column and row."""

    across: int
    down: int
    key: Key
    cell: Cell
    comparison: Comparison

    @property
    def percent(self) -> float:
        """Return the difference, 0 if unknown."""
        return self.comparison.percent or 0.0

    @property
    def colours(self) -> str:
        """Return the name of the cell's colour scale, by verdict."""
        if self.comparison.percent is None or self.comparison.verdict in _UNDECIDED:
            return "undecided"
        return "tentative" if is_tentative(self.comparison) else "diff"


def count_compared(table: Table) -> int:
    """Return how many cells are compared with a baseline."""
    return sum(cell.comparison is not None for cell in table.cells.values())


def heat_map(table: Table) -> Figure:
    """Return a heat map of the compared cells, without empty rows and columns.

    ``meta.heat`` names the colours: ``diff``, ``tentative`` (pale) or ``undecided``.
    """
    found = [key for key, cell in table.cells.items() if cell.comparison is not None]
    at_rows, at_columns = ({key[side] for key in found} for side in (0, 1))
    rows = [row for row in table.rows if row in at_rows]
    columns = [column for column in table.columns if column in at_columns]
    layout = _layout(table, rows, columns)
    if not found:
        return {"data": [], "layout": layout | {"annotations": [centred_note("Nothing to compare with the baseline")]}}
    places = [
        _Place(across, down, row + column, cell, cell.comparison)
        for down, row in enumerate(rows)
        for across, column in enumerate(columns)
        if (cell := table.cells.get((row, column))) and cell.comparison
    ]
    kinds = {kind: [each for each in places if each.colours == kind] for kind in ("diff", "tentative", "undecided")}
    if kinds["tentative"]:
        layout["title"]["subtitle"]["text"] += " · pale: in these runs, likely, or not repeated"
    coloured = [abs(place.percent) for place in (*kinds["diff"], *kinds["tentative"])]
    reach = min(_MOST, max((_LEAST, *coloured)))
    return {"data": [_cells(table, those, kind, reach) for kind, those in kinds.items() if those], "layout": layout}


def _layout(table: Table, rows: Sequence[Key], columns: Sequence[Key]) -> Figure:
    query = table.query
    title = chart_title(
        f"{labels.measure_title(table.measure)}: % difference from {labels.values_text(query.baseline)}",
        labels.split_text(table),
        labels.table_caption(table),
        _fixed(query.rows, rows),
        _fixed(query.columns, columns),
        "blue: higher, orange: lower" if table.metric.better is Better.NEUTRAL else "blue: better, orange: worse",
        "hatched: not decided",
    )
    return {
        "title": title,
        "barmode": "overlay",
        "xaxis": _axis(_labels(query.columns, columns, "<br>"), 0.0) | {"range": [-0.5, len(columns) - 0.5]},
        "yaxis": _axis(_labels(query.rows, rows, " · "), 0.5) | {"range": [len(rows), 0]},
        "showlegend": False,
        "hovermode": "closest",
        "height": _LINE * len(rows) + _AROUND,
        "meta": {"sources": source_text([table]), "columns": len(columns)},
    }


def _varying(names: Sequence[str], keys: Sequence[Key]) -> list[int]:
    return varying_indexes(names, keys) or list(range(len(names)))[-1:]


def _fixed(names: Sequence[str], keys: Sequence[Key]) -> str:
    """Return the values shared by all rows, or columns."""
    fixed = [at for at in range(len(names)) if keys and at not in _varying(names, keys)]
    return dimensions.describe_values([names[at] for at in fixed], [keys[0][at] for at in fixed])


def _labels(names: Sequence[str], keys: Sequence[Key], joint: str) -> list[str]:
    varying = _varying(names, keys)
    said = [[dimensions.dimension(names[at]).describe(key[at]) for at in varying] for key in keys]
    return [joint.join(escape(text, quote=False) for text in texts) for texts in said]


def _axis(texts: Sequence[str], first: float) -> Figure:
    """Return an axis with labels one apart, the first at ``first``."""
    shown: Figure = {"type": "linear", "showgrid": False, "zeroline": False, "ticks": "", "tickmode": "array"}
    return shown | {"tickvals": [first + at for at in range(len(texts))], "ticktext": list(texts)}


def _cells(table: Table, places: Sequence[_Place], kind: str, reach: float) -> Figure:
    """Return the trace of a colour scale's cells; ``reach`` is the whole chart's."""
    query, sign = table.query, -1 if table.metric.better is Better.LOWER else 1
    # Numbers on a scale around 0, where positive is better.
    scaled: Figure = {"color": [sign * place.percent for place in places], "cmin": -reach, "cmax": reach}
    return {
        "type": "bar",
        "name": kind,
        "x": [place.across for place in places],
        "y": [0.94] * len(places),
        "base": [place.down + 0.03 for place in places],
        "width": 0.97,
        "text": [
            make_diff(place.comparison).short if place.comparison.percent is not None else "–" for place in places
        ],
        "textposition": "inside",
        "insidetextanchor": "middle",
        "textangle": 0,
        "constraintext": "none",
        **hover_data(
            cell_hover(table, place.cell).under(dimensions.describe_values(query.rows + query.columns, place.key))
            for place in places
        ),
        "meta": {
            "heat": kind,
            "runs": runs_query(query, {}),
            "at": [point_query(query.layout_names, table.split + place.key) for place in places],
        },
        "marker": ({} if kind == "undecided" else scaled) | ({} if kind == "diff" else _HATCHED),
    }
