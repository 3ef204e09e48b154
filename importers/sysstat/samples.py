"""Samples of one host: rates over intervals, common to all forms of sysstat's output."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from importers.model import ProblemLog

CPU, INTERFACE, INTERFACE_ERRORS, TCP, TCP_ERRORS = "cpu", "interface", "interface_errors", "tcp", "tcp_errors"
ALL = frozenset({"all", "-1"})
"""Names of the mean over all processors; ``-1`` in sadf -d and in mpstat's JSON up to 12.0."""

# Which activity a column tells, whatever else is printed with it.
_TELLING = {"idle": CPU, "rxpck": INTERFACE, "rxerr": INTERFACE_ERRORS, "active": TCP, "retrans": TCP_ERRORS}
_KEYS = ("CPU", "IFACE")
_DECIMAL_COMMA = re.compile(r"(-?\d+),(\d+)")
_CLOCK = re.compile(r"(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d", re.ASCII)
_NUMBER = re.compile(r"(-?\d{1,20}(?:\.\d{1,6})?)%?", re.ASCII)
_LENGTH = re.compile(r"[1-9]\d{0,4}", re.ASCII)
_DATES = (
    re.compile(r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)"),
    re.compile(r"(?P<day>\d\d)\.(?P<month>\d\d)\.(?P<year>\d{4}|\d\d)"),
)
_SLASHES = re.compile(r"(\d\d)/(\d\d)/(\d{4}|\d\d)")


class Columns(NamedTuple):
    """Plain column names of a sample, with the activity or None."""

    names: tuple[str, ...]
    activity: str | None
    are_different: bool


Cells = tuple[Columns, Sequence[str]]
"""Columns, each of which comes once, and their numbers."""


class When(NamedTuple):
    """An interval's end as ``HH:MM:SS``, the day and the length in seconds; empty or None if not printed."""

    end: str
    day: date | None = None
    seconds: str = ""


class Sample(NamedTuple):
    """The rates of one activity over one interval.

    ``end`` is the end of the interval, as ``HH:MM:SS``; empty where no time is printed. ``key`` names the processor or
    interface; ``day`` is known where the sample itself is dated; ``seconds`` is the printed length, or empty.
    """

    activity: str
    key: str
    end: str
    line: int
    columns: tuple[str, ...]
    texts: Sequence[str]
    day: date | None = None
    seconds: str = ""


@dataclass(slots=True)
class HostSamples:
    """The samples of one host; ``misfits`` are lines that do not fit their head."""

    found: ProblemLog
    host: str | None = None
    release: str = ""
    machine: str = ""
    processors: str = ""
    line: int = 1
    day: date | None = None
    begin: str = ""
    zone: str = ""
    samples: list[Sample] = field(default_factory=list)
    averages: list[Sample] = field(default_factory=list)
    restarted: bool = False
    misfits: list[int] = field(default_factory=list)

    def add(self, key: str, when: When, line: int, cells: Cells) -> None:
        """Add a sample, unless the end is no time of day."""
        if when.end and not is_clock(when.end):
            message = f"{when.end[:20]!r} is no time of day; the line was left out."
            self.found.warn("sysstat.time", message, "Transfer the file again.", line)
        else:
            self.samples += _sample(key, when, line, cells)

    def add_average(self, key: str, cells: Cells, line: int) -> None:
        """Add an average over the whole report, as printed."""
        self.averages += _sample(key, When(""), line, cells)


def _sample(key: str, when: When, line: int, cells: Cells) -> list[Sample]:
    """Return the sample in a list, an empty list for an unknown activity."""
    columns, texts = cells
    activity = columns.activity
    if activity is None:
        return []
    key = "all" if activity == CPU and key in ALL else key
    seconds = when.seconds if _LENGTH.fullmatch(when.seconds) else ""
    return [Sample(activity, key, when.end, line, columns.names, texts, when.day, seconds)]


@lru_cache(maxsize=1024)
def is_clock(text: str) -> bool:
    """Return whether a text is a time of day."""
    return _CLOCK.fullmatch(text) is not None


@lru_cache(maxsize=1024)
def _columns(printed: tuple[str, ...]) -> Columns:
    """Return columns by names without units, equal in text, CSV and JSON, with the activity that the names show."""
    names = tuple(name.strip("%").removesuffix("/s").replace("-percent", "") for name in printed)
    activity = next((activity for name, activity in _TELLING.items() if name in names), None)
    return Columns(names, activity, len(set(names)) == len(names))


@lru_cache(maxsize=4096)
def read_figure(text: str) -> str | None:
    """Return a number with a decimal point, in any locale and without a per cent sign; None for other texts."""
    number = _NUMBER.fullmatch(_DECIMAL_COMMA.sub(r"\1.\2", text) if "," in text else text)
    return number[1] if number else None


class Head(NamedTuple):
    """A head line: its width, the place of the processor or interface, and the other columns with their places."""

    width: int
    key: int | None
    places: tuple[int, ...]
    columns: Columns

    def split(self, cells: Sequence[str]) -> tuple[str, Cells]:
        """Return the processor or interface of a row, and its figures."""
        key = "" if self.key is None else cells[self.key]
        return key, _figures(self.columns, [cells[at] for at in self.places])


def read_head(names: Sequence[str], first: int = 0) -> Head:
    """Return a head line, with columns from ``first`` on; of two columns of one name the last counts."""
    places = {name: at for at, name in enumerate(names) if at >= first}
    found = [places.pop(name) for name in _KEYS if name in places]
    return Head(len(names), next(iter(found), None), tuple(places.values()), _columns(tuple(places)))


def _figures(columns: Columns, texts: Iterable[str]) -> Cells:
    """Return the cells that are numbers; of a repeated name the last."""
    found = [*map(read_figure, texts)]
    # In nearly all rows every cell is a figure.
    if None not in found and columns.are_different:
        return columns, found  # type: ignore[return-value] # none is missing
    kept = {name: text for name, text in dict(zip(columns.names, found, strict=True)).items() if text is not None}
    return _columns(tuple(kept)), [*kept.values()]


def read_cells(printed: Iterable[str], texts: Iterable[str]) -> Cells:
    """Return the figures below printed names of columns."""
    return _figures(_columns(tuple(printed)), texts)


def read_day(text: str, found: ProblemLog, line: int, *, american: bool) -> date | None:
    """Return a head's date; 03/04/24 is ambiguous without American clock."""
    if plain := next(filter(None, (form.fullmatch(text) for form in _DATES)), None):
        return _date(plain["year"], plain["month"], plain["day"])
    slashes = _SLASHES.fullmatch(text)
    if slashes is None:
        return None
    first, second, year = slashes.groups()
    if int(first) < 13 and int(second) < 13 and first != second and not american:
        message = f"Of the date {text} nobody can tell which is the month: the report has times without a day."
        found.warn("sysstat.ambiguous-date", message, "Make it with S_TIME_FORMAT=ISO, or use sadf -j.", line)
        return None
    return _date(year, second, first) if int(first) > 12 else _date(year, first, second)


@lru_cache(maxsize=64)
def _date(year: str, month: str, day: str) -> date | None:
    try:
        return date(int(year) + (2000 if len(year) == 2 else 0), int(month), int(day))
    except ValueError:
        return None
