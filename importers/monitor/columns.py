"""Headings to columns, and lines to cells.

The tokens of the last heading line are the columns; words above and ``<--- group --->`` marks qualify them. A line's
tokens belong to the columns in order if there are as many, else each to the column with the nearest right edge
(the first column, which is left-aligned, by the left edge).
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import itemgetter
from string import ascii_letters, digits
from typing import NamedTuple

_new = tuple.__new__  # As in ``importers.fragment_builder``.
_TOKEN = re.compile(r"\S+")
_GROUP = re.compile(r"<[-\s]*(?P<name>[^<>]*?)[-\s]*>")
PLAIN = r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)[KMG]?"
MISSING = r"\.{2,}|-+|\*|n/a|-+(?:,-+)+"
_NUMBER = re.compile(PLAIN)
_MISSING = re.compile(MISSING)
_OVERFLOW = re.compile(r"\*{2,}")
_FIGURE = re.compile(rf"\s*\S+\s(?:.*?\s)?(?:{PLAIN}|{MISSING}|{_OVERFLOW.pattern})(?!\S)")
_IGNORED = re.compile(r"[\s.,\-]+")
# What tells numbers from words and from each other's place: nothing but the kinds of characters.
_SHAPE = {
    **dict.fromkeys(map(ord, digits), "0"),
    **dict.fromkeys(map(ord, ascii_letters), "a"),
    **dict.fromkeys(map(ord, "KMG"), "K"),
}
_SHAPES = 100
# Reports are 80, 133 or up to 255 characters wide: in what is far wider, columns would take for ever to be told.
_WIDEST = 400
_MOST_WORDS = 8
"""Most words of a row for each column, for columns with texts of several words."""

# Names of one column that are two words with one blank between.
_TWO_WORDS = frozenset({("End", "Time"), ("User", "Status")})


class Token(NamedTuple):
    """A word of a line with its first column and the column after its last."""

    text: str
    left: int
    right: int


def tokens(line: str) -> list[Token]:
    """Return the words of a line with their positions."""
    return [_new(Token, (match[0], *match.span())) for match in _TOKEN.finditer(line)]


def is_plain_number(text: str) -> bool:
    """Return whether a text is a report's number, perhaps without leading zero or with K, M, G."""
    return _NUMBER.fullmatch(text) is not None


def is_missing(text: str) -> bool:
    """Return whether a text is a mark for "no value", which is never zero."""
    return text[:1] in ".-*n" and _MISSING.fullmatch(text) is not None


def is_overflow(text: str) -> bool:
    """Return whether a text is asterisks in place of a long number."""
    return text[:1] == "*" and _OVERFLOW.fullmatch(text) is not None


def ends_headings(line: str) -> bool:
    """Return whether a line is a row: a later word is a number, a missing mark or an overflow."""
    return _FIGURE.match(line) is not None


@lru_cache(2048)
def normalised(heading: str) -> str:
    """Return a heading without capitals, blanks, hyphens, dots and commas."""
    return _IGNORED.sub("", heading).casefold()


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns of a table: qualified ``names`` as printed (``CPU Pct Busy``), and their edges.

    ``nearest``: the column of a word by its right end, up to the last right edge.
    ``known``: cutters of recent line shapes, None for shapes that fit no columns.
    """

    names: tuple[str, ...]
    lefts: tuple[int, ...]
    rights: tuple[int, ...]
    nearest: tuple[int, ...]
    known: dict[str, Callable[[str], Sequence[str]] | None] = field(default_factory=dict, repr=False, compare=False)

    def cells(self, line: str) -> Sequence[str] | None:
        """Return the line's texts by column, "" for gaps; None if its words fit no columns.

        Words with one blank between them in the same column are one text (``not installed``).
        """
        words = line.split()
        return words if len(words) == len(self.names) else self.placed(line, len(words))

    def placed(self, line: str, words: int) -> Sequence[str] | None:
        """Return the texts by column of a line with another number of words than columns."""
        if words > _MOST_WORDS * len(self.names):
            return None
        # Which column a word is of depends on where it stands and what is a number: rows alike in this come again.
        shape = line.translate(_SHAPE)
        if shape not in self.known:
            if len(self.known) >= _SHAPES:
                self.known.clear()
            self.known[shape] = self._cutter(shape)
        cut = self.known[shape]
        return None if cut is None else cut(line)

    def _cutter(self, line: str) -> Callable[[str], Sequence[str]] | None:
        """Return a function that cuts lines of the same shape into cells."""
        places = self._places(line)
        if places is None:
            return None
        # One column alone would be taken as a text and not as a tuple of one.
        cut: Callable[[str], tuple[str, ...]] = itemgetter(*places, slice(0))
        if any(" ".join(text.split()) != text for text in cut(line)):
            return lambda line: [" ".join(text.split()) for text in cut(line)[:-1]]
        return lambda line: cut(line)[:-1]

    def _places(self, line: str) -> list[slice] | None:
        """Return the position of each column's text."""
        cells = [slice(0)] * len(self.names)
        rights, nearest, first, right = self.rights, self.nearest, self.lefts[0], 0
        for text in line.split():
            # Between two words there are blanks alone, so that this finds the word itself.
            left = line.index(text, right)
            right = left + len(text)
            at = nearest[right] if right < len(nearest) else len(rights) - 1
            if right != rights[at] and abs(left - first) < abs(right - rights[at]):
                at = 0
            if is_plain_number(line[cells[at]]) and not is_plain_number(text):
                # A word that runs into a number from the right is of the next column.
                at = min(at + 1, len(cells) - 1)
            before = cells[at]
            if before.stop and left != before.stop + 1:
                return None
            cells[at] = slice(before.start if before.stop else left, right)
        return cells


@lru_cache(256)
def read_headings(lines: tuple[str, ...]) -> Columns | None:
    """Return the columns of heading lines; None without any, or for very wide lines.

    The result is cached, since every page of a listing repeats its headings.
    """
    printed = [line for line in lines if line.strip()]
    if not printed or max(map(len, printed)) > _WIDEST:
        return None
    bottom = [_Column([token.text], token.left, token.right) for token in _joined(tokens(printed[-1]))]
    for line in reversed(printed[:-1]):
        _qualify(bottom, line)
    names = tuple(_spoken(column.words) for column in bottom)
    rights = tuple(each.right for each in bottom)
    nearest = tuple(_nearest(right, rights) for right in range(rights[-1] + 1))
    return Columns(names, tuple(each.left for each in bottom), rights, nearest)


def _nearest(right: int, rights: Sequence[int]) -> int:
    """Return the column with the right edge nearest to a word's; the left one of two."""
    at = bisect_left(rights, right)
    return at - 1 if at and right - rights[at - 1] <= rights[at] - right else at


@dataclass(slots=True)
class _Column:
    """A column under construction; ``words`` from the bottom up."""

    words: list[str]
    left: int
    right: int


def _joined(words: Sequence[Token]) -> list[Token]:
    """Return the tokens, with two words of one column's name joined."""
    joined: list[Token] = []
    for token in words:
        before = joined[-1] if joined else None
        if before and token.left == before.right + 1 and (before.text, token.text) in _TWO_WORDS:
            joined[-1] = Token(f"{before.text} {token.text}", before.left, token.right)
        else:
            joined.append(token)
    return joined


def _qualify(columns: list[_Column], line: str) -> None:
    """Add an upper line's words to the columns below: a group's to all, others to the nearest."""
    for group in _GROUP.finditer(line):
        for column in columns:
            if group["name"] and group.start() < column.right <= group.end():
                column.words.append(group["name"].strip())
    rest = _GROUP.sub(lambda group: " " * len(group[0]), line)
    added: dict[int, list[str]] = {}
    for token in tokens(rest):
        added.setdefault(_below(token, columns), []).append(token.text)
    for at, words in added.items():
        columns[at].words.append(" ".join(words))


def _below(token: Token, columns: Sequence[_Column]) -> int:
    """Return the column below a word: the most covered one, else the nearest by right edge."""

    def distance(at: int) -> tuple[int, int]:
        column = columns[at]
        covered = min(token.right, column.right) - max(token.left, column.left)
        return -max(covered, 0), abs(column.right - token.right)

    return min(range(len(columns)), key=distance)


def _spoken(words: Sequence[str]) -> str:
    """Return the words from the top down, joined at hyphenation."""
    return re.sub(r"(?<=\w)- ", "-", " ".join(reversed(words)))
