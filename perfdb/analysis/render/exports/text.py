"""Tables as aligned text for a terminal: values with intervals, then differences.

A mean carries ± of its 95 % interval. A difference without a test is a tilde, as in Go's benchstat.
"""

from collections.abc import Iterator, Sequence

from perfdb.analysis.comparison.comparison import Comparison, Verdict
from perfdb.analysis.render.grid import Grid, GridCell, Line, make_grids
from perfdb.analysis.render.labels import make_diff
from perfdb.analysis.tables.table import Cell, Table
from perfdb.analysis.units import short_percent

_GAP = "  "
_AGAINST = "vs base"
_SMALLEST_Q = 0.0005
# Verdicts without a shown change.
_UNSURE = {Verdict.SAME, Verdict.INCONCLUSIVE, Verdict.INSIDE}


def render(tables: Sequence[Table], ascii_only: bool = False) -> str:
    """Return a block per grid, separated by blank lines. ``ascii_only`` is for old terminals."""
    blocks = ["\n".join(_block(grid, ascii_only)) for grid in make_grids(tables)]
    text = "\n\n".join(blocks) + "\n"
    return text.translate(_ASCII) if ascii_only else text


_ASCII = str.maketrans({"·": "|", "–": "-", "±": "+/-", "→": "->", "−": "-"})


def _block(grid: Grid, ascii_only: bool) -> Iterator[str]:
    yield from (text for text in (grid.title, grid.caption) if text)
    yield from _aligned(grid, ascii_only) if grid.lines else ["(no runs)"]
    yield from (f"note: {note}" for note in dict.fromkeys((*grid.warnings, *grid.cell_notes)))
    yield from grid.remarks


def _aligned(grid: Grid, ascii_only: bool) -> Iterator[str]:
    """Yield lines with row headings left, numbers right, and differences beside."""
    compared = [_is_compared(grid, at) for at in range(len(grid.column_texts))]
    head = list(grid.corner)
    for text, beside in zip(grid.column_texts, compared, strict=True):
        head += [text, _AGAINST] if beside else [text]
    body = [_line(line, compared, ascii_only) for line in grid.lines]
    widths = [max(map(len, column)) for column in zip(head, *body, strict=True)]
    left = len(grid.corner)
    for row in (head, *body):
        texts = (
            text.ljust(width) if at < left else text.rjust(width)
            for at, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        yield _GAP.join(texts).rstrip()


def _is_compared(grid: Grid, column: int) -> bool:
    """Return whether a column has differences beside values."""
    cells = (line.cells[column] for line in grid.lines)
    return any(cell.diff and cell.text != cell.diff.percent for cell in cells)


def _line(line: Line, compared: Sequence[bool], ascii_only: bool) -> list[str]:
    texts = [heading.text if heading else "" for heading in line.headings]
    for cell, beside in zip(line.cells, compared, strict=True):
        texts.append(_value(cell))
        if beside:
            texts.append(_difference(cell, ascii_only))
    return texts


def _value(cell: GridCell) -> str:
    """Return ``9077.29 ± 1.2%``; a single run has no interval."""
    spread = _spread(cell.cell) if cell.runs else ""
    return f"{cell.text} ± {spread}" if spread else cell.text


def _spread(cell: Cell | None) -> str:
    """Return half the width of the mean's interval, relative to the mean."""
    if cell is None or cell.n < 2 or cell.interval is None or not cell.mean:
        return ""
    return short_percent((cell.interval[1] - cell.interval[0]) / 2 / abs(cell.mean))


def _difference(cell: GridCell, ascii_only: bool) -> str:
    """Return ``+19% ▲ (q=0.002 n=3+3)``; ``~`` without a shown change."""
    comparison = cell.cell.comparison if cell.cell else None
    if comparison is None:
        return ""
    diff = make_diff(comparison)
    percent = "~" if comparison.verdict in _UNSURE else diff.percent
    return f"{percent} {diff.symbol_ascii if ascii_only else diff.symbol}{_evidence(comparison)}"


def _evidence(comparison: Comparison) -> str:
    if comparison.q is None:
        return f" (n={comparison.n_base}+{comparison.n})" if comparison.n and comparison.n_base else ""
    q = "q<0.001" if comparison.q < _SMALLEST_Q else f"q={comparison.q:.3f}"
    return f" ({q} n={comparison.n_base}+{comparison.n})"
