"""Gathers what a load tool's log says about one result: facts and readings, as printed, each with its line."""

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple

from importers.model import Fact, Reading

# Signs, exponents and more digits than a listing's: C programs print 1.112e+09 and -1.000.
_NUMBER = re.compile(r"[+-]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][+-]?\d{1,3})?", re.ASCII)
_LATEST = 32_503_680_000  # Seconds from 1970 to the year 3000.


_MANY_DIGITS = 30
_new = tuple.__new__  # Making a named tuple by its own name takes three times as long, and a log has very many.


class Printed(NamedTuple):
    """A text and the line it stands in."""

    text: str
    line: int


@dataclass(slots=True)
class Gathered:
    """The facts and readings of one result; a text that is missing leaves no trace."""

    facts: list[Fact] = field(default_factory=list)
    readings: list[Reading] = field(default_factory=list)

    def fact(self, key: str, printed: Printed | None) -> None:
        """Keep a circumstance."""
        if printed is not None and (text := printed.text.strip()):
            self.facts.append(_new(Fact, (key, text, printed.line, False)))

    def reading(self, name: str, printed: Printed | None, unit: str, role: str = "total") -> None:
        """Keep a quantity; what is no number (``N/A``, ``-nan``) is missing."""
        if printed is not None and is_decimal(text := printed.text.strip()):
            self.readings.append(_new(Reading, (name, text, unit, printed.line, role, "")))

    def has(self, name: str) -> bool:
        """Whether there is a reading of this name, whatever its role."""
        return any(reading.name == name for reading in self.readings)


def is_decimal(text: str) -> bool:
    """Whether a text is a finite number of sensible length, with sign and exponent where the tool prints them."""
    plain = text.replace(".", "", 1)
    if len(plain) <= _MANY_DIGITS and plain.isdecimal() and plain.isascii():
        return True
    return _NUMBER.fullmatch(text) is not None


def from_epoch(seconds: str) -> datetime | None:
    """The moment of so many seconds since 1970 in universal time; None for what is no such number."""
    if not is_decimal(seconds) or not 0 < float(seconds) < _LATEST:
        return None
    return datetime.fromtimestamp(float(seconds), UTC).replace(tzinfo=None)
