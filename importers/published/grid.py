"""Tables as grids of texts: every cell with its place in what was pasted, merged headings repeated in each cell."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from importers.model import Problem, Severity

MOST_CELLS = 20_000
"""What one paste may hold, merged cells counted as often as they are repeated; published tables have hundreds."""


class TooLargeError(Exception):
    """The tables of one paste have more than MOST_CELLS cells."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A text without blanks around it; ``line`` and ``column`` count from 1, a column is that of the grid.

    ``merged``: this is a further part of a merged cell and repeats its text.
    """

    text: str
    line: int
    column: int
    merged: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """One table: rows of equally many cells, and the title that stood above it (empty for none)."""

    title: str
    rows: tuple[tuple[Cell, ...], ...]
    line: int = 1

    @property
    def width(self) -> int:
        """How many columns there are."""
        return len(self.rows[0]) if self.rows else 0

    def texts(self) -> list[list[str]]:
        """The texts alone."""
        return [[cell.text for cell in row] for row in self.rows]


@dataclass(slots=True)
class Tables:
    """What was found in a paste: its grids in their order, the syntax they were read by, and what was amiss."""

    syntax: str = ""
    grids: list[Grid] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def clean(text: str) -> str:
    """A text with each run of blanks and line ends made one blank, and none around it."""
    return " ".join(text.replace("\0", "").split())


def grid_of(title: str, rows: Iterable[Sequence[tuple[str, int]]]) -> Grid:
    """A grid of (text, line) cells; short rows are filled with empty cells. Raises TooLargeError."""
    found = [list(row) for row in rows]
    width = max((len(row) for row in found), default=0)
    if width * len(found) > MOST_CELLS:
        raise TooLargeError
    cells = tuple(_row(row, width) for row in found)
    return Grid(clean(title), cells, cells[0][0].line if cells and cells[0] else 1)


def _row(row: Sequence[tuple[str, int]], width: int) -> tuple[Cell, ...]:
    line = row[-1][1] if row else 1
    padded = [*row, *[("", line)] * (width - len(row))]
    return tuple(Cell(clean(text), at, column) for column, (text, at) in enumerate(padded, start=1))


def refusal(code: str, message: str, remedy: str) -> Problem:
    """A problem that keeps the whole paste from being read."""
    return Problem(Severity.ERROR, code, message, remedy)
