"""Tables whose columns are aligned by blanks, as mails and terminals show them."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from importers.published.printed_numbers import is_nothing, read_cell

_FIELD = re.compile(r"\S+(?: \S+)*")
_WORD = re.compile(r"\S+")
_RULE = re.compile(r"[\s|:+=_-]*(?:-{3}|={3}|_{3})[\s|:+=_-]*")
_QUOTED = re.compile(r"\s*(?:>\s?)+")
# A difference inside of a cell, whose blanks separate no columns: "(   0.00%)", "*   3.23%*".
_IN_CELL = re.compile(
    r"(?<=[\w.%])(?P<gap> {1,4})(?P<text>\(\s*[+\u2212-]?[\d.]+\s*%\s*\)|\*\s*[+\u2212-]?[\d.]+\s*%\s*\*)"
)
_DELIMITED = re.compile(r"[,;]$")
_HARD_BLANK = "\u00a0"
_LONGEST_LINE = 2_000

AlignedRow = list[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class _Field:
    """A text of a line with its place."""

    text: str
    start: int
    end: int

    def overlap(self, other: tuple[int, int]) -> int:
        """Return the number of common places; negative for a gap between both."""
        return min(self.end, other[1]) - max(self.start, other[0])


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    fields: list[_Field]

    @property
    def has_figure(self) -> bool:
        return any(read_cell(each.text) is not None for each in self.fields)


def read_aligned(text: str) -> list[AlignedRow]:
    """Return rows of (text, line); an empty row ends a table, and a row of one cell is a title or section."""
    return [row for block in _blocks(text) for row in [*_rows(block), []]]


def has_aligned(text: str) -> bool:
    """Return whether two lines that follow each other have aligned columns, one of them with figures."""
    for block in _blocks(text):
        for one, other in pairwise(block):
            fields = [*one.fields, *other.fields]
            several = len(one.fields) > 1 and len(other.fields) > 1
            if several and other.has_figure and not any(_DELIMITED.search(each.text) for each in fields):
                return True
    return False


def _blocks(text: str) -> Iterator[list[_Line]]:
    """Yield the lines of each table; blank lines below a heading or between groups of rows separate no tables."""
    block: list[_Line] = []
    gap = False
    for line in [*_lines(text), None]:
        if line is not None and not line.fields:
            gap = True
        elif line is not None and not (gap and block and not _continues(block, line)):
            block.append(line)
            gap = False
        else:
            if block:
                yield _by_words(block)
            block, gap = [line] if line is not None else [], False


def _continues(block: Sequence[_Line], line: _Line) -> bool:
    """Return whether a line below a blank one belongs to the table above: a row of figures like its last line."""
    fitting = len(line.fields) > 1 and line.has_figure and len(block[-1].fields) == len(line.fields)
    return fitting and (block[-1].has_figure or len(block) <= 3)


def _lines(text: str) -> Iterator[_Line]:
    """Yield the lines without rules and marks of quotation."""
    lines = text.split("\n")
    filled = [line for line in lines if line.strip()]
    quoted = bool(filled) and all(map(_QUOTED.match, filled))
    for number, line in enumerate(lines, start=1):
        plain = (_QUOTED.sub("", line, count=1) if quoted else line)[:_LONGEST_LINE].expandtabs()
        if not _RULE.fullmatch(plain):
            kept = _IN_CELL.sub(lambda match: match[0].replace(" ", _HARD_BLANK), plain)
            yield _Line(number, _fields(_FIELD, kept))


def _fields(pattern: re.Pattern[str], text: str, start: int = 0) -> list[_Field]:
    parts = pattern.finditer(text.replace(_HARD_BLANK, "\0"))
    return [_Field(part[0].replace("\0", _HARD_BLANK), start + part.start(), start + part.end()) for part in parts]


def _by_words(block: list[_Line]) -> list[_Line]:
    """Return lines of equally many words, some of them figures, as rows of words."""
    if len(block) < 2 or any(len(line.fields) != 1 for line in block):
        return block
    split = [_Line(line.number, [word for each in line.fields for word in _words(each)]) for line in block]
    count = len(split[-1].fields)
    rows = [line for line in split if len(line.fields) == count]
    figures = [sum(map(_is_value, line.fields)) >= max(count - 1, 1) for line in rows]
    titles = len(split) - len(rows)
    fits = count > 1 and titles <= 1 and rows == split[titles:] and len(rows) > 1 and all(figures[1:])
    return [*block[:titles], *rows] if fits else block


def _words(field: _Field) -> list[_Field]:
    return _fields(_WORD, field.text, field.start)


def _is_value(field: _Field) -> bool:
    return is_nothing(field.text) or read_cell(field.text) is not None


def _rows(block: Sequence[_Line]) -> Iterator[AlignedRow]:
    """Yield the rows of a block, each with a cell for every column."""
    columns = _columns(block)
    for line in block:
        if len(line.fields) == 1 and (line is block[0] or line.fields[0].start <= columns[0][1]):
            yield [(line.fields[0].text, line.number)]
        else:
            yield [(text, line.number) for text in _cells(line, columns)]


def _columns(block: Sequence[_Line]) -> list[tuple[int, int]]:
    """Return the first and last place of each column, by the lines with the commonest number of fields.

    Only lines with figures count.
    """
    several = [line for line in block if len(line.fields) > 1]
    counts = Counter(len(line.fields) for line in several if line.has_figure) or Counter(
        len(line.fields) for line in several or block
    )
    width = max(counts, key=lambda count: (counts[count], count))
    fitting = [line.fields for line in block if len(line.fields) == width]
    return [
        (min(each.start for each in column), max(each.end for each in column)) for column in zip(*fitting, strict=True)
    ]


def _cells(line: _Line, columns: Sequence[tuple[int, int]]) -> list[str]:
    """Return the text for each column; texts for the same column are joined."""
    fields = line.fields
    if len(fields) < len(columns):
        fields = [part for each in fields for part in _split(each, columns, anywhere=line.has_figure)]
        words = [word for each in line.fields for word in _words(each)]
        fields = words if len(words) == len(columns) else fields
    if len(fields) == len(columns):
        return [each.text for each in fields]
    cells = [""] * len(columns)
    for each in fields:
        at = max(range(len(columns)), key=lambda column: each.overlap(columns[column]))
        cells[at] = f"{cells[at]} {each.text}".strip()
    return cells


def _split(field: _Field, columns: Sequence[tuple[int, int]], *, anywhere: bool) -> list[_Field]:
    """Return the words of a field that reaches over several columns, else the field.

    Words of headings reach over columns that they describe together.
    """
    words = _words(field)
    over = sum(field.overlap(column) > 0 for column in columns)
    return words if over > 1 and (anywhere or all(map(_is_value, words))) else [field]
