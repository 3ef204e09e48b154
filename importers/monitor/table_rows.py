"""Rows of a table, cell by cell."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from importers.monitor.columns import (
    CLOCK,
    SYSTEM,
    Column,
    Columns,
    Layout,
    is_missing,
    is_overflow,
    is_plain_number,
    name_columns,
    read_headings,
)

_CLOCK = re.compile(r"[0-9]+:[0-5][0-9]:[0-5][0-9]")
_TIME = re.compile(r"[0-9]+:[0-9]{2}(?:[:.][0-9]{2})?")
# User ids are in capitals, so none of them is taken for a summary.
_SUMMARY = re.compile(r">*(Mean|Total|Max|System|)[<>]*")
_SUMMARY_STARTS = "<>MST"
_NAME = re.compile(r"[A-Z0-9@#$_:./+-]{1,16}", re.IGNORECASE)


class Row(NamedTuple):
    """A row's texts by column, or None; ``summary`` is "mean", "total" …."""

    line: int
    cells: tuple[str | None, ...]
    summary: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The columns of some headings; ``key`` is a detail row's first cell.

    ``unnamed`` are the columns with values that no heading names.
    """

    layout: Layout
    columns: tuple[Column, ...]
    places: Mapping[str, int]
    unnamed: Sequence[str]
    grid: Columns
    key: re.Pattern[str]

    def row(self, number: int, line: str, before: Sequence[Row], overflowed: list[int]) -> Row | None:
        """Return the row in a line, or None; collect lines with overflows."""
        cells = self.grid.cells(line)
        if cells is None:
            return None
        first = cells[0]
        summary = _summary(first) if first[:1] in _SUMMARY_STARTS else None
        if summary is None and not (self.key.fullmatch(first) if first else self.layout.continued):
            return None
        checked = self._checked(number, cells, overflowed)
        if checked is None:
            return None
        if not first and before:
            checked = _continued(before[-1], checked)
        return Row(number, checked, summary)

    def fills(self, line: str) -> bool:
        """Return whether a line is as long as the columns, with text in each."""
        cells = self.grid.cells(line)
        return cells is not None and "" not in cells and len(line) >= self.grid.rights[-1]

    def _checked(self, number: int, cells: Sequence[str], overflowed: list[int]) -> tuple[str | None, ...] | None:
        """Return the checked cells; None when a cell does not fit the column."""
        checked: list[str | None] = []
        for cell, column in zip(cells, self.columns, strict=True):
            if not cell or is_missing(cell):
                checked.append(None)
            elif is_overflow(cell):
                overflowed.append(number)
                checked.append(None)
            elif is_plain_number(cell) or column.unit in {"", CLOCK} or _TIME.fullmatch(cell):
                checked.append(cell)
            else:
                return None
        return tuple(checked)


def _summary(first: str) -> str | None:
    """Return the kind of summary by a row's first cell, or None."""
    match = _SUMMARY.fullmatch(first) if first else None
    return (match[1].lower() or SYSTEM) if match else None


@lru_cache(256)
def read_table(layout: Layout, headings: tuple[str, ...]) -> Table | None:
    """Return the table of heading lines; None without columns."""
    grid = read_headings(headings)
    if grid is None:
        return None
    columns = name_columns(layout, grid.names)
    # Of several with one name the first.
    places = {each.name: at for at, each in reversed([*enumerate(columns)])}
    unnamed = [name for name in layout.vital if name not in places]
    key = layout.key or (_CLOCK if columns[0].unit == CLOCK else _NAME)
    return Table(layout, columns, places, unnamed, grid, key)


def _continued(before: Row, cells: Sequence[str | None]) -> tuple[str | None, ...]:
    """Fill the leading blanks of a row from the row above."""
    first = next((at for at, cell in enumerate(cells) if cell is not None), len(cells))
    return (*before.cells[:first], *cells[first:])
