"""Listings and screens of the Performance Toolkit (``docs/importers/perfkit.md``).

The processors' time is taken from the best whole report: FCX144 by processor, else FCX239, else FCX225 with its coarse
ratio, else the whole percents of FCX100.
"""

import re
from collections.abc import Iterable, Sequence

from importers.model import Parsed, Reading, Text
from importers.monitor import title_blocks
from importers.monitor.columns import MEAN, Layout
from importers.monitor.listing import GUEST, Dialect, parse_listing, user_in
from importers.monitor.report_tables import Report
from importers.monitor.table_rows import Row
from importers.monitor.title_blocks import Title
from importers.perfkit.perfkit_layouts import CPU, GVNIC, LAYOUTS, PROCLOG, PROCSUM, SYSSUMLG, USER, USERLOG, USTAT

NAME = "perfkit"
TITLE = "Performance Toolkit listing"
VERSION = 1

_MARK = "FCX"
_SCREEN = re.compile(
    r"\s*(?P<number>FCX\d{3})\s+CPU\s+\w+\s+SER\s+\w+\s+"
    r"Interval\s+(?P<start>\d\d:\d\d:\d\d)\s+-\s+(?P<end>\d\d:\d\d:\d\d)\b.*",
    re.ASCII,
)
_BY_NAME = {layout.name: layout for layout in LAYOUTS}
_BY_NUMBER = {layout.number: layout for layout in LAYOUTS}
_SYNONYMS = {"VNIC": GVNIC}
_PROCESSOR_FIGURES = ("processor_util", "virtual_processor_util")
_GUEST_FIGURES: dict[str, tuple[tuple[str, str], ...]] = {
    USER.name: (("cpu_s", "s"), ("virtual_cpu_s", "s"), ("processor_util", "%")),
    USTAT.name: (("cpu_wait", "%"),),
    GVNIC.name: (("packets_sent_per_s", "packets/s"), ("packets_received_per_s", "packets/s")),
}


def recognise(text: Text) -> bool:
    """Return whether any line is the title of a printed report or screen."""
    return text.has([_MARK]) and any(
        _read_title(number, line.lstrip("1 \f")) is not None for number, line in text.numbered() if _MARK in line[:12]
    )


def _read_title(number: int, line: str) -> Title | None:
    printed = title_blocks.read_title(number, line)
    if printed is not None:
        return printed if printed.number.startswith(_MARK) else None
    screen = _SCREEN.match(line)
    return _screen_title(number, screen) if screen else None


def _screen_title(number: int, screen: re.Match[str]) -> Title:
    """Return the title of a screen, which has no date."""
    layout = _BY_NUMBER.get(screen["number"])
    return Title(
        screen["number"],
        layout.name if layout else "",
        number,
        clocks=(screen["start"], screen["end"]),
    )


def _layout_of(title: Title) -> Layout | None:
    """Return the layout by name; the numbers of network reports are uncertain."""
    return _BY_NAME.get(title.name) or _SYNONYMS.get(title.name)


def _readings(reports: Sequence[Report]) -> Iterable[Reading]:
    by_name = {report.name: report for report in reports}
    yield from _processors(by_name)
    for report in reports:
        yield from _of_guests(report)
        if report.layout is USERLOG and USER.name not in by_name:
            yield from _of_one_user(report)


def _processors(by_name: dict[str, Report]) -> Iterable[Reading]:
    """Yield the system's values, from the best report of several."""
    system, each, summed, screen = (by_name.get(layout.name) for layout in (SYSSUMLG, PROCLOG, PROCSUM, CPU))
    if system is not None:
        yield from _from_mean(system, (("cpu_util", "cpu_util", "%"), ("tv_ratio", "tv_ratio", "")))
        yield from _from_mean(system, (("processors_online", "processors", "processors"),), "lpar")
    if each is not None:
        yield from _by_processor(each, each.summaries(MEAN))
    elif summed is not None:
        yield from _from_mean(summed, tuple((name, name, "%") for name in _PROCESSOR_FIGURES))
    elif screen is not None and system is None:
        yield from _by_processor(screen, screen.details)
    if summed is not None and system is None:
        yield from _from_mean(summed, (("processors", "processors", "processors"),), "lpar")


def _from_mean(report: Report, names: tuple[tuple[str, str, str], ...], role: str = "total") -> Iterable[Reading]:
    """Yield columns of the Mean row: (column, reading's name, unit)."""
    for row in report.summaries(MEAN)[:1]:
        for name, reading, unit in names:
            text = report.cell(row, name)
            if text is not None:
                yield Reading(reading, text, unit, row.line, role)


def _by_processor(report: Report, rows: Sequence[Row]) -> Iterable[Reading]:
    """Yield a reading for each processor, with its address as subject."""
    for row in rows:
        for name in _PROCESSOR_FIGURES:
            text = report.cell(row, name)
            if text is not None:
                yield Reading(name, text, "%", row.line, subject=f"CPU {report.cell(row, 'cpu')}")


def _of_guests(report: Report) -> Iterable[Reading]:
    for row in report.details:
        for name, unit in _GUEST_FIGURES.get(report.name, ()):
            text, device = report.cell(row, name), report.cell(row, "device")
            if text is not None and text[-1] not in "KMG":
                subject = f"{row.cells[0]}/{device}" if device else str(row.cells[0])
                yield Reading(name, text, unit, row.line, GUEST, subject)


def _of_one_user(report: Report) -> Iterable[Reading]:
    """Yield a user's utilisation; the log's CPU seconds are not sums."""
    user = user_in(report.title)
    for row in report.summaries(MEAN)[:1]:
        text = report.cell(row, "user_util")
        if text is not None and user is not None:
            yield Reading("processor_util", text, "%", row.line, GUEST, user)


def _lost_with(whole: Sequence[Report], cut: Sequence[Report]) -> str:
    """Describe values lost with damaged exact reports.

    FCX225 and FCX100 only replace exact reports that are missing.
    """
    exact = {PROCLOG.name, PROCSUM.name}
    damaged = any(report.name in exact for report in cut) and all(report.name not in exact for report in whole)
    return "emulation time and CPU per transaction cannot be worked out" if damaged else ""


_DIALECT = Dialect(NAME, VERSION, _MARK, _read_title, _layout_of, _readings, _lost_with)


def parse(text: Text) -> Parsed:
    """Return the reports of a listing or screen."""
    return parse_listing(text, _DIALECT)
