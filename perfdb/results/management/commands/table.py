"""``manage.py table "metric=trans_per_s&rows=device"``: the tables of a query as aligned text, for a terminal.

The query string is the one of the pages and of /api/v1/tables/.
"""

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl

from django.core.management.base import BaseCommand, CommandError, CommandParser

from perfdb.analysis.parameters import QueryError
from perfdb.analysis.query import Query
from perfdb.analysis.render.grid import Grid, grids
from perfdb.results.querysets import answer

_GAP = "  "


class Command(BaseCommand):
    """Prints a grid for each table; numbers stand under each other."""

    help = "Print the tables that answer a query."

    def add_arguments(self, parser: CommandParser) -> None:
        """The query."""
        parser.add_argument("query", help="a query string, as in the address of a page")

    def handle(self, *args: Any, **options: Any) -> None:
        """Answer the query."""
        try:
            pairs = parse_qsl(options["query"].removeprefix("?"), keep_blank_values=True)
            _, tables = answer(Query.parse(pairs))
        except QueryError as error:
            raise CommandError(str(error)) from None
        self.stdout.write("\n\n".join("\n".join(_printed(grid)) for grid in grids(tables)))


def _printed(grid: Grid) -> Iterator[str]:
    yield from (text for text in (grid.title, grid.caption) if text)
    yield from _aligned(grid) if grid.lines else ["(no runs)"]
    yield from _notes(grid)


def _aligned(grid: Grid) -> Iterator[str]:
    """Row headings to the left, numbers to the right."""
    body = [
        [heading.text if heading else "" for heading in line.headings] + [cell.text for cell in line.cells]
        for line in grid.lines
    ]
    rows = [[*grid.corner, *grid.column_texts], *body]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    left = len(grid.corner)
    for row in rows:
        texts = (
            text.ljust(width) if at < left else text.rjust(width)
            for at, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        yield _GAP.join(texts).rstrip()


def _notes(grid: Grid) -> list[str]:
    """What is to be said about the table and its numbers, each once."""
    of_cells = (note for line in grid.lines for cell in line.cells for note in cell.notes)
    return [f"note: {note}" for note in dict.fromkeys((*grid.warnings, *of_cells))]
