"""Lines to rows: a table's columns and the form of its rows."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from importers.monitor.column_layouts import CLOCK, SYSTEM, Column, Layout, named
from importers.monitor.columns import MISSING, PLAIN, Columns, is_missing, is_overflow, is_plain_number, read_headings

_new = tuple.__new__  # As in ``importers.fragment_builder``.
_CLOCK = re.compile(r"[0-9]+:[0-5][0-9]:[0-5][0-9]")
_TIME = re.compile(r"[0-9]+:[0-9]{2}(?:[:.][0-9]{2})?")
# User ids are in capitals, so none of them is taken for a summary.
_SUMMARY = re.compile(r">*(Mean|Total|Max|System|)[<>]*")
_SUMMARY_STARTS = "<>MST"
_NAME = re.compile(r"[A-Z0-9@#$_:./+-]{1,16}", re.IGNORECASE)
_FIGURE = rf"{PLAIN}|{_TIME.pattern}"
_WORD = rf"(?!n/a\0)[^.*\-\0][^\0]*|{PLAIN}"


class Row(NamedTuple):
    """A row's texts by column, None for missing ones; ``summary`` is "mean", "total" … or ""."""

    line: int
    cells: tuple[str | None, ...]
    summary: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Columns of some headings with their positions. ``key`` is the pattern of a detail row's first cell.

    ``unnamed`` are the value columns without a heading.

    ``form`` matches all cells of a row at once, with a NUL after each, which is faster. Its groups are the cells, None
    for
    those without a value. A row that does not match may still be one, with asterisks or an odd word.
    """

    layout: Layout
    columns: tuple[Column, ...]
    places: Mapping[str, int]
    unnamed: Sequence[str]
    grid: Columns
    key: re.Pattern[str]
    form: re.Pattern[str]

    def row(self, number: int, line: str, before: Sequence[Row], overflowed: list[int]) -> Row | None:
        """Return a line's row, or None. ``overflowed`` gets the number of a row with overflowed values."""
        # As ``grid.cells``, without a call for the lines with a word for each column, which nearly all are.
        words = line.split()
        cells = words if len(words) == len(self.columns) else self.grid.placed(line, len(words))
        if cells is None:
            return None
        first = cells[0]
        summary = _summary(first) if first[:1] in _SUMMARY_STARTS else None
        if summary is None and not (self.key.fullmatch(first) if first else self.layout.continued):
            return None
        # No text of a file has a NUL in it.
        found = self.form.fullmatch("\0".join(cells) + "\0")
        checked = found.groups() if found else self._checked(number, cells, overflowed)
        if checked is None:
            return None
        if not first and before:
            checked = _continued(before[-1], checked)
        return _new(Row, (number, checked, summary))

    def fills(self, line: str) -> bool:
        """Return whether a line is as long as the columns, with text in each."""
        cells = self.grid.cells(line)
        return cells is not None and "" not in cells and len(line) >= self.grid.rights[-1]

    def _checked(self, number: int, cells: Sequence[str], overflowed: list[int]) -> tuple[str | None, ...] | None:
        """Return the cells checked one by one; None if one does not fit its column."""
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
    """Return the kind of a summary row by its first cell, or None."""
    match = _SUMMARY.fullmatch(first) if first else None
    return (match[1].lower() or SYSTEM) if match else None


@lru_cache(256)
def read_table(layout: Layout, headings: tuple[str, ...]) -> Table | None:
    """Return the table of heading lines, cached since pages repeat them; None without columns."""
    grid = read_headings(headings)
    if grid is None:
        return None
    columns = named(layout, grid.names)
    kinds = (_WORD if each.unit in {"", CLOCK} else _FIGURE for each in columns)
    form = re.compile("".join(rf"(?>({kind})\0|(?:{MISSING})?\0)" for kind in kinds))
    # Of several with one name the first.
    places = {each.name: at for at, each in reversed([*enumerate(columns)])}
    unnamed = [name for name in layout.vital if name not in places]
    key = layout.key or (_CLOCK if columns[0].unit == CLOCK else _NAME)
    return Table(layout, columns, places, unnamed, grid, key, form)


def _continued(before: Row, cells: Sequence[str | None]) -> tuple[str | None, ...]:
    """Return a row with its leading blanks filled from the row above."""
    first = next((at for at, cell in enumerate(cells) if cell is not None), len(cells))
    return (*before.cells[:first], *cells[first:])
