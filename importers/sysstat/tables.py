"""sadf -d (semicolons) and sadf -p (tabs): a line a sample, or a line a figure, each with host and time."""

import re
from collections.abc import Iterator
from itertools import groupby

from importers.model import Text
from importers.problem_log import ProblemLog
from importers.sysstat.samples import HostSamples, numbers, plain, read_day

_CSV_HEAD = "# hostname;interval;timestamp"
_STAMP = re.compile(r"(?P<day>\d{4}-\d\d-\d\d) (?P<time>\d\d:\d\d:\d\d)(?: (?P<zone>UTC))?")
_PAIR = re.compile(r"[^\t]+\t-?\d+\t\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?: UTC)?\t[^\t]+\t[%\w/]+\t[-\d.,]+")


def is_csv(text: Text) -> bool:
    """Whether the first line is a head of sadf -d."""
    return bool(text.lines) and text.lines[0].startswith(_CSV_HEAD)


def is_pairs(text: Text) -> bool:
    """Whether the first line is a figure of sadf -p."""
    return bool(text.lines) and _PAIR.fullmatch(text.lines[0]) is not None


def read_csv(text: Text, found: ProblemLog) -> HostSamples:
    """sadf -d: a head line before each activity."""
    host = HostSamples(found)
    columns: list[str] = []
    for number, line in text.numbered():
        cells = line.split(";")
        if line.startswith("#"):
            columns = line.lstrip("# ").split(";")
        elif len(cells) != len(columns) or len(cells) < 4:
            _short(found, number)
        else:
            named = dict(zip(columns[3:], cells[3:], strict=True))
            key = next((named.pop(name) for name in ("CPU", "IFACE") if name in named), "")
            _add(host, (cells[0], cells[2], key, number), named)
    return host


def read_pairs(text: Text, found: ProblemLog) -> HostSamples:
    """sadf -p: the figures of one sample stand one below the other."""
    host = HostSamples(found)
    for (name, stamp, key), lines in groupby(_split(text, found), key=lambda each: each[1][:3]):
        block = list(lines)
        _add(host, (name, stamp, "" if key == "-" else key, block[0][0]), {each[3]: each[4] for _, each in block})
    return host


def _split(text: Text, found: ProblemLog) -> Iterator[tuple[int, tuple[str, ...]]]:
    for number, line in text.numbered():
        if _PAIR.fullmatch(line):
            host, _, *rest = line.split("\t")
            yield number, (host, *rest)
        else:
            _short(found, number)


def _add(host: HostSamples, place: tuple[str, str, str, int], cells: dict[str, str]) -> None:
    name, printed, key, line = place
    stamp = _STAMP.fullmatch(printed)
    if stamp is None:
        _short(host.found, line)
        return
    host.host = host.host or name
    host.zone = host.zone or ("+00:00" if stamp["zone"] else "")
    day = read_day(stamp["day"], host.found, line, american=False)
    host.add(key, stamp["time"], line, numbers({plain(column): text for column, text in cells.items()}), day)


def _short(found: ProblemLog, line: int) -> None:
    message = "This line is no sample as sadf prints it; it was left out."
    found.warn("sysstat.cells", message, "Transfer the file again if it was cut off.", line)
