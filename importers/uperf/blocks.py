"""The runs of a uperf log, with lines sorted by kind."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from re import Pattern
from typing import NamedTuple

from importers.fragment_builder import Printed
from importers.key_values import whole
from importers.model import Text

_TIME = r"(\d+(?:\.\d+)?)(ns|us|ms|s)"
_UNREAD_TIME = r"\d+(?:\.\d+)?(?:ns|us|ms|s)"
# Workers, profile.
START = re.compile(r"Starting (\d+ .*?) running profile:(.+?) \.\.\.")
_WORKERS = re.compile(r"(\d+) (threads?|process(?:es)?)")
# Name, data and unit, seconds, rate and unit, operations. A message may follow, for progress has no line end.
# The data field is eight characters wide, so the B is cut off from larger figures: "118.94M" are megabytes.
_PROGRESS = re.compile(
    r"(\S+)\s+(\d+(?:\.\d+)?)([KMGT]?)B?\s*/\s*(\d+\.\d+)\(s\) =\s*"
    r"(\d{1,30}(?:\.\d{1,30})?)([KMGT]?b/s)?\s*(\d{1,30})op/s"
)
# Time stamp, name, bytes, operations.
_RAW = re.compile(r"timestamp_ms:(\d{1,20}\.\d+) name:(\S+) nr_bytes:(\d+) nr_ops:(\d+)\s*")
# Name, count, then average, maximum and minimum, each with its unit.
_AVERAGES = rf"(\S+)\s+(\d+)\s+{_TIME}\s*{_UNREAD_TIME}\s*{_TIME}\s*{_TIME}\s*"
# Host. With -v other text precedes the host in the cell, so the end of the cell is found by the time.
_STATISTICS = r"(.*?)(?<!\s)\s++\d+\.\d+s\s+\d+(?:\.\d+)?[KMGT]?B?\s+\S+?/s\s*\d+\s+(?:-?\d+\.\d+|-?nan)\s*"
# The patterns of heading and rows of each table, by the first word.
_TABLES = {
    word: (re.compile(rf"{word}\s+{head}\s*"), re.compile(row))
    for word, head, row in (
        ("Txn", r"Count\s+avg\s+cpu\s+max\s+min", _AVERAGES),
        ("Flowop", r"Count\s+avg\s+cpu\s+max\s+min", _AVERAGES),
        ("Nic", r"opkts/s\s+ipkts/s\s+obits/s\s+ibits/s", r"(\S+)\s+(\d+)\s+(\d+)\s+(\S+b/s)\s*(\S+b/s)\s*"),
        ("Hostname", r"Time\s+Data\s+Throughput\s+Operations\s+Errors", _STATISTICS),
    )
}
# Difference of times.
_DIFFERENCE = re.compile(r"Difference\(%\)\s+(-?\d+\.\d+|-?nan|-?inf)%(?:\s+-?(?:\d+\.\d+|nan|inf)%){4}\s*")
_ERRORS = re.compile(r"WARNING: (\d+) Errors detected during run\s*")
_DECORATION = re.compile(r"-{20,}\s*|Netstat .*|\s*(?:Group Details|Strand Details|Run Statistics)\s*")
_ONE_WAY = frozenset({"read", "write", "recv", "send", "sendto", "sendfile", "sendfilev"})
_READS = frozenset({"read", "recv"})
_ALIKE = 0.01
_SIZE = r"(\d{1,15}[kmg]?)"
_EXCHANGE_NAME = re.compile(rf"(rr|crr|strg|strp)(?:\d+c)?-{_SIZE}x{_SIZE}(?:-+\d+)?", re.IGNORECASE)
_STREAM_NAME = re.compile(rf"str-(read|write)x{_SIZE}(?:-+\d+)?", re.IGNORECASE)

Row = tuple[Sequence[str], int]
"""The groups of a line's pattern, and the number of the line."""


@lru_cache(64)
def assume_facts(profile: str) -> Mapping[str, str]:
    """Return the facts that IBM's profile names suggest (``rr1c-200x1000``), which is no proof."""
    if exchange := _EXCHANGE_NAME.fullmatch(profile):
        keys = ("workload", "request_bytes", "response_bytes")
        return dict(zip(keys, (exchange[1].upper(), exchange[2], exchange[3]), strict=True))
    if stream := _STREAM_NAME.fullmatch(profile):
        return {"workload": "STRG" if stream[1].lower() == "read" else "STRP", "message_bytes": stream[2]}
    return {}


class Start(NamedTuple):
    """The first line of a run: workers (number and kind) and profile."""

    workers: tuple[tuple[str, str], ...]
    profile: str
    line: int


@dataclass(slots=True)
class Block:
    """The lines of one run, sorted by kind; ``others`` are messages."""

    start: Start | None
    first_line: int
    last_line: int = 0
    progress: dict[str, list[Row]] = field(default_factory=dict)
    raw: dict[str, list[Row]] = field(default_factory=dict)
    tables: defaultdict[str, list[Row]] = field(default_factory=lambda: defaultdict(list))
    """Rows by the first word of the table's heading."""
    difference: Printed | None = None
    errors: Printed | None = None
    others: list[Printed] = field(default_factory=list)
    _row: Pattern[str] | None = None
    """The pattern of rows below the last heading."""
    _rows: list[Row] = field(default_factory=list)

    def take(self, piece: str, line: int) -> None:
        """Sort a line; the last heading determines a row's table."""
        word = piece.split(None, 1)[0]
        if "op/s" in piece and (match := _PROGRESS.match(piece)):
            self.progress.setdefault(match[1], []).append((match.groups(), line))
            if behind := piece[match.end() :].strip():
                self.others.append(Printed(behind, line))
        elif piece.startswith("timestamp_ms:") and (match := _RAW.fullmatch(piece)):
            self.raw.setdefault(match[2], []).append((match.groups(), line))
        elif word in _TABLES and _TABLES[word][0].fullmatch(piece):
            self._row, self._rows = _TABLES[word][1], self.tables[word]
        elif piece.startswith("Difference(%)") and (match := _DIFFERENCE.fullmatch(piece)):
            self.difference = Printed(match[1], line)
        elif piece.startswith("WARNING:") and (match := _ERRORS.fullmatch(piece)):
            self.errors = Printed(match[1], line)
        elif self._row is not None and (match := self._row.fullmatch(piece)):
            self._rows.append((match.groups(), line))
        elif not _DECORATION.fullmatch(piece):
            self.others.append(Printed(piece, line))

    @property
    def users(self) -> str | None:
        """Return the number of threads or processes; None if there are both."""
        return self.start.workers[0][0] if self.start and len(self.start.workers) == 1 else None

    @property
    def pattern(self) -> str | None:
        """Return the pattern that the operations prove: as many reads as writes are exchanges."""
        counts = {name: whole(count) for (name, count, *_), _ in self.tables["Flowop"]}
        read = sum(counts.get(name, 0) for name in _READS)
        written = sum(count for name, count in counts.items() if name in _ONE_WAY - _READS)
        if not read or not written:
            return "STRG" if read else "STRP" if written else None
        # Exchanges under way at the end have only been written.
        if abs(read - written) > max(_ALIKE * max(read, written), whole(self.users or "1")):
            return None
        return "CRR" if self.connects_always else "RR"

    @property
    def streams(self) -> bool:
        """Return whether data go one way, by operations, else by the profile's name."""
        names = {name for (name, *_), _ in self.tables["Flowop"]}
        assumed = assume_facts(self.start.profile) if self.start is not None else {}
        return len(names & _ONE_WAY) == 1 if names else "message_bytes" in assumed

    @property
    def connects_always(self) -> bool:
        """Return whether each transaction connects, by the operations, else by the profile's name."""
        counts = {name: whole(count) for (name, count, *_), _ in self.tables["Flowop"]}
        if "connect" in counts and ("write" in counts or "read" in counts):
            return counts["connect"] * 2 > max(counts.get("write", 0), counts.get("read", 0))
        return self.start is not None and self.start.profile.lower().startswith("crr")


def split_blocks(text: Text) -> Iterator[Block]:
    """Cut the log at starting lines; earlier lines belong to the first."""
    block: Block | None = None
    for number, line in text.numbered():
        for piece in split_overwritten(line) if "\r" in line else (line,):
            if not piece or piece.isspace():
                continue
            start = START.match(piece)
            if start is not None and block is not None and block.start is not None:
                yield block
                block = None
            if block is None:
                block = Block(None, number)
            block.last_line = number
            if start is not None:
                block.start = Start(tuple(_WORKERS.findall(start[1])), start[2].strip(), number)
            else:
                block.take(piece, number)
    if block is not None:
        yield block


def split_overwritten(line: str) -> Iterator[str]:
    """Split a line at CR, where progress is overwritten; skip blank pieces."""
    return (piece for piece in line.split("\r") if piece and not piece.isspace())
