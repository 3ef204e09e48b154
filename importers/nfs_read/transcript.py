"""Timed reads of files over NFS: how the file system was mounted, what was read, and how long it took.

There is no one tool: a transcript has the mount, a command such as ``time cat FILE > /dev/null`` or ``dd``, and what
the command and the shell print. Each read is a result; CPU time is that of the command, not of the machine.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from importers.gathering import Gathered, Printed
from importers.model import Fragment, Kind, Parsed, Status, Text
from importers.nfs_read import lines as known
from importers.nfs_read.lines import Mount
from importers.problem_log import ProblemLog
from importers.repeats import number_trials

NAME = "nfs_read"
TITLE = "timed reads over NFS"
VERSION = 1

# Python 3.11 looks a member of an enumeration up in four times the time.
_DRIVER, _COMPLETE = Kind.DRIVER, Status.COMPLETE

_new = tuple.__new__  # As in ``importers.gathering``.
_HEAD_LINES = 200
_LAST_OF_TIME = "sys"


@dataclass(slots=True)
class _Read:
    """One read: lines by what they are, with the number of each."""

    first_line: int
    last_line: int
    mount: tuple[Mount, int] | None = None
    command: Printed | None = None
    path: str = ""
    size: Printed | None = None
    records: Printed | None = None
    moved: Printed | None = None
    rate: tuple[Printed, str] | None = None
    dd_seconds: Printed | None = None
    times: dict[str, Printed] = field(default_factory=dict)
    error: Printed | None = None

    @property
    def has_figures(self) -> bool:
        """Whether something was measured: what comes next belongs to another read, unless it is still lacking."""
        return bool(self.records or self.moved or self.times or self.error)

    @property
    def seconds(self) -> Printed | None:
        """dd's own seconds are of the read alone; those of ``time`` include starting and ending."""
        return self.dd_seconds or self.times.get("real")


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
            if not line or self._is_circumstance(line, number) or (number == cut and line[-1].isdigit()):
                continue
            command = known.command_of(line)
            begins = command or self._begins(line)
            if begins and self.read is not None and (self.read.has_figures or self.read.command):
                yield self._whole(self.read)
                self.read = None
            self._take(line, number, command)
        if self.read is not None and (self.read.has_figures or self.read.command):
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

    def _begins(self, line: str) -> bool:
        """Whether a line that is no command cannot belong to the read before it."""
        if self.read is None:
            return False
        if known.is_records_in(line):
            return self.read.records is not None or bool(self.read.times)
        real = known.shell_time_of(line)
        return real is not None and real["which"] in self.read.times

    def _take(self, line: str, number: int, command: str) -> None:
        if command:
            path = known.source_of(command)
            self.read = _Read(number, number, self._mount(path), _new(Printed, (command, number)), path)
        elif self.read is None:
            fresh = _Read(number, number, self._mount(""))
            if _take_figure(fresh, line, number):
                self.read = fresh
        elif _take_figure(self.read, line, number):
            self.read.last_line = number

    def _mount(self, path: str) -> tuple[Mount, int] | None:
        """The innermost mount that a file lies under; where no file is named, the only one there is."""
        mounts = list(self.mounts.values())
        if not path:
            return mounts[0] if len(mounts) == 1 else None
        under = [mount for mount in mounts if path.startswith(mount[0].point)]
        return max(under, key=lambda mount: len(mount[0].point), default=None)

    def _whole(self, read: _Read) -> _Read:
        """Give a read the size printed of its file; the line that prints it is a part of what tells of the read."""
        read.size = None if read.moved else self.sizes.get(read.path)
        if read.size is not None:
            read.first_line = min(read.first_line, read.size.line)
        return read


def _take_figure(read: _Read, line: str, number: int) -> bool:
    """Keep what a line of output says; answers whether it says anything."""
    if known.is_error(line):
        read.error = read.error or _new(Printed, (line, number))
    elif (shell := known.shell_time_of(line)) is not None:
        read.times[shell["which"]] = _new(Printed, (shell["time"], number))
    elif known.is_records_in(line):
        read.records = _new(Printed, (line, number))
    else:
        return _take_line(read, line, number)
    return True


def _take_line(read: _Read, line: str, number: int) -> bool:
    """The same of lines that say several things."""
    for pattern, scale in known.DD_RATES if "byte" in line else ():
        match = pattern.fullmatch(line)
        # dd also prints such lines while it goes on; those come before the number of records.
        if match is not None and read.records is not None:
            read.moved = _new(Printed, (match["bytes"], number))
            read.dd_seconds = _new(Printed, (match["seconds"], number))
            read.rate = (_new(Printed, (match["rate"], number)), known.rate_unit(match["unit"], scale))
            return True
    times = known.times_of(line)
    for name, text in times.items():
        read.times[name] = _new(Printed, (text, number))
    return bool(times)


def _fragment(read: _Read, file: str, found: ProblemLog) -> Fragment:
    status = _judge(read, found)
    gathered = Gathered()
    _facts(read, gathered)
    if status is _COMPLETE:
        _figures(read, gathered)
    return Fragment(
        file,
        NAME,
        VERSION,
        _DRIVER,
        read.first_line,
        read.last_line,
        role="client",
        status=status,
        facts=gathered.facts,
        readings=gathered.readings,
    )


def _judge(read: _Read, found: ProblemLog) -> Status:
    if read.error is not None:
        remedy = "Mend the mount or the path, then measure again."
        found.warn("nfs_read.failed", f"The read failed: {read.error.text}.", remedy, read.error.line)
        return Status.FAILED
    if read.seconds is None or (read.times and _LAST_OF_TIME not in read.times):
        message = "No time is printed for this read: it was interrupted, or the transcript cut off."
        found.warn("nfs_read.cut-off", message, "Measure again, or transfer the file again.", read.last_line)
        return Status.INCOMPLETE
    if read.moved is None and read.size is None:
        message = "Nothing says how many bytes were read."
        found.warn("nfs_read.no-size", message, "Put the output of ls -l FILE before the read.", read.last_line)
        return Status.INCOMPLETE
    return _COMPLETE


def _facts(read: _Read, gathered: Gathered) -> None:
    first = read.command.line if read.command else read.first_line
    gathered.say_all(("workload", "users", "factor.tool"), ("NFS", "1", NAME), first)
    gathered.fact("command_line", read.command)
    gathered.say("file", read.path, first)
    gathered.fact("records", read.records)
    gathered.fact("error", read.error)
    if read.mount is not None:
        mount, line = read.mount
        gathered.say_all(mount.keys, mount.texts, line)


def _figures(read: _Read, gathered: Gathered) -> None:
    """dd's rate where it prints one: else the rate follows from bytes and seconds."""
    gathered.reading("data_bytes", read.moved or read.size, "bytes")
    if read.rate is not None:
        gathered.reading("mb_per_s", *read.rate)
    seconds = read.seconds
    assert seconds is not None
    gathered.keep(("driver_s", known.seconds_unit(seconds.text), "total"), *seconds)
    if "percent" in read.times:
        gathered.reading("processor_util", read.times["percent"], "%", "client")
        gathered.fact("cpu_scope", _new(Printed, ("process", read.times["percent"].line)))
    for which, key in (("user", "user_s@client"), ("sys", "sys_s@client")):
        gathered.fact(key, read.times.get(which))
