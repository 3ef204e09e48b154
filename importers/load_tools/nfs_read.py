"""Timed reads of files over NFS, in the transcript of a shell.

A transcript has the mount, a command such as ``time cat FILE > /dev/null`` or ``dd``, and the output of command and
shell. Each read is a result; CPU time is the command's, not the machine's.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from importers.fragment_builder import FragmentBuilder, Printed
from importers.model import Fragment, ProblemLog, Status, Text
from importers.trial_numbers import number_trials

NAME = "nfs_read"
TITLE = "timed reads over NFS"
VERSION = 2

_HEAD_LINES = 200
_LAST_OF_TIME = "sys"
_SHELL_TIMES = frozenset({"real", "user", "sys"})
_NOTHING: Mapping[str, str] = {}
_BYTES = ("data_bytes", "bytes", "total")
_FACTORS = {"rsize": "rsize", "wsize": "wsize", "vers": "nfs_version", "nfsvers": "nfs_version", "proto": "protocol"}
_FACTORS |= {"nconnect": "nconnect"}
_OPTIONS = r"(?P<options>\S*[rw]size=\S*)"
_MOUNTS = (
    # mount -t nfs server:/export /mnt -o rsize=8192,wsize=8192
    re.compile(rf".*\bmount\b.*?-t\s*nfs[234]?\b(?=.*\s(?P<server>[\w.-]+):(?P<export>/\S*)\s+(?P<point>/\S*))(?:.*-o\s*{_OPTIONS})?.*"),
    # server:/export on /mnt type nfs (rw,rsize=8192,...)
    re.compile(r"(?P<server>[\w.-]+):(?P<export>/\S*) on (?P<point>/\S*) type nfs[234]? \((?P<options>[^)]*)\)"),
    # server:/export /mnt nfs rw,rsize=8192,... 0 0
    re.compile(r"(?P<server>[\w.-]+):(?P<export>/\S*) (?P<point>/\S*) nfs[234]? (?P<options>\S+)(?: \d+ \d+)?"),
)  # fmt: skip
# nfsstat -m prints two lines.
_NFSSTAT_HEAD = re.compile(r"(?P<point>/\S*) from (?P<server>[\w.-]+):(?P<export>/\S*)")
_NFSSTAT_FLAGS = re.compile(r"\s*Flags:\s*(?P<options>\S+)")

# Behind a prompt, a shell's trace mark or nothing.
_COMMAND = re.compile(
    r"(?:.{0,80}?[#$%>]\s+|\++ )?(?P<command>(?:time\s+(?:-p\s+)?|/usr/bin/time\s+)?(?:dd|cat|cp|wc|md5sum|sum)\s.*)"
)
_BLOCK = re.compile(r"\bbs=(\d+[kKMG]?)\b")
_SOURCE = re.compile(r"(?:\bif=|\s)(?P<path>/[^\s;|>&]+)")
_FILE_SIZE = re.compile(r"-[rwxsStT-]{9}\S?\s+\d+\s+\S+\s+\S+\s+(?P<bytes>[0-9]{1,18})\s.*?(?P<path>/\S+)")

_DECIMAL = r"[0-9]{1,9}(?:\.[0-9]{1,9})?(?:e[+-][0-9][0-9])?"
_RECORDS_IN = re.compile(r"(?P<whole>\d{1,15})\+(?P<partial>\d{1,15}) records in")
_BYTES_READ, _SECONDS = r"(?P<bytes>[0-9]{1,18})", rf"(?P<seconds>{_DECIMAL})"
_COPIED = rf"{_BYTES_READ} bytes? \([^)]*\) copied, {_SECONDS}"
_RATE = rf"(?P<rate>{_DECIMAL})"
# GNU dd counts MB in powers of 1000, busybox in powers of 1024; the BSDs print bytes.
_DD_RATES = (
    (re.compile(rf"{_COPIED} s, {_RATE} (?P<unit>[kMGT]?B/s)"), " 10^"),
    (re.compile(rf"{_COPIED} seconds, {_RATE}(?P<unit>[kMGT]?B/s)"), ""),
    (re.compile(rf"{_BYTES_READ} bytes transferred in {_SECONDS} secs \({_RATE} (?P<unit>bytes/sec)\)"), ""),
)
_THOUSANDS = {"k": 3, "M": 6, "G": 9, "T": 12}

# Shells print three lines, other time commands one.
_SHELL_TIME = re.compile(r"(?P<which>real|user|sys)\s+(?P<time>\d{1,6}m[0-5]?\d(?:\.\d{1,6})?s|\d{1,8}(?:\.\d{1,6})?)")
_TIMES = (
    re.compile(r"(?P<user>\d+\.\d+)user (?P<sys>\d+\.\d+)system (?P<real>[\d:.]+)elapsed (?P<percent>\d+)%CPU.*"),
    re.compile(r"(?P<user>\d+\.\d+)u (?P<sys>\d+\.\d+)s (?P<real>[\d:.]+) (?P<percent>\d+\.\d)%.*"),
    re.compile(r".*\s(?P<user>\d+\.\d+)s user (?P<sys>\d+\.\d+)s system (?P<percent>\d+)% cpu (?P<real>[\d:.]+) total"),
)
_REASONS = "Stale|error|No such|denied|refused|timed out|not mounted|Interrupted|Is a directory"
_ERROR = re.compile(rf"(?:dd|cat|cp|mount(?:\.nfs)?|md5sum): .*(?:{_REASONS}).*")
# Lines are cut to so many characters, since patterns with lookahead would be slow on longer ones.
_LONGEST = 2000


Mount = tuple[str, dict[str, str]]
"""A mount point, and the facts of each read under it."""


class Command(NamedTuple):
    """A command, and the path of the read file, if any."""

    text: str
    path: str


def _build_mount(match: re.Match[str], options: str | None) -> Mount:
    """Return a mount with options as printed; of synonyms, the first in ``_FACTORS`` counts."""
    facts = {"server": match["server"], "export": match["export"]}
    parts = (part.partition("=") for part in (options or "").split(",") if part)
    chosen = {name: value for name, _, value in parts}
    for option, name in _FACTORS.items():
        if option in chosen:
            text = chosen[option].strip()
            facts.setdefault(f"factor.{name}", text.upper() if name == "protocol" else text)
    listed = [f"{name}={value}" if value else name for name, value in chosen.items()]
    facts["mount_options"] = ",".join(listed).strip()
    return match["point"], facts


@lru_cache(64)
def _read_mount(line: str) -> Mount | None:
    """Return the mount in a line, if any."""
    patterns = _MOUNTS if ":/" in line and "nfs" in line else ()
    match = next(filter(None, (pattern.fullmatch(line.strip()) for pattern in patterns)), None)
    return _build_mount(match, match["options"]) if match else None


@lru_cache(64)
def _read_command(line: str) -> Command | None:
    """Return the command in a line; None if repeated with times or an error."""
    # Searching for the words is faster than the pattern.
    match = _COMMAND.fullmatch(line) if any(word in line for word in ("dd", "cat", "cp", "sum", "wc")) else None
    if match is None or _is_error(line) or _read_times(line):
        return None
    source = _SOURCE.search(match["command"])
    return Command(match["command"], source["path"] if source else "")


def _is_error(line: str) -> bool:
    return ": " in line and _ERROR.fullmatch(line) is not None


def _read_times(line: str) -> dict[str, str]:
    match = next(filter(None, (pattern.fullmatch(line) for pattern in _TIMES)), None) if "%" in line else None
    return match.groupdict() if match else {}


def _read_figures(line: str) -> Mapping[str, str]:
    """Return the figures by name: an error, dd's records or figures, or times."""
    if _is_error(line):
        return {"error": line}
    if line.startswith(("real", "user", "sys")) and (shell := _SHELL_TIME.fullmatch(line)):
        return {shell["which"]: shell["time"]}
    if line.endswith("records in") and _RECORDS_IN.fullmatch(line):
        return {"records": line}
    return (_read_dd_figures(line) if "byte" in line else None) or _read_times(line)


def _read_dd_figures(line: str) -> dict[str, str] | None:
    for pattern, scale in _DD_RATES:
        if match := pattern.fullmatch(line):
            unit = match["unit"]
            # As ``perfdb.analysis.units`` spells powers of 1000.
            full_unit = f"{unit}{scale}{_THOUSANDS[unit[0]]}" if scale and unit[0] in _THOUSANDS else unit
            return {**match.groupdict(), "unit": full_unit}
    return None


def _find_seconds_unit(text: str) -> str:
    """Return the shape of a printed time."""
    if ":" not in text:
        return "mmmss.s" if "m" in text else "s"
    return "hh:mm:ss" if text.count(":") > 1 else "mmm:ss.hs" if "." in text else "mmm:ss"


@dataclass(slots=True)
class _Read:
    """A read with figures by name; ``line`` is the command's, else the first figure's."""

    line: int
    last_line: int
    mount: tuple[dict[str, str], int] | None = None
    command: Command | None = None
    size: Printed | None = None
    figures: dict[str, Printed] = field(default_factory=dict)

    @property
    def seconds(self) -> Printed | None:
        """Return the duration by dd, else by ``time``, which includes the command's start."""
        return self.figures.get("seconds") or self.figures.get("real")

    def is_followed_by(self, name: str) -> bool:
        """Return whether a line with this figure begins another read."""
        if name == "records":
            return not (_SHELL_TIMES | {"records"}).isdisjoint(self.figures)
        return name in _SHELL_TIMES and name in self.figures

    def take(self, figures: Mapping[str, str], line: int) -> None:
        """Keep the figures of a line, and only the first of several errors."""
        # dd also prints its figures during the read, before the number of records.
        if "bytes" in figures and "records" not in self.figures:
            return
        self.last_line = line
        if "error" not in figures or "error" not in self.figures:
            for name, text in figures.items():
                self.figures[name] = Printed(text, line)


def recognise(text: Text) -> bool:
    """Look for an NFS mount, and for a timing or dd's records."""
    head = [line[:_LONGEST] for line in islice(text.lines, _HEAD_LINES)]
    if not any(":/" in line and (_read_mount(line) or _NFSSTAT_HEAD.fullmatch(line)) for line in head):
        return False
    return any(not (_SHELL_TIMES | {"records"}).isdisjoint(_read_figures(line.strip())) for line in head)


def parse(text: Text, found: ProblemLog) -> list[Fragment]:
    """Return a fragment for each read."""
    fragments = (_read_fragment(read, text.name, found) for read in _Reader(text).find_reads())
    return number_trials(fragments)


@dataclass(slots=True)
class _Reader:
    """Grouping of lines into reads, at commands; mounts and sizes hold on."""

    text: Text
    mounts: dict[str, tuple[dict[str, str], int]] = field(default_factory=dict)
    sizes: dict[str, Printed] = field(default_factory=dict)
    read: _Read | None = None
    waiting: re.Match[str] | None = None

    def find_reads(self) -> Iterator[_Read]:
        # Digits may be missing at the end of the file, for only some times have a unit.
        cut = None if self.text.ends_whole else len(self.text.lines)
        for number, raw in self.text.numbered():
            line = raw[:_LONGEST].strip()
            if not line:
                continue
            # A quick test that excludes most lines.
            if (":/" in line or line[0] == "-" or self.waiting) and self._is_circumstance(line, number):
                continue
            if number == cut and line[-1].isdigit():
                continue
            command = _read_command(line)
            figures = _NOTHING if command else _read_figures(line)
            before = self.read
            # Only dd's records and the three times of a shell are alone in their lines.
            if before is not None and (command or (len(figures) == 1 and before.is_followed_by(*figures))):
                yield self._finish(before)
                self.read = None
            if command or (self.read is None and figures and "bytes" not in figures):
                self.read = _Read(number, number, self._find_mount(command.path if command else ""), command)
            if self.read is not None and figures:
                self.read.take(figures, number)
        if self.read is not None:
            yield self._finish(self.read)

    def _is_circumstance(self, line: str, number: int) -> bool:
        """Keep a mount or a file's size; return False for other lines."""
        mount = _read_mount(line)
        if mount is None and (self.waiting or " from " in line):
            mount = self._read_nfsstat(line)
        if mount is not None:
            self.mounts[mount[0]] = mount[1], number
        size = _FILE_SIZE.fullmatch(line) if line.startswith("-") else None
        if size is not None:
            self.sizes[size["path"]] = Printed(size["bytes"], number)
        return mount is not None or size is not None

    def _read_nfsstat(self, line: str) -> Mount | None:
        self.waiting = _NFSSTAT_HEAD.fullmatch(line) or self.waiting
        if self.waiting is None or (flags := _NFSSTAT_FLAGS.fullmatch(line)) is None:
            return None
        head, self.waiting = self.waiting, None
        return _build_mount(head, flags["options"])

    def _find_mount(self, path: str) -> tuple[dict[str, str], int] | None:
        """Return facts and line of the innermost mount of a file; without a path, of the only mount."""
        if not path:
            return next(iter(self.mounts.values())) if len(self.mounts) == 1 else None
        return self.mounts.get(max(filter(path.startswith, self.mounts), key=len, default=""))

    def _finish(self, read: _Read) -> _Read:
        """Add the listed size of the file to a read without bytes."""
        if read.command is not None and "bytes" not in read.figures:
            read.size = self.sizes.get(read.command.path)
        return read


def _read_fragment(read: _Read, file: str, found: ProblemLog) -> Fragment:
    status = _judge(read, found)
    gathered = FragmentBuilder()
    _gather_facts(read, gathered)
    if status is Status.COMPLETE:
        _gather_figures(read, gathered)
    lines = min(read.line, read.size.line) if read.size else read.line, read.last_line
    return gathered.build((file, NAME, VERSION), lines, status)


def _judge(read: _Read, found: ProblemLog) -> Status:
    if (error := read.figures.get("error")) is not None:
        remedy = "Mend the mount or the path, then measure again."
        return found.fail("nfs_read.failed", f"The read failed: {error.text}.", remedy, error.line)
    if read.seconds is None or (_LAST_OF_TIME not in read.figures and not _SHELL_TIMES.isdisjoint(read.figures)):
        message = "No time is printed for this read: it was interrupted, or the transcript cut off."
        return found.cut("nfs_read.cut-off", message, "Measure again, or transfer the file again.", read.last_line)
    if read.size is None and "bytes" not in read.figures:
        message = "Nothing says how many bytes were read."
        return found.cut("nfs_read.no-size", message, "Put the output of ls -l FILE before the read.", read.last_line)
    return Status.COMPLETE


def _gather_facts(read: _Read, gathered: FragmentBuilder) -> None:
    command, path = read.command or ("", "")
    keys = ("workload", "users", "factor.tool", "command_line", "file", "message_bytes")
    block = _BLOCK.search(command)
    gathered.add_facts(keys, ("NFS", "1", NAME, command, path, block[1] if block else None), read.line)
    gathered.add_printed("records", read.figures.get("records"))
    gathered.add_printed("error", read.figures.get("error"))
    if read.mount is not None:
        facts, line = read.mount
        gathered.add_facts(facts.keys(), facts.values(), line)


def _gather_figures(read: _Read, gathered: FragmentBuilder) -> None:
    """Keep the figures of a complete read, with dd's rate if printed."""
    figures, seconds = read.figures, read.seconds
    size = figures.get("bytes") or read.size
    assert size is not None
    assert seconds is not None
    gathered.add_raw_number(_BYTES, *size)
    if "rate" in figures:
        gathered.add_raw_number(("mb_per_s", figures["unit"].text, "total"), *figures["rate"])
    gathered.add_raw_number(("driver_s", _find_seconds_unit(seconds.text), "total"), *seconds)
    if "percent" in figures:
        gathered.add_reading("processor_util", figures["percent"], "%", "client")
        gathered.add_raw_fact("cpu_scope", "process", figures["percent"].line)
    for which, key in (("user", "user_s@client"), ("sys", "sys_s@client")):
        gathered.add_printed(key, figures.get(which))
