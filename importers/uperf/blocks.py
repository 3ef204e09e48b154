"""The runs of a uperf log, each with its lines sorted by kind: progress, tables, statistics, messages."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from re import Match

from importers.gathering import Printed
from importers.model import Text
from importers.uperf import lines
from importers.uperf.lines import Piece, pieces
from importers.uperf.names import assumed

_new = tuple.__new__  # As in ``importers.gathering``.
ONE_WAY = frozenset({"read", "write", "recv", "send", "sendto", "sendfile", "sendfilev"})


@dataclass(slots=True)
class Row:
    """A line that fitted a pattern, with its number."""

    match: Match[str]
    line: int

    def printed(self, group: str | int) -> Printed:
        return _new(Printed, (self.match[group] or "", self.line))


@dataclass(slots=True)
class Block:
    """What one run of uperf printed, sorted by kind. ``others`` are the lines that are nothing of it: messages."""

    start: Row | None
    first_line: int
    last_line: int = 0
    progress: dict[str, list[Row]] = field(default_factory=dict)
    raw: dict[str, list[Row]] = field(default_factory=dict)
    averages: list[Row] = field(default_factory=list)
    operations: list[Row] = field(default_factory=list)
    networks: list[Row] = field(default_factory=list)
    statistics: list[Row] = field(default_factory=list)
    difference: Row | None = None
    errors: Row | None = None
    others: list[Piece] = field(default_factory=list)

    @property
    def profile(self) -> str:
        return self.start.match["profile"].strip() if self.start else ""

    @property
    def users(self) -> Printed | None:
        """Threads or processes; None where the line names both, which the profile explains."""
        found = lines.WORKERS.findall(self.start.match["what"]) if self.start else []
        return Printed(found[0][0], self.start.line) if self.start and len(found) == 1 else None

    @property
    def groups(self) -> int:
        """How many groups the table of averages has: each begins its numbering anew."""
        names = [row.match["name"] for row in self.averages]
        return max(Counter(names).values(), default=0)

    @property
    def streams(self) -> bool:
        """Whether all goes one way, by the table of operations, else by the profile's name."""
        ways = {row.match["name"] for row in self.operations} & ONE_WAY
        return len(ways) == 1 if self.operations else "message_bytes" in assumed(self.profile)

    @property
    def connects_always(self) -> bool:
        """Whether each transaction connects, by the table of operations, else by the profile's name."""
        counts = {row.match["name"]: int(row.match["count"]) for row in self.operations}
        if "connect" in counts and ("write" in counts or "read" in counts):
            return counts["connect"] * 2 > max(counts.get("write", 0), counts.get("read", 0))
        return self.profile.lower().startswith("crr")


def blocks_of(text: Text) -> Iterator[Block]:
    """The log cut at the starting lines; what stands before the first belongs to it."""
    block: Block | None = None
    reader = _Reader()
    for piece in pieces(text):
        said, line = piece
        start = lines.START.match(said) if said.startswith("Starting ") else None
        if start is not None and block is not None and block.start is not None:
            yield block
            block, reader = None, _Reader()
        if block is None:
            block = Block(None, line)
        block.last_line = line
        if start is not None:
            block.start = Row(start, line)
        else:
            reader.take(block, piece)
    if block is not None:
        yield block


class _Reader:
    """Puts pieces to their places in a block; which table a row belongs to depends on the heading before it."""

    def __init__(self) -> None:
        self._table: list[Row] | None = None

    def take(self, block: Block, piece: Piece) -> None:
        text = piece.text
        if text.startswith("---") and lines.RULE.fullmatch(text):
            return
        match = lines.PROGRESS.match(text) if "op/s" in text else None
        if match is not None:
            block.progress.setdefault(match["name"], []).append(Row(match, piece.line))
            if text[match.end() :].strip():
                block.others.append(Piece(text[match.end() :].strip(), piece.line))
        elif text.startswith("timestamp_ms:") and (match := lines.RAW.fullmatch(text)):
            block.raw.setdefault(match["name"], []).append(Row(match, piece.line))
        elif not self._heading(block, text) and not self._row(block, piece) and not _ending(block, piece):
            block.others.append(piece)

    def _heading(self, block: Block, text: str) -> bool:
        if "Count" in text and (head := lines.TABLE_HEAD.fullmatch(text)):
            self._table = block.averages if head[1] == "Txn" else block.operations
        elif "opkts/s" in text and lines.NETSTAT_HEAD.fullmatch(text):
            self._table = block.networks
        elif "Hostname" in text and lines.STATISTICS_HEAD.fullmatch(text):
            self._table = block.statistics
        else:
            return text.strip() in {"Group Details", "Strand Details", "Run Statistics"} or text.startswith("Netstat ")
        return True

    def _row(self, block: Block, piece: Piece) -> bool:
        if self._table is None:
            return False
        pattern = lines.TABLE_ROW
        if self._table is block.networks:
            pattern = lines.NETSTAT_ROW
        elif self._table is block.statistics:
            pattern = lines.STATISTICS_ROW
        match = pattern.fullmatch(piece.text)
        if match is None:
            return False
        self._table.append(Row(match, piece.line))
        return True


def _ending(block: Block, piece: Piece) -> bool:
    if piece.text.startswith("Difference") and (difference := lines.DIFFERENCE.fullmatch(piece.text)):
        block.difference = Row(difference, piece.line)
    elif piece.text.startswith("WARNING") and (errors := lines.ERRORS.fullmatch(piece.text)):
        block.errors = Row(errors, piece.line)
    else:
        return False
    return True
