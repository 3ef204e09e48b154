"""Lines of ``key=value`` tokens, as in driver logs and heads of captures, and of cells; and numbers in such lines."""

import csv
import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

_KEY = re.compile(r"[A-Za-z_][\w.-]*")
# A key with a value in quotes or without, or anything else.
_TOKEN = re.compile(r"""([A-Za-z_][\w.-]*)=(?:"([^"]*)"|([^\s"]*))(?=\s|$)|(\S+)""")
# Nothing that is measured has more than thirty digits; more would be too much for a float.
_NUMBER = re.compile(r"[0-9]{1,30}(?:\.[0-9]{1,30})?")
_COUNT = re.compile(r"[0-9]{1,30}")
_new = tuple.__new__  # As in ``importers.fragment_builder``.
_TRIAL = re.compile(r"0*[1-9][0-9]{0,3}")
# ``int`` refuses texts of more than 4,300 digits.
_MOST_DIGITS = 4000


def is_number(text: str) -> bool:
    """Return whether a text is a decimal number without sign or exponent."""
    return _NUMBER.fullmatch(text) is not None


def is_count(text: str) -> bool:
    """Return whether a text consists of at most 30 digits."""
    return _COUNT.fullmatch(text) is not None


def whole(digits: str) -> int:
    """Return digits as a number; impossibly large for too many digits."""
    return int(digits) if len(digits) <= _MOST_DIGITS else 10**_MOST_DIGITS


def trial_number(text: str) -> int | None:
    """Return a trial from 1 to 9999; None for any other text."""
    return int(text) if _TRIAL.fullmatch(text) else None


def read_cells(line: str, delimiter: str = ",", *, strict: bool = False) -> list[str]:
    """Return the cells of a line, none if invalid (``strict``: an open quotation mark)."""
    try:
        return next(csv.reader([line], delimiter=delimiter, strict=strict), [])
    except csv.Error:
        return []


class Pair(NamedTuple):
    """One ``key=value``: the key in lower case, the value without quotes, the line."""

    key: str
    text: str
    line: int


@dataclass(slots=True)
class Record:
    """A record: type in capitals, pairs, and other tokens."""

    type: str
    line: int
    last_line: int
    pairs: list[Pair] = field(default_factory=list)
    strays: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Return the record as printed, its lines joined by blanks."""
        return " ".join(text for text in self.texts if text)

    def get(self, key: str) -> Pair | None:
        """Return the first pair of a key."""
        return next((pair for pair in self.pairs if pair.key == key), None)

    def value(self, key: str) -> str:
        """Return the text of a key, empty when missing."""
        pair = self.get(key)
        return pair.text if pair else ""

    def extend(self, text: str, line: int) -> None:
        """Add the tokens of one more line."""
        if '"' in text:
            for key, quoted, plain, stray in _TOKEN.findall(text):
                if stray:
                    self.strays.append(stray)
                else:
                    self.pairs.append(_new(Pair, (key.lower(), quoted or plain, line)))
        else:
            for token in text.split():
                printed, equals, value = token.partition("=")
                if equals and (key := _key(printed)):
                    self.pairs.append(_new(Pair, (key, value, line)))
                else:
                    self.strays.append(token)
        self.texts.append(text.strip())
        self.last_line = line


@lru_cache(1024)
def _key(printed: str) -> str:
    """Return a key in lower case; empty when invalid."""
    return printed.lower() if _KEY.fullmatch(printed) else ""
