"""Tables whose columns are aligned by blanks, as mails and terminals show them."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from importers.published.grid import is_nothing, read_cell

_FIELD = re.compile(r"\S+(?: \S+)*")
_BETWEEN_FIGURES = re.compile(r"\S+(?: (?![+\u2212-]?\.?\d)\S+)*")
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
        """Return whether a column after the first has a figure."""
        return any(read_cell(each.text) is not None for each in self.fields[1:])


def read_aligned(text: str) -> list[AlignedRow]:
    """Return rows of (text, line); an empty row ends a table, and a row of one cell is a title or section."""
    return [row for block in _blocks(text) for row in [*_rows(block), []]]


def has_aligned(text: str) -> bool:
    """Return whether two lines that follow each other have aligned columns, one of them with figures."""
    for one, other in chain.from_iterable(map(pairwise, _blocks(text))):
        several = len(one.fields) > 1 and len(other.fields) > 1
        fields = (*one.fields, *other.fields)
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
    """Return whether a line below a blank one belongs to the table above: a row of figures that is no heading."""
    heading = next((each.fields[0].text for each in block if len(each.fields) > 1), None)
    return line.has_figure and heading not in {None, line.fields[0].text}


def _lines(text: str) -> Iterator[_Line]:
    """Yield the lines without rules and marks of quotation."""
    lines = text.split("\n")
    quoted = all(_QUOTED.match(line) for line in lines if line.strip())
    for number, line in enumerate(lines, start=1):
        plain = (_QUOTED.sub("", line, count=1) if quoted else line)[:_LONGEST_LINE].expandtabs()
        if not _RULE.fullmatch(plain):
            kept = _IN_CELL.sub(lambda match: match[0].replace(" ", _HARD_BLANK), plain)
            yield _Line(number, [part for field in _fields(_FIELD, kept) for part in _figures(field)])


def _figures(field: _Field) -> list[_Field]:
    """Return the figures that single blanks separate, with their units; else the field."""
    parts = _fields(_BETWEEN_FIGURES, field.text, field.start) if read_cell(field.text) is None else []
    return parts if len(parts) > 1 and all(map(_is_value, parts)) else [field]


def _fields(pattern: re.Pattern[str], text: str, start: int = 0) -> list[_Field]:
    parts = pattern.finditer(text.replace(_HARD_BLANK, "\0"))
    return [_Field(part[0].replace("\0", _HARD_BLANK), start + part.start(), start + part.end()) for part in parts]


def _by_words(block: list[_Line]) -> list[_Line]:
    """Return lines of equally many words, some of them figures, as rows of words."""
    if len(block) < 2 or any(len(line.fields) != 1 and not line.has_figure for line in block):
        return block
    split = [_Line(line.number, _words(*line.fields)) for line in block]
    count = len(split[-1].fields)
    rows = [line for line in split if len(line.fields) == count]
    figures = [sum(map(_is_value, line.fields)) >= max(count - 1, 1) for line in rows]
    titles = len(split) - len(rows)
    fits = count > 1 and titles <= 1 and rows == split[titles:] and len(rows) > 1 and all(figures[1:])
    return [*block[:titles], *rows] if fits else block


def _words(*fields: _Field) -> list[_Field]:
    return [word for field in fields for word in _fields(_WORD, field.text, field.start)]


def _is_value(field: _Field) -> bool:
    return is_nothing(field.text) or read_cell(field.text) is not None


def _rows(block: Sequence[_Line]) -> Iterator[AlignedRow]:
    """Yield the rows of a block, each with a cell for every column; lines of prose are cells alone."""
    if not any(line.has_figure for line in block):
        yield from ([(" ".join(each.text for each in line.fields), line.number)] for line in block)
        return
    columns = _columns([line.fields for line in block if line.has_figure])
    for line in block:
        if len(line.fields) == 1 and (line is block[0] or line.fields[0].start <= columns[0][1]):
            yield [(line.fields[0].text, line.number)]
        else:
            yield [(text, line.number) for text in _cells(line, columns)]


def _columns(rows: Sequence[Sequence[_Field]]) -> list[tuple[int, int]]:
    """Return the first and last place of each column of aligned texts.

    Where a text reaches over several columns, the columns are those of the rows with the commonest number of texts.
    """
    columns: list[tuple[int, int]] = []
    for field in sorted((each for row in rows for each in row), key=lambda each: each.start):
        if columns and field.start < columns[-1][1]:
            columns[-1] = (columns[-1][0], max(columns[-1][1], field.end))
        else:
            columns.append((field.start, field.end))
    if len(columns) >= max(map(len, rows)):
        return columns
    counts = Counter(map(len, rows))
    width = max(counts, key=lambda count: (counts[count], count))
    fitting = zip(*(row for row in rows if len(row) == width), strict=True)
    return [(min(each.start for each in column), max(each.end for each in column)) for column in fitting]


def _cells(line: _Line, columns: Sequence[tuple[int, int]]) -> list[str]:
    """Return the text for each column; texts for the same column are joined."""
    fields = line.fields
    if len(fields) < len(columns):
        fields = [part for each in fields for part in _split(each, columns, anywhere=line.has_figure)]
        words = _words(*line.fields)
        wide = any(sum(each.overlap(column) > 0 for column in columns) > 1 for each in fields)
        fields = words if wide and len(words) == len(columns) and not line.has_figure else fields
    if len(fields) == len(columns):
        return [each.text for each in fields]
    cells = [""] * len(columns)
    for each in fields:
        at = max(range(len(columns)), key=lambda column: each.overlap(columns[column]))
        cells[at] = f"{cells[at]} {each.text}".strip()
    return cells


def _split(field: _Field, columns: Sequence[tuple[int, int]], *, anywhere: bool) -> list[_Field]:
    """Return the words of a field over several columns, unless of a heading."""
    words = _words(field)
    over = sum(field.overlap(column) > 0 for column in columns)
    if over < 2 or anywhere or all(map(_is_value, words)):
        return words if over > 1 else [field]
    # "rx pps tx pps" above two columns.
    size = len(words) // over
    parts = [words[at : at + size] for at in range(0, len(words), max(size, 1))]
    alike = len(parts) == over and size * over == len(words) and len({part[-1].text for part in parts}) == 1
    texts = [" ".join(word.text for word in part) for part in parts]
    joined = [_Field(text, part[0].start, part[-1].end) for text, part in zip(texts, parts, strict=True)]
    return joined if alike else [field]
