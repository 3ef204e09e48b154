"""A Table as a printable grid: merged headings with units and rounded texts, as tables stand in published studies.

HTML templates and the text renderings print a Grid and decide nothing; what stands where is decided here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from perfdb.analysis.table import Cell, Table


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading cell: its text and over how many lines (row headings) or columns (column headings) it reaches."""

    text: str
    span: int = 1


@dataclass(frozen=True, slots=True)
class GridCell:
    """A printed number. ``runs`` are the numbers of the runs behind it; ``notes`` its warnings and mixes."""

    text: str
    runs: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    cell: Cell | None = None


@dataclass(frozen=True, slots=True)
class ColumnLine:
    """One line of column headings: the dimension's ``title`` and its merged values."""

    title: str
    headings: tuple[Heading, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the body; a row heading is None where the one above reaches over it."""

    headings: tuple[Heading | None, ...]
    cells: tuple[GridCell, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """``corner`` titles the row headings; ``caption`` says what all its runs have in common."""

    title: str
    caption: str
    corner: tuple[str, ...]
    columns: tuple[ColumnLine, ...]
    lines: tuple[Line, ...]
    warnings: tuple[str, ...] = ()


def grids(tables: Sequence[Table]) -> list[Grid]:
    """One grid for each table; with layout=metrics one for each split, its measures as lines."""
    raise NotImplementedError
