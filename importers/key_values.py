"""Lines of ``key=value`` tokens: the part that driver logs and capture heads have in common."""

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
    """A decimal number of sensible length without sign or exponent, as the tool prints all its numbers."""
    return _NUMBER.fullmatch(text) is not None


def is_count(text: str) -> bool:
    """Digits only, and not too many to count anything."""
    return _COUNT.fullmatch(text) is not None


def whole(digits: str) -> int:
    """The number that digits make; of more digits than ``int`` takes it is one that nothing can have."""
    return int(digits) if len(digits) <= _MOST_DIGITS else 10**_MOST_DIGITS


def trial_number(text: str) -> int | None:
    """A run's trial, which counts from 1 and has at most four digits; None for any other text."""
    return int(text) if _TRIAL.fullmatch(text) else None


class Pair(NamedTuple):
    """One ``key=value``: the key in lower case, the value without quotes, the line it stands in."""

    key: str
    text: str
    line: int


@dataclass(slots=True)
class Record:
    """A record: its type in capitals, its pairs, and the tokens that are no pairs."""

    type: str
    line: int
    last_line: int
    pairs: list[Pair] = field(default_factory=list)
    strays: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The record as printed, its lines joined by blanks."""
        return " ".join(text for text in self.texts if text)

    def get(self, key: str) -> Pair | None:
        """The first pair of this key."""
        for pair in self.pairs:
            if pair.key == key:
                return pair
        return None

    def value(self, key: str) -> str:
        """The text of a key, empty when there is none."""
        pair = self.get(key)
        return pair.text if pair else ""

    def extend(self, text: str, line: int) -> None:
        """Take the tokens of one more line."""
        if '"' in text:
            self._extend_with_quotes(text, line)
        else:
            for token in text.split():
                printed, equals, value = token.partition("=")
                if equals and (key := _key(printed)):
                    self.pairs.append(_new(Pair, (key, value, line)))
                else:
                    self.strays.append(token)
        self.texts.append(text.strip())
        self.last_line = line

    def _extend_with_quotes(self, text: str, line: int) -> None:
        for key, quoted, plain, stray in _TOKEN.findall(text):
            if stray:
                self.strays.append(stray)
            else:
                self.pairs.append(_new(Pair, (key.lower(), quoted or plain, line)))


@lru_cache(1024)
def _key(printed: str) -> str:
    """A key in lower case; empty when this is none."""
    return printed.lower() if _KEY.fullmatch(printed) else ""
