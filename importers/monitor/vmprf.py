"""VMPRF reports (``docs/importers/vmprf.md``): system by time, CPU time and states by user.

A report is known by name; the PRF number is only a hint. Other spellings of a heading are further texts of a
column.
"""

from collections.abc import Iterable, Iterator, Sequence

from importers.model import Fragment, ProblemLog, Reading, Text
from importers.monitor.columns import CLOCK, MEAN, TOTAL, layout
from importers.monitor.listing import GUEST, MEAN_OF_ROWS, Dialect, parse_listing
from importers.monitor.print_pages import first_lines, read_title
from importers.monitor.report_tables import Report

NAME = "vmprf"
TITLE = "VMPRF report"
VERSION = 1

_MARK = "PRF"
_FIRST_LINES = 20
_UTILISATION = "Processor utilization, average "

SYSTEM = layout(
    "SYSTEM_SUMMARY_BY_TIME",
    ("start", CLOCK, "From Time"),
    ("end", CLOCK, "To Time"),
    ("cpu_util", "%", f"{_UTILISATION}Total"),
    ("virtual_cpu_util", "%", f"{_UTILISATION}Emul"),
    ("cp_cpu_util", "%", f"{_UTILISATION}CP"),
    ("system_util", "%", f"{_UTILISATION}System"),
    ("total_to_virtual", "ratio", f"{_UTILISATION}T/V"),
    ("users_logged_on", "count", "Users Logged on"),
    ("users_active", "count", "Users Active"),
    ("ssch_per_s", "1/s", "Rates SSCH /sec"),
    ("pages_per_s", "1/s", "Rates Page /sec"),
    ("xstore_per_s", "1/s", "Rates Xstor /sec"),
    ("spool_per_s", "1/s", "Rates Spool /sec"),
    summary=MEAN,
    vital=("start", "end", "cpu_util", "virtual_cpu_util", "cp_cpu_util"),
)
USERS = layout(
    "USER_RESOURCE_UTILIZATION",
    ("userid", "", "Userid"),
    ("cpu_s", "s", "CPU Seconds Total"),
    ("virtual_cpu_s", "s", "CPU Seconds Virtual"),
    ("total_to_virtual", "ratio", "T/V Ratio"),
    ("processor_util", "%", "Pct of CPU"),
    ("dasd_io_per_s", "1/s", "Rates per second DASD I/O"),
    ("iucv_per_s", "1/s", "Rates per second IUCV"),
    ("page_reads_per_s", "1/s", "Rates per second Page Reads"),
    ("page_writes_per_s", "1/s", "Rates per second Page Writes"),
    ("working_set_pages", "count", "Storage Avg WSS"),
    ("resident_pages", "count", "Storage Resid Pages"),
    summary=TOTAL,
    vital=("cpu_s", "virtual_cpu_s", "processor_util"),
)
STATES = layout(
    "USER_STATES",
    ("userid", "", "Userid"),
    ("samples", "count", "Sample Count"),
    ("running", "%", "Percent of samples in state Run"),
    ("cpu_wait", "%", "Percent of samples in state CPU"),
    vital=("cpu_wait",),
)
_LAYOUTS = {layout.name: layout for layout in (SYSTEM, USERS, STATES)}


def recognise(text: Text) -> bool:
    """Return whether one of the first lines names a VMPRF report."""
    return any(
        read_title(0, line) is not None if line.startswith(_MARK) else any(name in line for name in _LAYOUTS)
        for line in first_lines(text, _MARK, _FIRST_LINES)
    )


def _readings(reports: Sequence[Report]) -> Iterable[Reading]:
    for report in reports:
        if report.layout is not SYSTEM:
            yield from _of_users(report)
            continue
        # The Mean row is rounded; the mean of the rows counts.
        columns = (("cpu_util", "%"), ("virtual_cpu_util", "%"), ("cp_cpu_util", "%"))
        for row in report.summaries(MEAN)[:1]:
            yield from report.readings(row, columns, subject=MEAN_OF_ROWS)


def _of_users(report: Report) -> Iterable[Reading]:
    columns = (("cpu_s", "s"), ("virtual_cpu_s", "s"), ("processor_util", "%"), ("cpu_wait", "%"))
    for row in report.details:
        yield from report.readings(row, columns, GUEST, row.cells[0] or "")
    for row in report.summaries(TOTAL)[:1]:
        for each in report.readings(row, [("processor_util", "%")]):
            yield each._replace(name="report.users_processor_util")


_DIALECT = Dialect(NAME, VERSION, _MARK, read_title, lambda title: _LAYOUTS.get(title.name), _readings)


def parse(text: Text, found: ProblemLog) -> Iterator[Fragment]:
    """Return the reports of a listing."""
    return parse_listing(text, _DIALECT, found)
