"""Fragments of a listing: one for each run and window, and problems.

A format describes its reports by a ``Dialect``; this module serves both formats.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from importers.fragment_builder import FragmentBuilder
from importers.model import Fragment, Kind, Listing, ProblemLog, Reading, Severity, Status, Text
from importers.monitor.columns import Layout
from importers.monitor.print_pages import Title
from importers.monitor.report_tables import Report, read_reports

GUEST = "guest"
"""Role of a reading about one guest; its subject is the user ID. The run decides the guest's part."""

MEAN_OF_ROWS = "mean"  # Subject of a reading that is the rounded mean of a listing's column.

_MINUTES = re.compile(r"[0-9]{1,30}:[0-5][0-9]")


@dataclass(frozen=True, slots=True)
class Dialect:
    """Description of a format's reports.

    ``readings`` yields the readings of whole reports of one run and window; ``mark`` begins the first line of a page;
    ``lost_with`` describes values that are lost with incomplete reports.
    """

    format: str
    version: int
    mark: str
    read_title: Callable[[int, str], Title | None]
    layout_of: Callable[[Title], Layout | None]
    readings: Callable[[Sequence[Report]], Iterable[Reading]]
    lost_with: Callable[[Sequence[Report], Sequence[Report]], str] = field(default=lambda whole, cut: "")


def parse_listing(text: Text, dialect: Dialect, found: ProblemLog) -> Iterator[Fragment]:
    """Yield the fragments of a listing."""
    groups: dict[object, list[Report]] = {}
    unread: dict[str, int] = {}
    for report in read_reports(text, dialect.mark, dialect.read_title, dialect.layout_of):
        if report.layout is None and report.title.whole:
            unread.setdefault(report.label, report.title.line)
        else:
            title = report.title
            groups.setdefault((title.run_id, title.start, title.end, title.clocks), []).append(report)
    for reports in groups.values():
        own = ProblemLog(text.name, reports[0].title.run_id)
        fragment = _fragment(reports, dialect, text, own)
        found.problems.extend(own.problems)
        if fragment:
            yield fragment
    if unread:
        message = f"These reports are not read: {', '.join(unread)}."
        found.note(f"{dialect.format}.not-read", message, "Nothing need be done.", min(unread.values()))


def _fragment(reports: Sequence[Report], dialect: Dialect, text: Text, found: ProblemLog) -> Fragment | None:
    """Return the fragment of one run and window; None without usable reports."""
    whole = _usable(reports, dialect, found)
    cut = [report for report in reports if report.cut]
    lost = dialect.lost_with(whole, cut)
    _report_cuts(cut, whole, lost, dialect, found)
    if not whole:
        return None
    title = whole[0].title
    readings = [*dialect.readings(whole)]
    if readings and title.seconds is not None:
        readings.insert(0, Reading("window_s", title.seconds.text, "s", title.seconds.line))
    into = FragmentBuilder(readings=_sound(readings, dialect, found))
    _gather_facts(whole, lost, dialect, into)
    return into.build(
        (text.name, dialect.format, dialect.version),
        (reports[0].title.line, max(report.last_line for report in reports)),
        Status.INCOMPLETE if cut else Status.COMPLETE,
        kind=Kind.REPORT,
        role=None,
        run_id=title.run_id,
        taken=title.start,
        ended=title.end,
        listings=tuple(_listing(report) for report in whole),
    )


def _usable(reports: Sequence[Report], dialect: Dialect, found: ProblemLog) -> list[Report]:
    """Return the whole reports, each once; report problems of the others."""
    usable: dict[tuple[str, str], Report] = {}
    for report in reports:
        _report_rows(report, dialect, found)
        if report.cut:
            continue
        if not report.title.agrees:
            _report_window(report, dialect, found)
            continue
        subject = report.name, report.title.about
        twin = usable.setdefault(subject, report)
        if twin is not report and [row.cells for row in twin.rows] != [row.cells for row in report.rows]:
            message = f"{report.label} stands here with other figures than in line {twin.title.line}."
            remedy = "Keep the report that belongs to the run."
            found.error(f"{dialect.format}.conflict", message, remedy, report.title.line)
            del usable[subject]
    return [*usable.values()]


def _report_window(report: Report, dialect: Dialect, found: ProblemLog) -> None:
    title = report.title
    seconds = title.seconds.text if title.seconds else "?"
    message = (
        f"{report.label} gives three windows that disagree: From {title.start} To {title.end}, "
        f"{seconds} seconds, {title.clock}; it was left out."
    )
    found.error(f"{dialect.format}.window", message, "Make the report again.", title.line)


def _report_rows(report: Report, dialect: Dialect, found: ProblemLog) -> None:
    """Report missing columns, odd rows, and overflows."""
    table = report.table
    if table is not None and table.unnamed:
        headings = ", ".join(column.headings[0] for column in table.columns)
        message = f"{report.label} has no heading that is known for {', '.join(table.unnamed)}; it has {headings}."
        remedy = "Tell which heading is meant, so that it can be added to the importer."
        found.warn(f"{dialect.format}.headings", message, remedy, report.title.line)
    if report.skipped:
        count, first = len(report.skipped), report.skipped[0]
        message = f"{count} lines of {report.label} do not fit its columns, the first is line {first}; left out."
        found.warn(f"{dialect.format}.odd-row", message, "Check that the listing was not edited.", first)
    if report.overflowed:
        message = f"{report.label} has asterisks instead of a number in {len(report.overflowed)} places."
        found.warn(f"{dialect.format}.overflow", message, "Those values are absent.", report.overflowed[0])


def _report_cuts(
    cut: Sequence[Report], whole: Sequence[Report], lost: str, dialect: Dialect, found: ProblemLog
) -> None:
    read = f"{', '.join(each.label for each in whole)} was read" if whole else "nothing was read"
    rest = f", but {lost}" if lost else ""
    for report in cut:
        message = f"The listing stops in the middle of {report.label} ({report.cut}): {read}{rest}."
        severity = Severity.WARNING if whole else Severity.ERROR
        found.add(severity, f"{dialect.format}.cut-off", message, "Transfer the listing again.", report.last_line)


def _gather_facts(reports: Sequence[Report], lost: str, dialect: Dialect, into: FragmentBuilder) -> None:
    """Keep the system, names of reports, and tables without intervals as text."""
    for report in reports:
        if report.layout is not None and not report.layout.intervals:
            key = f"{dialect.format}.{_name_with_user(report)}"
            into.add_raw_fact(key, "\n".join(report.printed), report.title.line)
    title = reports[0].title
    into.add_printed("machine", title.machine)
    into.add_printed("cp.level", title.level)
    into.add_printed("machine_serial", title.serial)
    into.add_printed("cp.service_level", title.service)
    into.add_printed(TITLE_TEXT, title.middle)
    into.add_fact(CLOCKS, " - ".join(title.clocks or ()), title.line)
    into.add_fact(LOST, lost, title.line)


TITLE_TEXT = "report.title"
"""Fact with the free text of a title block, which may contain a run ID."""

CLOCKS = "report.interval"
"""Fact with the times of day of a screen's interval, ``13:40:35 - 13:43:35``; its date is the run's."""

LOST = "report.lost"
"""Fact that names values which cannot be calculated because a report is cut off."""


def _name_with_user(report: Report) -> str:
    return ".".join(filter(None, (report.name.lower(), user_in(report.title))))


def user_in(title: Title) -> str | None:
    """Return the user of a report, by the second title line."""
    match = re.search(r"\bfor User (\S{1,8})$", title.about, re.IGNORECASE)
    return match[1] if match else None


def _sound(readings: Iterable[Reading], dialect: Dialect, found: ProblemLog) -> Iterable[Reading]:
    """Yield readings with a number, or a time of minutes and seconds; report others."""
    for reading in readings:
        if reading.unit == "s" and _MINUTES.fullmatch(reading.text):
            yield reading._replace(unit="mmm:ss")
        elif re.fullmatch(r"[0-9]{0,30}\.?[0-9]{0,30}", reading.text):
            yield reading
        else:
            message = f"{reading.name} is printed as {reading.text}, which is not in {reading.unit}; it is left out."
            found.warn(f"{dialect.format}.shape", message, "Nothing need be done.", reading.line)


def _listing(report: Report) -> Listing:
    rows = report.details
    columns = tuple((column.name, column.unit) for column in (report.table.columns if report.table else ()))
    return Listing(_name_with_user(report), columns, [row.cells for row in rows], [row.line for row in rows])
