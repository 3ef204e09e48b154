"""Tables of a Query as pages show them: grids whose cells lead to the runs behind them, and figures beside them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from perfdb.analysis.parameters import spelled
from perfdb.analysis.render.figure import figure, figure_pair
from perfdb.analysis.render.grid import Grid, GridCell, Heading, Line, grids
from perfdb.analysis.table import Key, Table

# Each drawing costs the browser some 50 ms; a split by run id would ask for thousands.
MOST_CHARTS = 24


@dataclass(frozen=True, slots=True)
class LinkedCell:
    """A printed number, where a click on it leads (empty where no run is behind it), and its footnotes' marks."""

    printed: GridCell
    address: str
    marks: str


class Footnotes:
    """The notes of a table's cells, each said once below it and marked by a letter above."""

    def __init__(self) -> None:
        self._marks: dict[str, str] = {}

    def marks(self, notes: Iterable[str]) -> str:
        """The marks of a cell's notes; a note that is new gets the next letter."""
        return " ".join(self._marks.setdefault(note, _letters(len(self._marks))) for note in notes)

    @property
    def lines(self) -> list[tuple[str, str]]:
        """Marks and notes in the order of their first cell."""
        return [(mark, note) for note, mark in self._marks.items()]


def _letters(number: int) -> str:
    """a to z, then aa to az and so on."""
    first, last = divmod(number, 26)
    return (_letters(first - 1) if first else "") + chr(ord("a") + last)


@dataclass(frozen=True, slots=True)
class Panel:
    """A chart above its table. ``figure`` is None where only the table is shown."""

    number: int
    grid: Grid
    lines: list[tuple[tuple[Heading | None, ...], list[LinkedCell]]]
    figure: dict[str, Any] | None
    footnotes: list[tuple[str, str]]

    @property
    def figure_id(self) -> str:
        """The element that holds the figure's data."""
        return f"figure-{self.number}"


def panels(tables: Sequence[Table]) -> list[list[Panel]]:
    """One group of panels for each value of the split; the two of a pair draw the same series alike."""
    groups = [list(group) for _, group in groupby(tables, key=lambda table: table.split)]
    numbered, drawn = [], 0
    for group in groups:
        figures = _figures(group) if drawn + len(group) <= MOST_CHARTS else [None] * len(group)
        numbered.append([_panel(drawn + at, table, figures[at]) for at, table in enumerate(group)])
        drawn += len(group)
    return numbered


def _figures(group: Sequence[Table]) -> Sequence[dict[str, Any] | None]:
    if len(group) == 2:
        return figure_pair(group[0], group[1])
    return [figure(table) for table in group]


def _panel(number: int, table: Table, drawn: dict[str, Any] | None) -> Panel:
    (grid,) = grids([table])
    footnotes = Footnotes()
    lines = [
        (
            line.headings,
            [
                LinkedCell(cell, address(table, row, column, cell), footnotes.marks(cell.notes))
                for column, cell in _cells(table, line)
            ],
        )
        for row, line in zip(table.rows, grid.lines, strict=True)
    ]
    return Panel(number, grid, lines, drawn, footnotes.lines)


def _cells(table: Table, line: Line) -> Sequence[tuple[Key, GridCell]]:
    return list(zip(table.columns, line.cells, strict=True))


def address(table: Table, row: Key, column: Key, cell: GridCell) -> str:
    """Where a cell leads: its run, or the list of its runs; empty without any."""
    if not cell.runs:
        return ""
    if len(cell.runs) == 1:
        return reverse("web:run", args=[cell.runs[0]])
    query = table.query
    fixed = dict(zip(query.split + query.rows + query.columns, table.split + row + column, strict=True))
    asked = {**query.filters, **{name: (value,) for name, value in fixed.items()}}
    pairs = [(name, spelled(value)) for name, values in asked.items() for value in values]
    return f"{reverse('web:runs')}?{urlencode([*pairs, ('status', 'complete')])}"
