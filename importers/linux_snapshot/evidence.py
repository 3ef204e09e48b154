"""Counters, facts and problems of a snapshot; sections about time, host and settings."""

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import repeat

from importers.fragment_builder import from_epoch
from importers.key_values import is_count, is_number
from importers.model import Fact, ProblemLog, Reading

TICKS = "ticks"
"""1/100 s: USER_HZ, the unit of /proc's CPU times on practically every Linux."""

_COUNTS = re.compile(r"[0-9]{1,30}(?: [0-9]{1,30})*")


def are_counts(words: Iterable[str]) -> bool:
    """Return whether there are words, and only counts."""
    return _COUNTS.fullmatch(" ".join(words)) is not None


@dataclass(frozen=True, slots=True)
class Section:
    """The output of a command or text of a file: title and numbered lines."""

    title: str
    line: int
    lines: list[tuple[int, str]] = field(default_factory=list)

    @property
    def filled(self) -> list[tuple[int, str]]:
        """Return the lines that are not blank."""
        return [(number, text) for number, text in self.lines if text.strip()]


@dataclass(frozen=True, slots=True)
class Moment:
    """The time of a snapshot, as printed: local time, zone and line."""

    taken: datetime
    zone: str
    line: int


@dataclass(slots=True)
class Evidence:
    """The first counters (owned by ``role``), facts by key, and date of a snapshot."""

    role: str
    found: ProblemLog
    facts: dict[str, Fact] = field(default_factory=dict)
    counters: dict[tuple[str, str], Reading] = field(default_factory=dict)
    readings: list[Reading] = field(default_factory=list)
    moment: Moment | None = None

    def count(self, subject: str, name: str, text: str, unit: str, line: int) -> None:
        """Add a counter; report and drop a text that is not a number."""
        if is_count(text) or (unit == "s" and is_number(text)):
            self.keep(subject, name, text, unit, line)
        else:
            message = f"{name} of {subject} is {text[:40]!r}, which is no count; it was left out."
            self.found.warn("linux_snapshot.shape", message, "Take the snapshot again.", line)

    def keep(self, subject: str, name: str, text: str, unit: str, line: int) -> None:
        """Add a counter that is known to be a number."""
        key = subject, name
        if key not in self.counters:
            self.counters[key] = Reading(name, text, unit, line, self.role, subject)

    def count_all(
        self, subject: str, names: Iterable[str], texts: Sequence[str], units: str | Iterable[str], line: int
    ) -> None:
        """Add the counters of one line; ``units`` is one, or one for each."""
        # A line is asked at once whether all of it are counts, for nearly always they are.
        keep = self.keep if are_counts(texts) else self.count
        for name, text, unit in zip(names, texts, repeat(units) if isinstance(units, str) else units, strict=False):
            keep(subject, name, text, unit, line)

    def fact(self, key: str, text: str, line: int) -> None:
        """Add a circumstance of the host, unless empty."""
        if text.strip():
            self.facts.setdefault(key, Fact(key, text.strip(), line, of_host=True))


_ISO = re.compile(
    r"(?P<date>\d{4}-\d\d-\d\d)[T ](?P<time>\d\d:\d\d:\d\d)(?:[.,](?P<fraction>\d{1,9}))?\s?(?P<zone>Z|[+-]\d\d:?\d\d)?"
)
# Sat Nov 21 01:05:08 UTC 2026, and with the year before the zone, as some locales have it
_DATE = re.compile(
    r"[A-Z][a-z]{2} (?P<month>[A-Z][a-z]{2}) {1,2}(?P<day>\d{1,2}) (?P<time>\d\d:\d\d:\d\d)"
    r"(?: (?P<half>AM|PM))? (?P<zone>[A-Z+-][A-Z0-9+:-]*) (?P<year>\d{4})"
)
_UNAME = re.compile(r"Linux (?P<host>\S+) (?P<release>\S+) (?P<rest>.+)")
_MACHINE_TYPE = re.compile(r"machine = ([0-9A-F]+)")
_MACHINES = re.compile(r"\b(x86_64|i[3-6]86|aarch64|armv\w+|s390x?|ppc64(?:le)?|ppc|riscv64|loongarch64|mips\w*)\b")
_NAMED = {"MemTotal": "memory", "driver": "driver", "version": "driver_version", "firmware-version": "firmware_version"}


Reader = Callable[[Section, Evidence], None]
"""Function that adds the content of a section."""


def read_date(section: Section, evidence: Evidence) -> None:
    """Read ``date``: ISO 8601, C locale, or seconds since 1970."""
    for number, text in section.filled if evidence.moment is None else ():
        printed = text.strip()
        if (moment := from_epoch(printed)) is not None:
            evidence.moment = Moment(moment, "+00:00", number)
            return
        if match := _ISO.fullmatch(printed):
            form = "%Y-%m-%d %H:%M:%S %f"
            clock = f"{match['date']} {match['time']} {(match['fraction'] or '0')[:6]}"
        elif match := _DATE.fullmatch(printed):
            form = "%Y %b %d " + ("%I:%M:%S %p" if match["half"] else "%H:%M:%S")
            clock = " ".join(filter(None, match.group("year", "month", "day", "time", "half")))
        else:
            continue
        with suppress(ValueError):
            zone = "+00:00" if match["zone"] in {"Z", "UTC", "GMT"} else match["zone"] or ""
            evidence.moment = Moment(datetime.strptime(clock, form), zone, number)
            return


def read_uname(section: Section, evidence: Evidence) -> None:
    """Read ``uname -a``: the kernel as level, and the architecture."""
    for number, text in section.filled[:1]:
        match = _UNAME.fullmatch(text.strip())
        if match is None:
            return
        evidence.fact("node", match["host"], number)
        evidence.fact("level", f"Linux {match['release']}", number)
        evidence.fact("kernel", match["release"], number)
        evidence.fact("uname", text, number)
        if machines := _MACHINES.findall(match["rest"]):
            evidence.fact("architecture", machines[-1], number)


def read_hostname(section: Section, evidence: Evidence) -> None:
    """Read ``hostname``: one word."""
    for number, text in section.filled[:1]:
        if len(text.split()) == 1:
            evidence.fact("node", text, number)


def read_cpuinfo(section: Section, evidence: Evidence) -> None:
    """Read /proc/cpuinfo and ``lscpu``: the processor's model, on s390x the type of the machine."""
    for number, text in section.filled:
        name, colon, value = text.partition(":")
        if colon and name.strip().lower() in {"model name", "cpu", "machine type"}:
            evidence.fact("cpu_model", value, number)
        elif colon and name.strip() == "processor 0" and (match := _MACHINE_TYPE.search(value)):
            evidence.fact("machine", match[1], number)


def read_named(section: Section, evidence: Evidence) -> None:
    """Read /proc/meminfo and ``ethtool -i``: the host's memory; driver, version and firmware."""
    for number, text in section.filled:
        name, _, value = text.partition(":")
        if name in _NAMED and value.strip() != "N/A":
            evidence.fact(_NAMED[name], value, number)


def read_setting(section: Section, evidence: Evidence) -> None:
    """Read ``sysctl`` and files below /proc/sys; the congestion control has its own key."""
    for number, text in section.filled:
        name, equals, value = text.partition("=")
        if section.title.startswith("/proc/sys/"):
            name, value, equals = section.title.removeprefix("/proc/sys/").replace("/", "."), text, "="
        if equals:
            key = "congestion_control" if name.strip().endswith("tcp_congestion_control") else f"sysctl.{name.strip()}"
            evidence.fact(key, value, number)
