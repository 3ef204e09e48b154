"""Tables as grids of texts with places and repeated merged headings."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MOST_CELLS = 20_000
"""Cells that one paste may have, with each repetition of a merged cell; published tables have hundreds."""


_LONGEST_TITLE = 160
_NUMBERED = re.compile(r"(?:table|tab\.)\s*\d+\s*[.:)]?", re.IGNORECASE)
_SENTENCE = re.compile(r"[.;,!?]$")


class TooLargeError(Exception):
    """Error for a paste whose tables have more than MOST_CELLS cells."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A text without surrounding blanks; ``line`` and grid ``column`` count from 1.

    ``merged`` marks a further part of a merged cell, which repeats its text.
    """

    text: str
    line: int
    column: int
    merged: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """One table: rows of equally many cells, and the title above (empty for none)."""

    title: str
    rows: tuple[tuple[Cell, ...], ...]
    line: int = 1

    @property
    def width(self) -> int:
        """Return the number of columns."""
        return len(self.rows[0]) if self.rows else 0

    def texts(self) -> list[list[str]]:
        """Return the texts of the cells, row by row."""
        return [[cell.text for cell in row] for row in self.rows]


def clean(text: str) -> str:
    """Return a text with single blanks between words."""
    return " ".join(text.replace("\0", "").split())


def grid_of(title: str, rows: Iterable[Sequence[tuple[str, int]]]) -> Grid:
    """Return a grid of (text, line) cells, filled up. Raise TooLargeError."""
    found = [list(row) for row in rows]
    width = max((len(row) for row in found), default=0)
    if width * len(found) > MOST_CELLS:
        raise TooLargeError
    for row in found:
        row.extend([("", row[-1][1] if row else 1)] * (width - len(row)))
    cells = tuple(
        tuple(Cell(clean(text), line, column) for column, (text, line) in enumerate(row, start=1)) for row in found
    )
    return Grid(clean(title), cells, cells[0][0].line if width else 1)


def is_numbered_title(line: str) -> bool:
    """Return whether a line begins as ``Table 4.`` does."""
    return _NUMBERED.match(line.strip()) is not None and len(line) <= _LONGEST_TITLE


def is_title(line: str) -> bool:
    """Return whether a line can be a title: short, no sentence."""
    text = line.strip().lstrip("#").strip()
    return bool(text) and (is_numbered_title(text) or (len(text) <= _LONGEST_TITLE and not _SENTENCE.search(text)))


def title_text(line: str) -> str:
    """Return the title without a heading's marks."""
    return line.strip().lstrip("#").strip(" *_")
