"""Rows of cells to a listing: a column for every quantity and unit that any row has."""

from collections.abc import Iterable, Mapping

from importers.model import Listing

Column = tuple[str, str]
"""A quantity's name and its unit as printed."""
Row = tuple[int, Mapping[Column, str]]
"""A row's line and its cells."""


def listing(name: str, rows: Iterable[Row]) -> tuple[Listing, ...]:
    """The rows as the one listing of this name; nothing when they say nothing. None of them is kept as it comes."""
    columns: dict[Column, None] = {}
    table: list[list[str | None]] = []
    lines = []
    for line, cells in rows:
        if not cells.keys() <= columns.keys():
            columns |= dict.fromkeys(cells)
        table.append([cells.get(column) for column in columns])
        lines.append(line)
    if not columns:
        return ()
    for row in table:
        # Columns that only later rows have.
        row.extend([None] * (len(columns) - len(row)))
    return (Listing(name, tuple(columns), table, lines),)
