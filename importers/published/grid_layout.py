"""The parts of a grid as a mapping cuts it: headings of columns and rows, and texts that stand alone in their row."""

from collections.abc import Sequence

from importers.published.grid import Cell, Grid
from importers.published.mapping import IGNORE, NAMES, UNIT, UNKNOWN, Mapping

_NOT_REPEATED = frozenset({NAMES, UNIT, IGNORE, UNKNOWN, "run_id"})
BETWEEN = " | "


def section_text(row: Sequence[Cell]) -> str:
    """The text that stands alone in its row or is merged over all of it; empty where there is none."""
    first = row[0]
    alone = first.text and all(not cell.text or (cell.merged and cell.text == first.text) for cell in row[1:])
    return first.text if alone and len(row) > 1 else ""


def top_texts(grid: Grid, mapping: Mapping, line: int) -> list[str]:
    """A heading row's texts for all columns; a merged heading that is printed once holds up to the next."""
    texts = [cell.text for cell in grid.rows[line]]
    if mapping.top[line] in _NOT_REPEATED:
        return texts
    return [*texts[: mapping.side], *_filled(texts[mapping.side :])]


def left_texts(grid: Grid, mapping: Mapping) -> list[list[str]]:
    """The headings of every row from the first below the heading rows; a dimension's value holds until the next."""
    rows = []
    last = [""] * mapping.side
    for row in grid.rows[mapping.head :]:
        if section_text(row):
            last = [""] * mapping.side
        texts = [cell.text for cell in row[: mapping.side]]
        texts = [text or (last[at] if mapping.left[at] not in _NOT_REPEATED else "") for at, text in enumerate(texts)]
        last = texts
        rows.append(texts)
    return rows


def _filled(texts: Sequence[str]) -> list[str]:
    filled = []
    last = ""
    for text in texts:
        last = text or last
        filled.append(last)
    return filled


def joined(texts: Sequence[str]) -> str:
    """Several headings as one label; of equal ones that follow each other the first."""
    kept = [text for at, text in enumerate(texts) if text and (at == 0 or text != texts[at - 1])]
    return BETWEEN.join(kept)
