"""The interface of importers: files in, fragments and problems out.

A *fragment* holds the content of one file about one run. Values stay as printed (text, unit, line): importers do no
arithmetic, so that every number can be traced to its characters and is converted in one place.
"""

import json
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import partial
from hashlib import blake2b
from itertools import chain, islice, repeat
from operator import itemgetter
from typing import Any, NamedTuple, Protocol, TypeVar

from importers.files.content import Content, Lines

T = TypeVar("T")
_encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True).encode
_key_and_text = itemgetter(0, 1)
_role_to_unit = itemgetter(4, 5, 0, 1, 2)


class Severity(StrEnum):
    """Severity: an error stores nothing, warnings and notes stay with the run."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Problem(NamedTuple):
    """Something that could not be accepted, with a remedy.

    ``code`` is stable and made for scripts (``awm.cut-off``); ``line`` counts from 1, None for the whole file.
    """

    severity: Severity
    code: str
    message: str
    remedy: str = ""
    file: str = ""
    line: int | None = None
    run_id: str | None = None


class Status(StrEnum):
    """Final state of a run, by the evidence."""

    COMPLETE = "complete"
    FAILED = "failed"
    INCOMPLETE = "incomplete"


@dataclass(slots=True)
class ProblemLog:
    """The problems of a file, each with the file's name and the run concerned."""

    file: str
    run_id: str | None = None
    problems: list[Problem] = field(default_factory=list)

    @property
    def errors(self) -> bool:
        return any(problem.severity is Severity.ERROR for problem in self.problems)

    def add(self, severity: Severity, code: str, message: str, remedy: str = "", line: int | None = None) -> None:
        self.problems.append(Problem(severity, code, message, remedy, self.file, line, self.run_id))

    def error(self, code: str, message: str, remedy: str = "", line: int | None = None) -> None:
        self.add(Severity.ERROR, code, message, remedy, line)

    def warn(self, code: str, message: str, remedy: str = "", line: int | None = None) -> None:
        self.add(Severity.WARNING, code, message, remedy, line)

    def note(self, code: str, message: str, remedy: str = "", line: int | None = None) -> None:
        self.add(Severity.NOTE, code, message, remedy, line)

    def note_unknown_lines(self, code: str, tool: str, lines: Sequence[int]) -> None:
        """Note once that lines are not the tool's, if there are any."""
        if lines:
            message = f"{len(lines)} lines are none of {tool}'s and were left out."
            self.note(code, message, "See whether they matter.", lines[0])

    def fail(self, code: str, message: str, remedy: str, line: int | None) -> Status:
        """Add a warning, and return the status of a failed run."""
        self.warn(code, message, remedy, line)
        return Status.FAILED

    def cut(self, code: str, message: str, remedy: str, line: int | None) -> Status:
        """Add a warning, and return the status of a run that did not end."""
        self.warn(code, message, remedy, line)
        return Status.INCOMPLETE


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file as received: name, perhaps with folders, and bytes."""

    name: str
    data: Content


@dataclass(frozen=True, slots=True)
class Text:
    """A decoded file: ``lines`` without line ends, line 1 first; ``encoding`` as recognised.

    ``ends_whole`` is False when the last line has no line end (a sign of a file that was cut off). Lines of a large
    file are decoded on demand: iterate once, and keep no list of lines.
    """

    name: str
    lines: Sequence[str]
    encoding: str
    ends_whole: bool = True
    noted: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """Results of ``once``."""

    def once(self, key: str, find: Callable[[], T]) -> T:
        """Return the result of ``find``, called once for each key and file."""
        if key not in self.noted:
            self.noted[key] = find()
        found: T = self.noted[key]
        return found

    def numbered(self) -> Iterator[tuple[int, str]]:
        """Yield the lines with their numbers, counted from 1."""
        return enumerate(self.lines, start=1)

    def pieces(self) -> Iterator[str]:
        """Yield the lines, many in one text."""
        return self.lines.pieces() if isinstance(self.lines, Lines) else iter(("\n".join(self.lines),))

    def blocks(self) -> Iterator[str]:
        """Yield texts of many lines, for fast searches of words."""
        return self.lines.blocks() if isinstance(self.lines, Lines) else self.pieces()

    def has(self, words: Iterable[str]) -> bool:
        """Return whether one of the words occurs in the file."""
        return any(word in block for block in self.blocks() for word in words)

    def head(self, count: int) -> str:
        """Return the first lines as one text, made once."""
        return self.once(f"head of {count}", lambda: "\n".join(islice(self.lines, count)))

    def mentions(self, words: Iterable[str], count: int) -> bool:
        """Return whether a word is in the first ``count`` lines."""
        head = self.head(count)
        return any(word in head for word in words)

    def whole(self) -> Iterator[tuple[int, str]]:
        """Yield the numbered lines without an unfinished last one."""
        return islice(self.numbered(), len(self.lines) - (not self.ends_whole))


class Reading(NamedTuple):
    """One printed quantity.

    ``name`` is a metric's or counter's name (glossary words, no unit conversion done), ``unit`` the unit or time shape
    as printed (``ms``, ``MB/s``, ``mmm:ss.hs``), ``role`` the owner of the value. ``subject`` distinguishes several
    counters of one role: ``VSW1/LNXCL1/0600`` for a virtual network adapter, empty for the role itself.
    """

    name: str
    text: str
    unit: str
    line: int
    role: str = "total"
    subject: str = ""


class Fact(NamedTuple):
    """A circumstance as printed: a dimension (``mtu``, ``users``) or another property (``tool``).

    ``of_host`` marks a property of the host that the file was made on. The client's host stands for the run; properties
    of other hosts are kept under their role (``server.kernel``).
    """

    key: str
    text: str
    line: int
    of_host: bool = False


OPTIONS = frozenset(
    (
        *("message_bytes", "window", "receive_window", "rate", "burst", "zero_copy", "nodelay", "think_ms"),
        *("url_path", "tls", "threads", "processes", "connections_per_thread", "tool_options"),
    )
)
"""Facts that are options of load tools and change the work: each is a factor (docs/add-a-dimension.md)."""
_CONFIGURATION = OPTIONS | {"workload", "request_bytes", "response_bytes", "mtu", "users", "device", "layer", "level"}


def makes_experiment(key: str) -> bool:
    """Return whether results that differ in a fact are of different experiments."""
    return key in _CONFIGURATION or key.startswith("factor.")


Head = tuple[str, str, str]
"""The name, unit and role of a reading."""


_reading = partial(tuple.__new__, Reading)  # The constructor takes several times as long.


def make_readings(heads: Iterable[Head], texts: Iterable[str], lines: Iterable[int] | int) -> tuple[Reading, ...]:
    """Return readings of name, unit and role; ``lines``: one, or one for each."""
    placed = zip(heads, texts, repeat(lines) if isinstance(lines, int) else lines, strict=False)
    return tuple(map(_reading, [(name, text, unit, line, role, "") for (name, unit, role), text, line in placed]))


Row = tuple[str | None, ...]


class Listing:
    """Rows that belong together, as printed: the intervals or the connections of a run.

    ``columns`` are (name, unit); a row has a text or None for each column; ``lines`` has each row's line. A quantity in
    two units makes two columns. The cells are stored as one text: a log consists mostly of such rows.
    """

    __slots__ = ("_cells", "_count", "_lines", "_missing", "columns", "name")

    def __init__(
        self,
        name: str,
        columns: tuple[tuple[str, str], ...],
        rows: Sequence[Sequence[str | None]],
        lines: Sequence[int],
    ) -> None:
        self.name, self.columns = name, columns
        cells = list(chain.from_iterable(rows))
        self._missing: Sequence[int] = ()
        if None in cells:
            self._missing = array("Q", [at for at, cell in enumerate(cells) if cell is None])
            for at in self._missing:
                cells[at] = ""
        # No text of a file has a NUL in it.
        self._cells = "\0".join(cells)  # type: ignore[arg-type] # none is missing
        self._count, self._lines = len(lines), array("Q", lines)

    @property
    def lines(self) -> tuple[int, ...]:
        return tuple(self._lines)

    @property
    def rows(self) -> tuple[Row, ...]:
        """Return the rows, made at each access."""
        if not self.columns:
            return ((),) * self._count
        return tuple(zip(*[iter(self.cells)] * len(self.columns), strict=True))

    @property
    def cells(self) -> list[str | None]:
        """Return the cells of all rows, one row after the other."""
        cells: list[str | None] = [*self._cells.split("\0")] if self._count and self.columns else []
        for at in self._missing:
            cells[at] = None
        return cells

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Listing) and self._all() == other._all()

    def __hash__(self) -> int:
        return hash((self.name, self._cells))

    def __repr__(self) -> str:
        return f"Listing({self.name!r}, {self.columns!r}, {self.rows!r}, {self.lines!r})"

    def _all(self) -> tuple[object, ...]:
        return self.name, self.columns, self._cells, tuple(self._missing), self.lines


class Kind(StrEnum):
    """Kind of evidence in a fragment."""

    DRIVER = "driver"  # the load tool's own log
    SNAPSHOT = "snapshot"  # counters at one moment, before or after the run
    REPORT = "report"  # a monitor's report over a window, or settings
    CIRCUMSTANCES = "circumstances"  # what somebody wrote down about a run: a row of a manifest


@dataclass(slots=True)
class Fragment:
    """Content of one file about one run; never changed.

    ``role``: ``client`` or ``server`` for a driver log; the capture's role for a snapshot, empty where the host
    decides. ``phase``: ``before`` or ``after``, snapshots only. ``taken`` and ``ended`` are local times as printed,
    without zone; ``zone`` is the zone as printed (``EST``, ``-05:00``).
    """

    file: str
    format: str
    format_version: int
    kind: Kind
    first_line: int
    last_line: int
    run_id: str | None = None
    trial: int | None = None
    role: str | None = None
    phase: str | None = None
    host: str | None = None
    taken: datetime | None = None
    ended: datetime | None = None
    zone: str = ""
    status: Status = Status.COMPLETE
    facts: Sequence[Fact] = ()
    readings: Sequence[Reading] = ()
    counters: Sequence[Reading] = ()
    listings: tuple[Listing, ...] = ()
    digest: str = field(default="", init=False, repr=False, compare=False)
    """Digest of the content, once calculated (``content_digest``)."""
    file_digest: str = field(default="", repr=False, compare=False)
    """Digest of the file's bytes, for a load tool's log that names no run."""

    @property
    def is_client(self) -> bool:
        """Return whether this is a load tool's log of the side making the load."""
        return self.kind is Kind.DRIVER and self.role != "server"

    @property
    def is_peer(self) -> bool:
        """Return whether this is a load tool's log of the side that answers."""
        return self.kind is Kind.DRIVER and self.role == "server"

    @property
    def is_evidence(self) -> bool:
        """Return whether this is a snapshot or a report."""
        return self.kind in {Kind.SNAPSHOT, Kind.REPORT}

    @property
    def is_setting(self) -> bool:
        """Return whether there are only facts without time and host."""
        values = self.readings or self.counters or self.listings
        return self.kind is Kind.REPORT and not (values or self.taken or self.host)

    def fact_text(self, key: str) -> str | None:
        """Return the text of the first fact of a key."""
        return next((fact.text for fact in self.facts if fact.key == key), None)


class Format(Protocol):
    """The constants and functions of an importer module.

    ``NAME`` is stable; ``VERSION`` rises when other values are read. A format with a head line of its own may have
    ``decides(text)``: whether the file begins with this line and is of no other format.
    """

    NAME: str
    TITLE: str
    VERSION: int

    def recognise(self, text: Text) -> bool:
        """Return whether the file is of this format; exactly one importer may return True."""

    def parse(self, text: Text, found: ProblemLog, /) -> Iterable[Fragment]:
        """Return the fragments; add problems to ``found``, and never raise for bad content.

        A format whose files may hold very many runs yields the fragments one by one.
        """


@dataclass(frozen=True, slots=True)
class Pair:
    """Snapshots of one role and host before and after, or one of them.

    ``role`` is empty while only the host is known. Several pairs of one role and host have different counters.
    """

    role: str
    host: str | None
    before: Fragment | None
    after: Fragment | None


class SourcedFact(NamedTuple):
    """A fact with file, line and role; without file, read by the run-ID pattern."""

    key: str
    text: str
    file: str
    line: int
    role: str | None = None
    of_host: bool = False


@dataclass(slots=True)
class RunDraft:
    """A run collated from fragments, ready for preview: nothing converted, nothing stored.

    ``driver`` is the client's log (throughput comes from it alone), ``peer`` the server's (a cross-check). ``parts``
    are the logs of further processes of the client, started together with the driver's: their data add up. ``copies``
    are further outputs of the driver's result. ``facts`` are merged from all fragments, driver first; those of
    manifests and of the run-ID pattern come last. ``trial`` is None when unknown. ``roles`` are those of files about
    one host, once known. ``is_named`` is False if only the file's name gave the run ID.
    """

    run_id: str
    trial: int | None
    driver: Fragment | None = None
    parts: list[Fragment] = field(default_factory=list)
    copies: list[Fragment] = field(default_factory=list)
    peer: Fragment | None = None
    pairs: list[Pair] = field(default_factory=list)
    reports: list[Fragment] = field(default_factory=list)
    circumstances: list[Fragment] = field(default_factory=list)
    facts: list[SourcedFact] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    roles: dict[str, str] = field(default_factory=dict)
    is_named: bool = True

    @property
    def logs(self) -> list[Fragment]:
        """Return the client's logs, the driver's first."""
        return [] if self.driver is None else [self.driver, *self.parts]

    @property
    def fragments(self) -> list[Fragment]:
        """Return all fragments of the run, driver first."""
        snapshots = [half for pair in self.pairs for half in (pair.before, pair.after)]
        every = (*self.logs, *self.copies, self.peer, *snapshots, *self.reports, *self.circumstances)
        return [fragment for fragment in every if fragment is not None]


def content_digest(fragment: Fragment) -> str:
    """Return a digest of a fragment's content; stored digests must not change."""
    if not fragment.digest:
        content = {
            "counters": sorted(map(_role_to_unit, fragment.counters)),
            "facts": sorted(map(_key_and_text, fragment.facts)),
            "format": fragment.format,
            "kind": fragment.kind,
            "listings": [[each.name, each.columns, each.rows] for each in fragment.listings],
            "readings": sorted(map(_role_to_unit, fragment.readings)),
            "run": [fragment.run_id, fragment.trial, fragment.role, fragment.phase, fragment.host],
            "time": [str(fragment.taken), str(fragment.ended), fragment.zone, fragment.status],
        }
        encoded = _encode(content).encode("utf-8", "surrogatepass")
        fragment.digest = blake2b(encoded, digest_size=16).hexdigest()
    return fragment.digest
