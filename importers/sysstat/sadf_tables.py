"""Reader of sadf -d (semicolons) and sadf -p (tabs)."""

import re
from collections.abc import Iterator
from datetime import date
from functools import lru_cache
from itertools import groupby

from importers.model import Text
from importers.problem_log import ProblemLog
from importers.sysstat.samples import Cells, HostSamples, figures, plain_columns, read_day

_CSV_HEAD = "# hostname;interval;timestamp"
_FIRST = 3  # Behind host, interval and time.
_KEYS = ("CPU", "IFACE")
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
    # Of the last head line: where the processor or interface stands, the other columns and their plain names.
    key, kept, names = None, tuple[int, ...](), plain_columns(())
    for number, line in text.numbered():
        cells = line.split(";")
        if line[:1] == "#":
            columns = line.lstrip("# ").split(";")
            # Of two columns of one name the last counts.
            places = {name: at for at, name in enumerate(columns) if at >= _FIRST}
            key = next((places.pop(name) for name in _KEYS if name in places), None)
            kept, names = tuple(places.values()), plain_columns(tuple(places))
        elif len(cells) != len(columns) or len(cells) <= _FIRST:
            _short(found, number)
        else:
            place = (cells[0], cells[2], "" if key is None else cells[key], number)
            _add(host, place, figures(names, [cells[at] for at in kept]))
    return host


def read_pairs(text: Text, found: ProblemLog) -> HostSamples:
    """sadf -p: the figures of one sample stand one below the other."""
    host = HostSamples(found)
    for (name, stamp, key), lines in groupby(_split(text, found), key=lambda each: each[1][:3]):
        block = list(lines)
        _add(
            host,
            (name, stamp, "" if key == "-" else key, block[0][0]),
            figures(plain_columns(tuple(each[3] for _, each in block)), [each[4] for _, each in block]),
        )
    return host


def _split(text: Text, found: ProblemLog) -> Iterator[tuple[int, tuple[str, ...]]]:
    for number, line in text.numbered():
        if _PAIR.fullmatch(line):
            host, _, *rest = line.split("\t")
            yield number, (host, *rest)
        else:
            _short(found, number)


def _add(host: HostSamples, place: tuple[str, str, str, int], cells: Cells) -> None:
    name, printed, key, line = place
    stamp = _read_stamp(printed)
    if stamp is None:
        _short(host.found, line)
        return
    day, clock, zone = stamp
    host.host = host.host or name
    host.zone = host.zone or zone
    host.add(key, clock, line, cells, day)


@lru_cache(64)
def _read_stamp(printed: str) -> tuple[date | None, str, str] | None:
    """Day, time and zone; what one interval says stands together."""
    stamp = _STAMP.fullmatch(printed)
    if stamp is None:
        return None
    # A day of this form leaves nothing to be said.
    day = read_day(stamp["day"], ProblemLog(""), 0, american=False)
    return day, stamp["time"], "+00:00" if stamp["zone"] else ""


def _short(found: ProblemLog, line: int) -> None:
    message = "This line is no sample as sadf prints it; it was left out."
    found.warn("sysstat.cells", message, "Transfer the file again if it was cut off.", line)
