"""Tables as LaTeX with booktabs, for papers: merged headings, units, notes below."""

from collections.abc import Iterable, Sequence

from perfdb.analysis.render.grid import ColumnLine, Grid, GridCell, Line, make_grids
from perfdb.analysis.tables.table import Table

_SPECIAL = str.maketrans(
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


def render(tables: Sequence[Table]) -> str:
    """Return a ``table`` environment per grid; needs ``booktabs``, ``multirow`` and ``amssymb``."""
    head = "% \\usepackage{booktabs,multirow,amssymb}\n"
    return head + "\n".join(_environment(grid) for grid in make_grids(tables))


def _environment(grid: Grid) -> str:
    numbers = _numbered(grid)
    caption = " -- ".join(_text(text) for text in (grid.title, grid.caption) if text)
    lines = [r"\begin{table}", r"\centering", rf"\caption{{{caption}}}"]
    lines += _tabular(grid, numbers) if grid.lines else ["(no runs)"]
    lines += [rf"\par\footnotesize $^{{{number}}}$ {_text(note)}" for note, number in numbers.items()]
    lines += [rf"\par\footnotesize {_text(said)}" for said in (*grid.warnings, *grid.remarks)]
    return "\n".join([*lines, r"\end{table}", ""])


def _numbered(grid: Grid) -> dict[str, int]:
    notes = dict.fromkeys(note for line in grid.lines for cell in line.cells for note in cell.notes)
    return {note: number for number, note in enumerate(notes, 1)}


def _tabular(grid: Grid, numbers: dict[str, int]) -> list[str]:
    columns = "l" * len(grid.corner) + "r" * len(grid.column_texts)
    heads = [_row([*_corner(grid, last), *_headings(grid, line)]) for last, line in _counted(grid.columns)]
    body = [_row([*_row_headings(line), *(_cell(cell, numbers) for cell in line.cells)]) for line in grid.lines]
    return [
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        *heads,
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
    ]


def _counted(lines: Sequence[ColumnLine]) -> Iterable[tuple[bool, ColumnLine]]:
    """Return the lines of headings, each with whether it is the last.

    The last line has the titles of the rows.
    """
    return ((number == len(lines), line) for number, line in enumerate(lines, 1))


def _corner(grid: Grid, last: bool) -> list[str]:
    return [_text(title) if last else "" for title in grid.corner]


def _headings(grid: Grid, line: ColumnLine) -> list[str]:
    """Return the headings of a line.

    If there is only one line, each heading also names the dimension of its value.
    """
    if len(grid.columns) == 1:
        return [_text(text) for text in grid.column_texts]
    titled = [line.title and f"{line.title} ", *[""] * len(line.headings)]
    return [
        _over(heading.span, _text(title + heading.text)) for title, heading in zip(titled, line.headings, strict=False)
    ]


def _over(span: int, text: str) -> str:
    return rf"\multicolumn{{{span}}}{{c}}{{{text}}}" if span > 1 else text


def _row_headings(line: Line) -> list[str]:
    """Return row headings; merged ones leave the lines below empty."""
    return [
        ""
        if heading is None
        else rf"\multirow[t]{{{heading.span}}}{{*}}{{{_text(heading.text)}}}"
        if heading.span > 1
        else _text(heading.text)
        for heading in line.headings
    ]


def _cell(cell: GridCell, numbers: dict[str, int]) -> str:
    text = cell.text if cell.diff is None or cell.text == cell.diff.percent else f"{cell.text} ({cell.diff.short})"
    marks = ",".join(str(numbers[note]) for note in cell.notes)
    return f"{_text(text)}$^{{{marks}}}$" if marks else _text(text)


def _row(texts: Iterable[str]) -> str:
    return " & ".join(texts) + r" \\"


def _text(text: str) -> str:
    return " ".join(text.split()).translate(_SPECIAL)
