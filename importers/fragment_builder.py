"""Builder of a load tool's facts and readings, as printed, with lines."""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple, TypedDict, Unpack

from importers.model import Fact, Fragment, Head, Kind, Listing, Reading, Status

# Signs, exponents and more digits than a listing's: C programs print 1.112e+09 and -1.000.
_NUMBER = re.compile(r"[+-]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][+-]?\d{1,3})?", re.ASCII)
_LATEST = 32_503_680_000  # Seconds from 1970 to the year 3000.


class Printed(NamedTuple):
    """A text and its line."""

    text: str
    line: int


class LinePattern:
    """A pattern of a line, with words to search for first, which is much faster."""

    def __init__(self, words: str, pattern: str) -> None:
        self.words, self.pattern = words, re.compile(pattern)

    def search(self, text: str) -> re.Match[str] | None:
        return self.pattern.search(text) if self.words in text else None


class _Others(TypedDict, total=False):
    """The other fields of a fragment."""

    counters: tuple[Reading, ...]
    listings: tuple[Listing, ...]
    run_id: str | None
    trial: int | None
    phase: str | None
    host: str | None
    taken: datetime | None
    ended: datetime | None
    zone: str


class FragmentBuilder:
    """The facts and readings of one result; missing texts are skipped."""

    def __init__(self, facts: Iterable[Fact] = (), readings: Iterable[Reading] = ()) -> None:
        self.facts, self.readings = [*facts], [*readings]

    def add_fact(self, key: str, text: str | None, line: int) -> None:
        """Add a circumstance, without surrounding blanks."""
        if text and (text := text.strip()):
            self.facts.append(Fact(key, text, line))

    def add_facts(self, keys: Iterable[str], texts: Iterable[str | None], line: int) -> None:
        """Add the circumstances of one line, exactly as printed."""
        self.facts += [Fact(key, text, line) for key, text in zip(keys, texts, strict=True) if text]

    def add_raw_fact(self, key: str, text: str, line: int) -> None:
        """Add a circumstance exactly as printed."""
        self.facts.append(Fact(key, text, line))

    def add_printed(self, key: str, printed: Printed | None) -> None:
        """Add a circumstance at its line, without surrounding blanks."""
        if printed is not None:
            self.add_fact(key, *printed)

    def add_number(self, head: Head, text: str | None, line: int) -> None:
        """Add a quantity; drop a text that is not a number (``N/A``, ``-nan``)."""
        if text and is_decimal(text := text.strip()):
            self.add_raw_number(head, text, line)

    def add_raw_number(self, head: Head, text: str, line: int) -> None:
        """Add a quantity whose text is a number, also ``1,234``."""
        name, unit, role = head
        self.readings.append(Reading(name, text, unit, line, role))

    def add_reading(self, name: str, printed: Printed | None, unit: str, role: str = "total") -> None:
        """Add a quantity at its line, if it is a number."""
        if printed is not None:
            self.add_number((name, unit, role), *printed)

    def find_reading(self, name: str) -> Printed | None:
        """Return the first reading of a name, of any role."""
        return next((Printed(each.text, each.line) for each in self.readings if each.name == name), None)

    def build(
        self,
        source: tuple[str, str, int],
        lines: tuple[int, int],
        status: Status,
        *,
        kind: Kind = Kind.DRIVER,
        role: str | None = "client",
        **others: Unpack[_Others],
    ) -> Fragment:
        """Return the fragment, normally of the client's log.

        ``source`` is file, format and version of the format; ``lines`` are the first and the last line.
        """
        facts, readings = tuple(self.facts), tuple(self.readings)
        return Fragment(*source, kind, *lines, role=role, status=status, facts=facts, readings=readings, **others)


def is_decimal(text: str) -> bool:
    """Return whether a text is a finite number of at most 30 digits."""
    # Most are plain, which is seen sooner than by the pattern.
    plain = text.replace(".", "", 1)
    return (len(plain) <= 30 and plain.isdecimal() and plain.isascii()) or _NUMBER.fullmatch(text) is not None


def join_ports(pairs: Iterable[tuple[str, str]]) -> str:
    """Return the text of the fact ``ports``, equal for both ends: each connection's client and server port."""
    return " ".join(sorted({f"{client}-{server}" for client, server in pairs}))


def from_epoch(seconds: str) -> datetime | None:
    """Return the UTC time of seconds since 1970; None for anything else."""
    if not is_decimal(seconds) or not 0 < float(seconds) < _LATEST:
        return None
    return datetime.fromtimestamp(float(seconds), UTC).replace(tzinfo=None)


Column = tuple[str, str]
"""A quantity's name and its unit as printed."""
Row = tuple[int, tuple[Column, ...], Sequence[str]]
"""A row's line, its columns, and a text for each; of two texts of one column the last counts."""


def build_listing(name: str, rows: Iterable[Row]) -> tuple[Listing, ...]:
    """Return the rows as a listing in a tuple, or an empty tuple."""
    columns: dict[Column, None] = {}
    table: list[Sequence[str | None]] = []
    lines = []
    # For each column of the listing its place in rows with these columns; None where both are the same.
    places: dict[tuple[Column, ...], list[int | None] | None] = {}
    for line, own, texts in rows:
        if own not in places:
            columns |= dict.fromkeys(own)
            found = {column: place for place, column in enumerate(own)}
            places[own] = None if own == tuple(columns) else [found.get(column) for column in columns]
        at = places[own]
        table.append(texts if at is None else [None if place is None else texts[place] for place in at])
        lines.append(line)
    if not columns:
        return ()
    count = len(columns)
    if len(places) > 1:
        # Columns that only later rows have.
        table = [row if len(row) == count else [*row, *[None] * (count - len(row))] for row in table]
    return (Listing(name, tuple(columns), table, lines),)


# With time stamps 52 bytes of a packet are headers in IPv4 and 72 in IPv6, so that 1428 bytes may be an MTU of 1480
# or of 1500. Only of these sizes one can be sure.
_MTU = {"1448": "1500", "8948": "9000"}


def mtu_of(mss: str) -> str | None:
    """Return the MTU that a segment size implies for certain, else None."""
    return _MTU.get(mss)
