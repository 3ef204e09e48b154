"""The lines that a transcript of timed reads is made of: mounts, sizes of files, what dd and the times print."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

_FACTORS = {"rsize": "rsize", "wsize": "wsize", "vers": "nfs_version", "nfsvers": "nfs_version", "proto": "protocol"}
_OPTIONS = r"(?P<options>\S*[rw]size=\S*)"
MOUNTS = (
    # mount -t nfs server:/export /mnt -o rsize=8192,wsize=8192
    re.compile(rf".*\bmount\b.*?-t\s*nfs[234]?\b(?=.*\s(?P<server>[\w.-]+):(?P<export>/\S*)\s+(?P<point>/\S*))(?:.*-o\s*{_OPTIONS})?.*"),
    # server:/export on /mnt type nfs (rw,rsize=8192,...)
    re.compile(r"(?P<server>[\w.-]+):(?P<export>/\S*) on (?P<point>/\S*) type nfs[234]? \((?P<options>[^)]*)\)"),
    # server:/export /mnt nfs rw,rsize=8192,... 0 0
    re.compile(r"(?P<server>[\w.-]+):(?P<export>/\S*) (?P<point>/\S*) nfs[234]? (?P<options>\S+)(?: \d+ \d+)?"),
)  # fmt: skip
# What nfsstat -m prints in two lines.
NFSSTAT_HEAD = re.compile(r"(?P<point>/\S*) from (?P<server>[\w.-]+):(?P<export>/\S*)")
NFSSTAT_FLAGS = re.compile(r"\s*Flags:\s*(?P<options>\S+)")

# Behind a prompt, a shell's trace mark or nothing.
COMMAND = re.compile(
    r"(?:.{0,80}?[#$%>]\s+|\++ )?(?P<command>(?:time\s+(?:-p\s+)?|/usr/bin/time\s+)?(?:dd|cat|cp|wc|md5sum|sum)\s.*)"
)
_SOURCE = re.compile(r"(?:\bif=|\s)(?P<path>/[^\s;|>&]+)")
FILE_SIZE = re.compile(r"-[rwxsStT-]{9}\S?\s+\d+\s+\S+\s+\S+\s+(?P<bytes>[0-9]{1,18})\s.*?(?P<path>/\S+)")

_DECIMAL = r"[0-9]{1,9}(?:\.[0-9]{1,9})?(?:e[+-][0-9][0-9])?"
RECORDS_IN = re.compile(r"(?P<whole>\d{1,15})\+(?P<partial>\d{1,15}) records in")
_COPIED = rf"(?P<bytes>[0-9]{{1,18}}) bytes? \([^)]*\) copied, (?P<seconds>{_DECIMAL})"
_RATE = rf"(?P<rate>{_DECIMAL})"
# GNU dd counts MB in powers of 1000, busybox in powers of 1024; the BSDs print bytes.
DD_RATES = (
    (re.compile(rf"{_COPIED} s, {_RATE} (?P<unit>[kMGT]?B/s)"), " 10^"),
    (re.compile(rf"{_COPIED} seconds, {_RATE}(?P<unit>[kMGT]?B/s)"), ""),
    (
        re.compile(
            rf"(?P<bytes>[0-9]{{1,18}}) bytes transferred in (?P<seconds>{_DECIMAL}) secs "
            rf"\({_RATE} (?P<unit>bytes/sec)\)"
        ),
        "",
    ),
)
_THOUSANDS = {"k": 3, "M": 6, "G": 9, "T": 12}

# Each time prints the three in its own way: the shells' on three lines, others on one.
SHELL_TIME = re.compile(r"(?P<which>real|user|sys)\s+(?P<time>\d{1,6}m[0-5]?\d(?:\.\d{1,6})?s|\d{1,8}(?:\.\d{1,6})?)")
TIMES = (
    re.compile(r"(?P<user>\d+\.\d+)user (?P<sys>\d+\.\d+)system (?P<real>[\d:.]+)elapsed (?P<percent>\d+)%CPU.*"),
    re.compile(r"(?P<user>\d+\.\d+)u (?P<sys>\d+\.\d+)s (?P<real>[\d:.]+) (?P<percent>\d+\.\d)%.*"),
    re.compile(r".*\s(?P<user>\d+\.\d+)s user (?P<sys>\d+\.\d+)s system (?P<percent>\d+)% cpu (?P<real>[\d:.]+) total"),
)
_REASONS = "Stale|error|No such|denied|refused|timed out|not mounted|Interrupted|Is a directory"
ERROR = re.compile(rf"(?:dd|cat|cp|mount(?:\.nfs)?|md5sum): .*(?:{_REASONS}).*")
# No line that these are about is as long; patterns that look ahead would take too long on a longer one.
LONGEST = 2000


class Mount(NamedTuple):
    """An NFS mount: where it is, and what it says of each read from it, by keys and their texts."""

    point: str
    keys: tuple[str, ...]
    texts: tuple[str, ...]


class Command(NamedTuple):
    """A command, and the path that it reads, empty where it names none."""

    text: str
    path: str


@lru_cache(64)
def mount(server: str, export: str, point: str, options: str | None) -> Mount:
    """The mount with options as printed (``rw,rsize=8192``); of two names of one option the first above counts."""
    # A file system is mounted again and again in the same way.
    facts = {"server": server, "export": export}
    chosen = _options(options)
    for option, name in _FACTORS.items():
        if option in chosen:
            text = chosen[option].strip()
            facts.setdefault(f"factor.{name}", text.upper() if name == "protocol" else text)
    listed = [f"{name}={value}" if value else name for name, value in chosen.items()]
    facts["mount_options"] = ",".join(listed).strip()
    return Mount(point, tuple(facts), tuple(facts.values()))


def _options(text: str | None) -> dict[str, str]:
    """``rw,rsize=8192`` by names."""
    parts = (part.partition("=") for part in (text or "").split(",") if part)
    return {name: value for name, _, value in parts}


def mount_of(line: str) -> Mount | None:
    """The mount that a line tells of."""
    return _mount_in(line.strip()) if ":/" in line and "nfs" in line else None


@lru_cache(64)
def _mount_in(line: str) -> Mount | None:
    for pattern in MOUNTS:
        if match := pattern.fullmatch(line):
            return mount(match["server"], match["export"], match["point"], match["options"])
    return None


def command_of(line: str) -> Command | None:
    """The command that a line shows: zsh repeats it before its times, dd before an error."""
    # The pattern goes through all of a line that has a percent sign; to look for the words is quicker.
    named = "dd" in line or "cat" in line or "cp" in line or "sum" in line or "wc" in line
    return _command_in(line) if named else None


@lru_cache(64)
def _command_in(line: str) -> Command | None:
    # A file is read again and again by the same command.
    match = COMMAND.fullmatch(line)
    if match is None or is_error(line) or times_of(line):
        return None
    source = _SOURCE.search(match["command"])
    return Command(match["command"], source["path"] if source else "")


def is_error(line: str) -> bool:
    """Whether a command says here that it failed."""
    return ": " in line and ERROR.fullmatch(line) is not None


def times_of(line: str) -> dict[str, str]:
    """The times and the percentage that one line gives, by name."""
    for pattern in TIMES if "%" in line else ():
        if match := pattern.fullmatch(line):
            return match.groupdict()
    return {}


def shell_time_of(line: str) -> re.Match[str] | None:
    """One of the three times that a shell prints in a line of its own."""
    return SHELL_TIME.fullmatch(line) if line.startswith(("real", "user", "sys")) else None


def is_records_in(line: str) -> bool:
    """Whether dd says here how many records it read."""
    return line.endswith("records in") and RECORDS_IN.fullmatch(line) is not None


def figures_of(line: str) -> Mapping[str, str]:
    """What a line of output says, by name, none where it says nothing: error, records, dd's figures or times."""
    if is_error(line):
        return {"error": line}
    if (shell := shell_time_of(line)) is not None:
        return {shell["which"]: shell["time"]}
    if is_records_in(line):
        return {"records": line}
    return (_dd_figures(line) if "byte" in line else None) or times_of(line)


def _dd_figures(line: str) -> dict[str, str] | None:
    for pattern, scale in DD_RATES:
        if match := pattern.fullmatch(line):
            return {**match.groupdict(), "unit": _rate_unit(match["unit"], scale)}
    return None


def _rate_unit(unit: str, scale: str) -> str:
    """The unit of dd's rate as ``perfdb.analysis.units`` spells it."""
    return f"{unit}{scale}{_THOUSANDS[unit[0]]}" if scale and unit[0] in _THOUSANDS else unit


def seconds_unit(text: str) -> str:
    """The shape of a printed time."""
    if "m" in text:
        return "mmmss.s"
    if ":" not in text:
        return "s"
    if text.count(":") > 1:
        return "hh:mm:ss"
    return "mmm:ss.hs" if "." in text else "mmm:ss"
