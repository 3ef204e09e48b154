"""Tables as Markdown with the tables extension: rounded, with units and notes."""

import re
from collections.abc import Iterable, Sequence

from perfdb.analysis.render.grid import Grid, GridCell, Line, make_grids
from perfdb.analysis.tables.table import Table

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#])")


def render(tables: Sequence[Table]) -> str:
    """Return a section per grid: title, caption, table, numbered notes."""
    return "\n".join(_section(grid) for grid in make_grids(tables))


def _section(grid: Grid) -> str:
    numbers = _numbered(grid)
    lines = [f"**{_text(grid.title)}**", ""] if grid.title else []
    lines += [_text(grid.caption), ""] if grid.caption else []
    lines += [*_table(grid, numbers), ""]
    lines += [f"{number}. {_text(note)}" for note, number in numbers.items()]
    lines += [f"- {_text(said)}" for said in (*grid.warnings, *grid.remarks)]
    return "\n".join(lines).rstrip() + "\n"


def _numbered(grid: Grid) -> dict[str, int]:
    """Number the notes of all cells, each once, in the order of reading."""
    notes = dict.fromkeys(note for line in grid.lines for cell in line.cells for note in cell.notes)
    return {note: number for number, note in enumerate(notes, 1)}


def _table(grid: Grid, numbers: dict[str, int]) -> list[str]:
    if not grid.lines:
        return ["(no runs)"]
    rule = ["---"] * len(grid.corner) + ["---:"] * len(grid.column_texts)
    return [
        _line([_text(text) for text in (*grid.corner, *grid.column_texts)]),
        _line(rule),
        *(_body(line, numbers) for line in grid.lines),
    ]


def _body(line: Line, numbers: dict[str, int]) -> str:
    headings = ["" if heading is None else _text(heading.text) for heading in line.headings]
    return _line([*headings, *(_cell(cell, numbers) for cell in line.cells)])


def _cell(cell: GridCell, numbers: dict[str, int]) -> str:
    text = cell.text if cell.diff is None or cell.text == cell.diff.percent else f"{cell.text} {cell.diff.short}"
    marks = ",".join(str(numbers[note]) for note in cell.notes)
    return f"{text} ({marks})" if marks else text


def _line(texts: Iterable[str]) -> str:
    return f"| {' | '.join(texts)} |"


def _text(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
