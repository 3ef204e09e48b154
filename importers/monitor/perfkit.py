"""Listings and screens of the Performance Toolkit (``docs/importers/perfkit.md``).

The mean of a column named as a metric (``cpu_util``) is the run's value. Other spellings of a heading are further
texts of a column.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from importers.model import Fragment, ProblemLog, Reading, Text
from importers.monitor.columns import CLOCK, MEAN, layout
from importers.monitor.listing import GUEST, Dialect, parse_listing, user_in
from importers.monitor.print_pages import Title, read_title
from importers.monitor.report_tables import Report, Row

NAME = "perfkit"
TITLE = "Performance Toolkit listing"
VERSION = 1

_END = ("end", CLOCK, "Interval End Time", "End Time")
_USERID = ("userid", "", "Userid")
SYSSUMLG = layout(
    "SYSSUMLG FCX225",
    _END,
    ("cpu_util", "%", "CPU Pct Busy"),
    ("tv_ratio", "ratio", "CPU Ratio T/V"),
    ("capture_ratio", "ratio", "CPU Ratio Capt"),
    ("processors_online", "processors", "CPU On-line"),
    ("vector_busy", "%", "Vec Pct Busy"),
    ("users_logged_on", "count", "Users Log-ged"),
    ("users_active", "count", "Users Activ"),
    ("ssch_per_s", "1/s", "I/O SSCH +RSCH /s"),
    ("dasd_response", "ms", "I/O DASD Resp msec"),
    ("users_in_elist", "count", "Stg Users in Elist"),
    ("pgin_pgout_per_s", "1/s", "Paging Rate/s PGIN+ PGOUT"),
    ("page_io_per_s", "1/s", "Paging Rate/s Read+ Write"),
    ("spool_pages_per_s", "1/s", "Spl Pages /s"),
    vital=("end", "cpu_util", "tv_ratio", "processors_online"),
)
PROCLOG = layout(
    "PROCLOG FCX144",
    _END,
    ("cpu", "", "C P U", "CPU"),
    ("type", "", "Type"),
    ("processor_util", "%", "Percent Busy Total"),
    ("user_util", "%", "Percent Busy User"),
    ("system_util", "%", "Percent Busy Syst"),
    ("virtual_processor_util", "%", "Percent Busy Emul"),
    ("vector_busy", "%", "Percent Busy Vect"),
    ("inst_siml_per_s", "1/s", "Rates per Sec. Inst Siml"),
    ("diagnose_per_s", "1/s", "Rates per Sec. DIAG"),
    ("sigp_per_s", "1/s", "Rates per Sec. SIGP"),
    ("ssch_per_s", "1/s", "Rates per Sec. SSCH"),
    vital=("end", "cpu", "processor_util", "virtual_processor_util"),
)
PROCSUM = layout(
    "PROCSUM FCX239",
    _END,
    ("processors", "processors", "Nr of CPUs"),
    ("processor_util", "%", "Sum, Percent of One CPU Total"),
    ("system_util", "%", "Sum, Percent of One CPU Syst"),
    ("virtual_processor_util", "%", "Sum, Percent of One CPU Emul"),
    ("cp_processor_util", "%", "Sum, Percent of One CPU CP"),
    ("total_to_virtual", "ratio", "Sum, Percent of One CPU T/V", "T/V"),
    ("highest_util", "%", "Single CPU Max"),
    ("lowest_util", "%", "Single CPU Min"),
    vital=("end", "processors", "processor_util", "virtual_processor_util"),
)
CPU = layout(
    "CPU FCX100",
    ("cpu", "", "CPU PROC", "PROC"),
    ("processor_util", "%", "Load %CPU", "%CPU"),
    ("cp_processor_util", "%", "%CP"),
    ("virtual_processor_util", "%", "%EMU"),
    ("waiting", "%", "%WT"),
    ("system_util", "%", "%SYS"),
    ("spinning", "%", "%SP"),
    ("sic_handled", "%", "%SIC"),
    ("logical_load", "%", "%LOGLD"),
    key=re.compile(r"P[0-9A-F]{1,3}"),
    vital=("processor_util", "virtual_processor_util"),
)
USER = layout(
    "USER FCX112",
    _USERID,
    ("processor_util", "%", "CPU Load %CPU"),
    ("cpu_s", "s", "CPU Load Seconds TCPU"),
    ("virtual_cpu_s", "s", "CPU Load Seconds VCPU"),
    ("total_to_virtual", "ratio", "CPU Load T/V Ratio"),
    ("io_per_s", "1/s", "Virtual IO/s Total"),
    vital=("processor_util", "cpu_s", "virtual_cpu_s"),
)
USTAT = layout(
    "USTAT FCX114",
    _USERID,
    ("active", "%", "%ACT"),
    ("running", "%", "%RUN"),
    ("cpu_wait", "%", "%CPU"),
    ("processors", "processors", "CPUs"),
    vital=("cpu_wait",),
)
USERLOG = layout(
    "USERLOG FCX162",
    _END,
    ("user_util", "%", "CPU Load %CPU"),
    ("user_cpu_s", "s", "CPU Load TCPU"),
    ("user_virtual_cpu_s", "s", "CPU Load VCPU"),
    ("total_to_virtual", "ratio", "CPU Load T/V Ratio"),
    ("io_per_s", "1/s", "IO/s Total"),
    ("dasd_io_per_s", "1/s", "IO/s DASD"),
    ("pages_per_s", "1/s", "Pages Pg/s", "Pg/s"),
    ("working_set_pages", "count", "Pages WSS"),
    ("resident_pages", "count", "Pages Resid"),
    vital=("end", "user_util"),
)
VSWITCH = layout(
    "VSWITCH FCX240",
    ("address", "", "LAN Addr", "Addr"),
    ("switch", "", "Name"),
    ("controller", "", "Controlr"),
    ("outbound_bytes_per_s", "bytes/s", "Outbound/s Bytes"),
    ("outbound_packets_per_s", "packets/s", "Outbound/s Packets"),
    ("outbound_discarded_per_s", "packets/s", "Outbound/s Discard"),
    ("inbound_bytes_per_s", "bytes/s", "Inbound/s Bytes"),
    ("inbound_packets_per_s", "packets/s", "Inbound/s Packets"),
    ("inbound_discarded_per_s", "packets/s", "Inbound/s Discard"),
    ("write_signals_per_s", "1/s", "Signals Write /s"),
    ("read_signals_per_s", "1/s", "Signals Read /s"),
)
GVNIC = layout(
    "GVNIC FCX241",
    _USERID,
    ("device", "", "Vdev"),
    ("lan_owner", "", "LAN Owner"),
    ("lan_name", "", "LAN Name"),
    ("sent_bytes_per_s", "bytes/s", "Transmit/s Bytes"),
    ("packets_sent_per_s", "packets/s", "Transmit/s Packets"),
    ("sent_discarded_per_s", "packets/s", "Transmit/s Discard"),
    ("received_bytes_per_s", "bytes/s", "Receive/s Bytes"),
    ("packets_received_per_s", "packets/s", "Receive/s Packets"),
    ("received_discarded_per_s", "packets/s", "Receive/s Discard"),
    vital=("packets_sent_per_s", "packets_received_per_s"),
)
HIPSOCK = layout(
    "HIPSOCK FCX231",
    ("channel", "", "Channel"),
    ("messages_total_per_s", "1/s", "Messages/s Total"),
    ("messages_lpar_per_s", "1/s", "Messages/s LPAR"),
    ("data_units_total_per_s", "1/s", "Data units/s Total"),
    ("data_units_lpar_per_s", "1/s", "Data units/s LPAR"),
    ("no_buffer_per_s", "1/s", "Unsucc./s No Buffer"),
    ("unsuccessful_per_s", "1/s", "Unsucc./s Other"),
)
DEVICE = layout(
    "DEVICE FCX108",
    ("address", "", "Addr"),
    ("type", "", "Type"),
    ("label", "", "Label /ID"),
    ("io_per_s", "1/s", "Rate/s I/O"),
    ("response", "ms", "Time (msec) Resp"),
)
LPAR = layout(
    "LPAR FCX126",
    ("partition", "", "Partition"),
    ("number", "", "Nr."),
    ("processor_count", "", "#Proc"),
    ("weight", "", "Weight"),
    ("cpu", "", "C P U", "U"),
    ("busy", "%", "%Busy"),
    ("overhead", "%", "%Ovhd"),
    ("vm_load", "%", "%VMld"),
    ("logical_load", "%", "%Logld"),
    ("type", "", "Type"),
    continued=True,
)
LPARLOG = layout(
    "LPARLOG FCX202",
    _END,
    ("partition", "", "Partition"),
    ("processor_count", "processors", "#Proc"),
    ("weight", "", "Weight"),
    ("load", "%", "%Load"),
    ("busy", "%", "%Busy"),
    ("overhead", "%", "%Ovhd"),
    ("vm_load", "%", "%VMld"),
    ("logical_load", "%", "%Logld"),
)
LAYOUTS = (*(SYSSUMLG, PROCLOG, PROCSUM, CPU, USER, USTAT, USERLOG), *(VSWITCH, GVNIC, HIPSOCK, DEVICE, LPAR, LPARLOG))


_MARK = "FCX"
_SCREEN = re.compile(
    r"\s*(?P<number>FCX\d{3})\s+CPU\s+\w+\s+SER\s+\w+\s+"
    r"Interval\s+(?P<start>\d\d:\d\d:\d\d)\s+-\s+(?P<end>\d\d:\d\d:\d\d)\b.*",
    re.ASCII,
)
# The numbers of network reports are uncertain.
_BY_NAME = {layout.name: layout for layout in LAYOUTS} | {"VNIC": GVNIC}
_BY_NUMBER = {layout.number: layout for layout in LAYOUTS}

_PROCESSOR_FIGURES = (("processor_util", "%"), ("virtual_processor_util", "%"))
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
    """Return the title of a printed report, or of a screen without date."""
    if (printed := read_title(number, line)) is not None:
        return printed if printed.number.startswith(_MARK) else None
    if (screen := _SCREEN.match(line)) is None:
        return None
    layout = _BY_NUMBER.get(screen["number"])
    return Title(screen["number"], layout.name if layout else "", number, clocks=(screen["start"], screen["end"]))


def _readings(reports: Sequence[Report]) -> Iterable[Reading]:
    by_name = {report.name: report for report in reports}
    yield from _processors(by_name)
    for report in reports:
        yield from _of_guests(report)
        # The CPU seconds of a user's log are not sums.
        if report.layout is USERLOG and USER.name not in by_name and (user := user_in(report.title)):
            for each in _from_mean(report, [("user_util", "%")], GUEST, user):
                yield each._replace(name="processor_util")


def _processors(by_name: dict[str, Report]) -> Iterable[Reading]:
    """Yield the system's values, from the best whole report: FCX144, FCX239, FCX225 or FCX100."""
    system, each, summed, screen = (by_name.get(layout.name) for layout in (SYSSUMLG, PROCLOG, PROCSUM, CPU))
    if system is not None:
        yield from _from_mean(system, (("cpu_util", "%"), ("tv_ratio", "")))
        for online in _from_mean(system, [("processors_online", "processors")], "lpar"):
            yield online._replace(name="processors")
    if each is not None:
        yield from _by_processor(each, each.summaries(MEAN))
    elif summed is not None:
        yield from _from_mean(summed, _PROCESSOR_FIGURES)
    elif screen is not None and system is None:
        yield from _by_processor(screen, screen.details)
    if summed is not None and system is None:
        yield from _from_mean(summed, [("processors", "processors")], "lpar")


def _from_mean(
    report: Report, columns: Iterable[tuple[str, str]], role: str = "total", subject: str = ""
) -> Iterator[Reading]:
    """Yield columns of the Mean row, given by name and unit."""
    for row in report.summaries(MEAN)[:1]:
        yield from report.readings(row, columns, role, subject)


def _by_processor(report: Report, rows: Sequence[Row]) -> Iterable[Reading]:
    """Yield readings for each processor, with the address as subject."""
    for row in rows:
        yield from report.readings(row, _PROCESSOR_FIGURES, subject=f"CPU {report.cell(row, 'cpu')}")


def _of_guests(report: Report) -> Iterable[Reading]:
    for row in report.details:
        device = report.cell(row, "device")
        subject = f"{row.cells[0]}/{device}" if device else str(row.cells[0])
        figures = report.readings(row, _GUEST_FIGURES.get(report.name, ()), GUEST, subject)
        yield from (figure for figure in figures if figure.text[-1] not in "KMG")


def _lost_with(whole: Sequence[Report], cut: Sequence[Report]) -> str:
    """Describe values lost with damaged exact reports, which no other report replaces."""
    exact = {PROCLOG.name, PROCSUM.name}
    damaged = any(report.name in exact for report in cut) and all(report.name not in exact for report in whole)
    return "emulation time and CPU per transaction cannot be worked out" if damaged else ""


_DIALECT = Dialect(NAME, VERSION, _MARK, _read_title, lambda title: _BY_NAME.get(title.name), _readings, _lost_with)


def parse(text: Text, found: ProblemLog) -> Iterator[Fragment]:
    """Return the reports of a listing or screen."""
    return parse_listing(text, _DIALECT, found)
