"""Tables as markup for documents, rounded, with units and notes: Markdown and LaTeX.

Markdown needs the tables extension. LaTeX is for papers: booktabs, merged headings, notes below.
"""

import re
from collections.abc import Iterable, Sequence

from perfdb.analysis.render.grid import ColumnLine, Grid, GridCell, Line, make_grids
from perfdb.analysis.tables.table import Table


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
    rule = ["---"] * len(grid.corner) + ["---:"] * len(grid.column_texts)
    return [
        _markdown_row([_markdown_text(text) for text in (*grid.corner, *grid.column_texts)]),
        _markdown_row(rule),
        *(_markdown_line(line, numbers) for line in grid.lines),
    ]


def _markdown_line(line: Line, numbers: dict[str, int]) -> str:
    headings = ["" if heading is None else _markdown_text(heading.text) for heading in line.headings]
    return _markdown_row([*headings, *(_markdown_cell(cell, numbers) for cell in line.cells)])


def _markdown_cell(cell: GridCell, numbers: dict[str, int]) -> str:
    text = cell.text if cell.diff is None or cell.text == cell.diff.percent else f"{cell.text} {cell.diff.short}"
    marks = _marks(cell, numbers)
    return f"{text} ({marks})" if marks else text


def _markdown_row(texts: Iterable[str]) -> str:
    return f"| {' | '.join(texts)} |"


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
    heads = [_head(grid, line) for line in grid.columns]
    body = [
        _latex_row([*_row_headings(line), *(_latex_cell(cell, numbers) for cell in line.cells)]) for line in grid.lines
    ]
    return [
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        *heads,
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
    ]


def _head(grid: Grid, line: ColumnLine) -> str:
    """Return a line of headings; the last one has the titles of the rows."""
    titles = grid.corner if line is grid.columns[-1] else [""] * len(grid.corner)
    return _latex_row([*map(_latex_text, titles), *_headings(grid, line)])


def _headings(grid: Grid, line: ColumnLine) -> list[str]:
    """Return the headings of a line.

    If there is only one line, each heading also names the dimension of its value.
    """
    if len(grid.columns) == 1:
        return [_latex_text(text) for text in grid.column_texts]
    titled = [line.title and f"{line.title} ", *[""] * len(line.headings)]
    return [
        _over(heading.span, _latex_text(title + heading.text))
        for title, heading in zip(titled, line.headings, strict=False)
    ]


def _over(span: int, text: str) -> str:
    return rf"\multicolumn{{{span}}}{{c}}{{{text}}}" if span > 1 else text


def _row_headings(line: Line) -> list[str]:
    """Return row headings; merged ones leave the lines below empty."""
    return [
        ""
        if heading is None
        else rf"\multirow[t]{{{heading.span}}}{{*}}{{{_latex_text(heading.text)}}}"
        if heading.span > 1
        else _latex_text(heading.text)
        for heading in line.headings
    ]


def _latex_cell(cell: GridCell, numbers: dict[str, int]) -> str:
    text = cell.text if cell.diff is None or cell.text == cell.diff.percent else f"{cell.text} ({cell.diff.short})"
    marks = _marks(cell, numbers)
    return f"{_latex_text(text)}$^{{{marks}}}$" if marks else _latex_text(text)


def _latex_row(texts: Iterable[str]) -> str:
    return " & ".join(texts) + r" \\"


def _latex_text(text: str) -> str:
    return " ".join(text.split()).translate(_LATEX)
