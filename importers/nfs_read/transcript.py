"""Timed reads of files over NFS: how the file system was mounted, what was read, and how long it took.

There is no one tool: a transcript has the mount, a command such as ``time cat FILE > /dev/null`` or ``dd``, and what
the command and the shell print. Each read is a result; CPU time is that of the command, not of the machine.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from importers.fragment_builder import Gathered, Printed, of_client
from importers.model import Fragment, Parsed, Status, Text
from importers.nfs_read import transcript_lines as known
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
    """One read: the mount it is from, with its line, and what was printed of it, by the names of ``figures_of``.

    ``line`` is that of its command, else of the first figure.
    """

    line: int
    last_line: int
    mount: tuple[Mount, int] | None = None
    command: Command | None = None
    size: Printed | None = None
    said: dict[str, Printed] = field(default_factory=dict)

    @property
    def seconds(self) -> Printed | None:
        """dd's own seconds are of the read alone; those of ``time`` include starting and ending."""
        return self.said.get("seconds") or self.said.get("real")

    def is_followed_by(self, name: str) -> bool:
        """Whether the figure of a line cannot belong to this read any more, so that it begins another."""
        if name == "records":
            return "records" in self.said or not _TIMES.isdisjoint(self.said)
        return name in _TIMES and name in self.said

    def take(self, figures: Mapping[str, str], line: int) -> None:
        """Keep what a line says; of several errors the first counts."""
        # dd also prints its figures while it goes on; those come before the number of records.
        if "bytes" in figures and "records" not in self.said:
            return
        self.last_line = line
        if "error" not in figures or "error" not in self.said:
            for name, text in figures.items():
                self.said[name] = _new(Printed, (text, line))


def recognise(text: Text) -> bool:
    """Whether the head has an NFS mount, and a timing or dd's records."""
    head = [line[: known.LONGEST] for line in islice(text.lines, _HEAD_LINES)]
    return any(map(_is_mounting, head)) and any(map(_is_timing, head))


def _is_mounting(line: str) -> bool:
    return ":/" in line and (known.mount_of(line) is not None or known.NFSSTAT_HEAD.fullmatch(line) is not None)


def _is_timing(line: str) -> bool:
    text = line.strip()
    return bool(known.is_records_in(text) or known.shell_time_of(text) or known.times_of(text))


def parse(text: Text) -> Parsed:
    """Every read of the transcript."""
    found = ProblemLog(text.name)
    return Parsed(number_trials(_fragment(read, text.name, found) for read in _Reader(text).reads()), found.problems)


@dataclass(slots=True)
class _Reader:
    """Goes through the lines: mounts and sizes hold for all that follows, a command begins a read."""

    text: Text
    mounts: dict[str, tuple[Mount, int]] = field(default_factory=dict)
    sizes: dict[str, Printed] = field(default_factory=dict)
    read: _Read | None = None
    waiting: tuple[str, str, str] | None = None

    def reads(self) -> Iterator[_Read]:
        """The reads, in their order."""
        # Digits may be missing at the end of the file: only some of the times end in a unit.
        cut = None if self.text.ends_whole else len(self.text.lines)
        for number, raw in self.text.numbered():
            line = raw[: known.LONGEST].strip()
            if not line:
                continue
            # Most lines are no circumstance, which shows at once.
            if (":/" in line or line[0] == "-" or self.waiting) and self._is_circumstance(line, number):
                continue
            if number == cut and line[-1].isdigit():
                continue
            command = known.command_of(line)
            figures = _NOTHING if command else known.figures_of(line)
            before = self.read
            # Only dd's records and the three times of a shell have a line of their own, each.
            if before is not None and (command or (len(figures) == 1 and before.is_followed_by(*figures))):
                yield self._whole(before)
                self.read = None
            if command:
                self.read = _Read(number, number, self._mount(command.path), command)
            elif figures:
                self._take(figures, number)
        if self.read is not None:
            yield self._whole(self.read)

    def _is_circumstance(self, line: str, number: int) -> bool:
        """Keep a mount or a file's size."""
        mount = known.mount_of(line)
        if mount is None and (self.waiting or " from " in line):
            mount = self._of_nfsstat(line)
        if mount is not None:
            self.mounts[mount.point] = mount, number
        size = known.FILE_SIZE.fullmatch(line) if line.startswith("-") else None
        if size is not None:
            self.sizes[size["path"]] = Printed(size["bytes"], number)
        return mount is not None or size is not None

    def _of_nfsstat(self, line: str) -> Mount | None:
        if head := known.NFSSTAT_HEAD.fullmatch(line):
            self.waiting = (head["server"], head["export"], head["point"])
        flags = known.NFSSTAT_FLAGS.fullmatch(line) if self.waiting else None
        if flags is None or self.waiting is None:
            return None
        mount = known.mount(*self.waiting, flags["options"])
        self.waiting = None
        return mount

    def _take(self, figures: Mapping[str, str], number: int) -> None:
        if self.read is not None:
            self.read.take(figures, number)
        elif "bytes" not in figures:
            self.read = _Read(number, number, self._mount(""))
            self.read.take(figures, number)

    def _mount(self, path: str) -> tuple[Mount, int] | None:
        """The innermost mount that a file lies under; where no file is named, the only one there is."""
        mounts = self.mounts.values()
        under = [mount for mount in mounts if path.startswith(mount[0].point)] if path else [*mounts]
        if len(under) == 1:
            return under[0]
        if not path:
            return None
        return max(under, key=lambda mount: len(mount[0].point), default=None)

    def _whole(self, read: _Read) -> _Read:
        """Give a read the size printed of its file; the line that prints it is a part of what tells of the read."""
        if read.command is not None and "bytes" not in read.said:
            read.size = self.sizes.get(read.command.path)
        return read


def _fragment(read: _Read, file: str, found: ProblemLog) -> Fragment:
    status = _judge(read, found)
    gathered = Gathered()
    _facts(read, gathered)
    if status is _COMPLETE:
        _figures(read, gathered)
    first_line = min(read.line, read.size.line) if read.size else read.line
    return of_client((file, NAME, VERSION), (first_line, read.last_line), status, gathered.facts, gathered.readings)


def _judge(read: _Read, found: ProblemLog) -> Status:
    if (error := read.said.get("error")) is not None:
        remedy = "Mend the mount or the path, then measure again."
        found.warn("nfs_read.failed", f"The read failed: {error.text}.", remedy, error.line)
        return Status.FAILED
    if read.seconds is None or (_LAST_OF_TIME not in read.said and not _TIMES.isdisjoint(read.said)):
        message = "No time is printed for this read: it was interrupted, or the transcript cut off."
        found.warn("nfs_read.cut-off", message, "Measure again, or transfer the file again.", read.last_line)
        return Status.INCOMPLETE
    if read.size is None and "bytes" not in read.said:
        message = "Nothing says how many bytes were read."
        found.warn("nfs_read.no-size", message, "Put the output of ls -l FILE before the read.", read.last_line)
        return Status.INCOMPLETE
    return _COMPLETE


def _facts(read: _Read, gathered: Gathered) -> None:
    command, path = read.command or ("", "")
    keys = ("workload", "users", "factor.tool", "command_line", "file")
    gathered.say_all(keys, ("NFS", "1", NAME, command, path), read.line)
    gathered.fact("records", read.said.get("records"))
    gathered.fact("error", read.said.get("error"))
    if read.mount is not None:
        mount, line = read.mount
        gathered.say_all(mount.keys, mount.texts, line)


def _figures(read: _Read, gathered: Gathered) -> None:
    """dd's rate where it prints one: else the rate follows from bytes and seconds."""
    said, seconds = read.said, read.seconds
    size = said.get("bytes") or read.size
    # A read without them is not complete.
    assert size is not None
    assert seconds is not None
    gathered.keep(_BYTES, *size)
    if "rate" in said:
        gathered.keep(("mb_per_s", said["unit"].text, "total"), *said["rate"])
    gathered.keep(("driver_s", known.seconds_unit(seconds.text), "total"), *seconds)
    if "percent" in said:
        gathered.reading("processor_util", said["percent"], "%", "client")
        gathered.note("cpu_scope", "process", said["percent"].line)
    for which, key in (("user", "user_s@client"), ("sys", "sys_s@client")):
        gathered.fact(key, said.get(which))
