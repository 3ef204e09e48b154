"""Listings and screens of the Performance Toolkit (``docs/importers/perfkit.md``).

The mean of a column named as a metric (``cpu_util``) is the run's value. Other spellings of a heading are further
arguments of a column.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from importers.model import Parsed, Reading, Text
from importers.monitor.columns import CLOCK, MEAN, Column, Layout, column
from importers.monitor.listing import GUEST, Dialect, parse_listing, user_in
from importers.monitor.print_pages import Title, read_title
from importers.monitor.report_tables import Report, Row

NAME = "perfkit"
TITLE = "Performance Toolkit listing"
VERSION = 1

_END = column("end", CLOCK, "Interval End Time", "End Time")
_USERID = column("userid", "", "Userid")
_KEYS = {"CPU": re.compile(r"P[0-9A-F]{1,3}")}


def _layout(title: str, *columns: Column, vital: tuple[str, ...] = (), continued: bool = False) -> Layout:
    """Return a report's layout; ``title`` has name and number."""
    name, number = title.split()
    return Layout(name, number, columns, continued=continued, key=_KEYS.get(name), vital=vital)


SYSSUMLG = _layout(
    "SYSSUMLG FCX225",
    _END,
    column("cpu_util", "%", "CPU Pct Busy"),
    column("tv_ratio", "ratio", "CPU Ratio T/V"),
    column("capture_ratio", "ratio", "CPU Ratio Capt"),
    column("processors_online", "processors", "CPU On-line"),
    column("vector_busy", "%", "Vec Pct Busy"),
    column("users_logged_on", "count", "Users Log-ged"),
    column("users_active", "count", "Users Activ"),
    column("ssch_per_s", "1/s", "I/O SSCH +RSCH /s"),
    column("dasd_response", "ms", "I/O DASD Resp msec"),
    column("users_in_elist", "count", "Stg Users in Elist"),
    column("pgin_pgout_per_s", "1/s", "Paging Rate/s PGIN+ PGOUT"),
    column("page_io_per_s", "1/s", "Paging Rate/s Read+ Write"),
    column("spool_pages_per_s", "1/s", "Spl Pages /s"),
    vital=("end", "cpu_util", "tv_ratio", "processors_online"),
)
PROCLOG = _layout(
    "PROCLOG FCX144",
    _END,
    column("cpu", "", "C P U", "CPU"),
    column("type", "", "Type"),
    column("processor_util", "%", "Percent Busy Total"),
    column("user_util", "%", "Percent Busy User"),
    column("system_util", "%", "Percent Busy Syst"),
    column("virtual_processor_util", "%", "Percent Busy Emul"),
    column("vector_busy", "%", "Percent Busy Vect"),
    column("inst_siml_per_s", "1/s", "Rates per Sec. Inst Siml"),
    column("diagnose_per_s", "1/s", "Rates per Sec. DIAG"),
    column("sigp_per_s", "1/s", "Rates per Sec. SIGP"),
    column("ssch_per_s", "1/s", "Rates per Sec. SSCH"),
    vital=("end", "cpu", "processor_util", "virtual_processor_util"),
)
PROCSUM = _layout(
    "PROCSUM FCX239",
    _END,
    column("processors", "processors", "Nr of CPUs"),
    column("processor_util", "%", "Sum, Percent of One CPU Total"),
    column("system_util", "%", "Sum, Percent of One CPU Syst"),
    column("virtual_processor_util", "%", "Sum, Percent of One CPU Emul"),
    column("cp_processor_util", "%", "Sum, Percent of One CPU CP"),
    column("total_to_virtual", "ratio", "Sum, Percent of One CPU T/V", "T/V"),
    column("highest_util", "%", "Single CPU Max"),
    column("lowest_util", "%", "Single CPU Min"),
    vital=("end", "processors", "processor_util", "virtual_processor_util"),
)
CPU = _layout(
    "CPU FCX100",
    column("cpu", "", "CPU PROC", "PROC"),
    column("processor_util", "%", "Load %CPU", "%CPU"),
    column("cp_processor_util", "%", "%CP"),
    column("virtual_processor_util", "%", "%EMU"),
    column("waiting", "%", "%WT"),
    column("system_util", "%", "%SYS"),
    column("spinning", "%", "%SP"),
    column("sic_handled", "%", "%SIC"),
    column("logical_load", "%", "%LOGLD"),
    vital=("processor_util", "virtual_processor_util"),
)
USER = _layout(
    "USER FCX112",
    _USERID,
    column("processor_util", "%", "CPU Load %CPU"),
    column("cpu_s", "s", "CPU Load Seconds TCPU"),
    column("virtual_cpu_s", "s", "CPU Load Seconds VCPU"),
    column("total_to_virtual", "ratio", "CPU Load T/V Ratio"),
    column("io_per_s", "1/s", "Virtual IO/s Total"),
    vital=("processor_util", "cpu_s", "virtual_cpu_s"),
)
USTAT = _layout(
    "USTAT FCX114",
    _USERID,
    column("active", "%", "%ACT"),
    column("running", "%", "%RUN"),
    column("cpu_wait", "%", "%CPU"),
    column("processors", "processors", "CPUs"),
    vital=("cpu_wait",),
)
USERLOG = _layout(
    "USERLOG FCX162",
    _END,
    column("user_util", "%", "CPU Load %CPU"),
    column("user_cpu_s", "s", "CPU Load TCPU"),
    column("user_virtual_cpu_s", "s", "CPU Load VCPU"),
    column("total_to_virtual", "ratio", "CPU Load T/V Ratio"),
    column("io_per_s", "1/s", "IO/s Total"),
    column("dasd_io_per_s", "1/s", "IO/s DASD"),
    column("pages_per_s", "1/s", "Pages Pg/s", "Pg/s"),
    column("working_set_pages", "count", "Pages WSS"),
    column("resident_pages", "count", "Pages Resid"),
    vital=("end", "user_util"),
)
VSWITCH = _layout(
    "VSWITCH FCX240",
    column("address", "", "LAN Addr", "Addr"),
    column("switch", "", "Name"),
    column("controller", "", "Controlr"),
    column("outbound_bytes_per_s", "bytes/s", "Outbound/s Bytes"),
    column("outbound_packets_per_s", "packets/s", "Outbound/s Packets"),
    column("outbound_discarded_per_s", "packets/s", "Outbound/s Discard"),
    column("inbound_bytes_per_s", "bytes/s", "Inbound/s Bytes"),
    column("inbound_packets_per_s", "packets/s", "Inbound/s Packets"),
    column("inbound_discarded_per_s", "packets/s", "Inbound/s Discard"),
    column("write_signals_per_s", "1/s", "Signals Write /s"),
    column("read_signals_per_s", "1/s", "Signals Read /s"),
)
GVNIC = _layout(
    "GVNIC FCX241",
    _USERID,
    column("device", "", "Vdev"),
    column("lan_owner", "", "LAN Owner"),
    column("lan_name", "", "LAN Name"),
    column("sent_bytes_per_s", "bytes/s", "Transmit/s Bytes"),
    column("packets_sent_per_s", "packets/s", "Transmit/s Packets"),
    column("sent_discarded_per_s", "packets/s", "Transmit/s Discard"),
    column("received_bytes_per_s", "bytes/s", "Receive/s Bytes"),
    column("packets_received_per_s", "packets/s", "Receive/s Packets"),
    column("received_discarded_per_s", "packets/s", "Receive/s Discard"),
    vital=("packets_sent_per_s", "packets_received_per_s"),
)
HIPSOCK = _layout(
    "HIPSOCK FCX231",
    column("channel", "", "Channel"),
    column("messages_total_per_s", "1/s", "Messages/s Total"),
    column("messages_lpar_per_s", "1/s", "Messages/s LPAR"),
    column("data_units_total_per_s", "1/s", "Data units/s Total"),
    column("data_units_lpar_per_s", "1/s", "Data units/s LPAR"),
    column("no_buffer_per_s", "1/s", "Unsucc./s No Buffer"),
    column("unsuccessful_per_s", "1/s", "Unsucc./s Other"),
)
DEVICE = _layout(
    "DEVICE FCX108",
    column("address", "", "Addr"),
    column("type", "", "Type"),
    column("label", "", "Label /ID"),
    column("io_per_s", "1/s", "Rate/s I/O"),
    column("response", "ms", "Time (msec) Resp"),
)
LPAR = _layout(
    "LPAR FCX126",
    column("partition", "", "Partition"),
    column("number", "", "Nr."),
    column("processor_count", "", "#Proc"),
    column("weight", "", "Weight"),
    column("cpu", "", "C P U", "U"),
    column("busy", "%", "%Busy"),
    column("overhead", "%", "%Ovhd"),
    column("vm_load", "%", "%VMld"),
    column("logical_load", "%", "%Logld"),
    column("type", "", "Type"),
    continued=True,
)
LPARLOG = _layout(
    "LPARLOG FCX202",
    _END,
    column("partition", "", "Partition"),
    column("processor_count", "processors", "#Proc"),
    column("weight", "", "Weight"),
    column("load", "%", "%Load"),
    column("busy", "%", "%Busy"),
    column("overhead", "%", "%Ovhd"),
    column("vm_load", "%", "%VMld"),
    column("logical_load", "%", "%Logld"),
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
    """Return the title of a printed report, or of a screen, which has no date."""
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


def parse(text: Text) -> Parsed:
    """Return the reports of a listing or screen."""
    return parse_listing(text, _DIALECT)
