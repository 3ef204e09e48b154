"""Tables as grids of cells, and the numbers printed in cells."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MOST_CELLS = 20_000
"""Cells that one paste may have, with each repetition of a merged cell; published tables have hundreds."""

_LONGEST_TITLE = 160
NUMBERED = re.compile(r"(?:table|tab\.)\s*(?P<number>\d+)\s*[.:)]?\s*", re.IGNORECASE)
"""Beginning of a numbered title."""
_SENTENCE = re.compile(r"[.;,!?]$")


class TooLargeError(Exception):
    """Error for a paste whose tables have more than MOST_CELLS cells."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A text without surrounding blanks; ``line`` and grid ``column`` count from 1.

    ``merged`` marks a further part of a merged cell, which repeats its text.
    """

    text: str
    line: int
    column: int
    merged: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """One table: rows of equally many cells, and the title above (empty for none)."""

    title: str
    rows: tuple[tuple[Cell, ...], ...]
    line: int = 1

    @property
    def width(self) -> int:
        """Return the number of columns."""
        return len(self.rows[0]) if self.rows else 0

    @property
    def place(self) -> str:
        """Return the table's name in messages: ``Table 6`` for a numbered title."""
        match = NUMBERED.match(self.title)
        return f"Table {match['number']}" if match else self.title or f"the table in line {self.line}"

    def texts(self) -> list[list[str]]:
        """Return the texts of the cells, row by row."""
        return [[cell.text for cell in row] for row in self.rows]


def clean(text: str) -> str:
    """Return a text with single blanks between words."""
    return " ".join(text.replace("\0", "").split())


def grid_of(title: str, rows: Iterable[Sequence[tuple[str, int]]]) -> Grid:
    """Return a grid of (text, line) cells, filled up. Raise TooLargeError."""
    found = [list(row) for row in rows]
    width = max((len(row) for row in found), default=0)
    if width * len(found) > MOST_CELLS:
        raise TooLargeError
    for row in found:
        row.extend([("", row[-1][1] if row else 1)] * (width - len(row)))
    cells = tuple(
        tuple(Cell(clean(text), line, column) for column, (text, line) in enumerate(row, start=1)) for row in found
    )
    return Grid(clean(title), cells, cells[0][0].line if width else 1)


def is_numbered_title(line: str) -> bool:
    """Return whether a line begins as ``Table 4.`` does."""
    return NUMBERED.match(line.strip()) is not None and len(line) <= _LONGEST_TITLE


def is_title(line: str) -> bool:
    """Return whether a line can be a title: short, no sentence."""
    text = line.strip().lstrip("#").strip()
    return bool(text) and (is_numbered_title(text) or (len(text) <= _LONGEST_TITLE and not _SENTENCE.search(text)))


def title_text(line: str) -> str:
    """Return the title without a heading's marks."""
    return line.strip().lstrip("#").strip(" *_")


# Longer texts are prose, and no pattern should have to walk through them.
_LONGEST = 60
_BLANKS = " \u00a0\u202f"
_NOTHING = frozenset(
    {"", "-", "--", "---", "\u2013", "\u2014", "n/a", "na", "n.a.", "nil", "none", ".", "..", "...", "\u2026", "nm"}
)
# Marks of footnotes, behind a figure or before it.
_MARKS = re.compile(
    r"(?:\s*(?:\^\s*[\w*,]+|\[\w{1,3}\]|[*\u2020\u2021\u00a7\u00b6#]|[\u00b9\u00b2\u00b3\u2070-\u2079]|\(\w\)))+$"
)
_BEFORE = re.compile(r"^[*\u2020\u2021#]+\s*")
_EMPHASIS = re.compile(r"(\*\*|__|\*|_|`)(.+)\1")
_NUMBER = re.compile(
    rf"(?P<sign>[+\u2212-]?)\s?(?P<number>(?:[1-9]\d{{0,2}}(?:[,{_BLANKS}]\d{{3}})+|\d+)?(?:\.\d*)?(?:[eE][+-]?\d{{1,3}})?)"
    r"\s*(?P<unit>%|[A-Za-z\u00b5\u03bc][A-Za-z/\u00b5\u03bc ]{0,18})?",
    re.ASCII,
)
_DIGIT = re.compile(r"\d", re.ASCII)
_CHANGE = r"[+\u2212-]?\s?\d*\.?\d+\s*%|[+\u2212-]\s?\d*\.?\d+"
# What a cell may hold behind its figure: a difference, a spread, a unit in brackets, or another remark in brackets.
_BEHIND = re.compile(
    r"(?P<figure>[+\u2212-]?[\d.][^(\[*\u00b1]*?)\s*"
    rf"(?:[(\[*/,]\s*(?P<change>{_CHANGE})\s*[)\]*]?|(?<=[\s%])(?P<bare>[+\u2212-]\d*\.?\d+\s*%)"
    r"|[(\[](?P<remark>[^()\[\]]+)[)\]]|(?P<spread>\(?\s*(?:\u00b1|\+/?-)\s*[\d.]+\s*%?\s*\)?))\s*",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Printed:
    """A printed number: digits, unit of the cell, and decimals."""

    number: str
    unit: str
    decimals: int

    @property
    def value(self) -> float:
        """Return the number."""
        return float(self.number)


def is_nothing(text: str) -> bool:
    """Return whether a cell has no value: empty, a dash, n/a."""
    return text.strip().casefold() in _NOTHING


def read_number(text: str) -> Printed | None:
    """Return a number without brackets, footnote marks and separators of thousands, or None."""
    if len(text) > _LONGEST or not _DIGIT.search(text):
        return None
    match = _NUMBER.fullmatch(_bare(text))
    if match is None or not _DIGIT.search(match["number"]):
        return None
    number = re.sub(f"[,{_BLANKS}]", "", match["number"])
    sign = "-" if match["sign"] in {"-", "\u2212"} else ""
    decimals = len(re.split("[eE]", number)[0].partition(".")[2])
    return Printed(sign + number, (match["unit"] or "").strip(), decimals)


@dataclass(frozen=True, slots=True)
class CellContent:
    """The figure of a cell, and the difference or other remark printed behind."""

    figure: Printed
    difference: Printed | None = None
    remark: str = ""


def read_cell(text: str) -> CellContent | None:
    """Return the figure of a cell, the first number, and the rest; None without a figure."""
    whole = read_number(text)
    if whole is not None:
        return CellContent(whole)
    match = _BEHIND.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    figure = read_number(match["figure"]) if match else None
    if match is None or figure is None:
        return None
    change = match["change"] or match["bare"]
    difference = read_number(change) if change else None
    return CellContent(figure, difference, "" if difference else (match["remark"] or match["spread"] or change))


def _bare(text: str) -> str:
    """Return the text without nested emphasis, marks and brackets."""
    bare, before = text.strip(), None
    while bare != before:
        before = bare
        emphasised = _EMPHASIS.fullmatch(bare)
        bare = emphasised[2].strip() if emphasised else bare
        bare = _BEFORE.sub("", _MARKS.sub("", bare)).strip()
        if bare[:1] + bare[-1:] in {"()", "[]"} and len(bare) > 1:
            bare = bare[1:-1].strip()
    return bare


def is_number(text: str) -> bool:
    """Return whether a text is a printed number, with or without per cent sign."""
    printed = read_number(text)
    return printed is not None and printed.unit in {"", "%"}
