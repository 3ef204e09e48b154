"""Rows of cells to a listing: a column for every quantity and unit that any row has."""

from collections.abc import Mapping, Sequence

from importers.model import Listing

Column = tuple[str, str]
"""A quantity's name and its unit as printed."""
Row = tuple[int, Mapping[Column, str]]
"""A row's line and its cells."""


def listing(name: str, rows: Sequence[Row]) -> tuple[Listing, ...]:
    """The rows as the one listing of this name; nothing when they say nothing."""
    columns = tuple(dict.fromkeys([column for _, cells in rows for column in cells]))
    if not columns:
        return ()
    table = [[cells.get(column) for column in columns] for _, cells in rows]
    return (Listing(name, columns, table, [line for line, _ in rows]),)
