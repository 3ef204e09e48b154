"""Text output of sar, mpstat, iostat and vmstat.

Lines of sar and mpstat begin with a time, those of vmstat end with one.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from importers.model import ProblemLog, Text
from importers.sysstat.samples import Head, HostSamples, When, is_clock, read_cells, read_day, read_figure, read_head

_HEAD = re.compile(
    r"Linux (?P<release>\S+) \((?P<host>[^)]*)\)\s+(?P<day>\S+)\s+_(?P<machine>\S+)_\s+\((?P<cpus>\d+) CPU\)\s*"
)
_CLOCK = re.compile(r"(?P<hour>\d\d):(?P<rest>\d\d:\d\d)(?:\s+(?P<half>AM|PM)\b)?(?P<cells>.*)")
_AVERAGE = re.compile(r"(?P<word>[^\s\d]\S*?)\s?:\s(?P<cells>.*)")
_RESTART = "LINUX RESTART"
_IOSTAT = "avg-cpu:"
_VMSTAT = re.compile(r"\s*procs -+memory-.*-cpu-+")
_VMSTAT_NAMES = {"us": "user", "sy": "system", "id": "idle", "wa": "iowait", "st": "steal"}
_STAMP = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)")
_STAMPED = 19  # Characters.
_NO_HEAD = read_head(())


def is_text(text: Text) -> bool:
    """Return whether the first line is a head of sar, mpstat, iostat or vmstat."""
    first = next((line for line in text.lines if line.strip()), "")
    return _HEAD.fullmatch(first) is not None or _VMSTAT.match(first) is not None


def read_text(text: Text, found: ProblemLog) -> list[HostSamples]:
    """Read all samples, with columns by the last head line."""
    host = HostSamples(found)
    lines = [(number, line) for number, line in text.numbered() if line.strip()]
    if match := _HEAD.fullmatch(lines[0][1]):
        _read_head(match, lines, host)
        reader = _Reader(host)
        for number, line in lines[1:]:
            reader.read(number, line)
    else:
        _read_vmstat(lines, host)
    return [host]


def _read_head(match: re.Match[str], lines: Sequence[tuple[int, str]], host: HostSamples) -> None:
    american = any((clock := _CLOCK.match(line)) and clock["half"] for _, line in lines[:5])
    host.line, host.host, host.release = lines[0][0], match["host"], match["release"]
    host.machine, host.processors = match["machine"], match["cpus"]
    host.day = read_day(match["day"], host.found, host.line, american=american)


@dataclass(slots=True)
class _Reader:
    """Reader of lines below the last ``head``; ``iostat``: the next line has iostat's values of ``columns``."""

    host: HostSamples
    columns: list[str] = field(default_factory=list)
    iostat: bool = False
    reports: int = 0
    head: Head = _NO_HEAD

    def read(self, number: int, line: str) -> None:
        if line.startswith(_IOSTAT):
            self.columns, self.iostat = line.split()[1:], True
            return
        clock = _CLOCK.match(line)
        average = None if clock else _AVERAGE.match(line)
        if self.iostat:
            self.iostat, self.reports = False, self.reports + 1
            # The first report covers the time since the host's start.
            if self.reports > 1:
                words = line.split()[: len(self.columns)]
                self.host.add("all", When(""), number, read_cells(self.columns[: len(words)], words))
        elif clock and _RESTART in line:
            self.host.restarted = True
        elif clock:
            hour, rest, half, cells = clock.groups()
            self._row(number, f"{hour if half is None else _hour(hour, half)}:{rest}", cells.split())
        elif average:
            self._row(number, "", average["cells"].split())

    def _row(self, number: int, end: str, cells: list[str]) -> None:
        # Nearly all lines are rows, which the last cell tells.
        if cells and not cells[-1][0].isdigit() and not any(map(read_figure, cells)):
            self.head = read_head(cells)
            self.host.begin = self.host.begin or (end if is_clock(end) else "")
        elif self.head.width and self.head.columns.activity is None:
            return
        elif len(cells) != self.head.width:
            self.host.misfits.append(number)
        elif end:
            key, found = self.head.split(cells)
            self.host.add(key, When(end), number, found)
        else:
            self.host.add_average(*self.head.split(cells), number)


@lru_cache(maxsize=64)
def _hour(hour: str, half: str) -> str:
    """Return the hour of 24: 12 AM is 0, 1 PM is 13."""
    return f"{int(hour) % 12 + (12 if half == 'PM' else 0):02d}"


def _read_vmstat(lines: Sequence[tuple[int, str]], host: HostSamples) -> None:
    """Read vmstat -t; the first line covers the time since the host's start."""
    names, places = list[str](), list[int]()
    has_head, reports = False, 0
    for number, line in lines[1:]:
        if "swpd" in line:
            has_head, columns = True, line.split()
            places = [at for at, name in enumerate(columns) if name in _VMSTAT_NAMES]
            names = [_VMSTAT_NAMES[columns[at]] for at in places]
        elif has_head and (stamp := _STAMP.fullmatch(line := line.rstrip(), len(line) - _STAMPED)):
            reports += 1
            if reports > 1:
                day = read_day(stamp[1], host.found, number, american=False)
                words = line[:-_STAMPED].split()
                cells = [words[at] for at in places if at < len(words)]
                host.add("all", When(stamp[2], day), number, read_cells(names[: len(cells)], cells))
