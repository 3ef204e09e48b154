"""Rows with different columns to a listing with all columns."""

from collections.abc import Collection, Iterable, Sequence

from importers.model import Listing

Column = tuple[str, str]
"""A quantity's name and its unit as printed."""
Row = tuple[int, tuple[Column, ...], Sequence[str]]
"""A row's line, its columns, and a text for each; of two texts of one column the last counts."""

_Places = Sequence[int | None]
"""The place of each column of a listing in a row, None where missing."""


def listing(name: str, rows: Iterable[Row]) -> tuple[Listing, ...]:
    """Return the rows as a listing in a tuple, or an empty tuple."""
    columns: dict[Column, None] = {}
    table: list[Sequence[str | None]] = []
    lines = []
    # Of rows with these columns; None where they are those of the listing.
    places: dict[tuple[Column, ...], _Places | None] = {}
    for line, own, texts in rows:
        if own not in places:
            columns |= dict.fromkeys(own)
            places[own] = _places(own, columns)
        at = places[own]
        table.append(texts if at is None else [None if place is None else texts[place] for place in at])
        lines.append(line)
    if not columns:
        return ()
    count = len(columns)
    if len(places) > 1:
        # Columns that only later rows have.
        table = [row if len(row) == count else [*row, *[None] * (count - len(row))] for row in table]
    return (Listing(name, tuple(columns), table, lines),)


def _places(own: tuple[Column, ...], columns: Collection[Column]) -> _Places | None:
    if own == tuple(columns):
        return None
    at = {column: place for place, column in enumerate(own)}
    return [at.get(column) for column in columns]
