"""Columns of monitor reports: from headings to columns, and from lines to cells.

The tokens of the last heading line are the columns; words above and ``<--- group --->`` marks qualify columns. As many
tokens as columns belong to the columns in order, else each token to the column with the nearest right edge (the first
column, which is left-aligned, by the left edge).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

_TOKEN = re.compile(r"\S+")
_HEADING = re.compile(r"(?<!\S)(?:End Time|User Status)(?!\S)|\S+")  # Two names of one column are two words.
_GROUP = re.compile(r"<[-\s]*(?P<name>[^<>]*?)[-\s]*>")
PLAIN = r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)[KMG]?"
MISSING = r"\.{2,}|-+|\*|n/a|-+(?:,-+)+"
_NUMBER = re.compile(PLAIN)
_MISSING = re.compile(MISSING)
_OVERFLOW = re.compile(r"\*{2,}")
_FIGURE = re.compile(rf"\s*\S+\s(?:.*?\s)?(?:{PLAIN}|{MISSING}|{_OVERFLOW.pattern})(?!\S)")
_IGNORED = re.compile(r"[\s.,\-]+")
# Reports are 80, 133 or up to 255 characters wide: in what is far wider, columns would take for ever to be told.
_WIDEST = 400
_MOST_WORDS = 8  # Words of a row for each column; texts may have several.


class Token(NamedTuple):
    """A word of a line with its start and end column."""

    text: str
    left: int
    right: int


def tokens(line: str, pattern: re.Pattern[str] = _TOKEN) -> list[Token]:
    """Return the words of a line with their places."""
    return [Token(match[0], *match.span()) for match in pattern.finditer(line)]


def is_plain_number(text: str) -> bool:
    """Return whether a text is a number, perhaps with K, M or G."""
    return _NUMBER.fullmatch(text) is not None


def is_missing(text: str) -> bool:
    """Return whether a text is a mark for "no value", which is never zero."""
    return text[:1] in ".-*n" and _MISSING.fullmatch(text) is not None


def is_overflow(text: str) -> bool:
    """Return whether a text is asterisks for a number that did not fit."""
    return text[:1] == "*" and _OVERFLOW.fullmatch(text) is not None


def ends_headings(line: str) -> bool:
    """Return whether a line is a row, with a number behind the first word."""
    return _FIGURE.match(line) is not None


@lru_cache(2048)
def normalised(heading: str) -> str:
    """Return a heading for comparison: without capitals, blanks, hyphens, dots and commas."""
    return _IGNORED.sub("", heading).casefold()


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table: qualified ``names`` (``CPU Pct Busy``), and edges.

    ``left`` is that of the first column; ``nearest`` has the column of a word by right edge, up to the last one.
    """

    names: tuple[str, ...]
    left: int
    rights: tuple[int, ...]
    nearest: tuple[int, ...]

    def cells(self, line: str) -> Sequence[str] | None:
        """Return the line's texts by column; None when the words do not fit.

        Words with one blank between in the same column are one text (``not installed``). Missing texts are empty.
        """
        words = line.split()
        if len(words) == len(self.names):
            return words
        if len(words) > _MOST_WORDS * len(self.names):
            return None
        cells, ends = [""] * len(self.names), [0] * len(self.names)
        for text, left, right in tokens(line):
            at = self.nearest[right] if right < len(self.nearest) else len(cells) - 1
            if right != self.rights[at] and abs(left - self.left) < abs(right - self.rights[at]):
                at = 0
            if is_plain_number(cells[at]) and not is_plain_number(text):
                # A word that runs into a number from the right is of the next column.
                at = min(at + 1, len(cells) - 1)
            if cells[at] and left != ends[at] + 1:
                return None
            cells[at], ends[at] = f"{cells[at]} {text}".lstrip(), right
        return cells


@lru_cache(256)
def read_headings(lines: tuple[str, ...]) -> Columns | None:
    """Return the columns of heading lines; None for none, or overlong lines."""
    printed = [line for line in lines if line.strip()]
    if not printed or max(map(len, printed)) > _WIDEST:
        return None
    bottom = tokens(printed[-1], _HEADING)
    words = [[token.text] for token in bottom]
    for line in reversed(printed[:-1]):
        _qualify(bottom, words, line)
    # From the top down, joined at hyphens.
    names = tuple(re.sub(r"(?<=\w)- ", "-", " ".join(reversed(own))) for own in words)
    rights = tuple(each.right for each in bottom)
    # Of two equally near edges the left one.
    nearest = (min(range(len(rights)), key=lambda at: abs(rights[at] - right)) for right in range(rights[-1] + 1))
    return Columns(names, bottom[0].left, rights, tuple(nearest))


def _qualify(columns: Sequence[Token], words: Sequence[list[str]], line: str) -> None:
    """Add a group's words to all spanned columns, others to the nearest."""
    for group in _GROUP.finditer(line):
        for column, own in zip(columns, words, strict=True):
            if group["name"] and group.start() < column.right <= group.end():
                own.append(group["name"].strip())
    rest = _GROUP.sub(lambda group: " " * len(group[0]), line)
    added: dict[int, list[str]] = {}
    for token in tokens(rest):
        added.setdefault(_below(token, columns), []).append(token.text)
    for at, texts in added.items():
        words[at].append(" ".join(texts))


def _below(token: Token, columns: Sequence[Token]) -> int:
    """Return the column below a word, by overlap, else by right edge."""

    def distance(at: int) -> tuple[int, int]:
        column = columns[at]
        covered = min(token.right, column.right) - max(token.left, column.left)
        return -max(covered, 0), abs(column.right - token.right)

    return min(range(len(columns)), key=distance)


CLOCK = "hh:mm:ss"
MEAN, TOTAL, SYSTEM = "mean", "total", "system"


@dataclass(frozen=True, slots=True)
class Column:
    """A known column: name, unit ("" for words), and possible headings."""

    name: str
    unit: str
    headings: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Layout:
    """A report that is read, with rows distinguished by the first column.

    ``summary``: the row that a whole report has (``mean``, ``total``), "" for none. ``continued``: a row may leave the
    first columns blank, which then repeat. ``key``: the form of a row's first cell, where a table is among other text.
    ``vital``: the columns with values that are used.
    """

    name: str
    number: str
    columns: tuple[Column, ...]
    summary: str = ""
    continued: bool = False
    key: re.Pattern[str] | None = None
    vital: tuple[str, ...] = ()

    @property
    def intervals(self) -> bool:
        """Return whether the first column is a time of each interval."""
        return self.columns[0].unit == CLOCK

    @cached_property
    def by_heading(self) -> Mapping[str, Column]:
        """Return the columns by their normalised headings."""
        return {normalised(heading): column for column in self.columns for heading in column.headings}


def layout(
    title: str,
    *columns: tuple[str, ...],
    summary: str = "",
    continued: bool = False,
    key: re.Pattern[str] | None = None,
    vital: tuple[str, ...] = (),
) -> Layout:
    """Return a layout by name and perhaps number, and by name, unit and headings of columns."""
    name, _, number = title.partition(" ")
    known = tuple(Column(column, unit, tuple(headings)) for column, unit, *headings in columns)
    return Layout(name, number, known, summary, continued, key, vital)


def name_columns(layout: Layout, headings: tuple[str, ...]) -> tuple[Column, ...]:
    """Return a table's columns, named by the layout or by heading."""
    found = [layout.by_heading.get(normalised(each)) or Column(each, "", (each,)) for each in headings]
    seen: set[str] = set()
    columns = []
    for each in found:
        columns.append(Column(each.headings[0], "", each.headings) if each.name in seen else each)
        seen.add(each.name)
    return tuple(columns)
