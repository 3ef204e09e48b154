"""Lines of a transcript: mounts, sizes of files, and output of dd and times."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

_FACTORS = {"rsize": "rsize", "wsize": "wsize", "vers": "nfs_version", "nfsvers": "nfs_version", "proto": "protocol"}
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
NFSSTAT_HEAD = re.compile(r"(?P<point>/\S*) from (?P<server>[\w.-]+):(?P<export>/\S*)")
NFSSTAT_FLAGS = re.compile(r"\s*Flags:\s*(?P<options>\S+)")

# Behind a prompt, a shell's trace mark or nothing.
_COMMAND = re.compile(
    r"(?:.{0,80}?[#$%>]\s+|\++ )?(?P<command>(?:time\s+(?:-p\s+)?|/usr/bin/time\s+)?(?:dd|cat|cp|wc|md5sum|sum)\s.*)"
)
_SOURCE = re.compile(r"(?:\bif=|\s)(?P<path>/[^\s;|>&]+)")
FILE_SIZE = re.compile(r"-[rwxsStT-]{9}\S?\s+\d+\s+\S+\s+\S+\s+(?P<bytes>[0-9]{1,18})\s.*?(?P<path>/\S+)")

_DECIMAL = r"[0-9]{1,9}(?:\.[0-9]{1,9})?(?:e[+-][0-9][0-9])?"
_RECORDS_IN = re.compile(r"(?P<whole>\d{1,15})\+(?P<partial>\d{1,15}) records in")
_COPIED = rf"(?P<bytes>[0-9]{{1,18}}) bytes? \([^)]*\) copied, (?P<seconds>{_DECIMAL})"
_RATE = rf"(?P<rate>{_DECIMAL})"
# GNU dd counts MB in powers of 1000, busybox in powers of 1024; the BSDs print bytes.
_DD_RATES = (
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
LONGEST = 2000


class Mount(NamedTuple):
    """An NFS mount: mount point, and keys and texts of each read's facts."""

    point: str
    keys: tuple[str, ...]
    texts: tuple[str, ...]


class Command(NamedTuple):
    """A command, and the path of the read file, if any."""

    text: str
    path: str


@lru_cache(64)
def build_mount(server: str, export: str, point: str, options: str | None) -> Mount:
    """Return a mount with options as printed (``rw,rsize=8192``).

    Of synonyms, the first in ``_FACTORS`` counts.
    """
    facts = {"server": server, "export": export}
    parts = (part.partition("=") for part in (options or "").split(",") if part)
    chosen = {name: value for name, _, value in parts}
    for option, name in _FACTORS.items():
        if option in chosen:
            text = chosen[option].strip()
            facts.setdefault(f"factor.{name}", text.upper() if name == "protocol" else text)
    listed = [f"{name}={value}" if value else name for name, value in chosen.items()]
    facts["mount_options"] = ",".join(listed).strip()
    return Mount(point, tuple(facts), tuple(facts.values()))


def read_mount(line: str) -> Mount | None:
    """Return the mount in a line, if any."""
    return _match_mount(line.strip()) if ":/" in line and "nfs" in line else None


@lru_cache(64)
def _match_mount(line: str) -> Mount | None:
    for pattern in _MOUNTS:
        if match := pattern.fullmatch(line):
            return build_mount(match["server"], match["export"], match["point"], match["options"])
    return None


def read_command(line: str) -> Command | None:
    """Return the command in a line; None if repeated with times or an error."""
    # Searching for the words is faster than the pattern.
    named = "dd" in line or "cat" in line or "cp" in line or "sum" in line or "wc" in line
    return _match_command(line) if named else None


@lru_cache(64)
def _match_command(line: str) -> Command | None:
    match = _COMMAND.fullmatch(line)
    if match is None or _is_error(line) or _read_times(line):
        return None
    source = _SOURCE.search(match["command"])
    return Command(match["command"], source["path"] if source else "")


def _is_error(line: str) -> bool:
    return ": " in line and _ERROR.fullmatch(line) is not None


def _read_times(line: str) -> dict[str, str]:
    for pattern in _TIMES if "%" in line else ():
        if match := pattern.fullmatch(line):
            return match.groupdict()
    return {}


def read_figures(line: str) -> Mapping[str, str]:
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


def find_seconds_unit(text: str) -> str:
    """Return the shape of a printed time."""
    if "m" in text:
        return "mmmss.s"
    if ":" not in text:
        return "s"
    if text.count(":") > 1:
        return "hh:mm:ss"
    return "mmm:ss.hs" if "." in text else "mmm:ss"
