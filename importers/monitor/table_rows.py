"""Lines to rows: the columns of a table, and what its rows look like."""

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
    """A row's texts by column, None for missing ones; ``summary`` is "mean", "total" … for what is no detail."""

    line: int
    cells: tuple[str | None, ...]
    summary: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The columns that some headings name, and their places. ``key`` is what the first cell of a detail row looks like.

    ``unnamed`` are the columns that figures come from and that no heading names.

    ``form`` is what all cells of a row are, with a NUL behind each: to ask for all at once is quicker. Its groups are
    the cells, None for those without a value. A row that does not match may still be one, with asterisks instead of a
    number or an odd word.
    """

    layout: Layout
    columns: tuple[Column, ...]
    places: Mapping[str, int]
    unnamed: Sequence[str]
    grid: Columns
    key: re.Pattern[str]
    form: re.Pattern[str]

    def row(self, number: int, line: str, before: Sequence[Row], overflowed: list[int]) -> Row | None:
        """The row that a line is; None when it is none. ``overflowed`` gets its number where figures did not fit."""
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
        """Whether a line is as long as the columns and has something in each."""
        cells = self.grid.cells(line)
        return cells is not None and "" not in cells and len(line) >= self.grid.rights[-1]

    def _checked(self, number: int, cells: Sequence[str], overflowed: list[int]) -> tuple[str | None, ...] | None:
        """The cells looked at one by one; None when one is not what its column holds."""
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
    """Which summary a row with this first cell is; None when it is none."""
    match = _SUMMARY.fullmatch(first) if first else None
    return (match[1].lower() or SYSTEM) if match else None


@lru_cache(256)
def read_table(layout: Layout, headings: tuple[str, ...]) -> Table | None:
    """The table that heading lines make; None when they name no columns. Every page of a listing has them again."""
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
    """The leading blanks of a row filled with what stands above; later blanks stay blank."""
    first = next((at for at, cell in enumerate(cells) if cell is not None), len(cells))
    return (*before.cells[:first], *cells[first:])
