"""Printable tables as text: aligned for a terminal, as Markdown, and as LaTeX.

For a terminal, values with intervals stand beside differences. A mean carries ± of its 95% interval. A difference
without a test is a tilde, as in Go's benchstat. Markdown needs the tables extension. LaTeX is for papers: booktabs,
merged headings, notes below.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from perfdb.analysis.percent_difference import short_percent
from perfdb.analysis.render.grid import ColumnLine, Grid, GridCell, Heading, Line, make_grids
from perfdb.analysis.render.labels import make_diff
from perfdb.analysis.tables.table import Table
from perfdb.analysis.units import NARROW_SPACE
from perfdb.analysis.verdicts.cells import Comparison, Verdict

_GAP = "  "
_AGAINST = "vs base"
_SMALLEST_Q = 0.0005
# Verdicts without a shown change.
_UNSURE = {Verdict.SAME, Verdict.CANNOT_TELL, Verdict.WITHIN_NOISE}


def render_text(tables: Sequence[Table], ascii_only: bool = False) -> str:
    """Return a block per grid, separated by blank lines. ``ascii_only`` is for old terminals."""
    blocks = ["\n".join(_block(grid, ascii_only)) for grid in make_grids(tables)]
    text = "\n\n".join(blocks) + "\n"
    return text.translate(_ASCII) if ascii_only else text


_ASCII = str.maketrans({"·": "|", "–": "-", "±": "+/-", "→": "->", "−": "-", NARROW_SPACE: ""})


def _block(grid: Grid, ascii_only: bool) -> Iterator[str]:
    yield from (text for text in (grid.title, grid.caption) if text)
    yield from _aligned(grid, ascii_only) if grid.lines else ["(no runs)"]
    yield from (f"note: {note}" for note in dict.fromkeys((*grid.warnings, *grid.cell_notes)))
    yield from grid.remarks


def _aligned(grid: Grid, ascii_only: bool) -> Iterator[str]:
    """Yield lines with row headings left, numbers right, and differences beside."""
    compared = [any(line.cells[at].beside for line in grid.lines) for at in range(len(grid.column_texts))]
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


def _line(line: Line, compared: Sequence[bool], ascii_only: bool) -> list[str]:
    texts = [heading.text if heading else "" for heading in line.headings]
    for cell, beside in zip(line.cells, compared, strict=True):
        texts.append(_value(cell))
        if beside:
            texts.append(_difference(cell, ascii_only))
    return texts


def _value(cell: GridCell) -> str:
    """Return ``9077.29 ± 1.2%``; a single run has no interval."""
    found = cell.cell
    if not cell.runs or found is None or found.n < 2 or found.interval is None or not found.mean:
        return cell.text
    low, high = found.interval
    return f"{cell.text} ± {short_percent((high - low) / 2 / abs(found.mean))}"


def _difference(cell: GridCell, ascii_only: bool) -> str:
    """Return ``+19% ▲ (q=0.002 n=3+3)``; ``~`` without a shown change."""
    comparison = cell.cell.comparison if cell.cell else None
    if comparison is None:
        return ""
    diff = make_diff(comparison)
    percent = "~" if comparison.verdict in _UNSURE else diff.percent
    return f"{percent} {diff.symbol_ascii if ascii_only else diff.symbol}{_evidence(comparison)}"


def _evidence(comparison: Comparison) -> str:
    base, new = comparison.base.trials, comparison.new.trials
    if comparison.q is None:
        return f" (n={base}+{new})" if base and new else ""
    q = "q<0.001" if comparison.q < _SMALLEST_Q else f"q={comparison.q:.3f}"
    return f" ({q} n={base}+{new})"


def _numbered(grid: Grid) -> dict[str, int]:
    """Number the notes of all cells, each once, in the order of reading."""
    return {note: number for number, note in enumerate(grid.cell_notes, 1)}


def _marks(cell: GridCell, numbers: dict[str, int]) -> str:
    return ",".join(str(numbers[note]) for note in cell.notes)


_MARKDOWN = re.compile(r"([\\`*_\[\]<>|#])")


def render_markdown(tables: Sequence[Table]) -> str:
    """Return a section per grid: title, caption, table, numbered notes."""
    return "\n".join(_section(grid) for grid in make_grids(tables))


def _section(grid: Grid) -> str:
    numbers = _numbered(grid)
    lines = [f"**{_markdown_text(grid.title)}**", ""] if grid.title else []
    lines += [_markdown_text(grid.caption), ""] if grid.caption else []
    lines += [*_table(grid, numbers), ""]
    lines += [f"{number}. {_markdown_text(note)}" for note, number in numbers.items()]
    lines += [f"- {_markdown_text(said)}" for said in (*grid.warnings, *grid.remarks)]
    return "\n".join(lines).rstrip() + "\n"


def _table(grid: Grid, numbers: dict[str, int]) -> list[str]:
    if not grid.lines:
        return ["(no runs)"]
    head = [_markdown_text(text) for text in (*grid.corner, *grid.column_texts)]
    rule = ["---"] * len(grid.corner) + ["---:"] * len(grid.column_texts)
    body = [
        [_markdown_text(heading.text) if heading else "" for heading in line.headings]
        + [_markdown_cell(cell, numbers) for cell in line.cells]
        for line in grid.lines
    ]
    return [f"| {' | '.join(texts)} |" for texts in (head, rule, *body)]


def _markdown_cell(cell: GridCell, numbers: dict[str, int]) -> str:
    text = f"{cell.text} {cell.beside.short}" if cell.beside else cell.text
    marks = _marks(cell, numbers)
    return f"{text} ({marks})" if marks else text


def _markdown_text(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))


_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "·": r"\textperiodcentered{}",
        "–": "--",
        "±": r"$\pm$",
        "→": r"$\to$",
        "×": r"$\times$",
        "▲": r"$\blacktriangle$",
        "▼": r"$\blacktriangledown$",
        "△": r"$\triangle$",
        "▽": r"$\triangledown$",
        NARROW_SPACE: r"\,",
        "≈": r"$\approx$",
        "<": r"$<$",
        ">": r"$>$",
    }
)


def render_latex(tables: Sequence[Table]) -> str:
    """Return a ``table`` environment per grid; needs ``booktabs``, ``multirow`` and ``amssymb``."""
    head = "% \\usepackage{booktabs,multirow,amssymb}\n"
    return head + "\n".join(_environment(grid) for grid in make_grids(tables))


def _environment(grid: Grid) -> str:
    numbers = _numbered(grid)
    caption = " -- ".join(_latex_text(text) for text in (grid.title, grid.caption) if text)
    lines = [r"\begin{table}", r"\centering", rf"\caption{{{caption}}}"]
    lines += _tabular(grid, numbers) if grid.lines else ["(no runs)"]
    lines += [rf"\par\footnotesize $^{{{number}}}$ {_latex_text(note)}" for note, number in numbers.items()]
    lines += [rf"\par\footnotesize {_latex_text(said)}" for said in (*grid.warnings, *grid.remarks)]
    return "\n".join([*lines, r"\end{table}", ""])


def _tabular(grid: Grid, numbers: dict[str, int]) -> list[str]:
    columns = "l" * len(grid.corner) + "r" * len(grid.column_texts)
    body = [
        [*(_row_heading(heading) for heading in line.headings), *(_latex_cell(cell, numbers) for cell in line.cells)]
        for line in grid.lines
    ]
    return [
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        *(_latex_row(_head(grid, line)) for line in grid.columns),
        r"\midrule",
        *map(_latex_row, body),
        r"\bottomrule",
        r"\end{tabular}",
    ]


def _head(grid: Grid, line: ColumnLine) -> list[str]:
    """Return a line of headings; the last has the titles of the rows, an only one names dimensions too."""
    if len(grid.columns) == 1:
        return [_latex_text(text) for text in (*grid.corner, *grid.column_texts)]
    titles = grid.corner if line is grid.columns[-1] else [""] * len(grid.corner)
    named = [line.title and f"{line.title} ", *[""] * len(line.headings)]
    headings = [
        rf"\multicolumn{{{heading.span}}}{{c}}{{{text}}}" if heading.span > 1 else text
        for name, heading in zip(named, line.headings, strict=False)
        for text in [_latex_text(name + heading.text)]
    ]
    return [*map(_latex_text, titles), *headings]


def _row_heading(heading: Heading | None) -> str:
    """Return a row heading; a merged one leaves the lines below empty."""
    text = _latex_text(heading.text) if heading else ""
    return rf"\multirow[t]{{{heading.span}}}{{*}}{{{text}}}" if heading and heading.span > 1 else text


def _latex_cell(cell: GridCell, numbers: dict[str, int]) -> str:
    text = f"{cell.text} ({cell.beside.short})" if cell.beside else cell.text
    marks = _marks(cell, numbers)
    return f"{_latex_text(text)}$^{{{marks}}}$" if marks else _latex_text(text)


def _latex_row(texts: Iterable[str]) -> str:
    return " & ".join(texts) + r" \\"


def _latex_text(text: str) -> str:
    return " ".join(text.split()).translate(_LATEX)
