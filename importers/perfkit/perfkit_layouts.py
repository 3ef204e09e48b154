"""Layouts of the Performance Toolkit's reports.

Other spellings of a heading are further arguments of its column. The mean of a column named as a metric (``cpu_util``)
is the run's value; a report about one user has no such column.
"""

import re

from importers.monitor.columns import CLOCK, Layout, column

_END = column("end", CLOCK, "Interval End Time", "End Time")
_USERID = column("userid", "", "Userid")

SYSSUMLG = Layout(
    "SYSSUMLG",
    "FCX225",
    (
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
    ),
    intervals=True,
    vital=("end", "cpu_util", "tv_ratio", "processors_online"),
)
PROCLOG = Layout(
    "PROCLOG",
    "FCX144",
    (
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
    ),
    intervals=True,
    vital=("end", "cpu", "processor_util", "virtual_processor_util"),
)
PROCSUM = Layout(
    "PROCSUM",
    "FCX239",
    (
        _END,
        column("processors", "processors", "Nr of CPUs"),
        column("processor_util", "%", "Sum, Percent of One CPU Total"),
        column("system_util", "%", "Sum, Percent of One CPU Syst"),
        column("virtual_processor_util", "%", "Sum, Percent of One CPU Emul"),
        column("cp_processor_util", "%", "Sum, Percent of One CPU CP"),
        column("total_to_virtual", "ratio", "Sum, Percent of One CPU T/V", "T/V"),
        column("highest_util", "%", "Single CPU Max"),
        column("lowest_util", "%", "Single CPU Min"),
    ),
    intervals=True,
    vital=("end", "processors", "processor_util", "virtual_processor_util"),
)
CPU = Layout(
    "CPU",
    "FCX100",
    (
        column("cpu", "", "CPU PROC", "PROC"),
        column("processor_util", "%", "Load %CPU", "%CPU"),
        column("cp_processor_util", "%", "%CP"),
        column("virtual_processor_util", "%", "%EMU"),
        column("waiting", "%", "%WT"),
        column("system_util", "%", "%SYS"),
        column("spinning", "%", "%SP"),
        column("sic_handled", "%", "%SIC"),
        column("logical_load", "%", "%LOGLD"),
    ),
    key=re.compile(r"P[0-9A-F]{1,3}"),
    vital=("processor_util", "virtual_processor_util"),
)
USER = Layout(
    "USER",
    "FCX112",
    (
        _USERID,
        column("processor_util", "%", "CPU Load %CPU"),
        column("cpu_s", "s", "CPU Load Seconds TCPU"),
        column("virtual_cpu_s", "s", "CPU Load Seconds VCPU"),
        column("total_to_virtual", "ratio", "CPU Load T/V Ratio"),
        column("io_per_s", "1/s", "Virtual IO/s Total"),
    ),
    vital=("processor_util", "cpu_s", "virtual_cpu_s"),
)
USTAT = Layout(
    "USTAT",
    "FCX114",
    (
        _USERID,
        column("active", "%", "%ACT"),
        column("running", "%", "%RUN"),
        column("cpu_wait", "%", "%CPU"),
        column("processors", "processors", "CPUs"),
    ),
    vital=("cpu_wait",),
)
USERLOG = Layout(
    "USERLOG",
    "FCX162",
    (
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
    ),
    intervals=True,
    vital=("end", "user_util"),
)
VSWITCH = Layout(
    "VSWITCH",
    "FCX240",
    (
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
    ),
)
GVNIC = Layout(
    "GVNIC",
    "FCX241",
    (
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
    ),
    vital=("packets_sent_per_s", "packets_received_per_s"),
)
HIPSOCK = Layout(
    "HIPSOCK",
    "FCX231",
    (
        column("channel", "", "Channel"),
        column("messages_total_per_s", "1/s", "Messages/s Total"),
        column("messages_lpar_per_s", "1/s", "Messages/s LPAR"),
        column("data_units_total_per_s", "1/s", "Data units/s Total"),
        column("data_units_lpar_per_s", "1/s", "Data units/s LPAR"),
        column("no_buffer_per_s", "1/s", "Unsucc./s No Buffer"),
        column("unsuccessful_per_s", "1/s", "Unsucc./s Other"),
    ),
)
DEVICE = Layout(
    "DEVICE",
    "FCX108",
    (
        column("address", "", "Addr"),
        column("type", "", "Type"),
        column("label", "", "Label /ID"),
        column("io_per_s", "1/s", "Rate/s I/O"),
        column("response", "ms", "Time (msec) Resp"),
    ),
)
LPAR = Layout(
    "LPAR",
    "FCX126",
    (
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
    ),
    continued=True,
)
LPARLOG = Layout(
    "LPARLOG",
    "FCX202",
    (
        _END,
        column("partition", "", "Partition"),
        column("processor_count", "processors", "#Proc"),
        column("weight", "", "Weight"),
        column("load", "%", "%Load"),
        column("busy", "%", "%Busy"),
        column("overhead", "%", "%Ovhd"),
        column("vm_load", "%", "%VMld"),
        column("logical_load", "%", "%Logld"),
    ),
    intervals=True,
)
LAYOUTS = (
    *(SYSSUMLG, PROCLOG, PROCSUM, CPU, USER, USTAT, USERLOG),
    *(VSWITCH, GVNIC, HIPSOCK, DEVICE, LPAR, LPARLOG),
)
