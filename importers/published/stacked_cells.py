"""Tables whose cells stand below each other, as pasted from browsers.

A cell is a stack of lines, all cells of a table row have equally many, and empty lines separate cells. An empty cell is
made of the same empty lines, so cells are found by counting: the width of the table is the one that fits the counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from importers.published.grid import Grid, grid_of, is_numbered_title, title_text
from importers.published.printed_numbers import is_number

_WIDEST = 60
_HIGHEST = 200
# Counting tries every width, so that its work has to be bounded: documents have some thousand lines.
_MOST_LINES, _MOST_TABLES = 20_000, 200
_END = ("note:", "notes:")

Line = tuple[str, int]


@dataclass(frozen=True, slots=True)
class _Found:
    """A table as counted with one width."""

    rows: list[list[Line]]
    used: int
    score: float


def read_stacked(lines: Sequence[str]) -> list[Grid]:
    """Return the tables below numbered titles; without titles, the table at the beginning.

    Return none for a text too long to be a document.
    """
    if len(lines) > _MOST_LINES:
        return []
    numbered = [(text.strip(), number) for number, text in enumerate(lines, start=1)]
    starts = [at for at, (text, _) in enumerate(numbered) if is_numbered_title(text)][:_MOST_TABLES]
    parts = [(title_text(numbered[at][0]), at + 1) for at in starts] or [("", 0)]
    ends = [*starts[1:], len(numbered)] if starts else [len(numbered)]
    grids = (_table(title, numbered[start:end]) for (title, start), end in zip(parts, ends, strict=True))
    return [grid for grid in grids if grid is not None]


def _table(title: str, lines: Sequence[Line]) -> Grid | None:
    first = next((at for at, (text, _) in enumerate(lines) if text), len(lines))
    end = next((at for at in range(first, len(lines)) if lines[at][0].casefold().startswith(_END)), len(lines))
    body = list(lines[first:end])
    gap = _gap(body)
    if not gap:
        return None
    found = [each for width in range(2, _WIDEST) if (each := _counted(body, width, gap)) is not None]
    if not found:
        return None
    most = max(each.used for each in found)
    # Of the widths that account for nearly all of the text, the one whose rows look like rows.
    best = max((each for each in found if each.used >= 0.9 * most), key=lambda each: (each.score, each.used))
    return grid_of(title, best.rows)


def _gap(body: Sequence[Line]) -> int:
    """Return the number of empty lines between cells, or 0."""
    runs, run = [], 0
    for text, _ in body:
        if text:
            if run:
                runs.append(run)
            run = 0
        else:
            run += 1
    return min(runs, default=0)


def _counted(body: Sequence[Line], width: int, gap: int) -> _Found | None:
    """Return the rows of ``width`` cells that fit, or None."""
    rows: list[list[Line]] = []
    at = heights = 0
    looks = []
    while at < len(body) and body[at][0]:
        row = _row(body, at, width, gap)
        if row is None:
            break
        height = len(row[0])
        rows.extend([cell[n] for cell in row] for n in range(height))
        looks.append(_looks_like_a_row(row))
        at += width * (height + gap)
        heights += 1
    return _Found(rows, min(at, len(body)), sum(looks) / len(looks)) if heights > 1 else None


def _row(body: Sequence[Line], at: int, width: int, gap: int) -> list[list[Line]] | None:
    """Return the cells of the row at ``at``, or None."""
    height = next((n for n in range(min(_HIGHEST, len(body) - at)) if not body[at + n][0]), len(body) - at)
    if not height or height > _HIGHEST:
        return None
    cells = []
    for start in range(at, at + width * (height + gap), height + gap):
        cell = list(body[start : start + height])
        if any(text for text, _ in body[start + height : start + height + gap]):
            return None
        if len(cell) < height:
            if any(text for text, _ in cell) or start + height < len(body):
                return None
            cell += [("", body[-1][1])] * (height - len(cell))
        cells.append(cell)
    return cells


def _looks_like_a_row(row: Sequence[Sequence[Line]]) -> bool:
    """Whether words come before texts of one sort: all numbers, or all words."""
    first, *others = [[text for text, _ in cell] for cell in row]
    words = not any(is_number(text) for text in first)
    sorts = {is_number(text) for cell in others for text in cell if text}
    return words and len(sorts) <= 1
