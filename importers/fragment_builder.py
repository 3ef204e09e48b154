"""Builder of the facts and readings of a load tool's result, as printed, each with its line."""

import re
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from itertools import repeat
from typing import NamedTuple

from importers.model import Fact, Fragment, Head, Kind, Listing, Reading, Status, make_facts, make_readings

# Signs, exponents and more digits than a listing's: C programs print 1.112e+09 and -1.000.
_NUMBER = re.compile(r"[+-]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][+-]?\d{1,3})?", re.ASCII)
_LATEST = 32_503_680_000  # Seconds from 1970 to the year 3000.
MANY_DIGITS = 30


class Printed(NamedTuple):
    """A text and its line."""

    text: str
    line: int


class Gathered:
    """The facts and readings of one result; missing texts leave no trace."""

    __slots__ = ("_fact_lines", "_fact_texts", "_heads", "_keys", "_lines", "_texts")

    def __init__(self, facts: Iterable[Fact] = ()) -> None:
        self._keys: list[str] = []
        self._fact_texts: list[str] = []
        self._fact_lines: list[int] = []
        self._heads: list[Head] = []
        self._texts: list[str] = []
        self._lines: list[int] = []
        for fact in facts:
            self.say(fact.key, fact.text, fact.line)

    @property
    def facts(self) -> Sequence[Fact]:
        """The circumstances."""
        return make_facts(self._keys, self._fact_texts, self._fact_lines)

    def facts_but(self, of_host: Collection[str]) -> Sequence[Fact]:
        """Return the circumstances, those of some keys marked as properties of the host."""
        return [fact._replace(of_host=fact.key in of_host) for fact in self.facts]

    @property
    def readings(self) -> Sequence[Reading]:
        """The quantities."""
        return make_readings(self._heads, self._texts, self._lines)

    def say(self, key: str, text: str | None, line: int) -> None:
        """Add a circumstance."""
        if text and (text := text.strip()):
            self._keys.append(key)
            self._fact_texts.append(text)
            self._fact_lines.append(line)

    def say_all(self, keys: Sequence[str], texts: Sequence[str | None], line: int) -> None:
        """Add the circumstances of one line whose texts, without surrounding blanks, are not missing."""
        if not all(texts):
            keys = [key for key, text in zip(keys, texts, strict=True) if text]
        self._keys += keys
        self._fact_texts += filter(None, texts)
        self._fact_lines += repeat(line, len(keys))

    def say_each(self, keys: Sequence[str], texts: Sequence[str | None], lines: Sequence[int]) -> None:
        """Add circumstances of several lines whose texts are not missing."""
        if not all(texts):
            lines = [line for text, line in zip(texts, lines, strict=True) if text]
            keys = [key for text, key in zip(texts, keys, strict=True) if text]
        self._keys += keys
        self._fact_texts += filter(None, texts)
        self._fact_lines += lines

    def note(self, key: str, text: str, line: int) -> None:
        """Add a circumstance whose text is present and stripped."""
        self._keys.append(key)
        self._fact_texts.append(text)
        self._fact_lines.append(line)

    def say_again(self, other: "Gathered") -> None:
        """Add the circumstances of another result."""
        self._keys += other._keys
        self._fact_texts += other._fact_texts
        self._fact_lines += other._fact_lines

    def measure(self, head: Head, text: str | None, line: int) -> None:
        """Add a quantity; drop a text that is not a number (``N/A``, ``-nan``)."""
        if text and is_decimal(text := text.strip()):
            self._heads.append(head)
            self._texts.append(text)
            self._lines.append(line)

    def keep(self, head: Head, text: str, line: int) -> None:
        """Add a quantity whose text is a number, or a tool's spelling of one (``1,234``)."""
        self._heads.append(head)
        self._texts.append(text)
        self._lines.append(line)

    def fact(self, key: str, printed: Printed | None) -> None:
        """Add a circumstance at its line."""
        # The same as ``say``, which so often is a call too many.
        if printed is not None and (text := printed[0].strip()):
            self._keys.append(key)
            self._fact_texts.append(text)
            self._fact_lines.append(printed[1])

    def reading(self, name: str, printed: Printed | None, unit: str, role: str = "total") -> None:
        """Add a quantity at its line."""
        if printed is not None:
            self.measure((name, unit, role), *printed)

    def printed(self, name: str) -> Printed | None:
        """Return the first reading of a name, of any role."""
        for at, head in enumerate(self._heads):
            if head[0] == name:
                return Printed(self._texts[at], self._lines[at])
        return None

    def has(self, name: str) -> bool:
        """Whether there is a reading of a name, of any role."""
        return self.printed(name) is not None


def driver_fragment(
    source: tuple[str, str, int],
    lines: tuple[int, int],
    status: Status,
    facts: Sequence[Fact],
    readings: Sequence[Reading] = (),
    *,
    listings: tuple[Listing, ...] = (),
    role: str | None = "client",
    run_id: str | None = None,
    trial: int | None = None,
    host: str | None = None,
    taken: datetime | None = None,
    ended: datetime | None = None,
    zone: str = "",
) -> Fragment:
    """Return a load driver's fragment; ``source`` is file, format and version, ``lines`` the first and the last."""
    return Fragment(
        *source,
        Kind.DRIVER,
        *lines,
        run_id=run_id,
        trial=trial,
        role=role,
        host=host,
        taken=taken,
        ended=ended,
        zone=zone,
        status=status,
        facts=facts,
        readings=readings,
        listings=listings,
    )


def is_decimal(text: str) -> bool:
    """Whether a text is a finite number of at most 30 digits, perhaps with sign and exponent."""
    plain = text.replace(".", "", 1)
    if len(plain) <= MANY_DIGITS and plain.isdecimal() and plain.isascii():
        return True
    return _NUMBER.fullmatch(text) is not None


def from_epoch(seconds: str) -> datetime | None:
    """Return the UTC time of seconds since 1970; None for anything else."""
    if not is_decimal(seconds) or not 0 < float(seconds) < _LATEST:
        return None
    return datetime.fromtimestamp(float(seconds), UTC).replace(tzinfo=None)
