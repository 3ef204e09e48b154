"""The runs of a uperf log, each with its lines sorted by kind: progress, tables, statistics, messages."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from re import Pattern
from typing import NamedTuple

from importers.fragment_builder import Printed
from importers.key_values import whole
from importers.model import Text
from importers.uperf import line_patterns
from importers.uperf.line_patterns import Piece
from importers.uperf.profile_names import assumed

_new = tuple.__new__  # As in ``importers.fragment_builder``.
ONE_WAY = frozenset({"read", "write", "recv", "send", "sendto", "sendfile", "sendfilev"})
_TITLES = frozenset({"Group Details", "Strand Details", "Run Statistics"})

Row = tuple[Sequence[str], int]
"""What a line says, in the order of its pattern's groups, and its number."""


class Start(NamedTuple):
    """The line that a run begins with: its threads and processes, each a number and a word, and its profile."""

    workers: tuple[tuple[str, str], ...]
    profile: str
    line: int


@dataclass(slots=True)
class Block:
    """What one run of uperf printed, sorted by kind. ``others`` are the lines that are nothing of it: messages."""

    start: Start | None
    first_line: int
    last_line: int = 0
    progress: dict[str, list[Row]] = field(default_factory=dict)
    raw: dict[str, list[Row]] = field(default_factory=dict)
    averages: list[Row] = field(default_factory=list)
    operations: list[Row] = field(default_factory=list)
    networks: list[Row] = field(default_factory=list)
    hosts: list[Row] = field(default_factory=list)
    difference: Printed | None = None
    errors: Printed | None = None
    others: list[Piece] = field(default_factory=list)

    @property
    def users(self) -> str | None:
        """Threads or processes; None where the line names both, which the profile explains."""
        return self.start.workers[0][0] if self.start and len(self.start.workers) == 1 else None

    @property
    def streams(self) -> bool:
        """Whether all goes one way, by the table of operations, else by the profile's name."""
        if self.operations:
            return len({name for (name, *_), _ in self.operations} & ONE_WAY) == 1
        return self.start is not None and "message_bytes" in assumed(self.start.profile)

    @property
    def connects_always(self) -> bool:
        """Whether each transaction connects, by the table of operations, else by the profile's name."""
        counts = {name: whole(count) for (name, count, *_), _ in self.operations}
        if "connect" in counts and ("write" in counts or "read" in counts):
            return counts["connect"] * 2 > max(counts.get("write", 0), counts.get("read", 0))
        return self.start is not None and self.start.profile.lower().startswith("crr")


def blocks_of(text: Text) -> Iterator[Block]:
    """The log cut at the starting lines; what stands before the first belongs to it."""
    reader: _Reader | None = None
    for number, line in text.numbered():
        for said in line_patterns.pieces(line) if "\r" in line else (line,):
            if not said or said.isspace():
                continue
            start = _start_of(said, number) if said.startswith("Starting ") else None
            if start is not None and reader is not None and reader.block.start is not None:
                yield reader.block
                reader = None
            if reader is None:
                reader = _Reader(number)
            reader.block.last_line = number
            if start is not None:
                reader.block.start = start
            else:
                reader.take(said, number)
    if reader is not None:
        yield reader.block


def _start_of(said: str, number: int) -> Start | None:
    match = line_patterns.START.match(said)
    return Start(tuple(line_patterns.WORKERS.findall(match[1])), match[2].strip(), number) if match else None


class _Reader:
    """Puts pieces to their places in a block; which table a row belongs to depends on the heading before it."""

    def __init__(self, first_line: int) -> None:
        self.block = Block(None, first_line)
        self._row: Pattern[str] | None = None
        self._rows: list[Row] = []

    def take(self, said: str, line: int) -> None:
        if "op/s" in said and self._progress(said, line):
            return
        # Most kinds show in the first word; only rows, rules and messages are left to be tried one after the other.
        kind = _KINDS.get(said.split(None, 1)[0])
        if kind is not None and kind(self, said, line):
            return
        if said.startswith("---") and line_patterns.RULE.fullmatch(said):
            return
        if said.startswith("timestamp_ms:") and (raw := line_patterns.RAW.fullmatch(said)):
            self.block.raw.setdefault(raw[2], []).append((raw.groups(), line))
        elif self._row is not None and (row := self._row.fullmatch(said)):
            self._rows.append((row.groups(), line))
        else:
            self.block.others.append(_new(Piece, (said, line)))

    def _progress(self, said: str, line: int) -> bool:
        match = line_patterns.PROGRESS.match(said)
        if match is None:
            return False
        self.block.progress.setdefault(match[1], []).append((match.groups(), line))
        if behind := said[match.end() :].strip():
            self.block.others.append(_new(Piece, (behind, line)))
        return True

    def open(self, row: Pattern[str], rows: list[Row]) -> None:
        """Take what follows as the rows of a table."""
        self._row, self._rows = row, rows

    def pass_title(self, said: str, _line: int) -> bool:
        """Whether this is one of the titles that say nothing."""
        return said.startswith("Netstat ") or said.strip() in _TITLES

    def end(self, said: str, line: int) -> bool:
        """Keep by how much master and slaves differ."""
        match = line_patterns.DIFFERENCE.fullmatch(said)
        if match is not None:
            self.block.difference = Printed(match[1], line)
        return match is not None

    def count_errors(self, said: str, line: int) -> bool:
        """Keep how many errors there were."""
        match = line_patterns.ERRORS.fullmatch(said)
        if match is not None:
            self.block.errors = Printed(match[1], line)
        return match is not None


@dataclass(frozen=True, slots=True)
class _Table:
    """A table: its heading, its rows, and where they are kept."""

    head: Pattern[str]
    row: Pattern[str]
    rows: Callable[[Block], list[Row]]

    def __call__(self, reader: _Reader, said: str, _line: int) -> bool:
        if self.head.fullmatch(said) is None:
            return False
        reader.open(self.row, self.rows(reader.block))
        return True


_KINDS: dict[str, Callable[[_Reader, str, int], bool]] = {
    "Txn": _Table(line_patterns.TABLE_HEAD, line_patterns.TABLE_ROW, attrgetter("averages")),
    "Flowop": _Table(line_patterns.TABLE_HEAD, line_patterns.TABLE_ROW, attrgetter("operations")),
    "Nic": _Table(line_patterns.NETSTAT_HEAD, line_patterns.NETSTAT_ROW, attrgetter("networks")),
    "Hostname": _Table(line_patterns.STATISTICS_HEAD, line_patterns.STATISTICS_ROW, attrgetter("hosts")),
    **dict.fromkeys(("Netstat", "Group", "Strand", "Run"), _Reader.pass_title),
    "Difference(%)": _Reader.end,
    "WARNING:": _Reader.count_errors,
}
