"""Timed reads of files over NFS, in the transcript of a shell.

A transcript has the mount, a command such as ``time cat FILE > /dev/null`` or ``dd``, and the output of command and
shell. Each read is a result; CPU time is the command's, not the machine's.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from importers.fragment_builder import FragmentBuilder, Printed, driver_fragment
from importers.model import Fragment, Parsed, Status, Text
from importers.nfs_read import transcript_lines
from importers.nfs_read.transcript_lines import Command, Mount
from importers.problem_log import ProblemLog
from importers.trial_numbers import number_trials

NAME = "nfs_read"
TITLE = "timed reads over NFS"
VERSION = 1

_COMPLETE = Status.COMPLETE  # Python 3.11 looks a member of an enumeration up in four times the time.

_new = tuple.__new__  # As in ``importers.fragment_builder``.
_HEAD_LINES = 200
_LAST_OF_TIME = "sys"
_TIMES = frozenset({"real", "user", "sys"})
_NOTHING: Mapping[str, str] = {}
_BYTES = ("data_bytes", "bytes", "total")


@dataclass(slots=True)
class _Read:
    """One read: mount, command, and printed figures by name.

    ``line`` is the command's, else the first figure's.
    """

    line: int
    last_line: int
    mount: tuple[Mount, int] | None = None
    command: Command | None = None
    size: Printed | None = None
    figures: dict[str, Printed] = field(default_factory=dict)

    @property
    def seconds(self) -> Printed | None:
        """The duration by dd, else by ``time``, which includes the command's start."""
        return self.figures.get("seconds") or self.figures.get("real")

    def is_followed_by(self, name: str) -> bool:
        """Return whether a line with this figure begins another read."""
        if name == "records":
            return "records" in self.figures or not _TIMES.isdisjoint(self.figures)
        return name in _TIMES and name in self.figures

    def take(self, figures: Mapping[str, str], line: int) -> None:
        """Keep the figures of a line, and only the first of several errors."""
        # dd also prints its figures during the read, before the number of records.
        if "bytes" in figures and "records" not in self.figures:
            return
        self.last_line = line
        if "error" not in figures or "error" not in self.figures:
            for name, text in figures.items():
                self.figures[name] = _new(Printed, (text, line))


def recognise(text: Text) -> bool:
    """Look for an NFS mount, and for a timing or dd's records."""
    head = [line[: transcript_lines.LONGEST] for line in islice(text.lines, _HEAD_LINES)]
    return any(map(_is_mounting, head)) and any(map(_is_timing, head))


def _is_mounting(line: str) -> bool:
    return ":/" in line and bool(transcript_lines.read_mount(line) or transcript_lines.NFSSTAT_HEAD.fullmatch(line))


def _is_timing(line: str) -> bool:
    figures = transcript_lines.read_figures(line.strip())
    return "records" in figures or not _TIMES.isdisjoint(figures)


def parse(text: Text) -> Parsed:
    """Return a fragment for each read."""
    found = ProblemLog(text.name)
    fragments = (_build_fragment(read, text.name, found) for read in _Reader(text).find_reads())
    return Parsed(number_trials(fragments), found.problems)


@dataclass(slots=True)
class _Reader:
    """Groups lines into reads, which begin with a command.

    Mounts and sizes hold for all later reads.
    """

    text: Text
    mounts: dict[str, tuple[Mount, int]] = field(default_factory=dict)
    sizes: dict[str, Printed] = field(default_factory=dict)
    read: _Read | None = None
    waiting: tuple[str, str, str] | None = None

    def find_reads(self) -> Iterator[_Read]:
        # Digits may be missing at the end of the file, for only some times have a unit.
        cut = None if self.text.ends_whole else len(self.text.lines)
        for number, raw in self.text.numbered():
            line = raw[: transcript_lines.LONGEST].strip()
            if not line:
                continue
            # A quick test that excludes most lines.
            if (":/" in line or line[0] == "-" or self.waiting) and self._is_circumstance(line, number):
                continue
            if number == cut and line[-1].isdigit():
                continue
            command = transcript_lines.read_command(line)
            figures = _NOTHING if command else transcript_lines.read_figures(line)
            before = self.read
            # Only dd's records and the three times of a shell are alone in their lines.
            if before is not None and (command or (len(figures) == 1 and before.is_followed_by(*figures))):
                yield self._finish(before)
                self.read = None
            if command:
                self.read = _Read(number, number, self._find_mount(command.path), command)
            elif figures:
                self._take(figures, number)
        if self.read is not None:
            yield self._finish(self.read)

    def _is_circumstance(self, line: str, number: int) -> bool:
        """Keep a mount or a file's size; return False for other lines."""
        mount = transcript_lines.read_mount(line)
        if mount is None and (self.waiting or " from " in line):
            mount = self._read_nfsstat(line)
        if mount is not None:
            self.mounts[mount.point] = mount, number
        size = transcript_lines.FILE_SIZE.fullmatch(line) if line.startswith("-") else None
        if size is not None:
            self.sizes[size["path"]] = Printed(size["bytes"], number)
        return mount is not None or size is not None

    def _read_nfsstat(self, line: str) -> Mount | None:
        if head := transcript_lines.NFSSTAT_HEAD.fullmatch(line):
            self.waiting = (head["server"], head["export"], head["point"])
        flags = transcript_lines.NFSSTAT_FLAGS.fullmatch(line) if self.waiting else None
        if flags is None or self.waiting is None:
            return None
        mount = transcript_lines.build_mount(*self.waiting, flags["options"])
        self.waiting = None
        return mount

    def _take(self, figures: Mapping[str, str], number: int) -> None:
        if self.read is not None:
            self.read.take(figures, number)
        elif "bytes" not in figures:
            self.read = _Read(number, number, self._find_mount(""))
            self.read.take(figures, number)

    def _find_mount(self, path: str) -> tuple[Mount, int] | None:
        """Return the innermost mount of a file; without a path, the only mount."""
        mounts = self.mounts.values()
        under = [mount for mount in mounts if path.startswith(mount[0].point)] if path else [*mounts]
        if len(under) == 1:
            return under[0]
        if not path:
            return None
        return max(under, key=lambda mount: len(mount[0].point), default=None)

    def _finish(self, read: _Read) -> _Read:
        """Add the listed size of the file to a read without bytes."""
        if read.command is not None and "bytes" not in read.figures:
            read.size = self.sizes.get(read.command.path)
        return read


def _build_fragment(read: _Read, file: str, found: ProblemLog) -> Fragment:
    status = _judge(read, found)
    gathered = FragmentBuilder()
    _gather_facts(read, gathered)
    if status is _COMPLETE:
        _gather_figures(read, gathered)
    lines = min(read.line, read.size.line) if read.size else read.line, read.last_line
    return driver_fragment((file, NAME, VERSION), lines, status, gathered.facts, gathered.readings)


def _judge(read: _Read, found: ProblemLog) -> Status:
    if (error := read.figures.get("error")) is not None:
        remedy = "Mend the mount or the path, then measure again."
        found.warn("nfs_read.failed", f"The read failed: {error.text}.", remedy, error.line)
        return Status.FAILED
    if read.seconds is None or (_LAST_OF_TIME not in read.figures and not _TIMES.isdisjoint(read.figures)):
        message = "No time is printed for this read: it was interrupted, or the transcript cut off."
        found.warn("nfs_read.cut-off", message, "Measure again, or transfer the file again.", read.last_line)
        return Status.INCOMPLETE
    if read.size is None and "bytes" not in read.figures:
        message = "Nothing says how many bytes were read."
        found.warn("nfs_read.no-size", message, "Put the output of ls -l FILE before the read.", read.last_line)
        return Status.INCOMPLETE
    return _COMPLETE


def _gather_facts(read: _Read, gathered: FragmentBuilder) -> None:
    command, path = read.command or ("", "")
    keys = ("workload", "users", "factor.tool", "command_line", "file")
    gathered.add_facts(keys, ("NFS", "1", NAME, command, path), read.line)
    gathered.add_printed("records", read.figures.get("records"))
    gathered.add_printed("error", read.figures.get("error"))
    if read.mount is not None:
        mount, line = read.mount
        gathered.add_facts(mount.keys, mount.texts, line)


def _gather_figures(read: _Read, gathered: FragmentBuilder) -> None:
    """Keep the figures of a complete read, with dd's rate if printed."""
    figures, seconds = read.figures, read.seconds
    size = figures.get("bytes") or read.size
    assert size is not None
    assert seconds is not None
    gathered.add_raw_number(_BYTES, *size)
    if "rate" in figures:
        gathered.add_raw_number(("mb_per_s", figures["unit"].text, "total"), *figures["rate"])
    gathered.add_raw_number(("driver_s", transcript_lines.find_seconds_unit(seconds.text), "total"), *seconds)
    if "percent" in figures:
        gathered.add_reading("processor_util", figures["percent"], "%", "client")
        gathered.add_raw_fact("cpu_scope", "process", figures["percent"].line)
    for which, key in (("user", "user_s@client"), ("sys", "sys_s@client")):
        gathered.add_printed(key, figures.get(which))
