"""Pages of print files, and title blocks with report, window, run and system.

With ASA carriage control column 1 moves the paper (``1`` new page, ``+`` print over the line before); without carriage
control pages may start with a form feed, and overprinting is a CR inside a line. A title block:

    FCX225  Run 2005/11/23 11:01:35         SYSSUMLG                             Page    1
                                            System Performance Summary by Time
    From 2005/11/23 10:40:35
    To   2005/11/23 10:43:35                            CPU 2084-324   SN 5A3C7
    For    180 Secs 00:03:00                Result of vl4rn101 Run   z/VM   V.5.2.0 SLU 0501
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import NamedTuple

from importers.fragment_builder import Printed
from importers.model import Text

_DIVIDERS = "_-"
_UNDERLINES = "_- "
_OVERPRINTED = ("\r", *(f"{divider}\n" for divider in _DIVIDERS))
_NEW_PAGE, _OVERPRINT = "1", "+"
_LINES = 4000  # Lines that are held at a time.

_DATE = r"(?:\d{4}/\d{1,2}/\d{1,2}|\d{1,2}/\d{1,2}/(?:\d{4}|\d{2}))"
# Blanks alone are before "Page" on nearly all: to try every place takes as long as all else.
_FIRST = re.compile(
    rf"\s*(?P<number>(?:PRF|FCX)\d{{3}})\s+Run\s+{_DATE}\s+\d\d:\d\d:\d\d\s+(?P<name>\S+)"
    r"(?:(?:\s++|.*?\b)Page\s+(?P<page>\d+))?",
    re.ASCII,
)
_EDGE = re.compile(rf"\s*(?P<edge>From|To)\s+(?P<date>{_DATE})\s+(?P<time>\d\d:\d\d:\d\d)\b(?P<rest>.*)", re.ASCII)
_FOR = re.compile(r"\s*For\s+(?P<seconds>\d{1,9})\s+Secs\s+(?P<clock>\d{1,6}:\d\d:\d\d)(?P<rest>.*)", re.ASCII)
_MACHINE = re.compile(r"\bCPU\s+(\S+)\s+SN\s+(\S+)")
_SYSTEM = re.compile(r"(?P<system>z/VM|VM/ESA)\s+V\.(?P<version>\d+(?:\.\d+)+)(?:\s+SLU\s+(?P<service>\S+))?\s*$")
_RESULT_OF = re.compile(r"\bResult of (\S+) Run\b", re.IGNORECASE)
_RUN_ID = re.compile(r"[A-Za-z](?=[\w-]*[0-9])[A-Za-z0-9-]{2,31}")


@dataclass(slots=True)
class Title:
    """A page's title with the block of lines below, or the times ``clocks`` of a screen.

    ``start`` and ``end`` are the window's, local time, by From and To; ``dated``: one of these lines was there.
    ``middle`` is the free text of the For line. ``run_id`` is the run in ``Result of X Run`` there, or that text if one
    word like an ID.
    """

    number: str
    name: str
    line: int
    page: int | None = None
    clocks: tuple[str, str] | None = None
    about: str = ""
    dated: bool = False
    start: datetime | None = None
    end: datetime | None = None
    seconds: Printed | None = None
    clock: str = ""
    middle: Printed | None = None
    run_id: str | None = None
    machine: Printed | None = None
    serial: Printed | None = None
    level: Printed | None = None
    service: Printed | None = None

    @property
    def whole(self) -> bool:
        """Return whether From, To and For were all read; always for a screen."""
        return self.clocks is not None or None not in {self.seconds, self.start, self.end}

    @property
    def agrees(self) -> bool:
        """Return whether From, To, seconds and clock of a complete block agree; always for a screen."""
        if self.start is None or self.end is None or self.seconds is None:
            return self.clocks is not None
        hours, minutes, seconds = (int(part) for part in self.clock.split(":"))
        lengths = {int(self.seconds.text), hours * 3600 + minutes * 60 + seconds}
        return lengths == {(self.end - self.start) // timedelta(seconds=1)}

    def continues(self, earlier: "Title") -> bool:
        """Return whether this page continues an earlier one: same title, a higher page number."""
        if self.page is None or earlier.page is None or self.page <= earlier.page:
            return False
        mine, theirs = (
            (each.number, each.name, each.about, each.start, each.end, each.run_id) for each in (self, earlier)
        )
        return mine == theirs

    def extend(self, first: int, lines: Sequence[str]) -> int:
        """Add the lines of the block, numbered from ``first``; return the count."""
        others = (at for at, line in enumerate(lines) if self.whole or not self._take(line, first + at))
        return next(others, len(lines))

    def _take(self, line: str, number: int) -> bool:
        """Take one more line of the block; return False for other lines."""
        if edge := _EDGE.match(line):
            self.dated = True
            moment = _moment(edge["date"], edge["time"])
            if edge["edge"] == "From":
                self.start = moment
            else:
                self.end = moment
            if machine := _MACHINE.search(edge["rest"]):
                self.machine, self.serial = (Printed(text, number) for text in machine.groups())
        elif window := _FOR.match(line):
            self._take_window(window, number)
        elif not self.dated and not self.about:
            self.about = line.strip()
        else:
            return not line.strip()
        return True

    def _take_window(self, window: re.Match[str], number: int) -> None:
        self.seconds, self.clock, rest = Printed(window["seconds"], number), window["clock"], window["rest"]
        if system := _SYSTEM.search(rest):
            self.level = Printed(f"{system['system']} {system['version']}", number)
            self.service, rest = Printed(system["service"] or "", number), rest[: system.start()]
        self.middle = Printed(rest.strip(), number)
        if stated := _RESULT_OF.search(rest):
            self.run_id = stated[1]
        elif _RUN_ID.fullmatch(self.middle.text):
            self.run_id = self.middle.text


def read_title(number: int, line: str) -> Title | None:
    """Return the title that a line begins, or None."""
    match = _FIRST.match(line)
    if match is None:
        return None
    page = int(match["page"]) if match["page"] and len(match["page"]) < 10 else None
    return Title(match["number"], match["name"], number, page)


def _moment(date: str, clock: str) -> datetime | None:
    """Return a time of mm/dd/yyyy, mm/dd/yy (70 to 99: 19yy) or yyyy/mm/dd, or None."""
    parts = date.split("/")
    year, month, day = parts if len(parts[0]) == 4 else (parts[2], parts[0], parts[1])
    if len(year) == 2:
        year = ("19" if year >= "70" else "20") + year
    try:
        return datetime.fromisoformat(f"{year}-{month:0>2}-{day:0>2}T{clock}")
    except ValueError:
        return None


class Page(NamedTuple):
    """Successive lines of a page below the title; ``first`` is their first number.

    Without a title the lines continue a page, or precede the first one. A line that only underlines is empty.
    """

    title: Title | None
    first: int
    lines: list[str]


def read_pages(text: Text, mark: str, read_title: Callable[[int, str], Title | None]) -> Iterator[Page]:
    """Yield pages, which may come in parts; titles begin with ``mark``."""
    controlled = _has_carriage_control(text, mark)
    lines, number = iter(text.lines), 1
    while taken := list(islice(lines, _LINES)):
        printed = _printed(taken, controlled=controlled)
        title, behind = None, 0
        for at in [at for at, line in enumerate(printed) if mark in line]:
            another = read_title(number + at, printed[at]) if printed[at].lstrip().startswith(mark) else None
            if another is not None:
                yield Page(title, number + behind, printed[behind:at])
                title, behind = another, at + 1
        yield Page(title, number + behind, printed[behind:])
        number += len(taken)


def first_lines(text: Text, mark: str, most: int) -> list[str]:
    """Return the first lines as printed."""
    controlled = _has_carriage_control(text, mark)
    lines = (line for line in text.lines if not (controlled and line.startswith(_OVERPRINT)))
    return _printed(list(islice(lines, most)), controlled=controlled)


def _printed(lines: list[str], *, controlled: bool) -> list[str]:
    """Return the lines without carriage control, underlining and trailing blanks."""
    if controlled:
        lines = [line[1:].rstrip() if line[:1] != _OVERPRINT else "" for line in lines]
    else:
        lines = [line.replace("\f", "").rstrip() for line in lines]
    # Most files have no such line, which is told sooner of all than of each.
    together = "\n".join([*lines, ""])
    if not any(sign in together for sign in _OVERPRINTED):
        return lines
    return [_without_underline(line) if line and (line[-1] in _DIVIDERS or "\r" in line) else line for line in lines]


def _without_underline(line: str) -> str:
    """Return the overprinted text other than underlines."""
    part = next((part for part in line.split("\r") if part.strip(_UNDERLINES)), "").rstrip()
    return part if part.strip(_UNDERLINES) else ""


def _has_carriage_control(text: Text, mark: str) -> bool:
    """Return whether the first title has a control character; search once."""
    return text.once(f"carriage control of {mark}", lambda: _looked_through(text, mark))


def _looked_through(text: Text, mark: str) -> bool:
    controlled = _NEW_PAGE + mark
    titles = (
        line
        for line in (text.lines if text.has([controlled]) else ())
        if line.startswith(controlled) or (line.startswith(mark) and line.split()[1:2] == ["Run"])
    )
    return next(titles, "").startswith(controlled)
