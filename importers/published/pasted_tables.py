"""Grids from pasted text: CSV, TSV, Markdown, HTML, and cells one below the other."""

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
from string import punctuation
from typing import NamedTuple

from importers.model import Problem, Severity
from importers.published.aligned_tables import has_aligned, read_aligned
from importers.published.grid import (
    Grid,
    TooLargeError,
    clean,
    grid_of,
    is_number,
    is_numbered_title,
    is_title,
    read_cell,
    title_text,
)
from importers.published.html_tables import read_html

_LONGEST_TEXT = 1_500_000
_RULE = re.compile(r"\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*")
_DRAWN = re.compile(r"\s*[+|]?[-+=|: ]*-[-+=|: ]*[+|]?\s*|\s*\+[=+]+\s*")
_BETWEEN_CELLS = re.compile(r"[\s|,;]+")
_BARRED = re.compile(r"((?:\\.|[^\\|])*\\?)(?:\||$)")
_ESCAPED = re.compile(rf"\\([{re.escape(punctuation)}])")
_TAG = re.compile(r"<table[\s>]", re.IGNORECASE)
_ABOVE = 3
_TOO_LARGE = Problem(
    Severity.ERROR, "published.too-large", "The tables are too large to be read.", "Paste fewer tables at a time."
)


class Syntax(StrEnum):
    """Syntaxes in which tables are written."""

    CSV = "csv"
    TSV = "tsv"
    MARKDOWN = "markdown"
    HTML = "html"
    ALIGNED = "aligned"
    STACKED = "stacked"


@dataclass(slots=True)
class Tables:
    """The grids of a paste in order, their syntax, and problems."""

    syntax: str = ""
    grids: list[Grid] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def read_tables(text: str, syntax: Syntax | None = None) -> Tables:
    """Return every table of a text with its title, in any syntax.

    Lines count as in ``text``. Tables need two columns; a text without tables is a problem, as are lines of figures
    outside of all tables.
    """
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    plain = "\n".join(_with_bars(line) for line in plain.split("\n"))
    if len(plain) > _LONGEST_TEXT:
        return Tables(problems=[_TOO_LARGE])
    chosen = syntax
    try:
        chosen = chosen or recognise(plain)
        grids = [grid for grid in _READERS[chosen](plain) if grid.width > 1]
    except TooLargeError:
        return Tables(chosen or "", problems=[_TOO_LARGE])
    except csv.Error as error:
        return Tables(chosen or "", problems=[_refused(f"The text cannot be read as {chosen}: {error}.")])
    if not grids:
        return Tables(chosen, problems=[_refused("No table was found in the text.")])
    return Tables(chosen, grids, _left_out(plain, grids) if chosen not in {Syntax.HTML, Syntax.STACKED} else [])


def _with_bars(line: str) -> str:
    """Return a drawn table's rule, such as ``+----+----+``, as a rule of Markdown."""
    drawn = "+" in line and _DRAWN.fullmatch(line)
    return line.replace("+", "|").replace("=", "-") if drawn else line


def _left_out(text: str, grids: Sequence[Grid]) -> list[Problem]:
    """Return a problem about the lines, mostly of figures, that are in no table."""
    read = {cell.line for grid in grids for row in grid.rows for cell in row}
    titles = {grid.title for grid in grids}
    lines = [
        (number, line)
        for number, line in enumerate(text.split("\n"), start=1)
        if number not in read and title_text(line) not in titles and _is_of_figures(line)
    ]
    if not lines:
        return []
    (number, line), more = lines[0], f", and {len(lines) - 1} lines more" if len(lines) > 1 else ""
    message = f"Figures outside of the tables are left out: {clean(line)[:60]}{more}."
    remedy = "Paste this table alone, with its headings, or choose how it is written."
    return [Problem(Severity.WARNING, "published.left-out", message, remedy, line=number)]


def _is_of_figures(line: str) -> bool:
    words = [word for word in _BETWEEN_CELLS.split(line[:2_000]) if word.strip("|,;")]
    figures = sum(read_cell(word) is not None for word in words)
    return figures > 1 and 2 * figures > len(words)


def recognise(text: str) -> Syntax:
    """Return the most probable syntax of a text. Raise TooLargeError."""
    if _TAG.search(text):
        return Syntax.HTML
    lines = text.split("\n")
    barred = [line for line in lines if "|" in line]
    has_rule = any("-" in line and _RULE.fullmatch(line) for line in barred if len(line) < 10_000)
    if has_rule or sum(line.lstrip().startswith("|") and line.count("|") > 1 for line in barred) > 1:
        return Syntax.MARKDOWN
    if sum("\t" in line.strip("\n") for line in lines) > 1:
        return Syntax.TSV
    if has_aligned(text):
        return Syntax.ALIGNED
    return Syntax.STACKED if any(grid.width > 1 for grid in read_stacked(lines)) else Syntax.CSV


def _refused(message: str) -> Problem:
    remedy = "Paste the table with its headings as CSV, TSV, Markdown or HTML, or choose how it is written."
    return Problem(Severity.ERROR, "published.no-table", message, remedy)


# CSV and TSV: a blank line ends a table, and a line of one cell above the first row is its title.


def _read_delimited(text: str, delimiters: str) -> Iterator[Grid]:
    """Read with the delimiter that gives rows of the same number of cells."""
    return _blocks(max((list(_csv_rows(text, each)) for each in delimiters), key=_evenness))


def _csv_rows(text: str, delimiter: str) -> Iterator[list[tuple[str, int]]]:
    """Yield rows of (text, first line); an empty line is an empty row."""
    reader = csv.reader((line + "\n" for line in text.split("\n")), delimiter=delimiter)
    line = 1
    for row in reader:
        yield [(cell, line) for cell in row]
        line = reader.line_num + 1


def _evenness(rows: Sequence[Sequence[tuple[str, int]]]) -> float:
    """Return the share of rows with the commonest number of cells."""
    widths = [len(row) for row in rows if len(row) > 1]
    return max((widths.count(width) for width in set(widths)), default=0) / max(sum(map(bool, rows)), 1)


def _blocks(rows: Sequence[Sequence[tuple[str, int]]]) -> Iterator[Grid]:
    """Yield the tables, each with the last line of one cell above."""
    title, block = "", list[Sequence[tuple[str, int]]]()
    for row in [*rows, []]:
        alone = len(row) == 1
        if len(row) > 1 or (alone and block and not is_numbered_title(row[0][0])):
            block.append(row)
            continue
        if block:
            yield grid_of(title, block)
            title, block = "", []
        if alone and is_title(row[0][0]):
            title = title_text(row[0][0])


# Markdown: rows between bars, with or without a rule below the heading.


def _read_markdown(text: str) -> Iterator[Grid]:
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        end = _end_of_rows(lines, at)
        numbered = [(line, number) for number, line in enumerate(lines[at:end], at + 1) if not _RULE.fullmatch(line)]
        if len(numbered) > 1:
            rows = [[(cell, number) for cell in _markdown_cells(line)] for line, number in numbered]
            yield grid_of(_title_above(lines, at), rows)
        at = max(end, at + 1)


def _end_of_rows(lines: Sequence[str], at: int) -> int:
    """Return the end of the table at ``at``; ``at`` if no table begins there.

    A row begins with a bar; where a rule is below the first one, a bar anywhere is enough.
    """
    loose = at + 1 < len(lines) and "|" in lines[at] and "|" in lines[at + 1] and _RULE.fullmatch(lines[at + 1])
    for end in range(at, len(lines)):
        bare = lines[end].strip()
        if len(bare) < 2 or not (bare.startswith("|") or (loose and "|" in bare)):
            return end
    return len(lines)


def _markdown_cells(line: str) -> list[str]:
    """Return the cells of a row; a backslash escapes a bar and other punctuation."""
    # Behind the last cell there is always an empty match.
    cells = [_ESCAPED.sub(r"\1", cell[1]) for cell in _BARRED.finditer(line.strip())][:-1]
    return cells[1:] if line.strip().startswith("|") else cells


def _title_above(lines: Sequence[str], at: int) -> str:
    """Return the nearest possible title above; numbered titles win."""
    above = [clean(line) for line in lines[max(at - 2 * _ABOVE, 0) : at]]
    near = [line for line in reversed(above) if line][:_ABOVE]
    found = next(filter(is_numbered_title, near), None) or next(iter(near), "")
    return title_text(found) if is_title(found) and not found.startswith("|") else ""


_READERS: dict[Syntax, Callable[[str], Iterable[Grid]]] = {
    Syntax.CSV: lambda text: _read_delimited(text, ",;"),
    Syntax.TSV: lambda text: _read_delimited(text, "\t"),
    Syntax.MARKDOWN: _read_markdown,
    Syntax.HTML: read_html,
    Syntax.ALIGNED: lambda text: _blocks(read_aligned(text)),
    Syntax.STACKED: lambda text: read_stacked(text.split("\n")),
}


_WIDEST = 60
_HIGHEST = 200
# Counting tries every width, so that its work has to be bounded: documents have some thousand lines.
_MOST_LINES, _MOST_TABLES = 20_000, 200
_END = ("note:", "notes:")

Line = tuple[str, int]


class _Found(NamedTuple):
    """A table as counted with one width."""

    rows: list[list[Line]]
    used: int
    score: float


def read_stacked(lines: Sequence[str]) -> list[Grid]:
    """Return tables whose cells stand below each other, as browsers or converters paste.

    There is a table below each numbered title, or without titles at the beginning; none in a text too long to be a
    document. A cell is a stack of lines, all cells of a row have equally many, and empty lines separate cells. Since
    empty cells are empty lines as well, the width of the table is the one that fits the counts.
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
    filled = [at for at, (text, _) in enumerate(body) if text]
    gaps = [later - at - 1 for at, later in pairwise(filled) if later - at > 1]
    if not gaps:
        return None
    # Cells are apart by the fewest empty lines that stand together.
    found = [each for width in range(2, _WIDEST) if (each := _counted(body, width, min(gaps))) is not None]
    if not found:
        return None
    most = max(each.used for each in found)
    # Of the widths that account for nearly all of the text, the one whose rows look like rows.
    best = max((each for each in found if each.used >= 0.9 * most), key=lambda each: (each.score, each.used))
    return grid_of(title, best.rows)


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
    """Return whether words come before texts of one sort: all numbers, or all words."""
    first, *others = [[text for text, _ in cell] for cell in row]
    words = not any(is_number(text) for text in first)
    sorts = {is_number(text) for cell in others for text in cell if text}
    return words and len(sorts) <= 1
