"""Time and host of a snapshot: date, uname, processors, memory, settings."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from importers.fragment_builder import from_epoch
from importers.linux_snapshot.evidence import Evidence, Section

_ISO = re.compile(
    r"(?P<moment>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(?:[.,](?P<fraction>\d{1,9}))?\s?(?P<zone>Z|[+-]\d\d:?\d\d)?"
)
# Sat Nov 21 01:05:08 UTC 2026, and with the year before the zone, as some locales have it
_DATE = re.compile(
    r"[A-Z][a-z]{2} (?P<month>[A-Z][a-z]{2}) {1,2}(?P<day>\d{1,2}) (?P<time>\d\d:\d\d:\d\d)"
    r"(?: (?P<half>AM|PM))? (?P<zone>[A-Z+-][A-Z0-9+:-]*) (?P<year>\d{4})"
)
_UNAME = re.compile(r"Linux (?P<host>\S+) (?P<release>\S+) (?P<rest>.+)")
_MACHINE_TYPE = re.compile(r"machine = ([0-9A-F]+)")
_MACHINES = re.compile(r"\b(x86_64|i[3-6]86|aarch64|armv\w+|s390x?|ppc64(?:le)?|ppc|riscv64|loongarch64|mips\w*)\b")


@dataclass(frozen=True, slots=True)
class Moment:
    """The time of a snapshot, as printed: local time, zone and line."""

    taken: datetime
    zone: str
    line: int


def read_date(section: Section) -> Moment | None:
    """Read ``date``: ISO 8601, C locale, or seconds since 1970."""
    for number, text in section.filled:
        for read in (_iso, _usual, _epoch):
            found = read(text.strip())
            if found is not None:
                return Moment(*found, number)
    return None


def _iso(text: str) -> tuple[datetime, str] | None:
    match = _ISO.fullmatch(text)
    if match is None:
        return None
    fraction = (match["fraction"] or "0")[:6]
    return _moment(f"{match['moment']}.{fraction}", "%Y-%m-%dT%H:%M:%S.%f", match["zone"] or "")


def _usual(text: str) -> tuple[datetime, str] | None:
    match = _DATE.fullmatch(text)
    if match is None:
        return None
    clock, form = (f"{match['time']} {match['half']}", "%I:%M:%S %p") if match["half"] else (match["time"], "%H:%M:%S")
    return _moment(f"{match['year']} {match['month']} {match['day']} {clock}", f"%Y %b %d {form}", match["zone"])


def _moment(text: str, form: str, zone: str) -> tuple[datetime, str] | None:
    try:
        return datetime.strptime(text.replace(" ", "T", 1) if "-%m" in form else text, form), _zone(zone)
    except ValueError:
        return None


def _zone(zone: str) -> str:
    return "+00:00" if zone in {"Z", "UTC", "GMT"} else zone


def _epoch(text: str) -> tuple[datetime, str] | None:
    seconds = from_epoch(text)
    return None if seconds is None else (seconds, "+00:00")


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
        machines = _MACHINES.findall(match["rest"])
        if machines:
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


def read_meminfo(section: Section, evidence: Evidence) -> None:
    """Read /proc/meminfo: the host's memory."""
    for number, text in section.filled:
        name, _, value = text.partition(":")
        if name == "MemTotal":
            evidence.fact("memory", value, number)


def read_setting(section: Section, evidence: Evidence) -> None:
    """Read ``sysctl`` and files below /proc/sys; the congestion control has its own key."""
    for number, text in section.filled:
        name, equals, value = text.partition("=")
        if section.title.startswith("/proc/sys/"):
            name, value, equals = section.title.removeprefix("/proc/sys/").replace("/", "."), text, "="
        if equals:
            key = "congestion_control" if name.strip().endswith("tcp_congestion_control") else f"sysctl.{name.strip()}"
            evidence.fact(key, value, number)


Reader = Callable[[Section, Evidence], None]
