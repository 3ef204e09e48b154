"""Figures of a netperf test, from a classic table or output selectors, and CPU figures of both ends.

Output selectors (``-k``, ``-o`` and ``-O``) have the names with ``-k``. Units of a classic table are in its heading.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from importers.fragment_builder import FragmentBuilder, Printed, is_decimal
from importers.model import ProblemLog
from importers.netperf.banner import Kind, Shape, find_kind, find_protocol
from importers.netperf.scan import Test

# Number of columns in the first and the second line, without and with CPU figures.
_OF_STREAM, _OF_TRANSACTIONS, _OF_DATAGRAMS = ((5, 9),), ((6, 10), (2,)), ((6, 8), (4, 6))
_RATE = re.compile(r"(?:10\^\d+\s*bits|[KMGT]?Bytes)\s*/s(?:ec)?")
_DEMAND = re.compile(r"us/\w+")
_METHOD = re.compile(r"%(?: ([A-Z]{1,2}))?(?=\s|$)")
_LATENCIES = {
    f"{key.upper()}_LATENCY": f"latency_{key.replace('stddev', 'sd')}_ms"
    for key in ("min", "mean", "stddev", "p50", "p90", "p99", "max")
}
_READ = frozenset(
    {"THROUGHPUT", "THROUGHPUT_UNITS", "TRANSACTION_RATE", "ELAPSED_TIME", "REQUEST_SIZE", "RESPONSE_SIZE"}
    | {"LOCAL_CPU_UTIL", "REMOTE_CPU_UTIL", "LOCAL_CPU_METHOD", "REMOTE_CPU_METHOD", "LOCAL_SD", "REMOTE_SD"}
    | {"SD_UNITS", "LOCAL_BYTES_SENT", "LOCAL_BYTES_RECVD", "LOCAL_TRANSPORT_RETRANS", "REMOTE_TRANSPORT_RETRANS"}
)
_NAMED = {
    "TRANSPORT_MSS": "mss",
    "COMMAND_LINE": "command_line",
    "NETPERF_VERSION": "tool_version",
    "DIRECTION": "direction",
    "LOCAL_RELEASE": "kernel",
    "LOCAL_CPU_MODEL": "cpu_model",
    "RESULT_BRAND": "title",
}
_MISSING = Printed("", 0)
# Texts of missing values.
_NONE = re.compile(r"-1(?:\.0*)?|-?nan|Deprecated|Unknown|0xf{6,}\w*|", re.IGNORECASE)
_OPTION = re.compile(r"\s-(t|l)\s+(\S+)")
_NETPERF = re.compile(r"[ /]netperf ")
_SELECTED = re.compile(r"\s-k\s+([A-Z][A-Z0-9_,]*)")
_FIRST_OF_ALL = ("SOCKET_TYPE", "PROTOCOL", "DIRECTION", "ELAPSED_TIME")


@dataclass(slots=True)
class _End:
    """One machine's CPU %, service demand with unit, and method of measurement."""

    util: Printed | None = None
    demand: Printed | None = None
    method: str = ""
    unit: str = ""

    def take(self, util: Printed | None, demand: Printed | None, method: str, unit: str) -> None:
        """Take figures; -1, nan and the method U (unknown) mean not measured."""
        self.method, self.unit = method, unit
        if method != "U":
            self.util, self.demand = _drop_invalid(util), _drop_invalid(demand)

    def equals(self, other: "_End") -> bool:
        """Return whether both ends have the same figures."""
        if not (self.util and other.util and self.demand and other.demand):
            return False
        return (self.util.text, self.demand.text) == (other.util.text, other.demand.text)


@dataclass(slots=True)
class Processors:
    """Both ends: ``local`` is netperf's machine, for data of either direction."""

    local: _End = field(default_factory=_End)
    remote: _End = field(default_factory=_End)

    def gather(self, into: FragmentBuilder, found: ProblemLog) -> None:
        """Keep both roles' readings; figures above 100% become facts, with a warning."""
        utils = [end.util for end in (self.local, self.remote) if end.util is not None]
        refused = [util for util in utils if float(util.text) > 100]
        for name, role, end in (("local", "client", self.local), ("remote", "server", self.remote)):
            printed = end.util or end.demand
            into.add_printed(f"cpu_method.{name}", Printed(end.method, printed.line) if printed else None)
            if refused:
                into.add_printed(f"refused.{name}_cpu_util", end.util)
                into.add_printed(f"refused.{name}_service_demand", end.demand)
                continue
            into.add_reading("cpu_util", end.util, "%", role)
            into.add_reading("cpu_ms_per_mb" if "KB" in end.unit else "cpu_ms_per_trans", end.demand, end.unit, role)
        if refused:
            _report_impossible(refused[0], found)
        elif self.local.equals(self.remote):
            into.add_printed("cpu_shared", Printed("local and remote figures are equal", utils[0].line))
            message = "Both ends have the very same CPU figures: each seems to count the work of both, on one machine."
            found.note("netperf.same-machine", message, "Do not add the figures of client and server.", utils[0].line)


def _drop_invalid(printed: Printed | None) -> Printed | None:
    return printed if printed is not None and is_decimal(printed.text) and float(printed.text) >= 0 else None


def _report_impossible(util: Printed, found: ProblemLog) -> None:
    message = f"CPU utilisation of {util.text}% is more than all processors: no CPU figure of this test was used."
    remedy = "Both ends ran on one machine, or netperf counted the processors of the other; measure CPU time apart."
    found.warn("netperf.cpu-above-100", message, remedy, util.line)


def find_odd_line(test: Test) -> int | None:
    """Return the line of figures with a wrong number of columns, if any."""
    if test.misfit is not None or test.kind is None:
        return test.misfit
    for row, counts in zip(test.rows, _column_counts(test.kind.shape), strict=False):
        if len(row.cells) not in counts:
            return row.line
    return None


def is_whole(test: Test) -> bool:
    """Return whether the table is complete."""
    return test.kind is not None and len(test.rows) == len(_column_counts(test.kind.shape))


def _column_counts(shape: Shape) -> tuple[tuple[int, ...], ...]:
    # Comparing is faster than looking up an enumeration's member in a dictionary.
    return _OF_STREAM if shape is Shape.STREAM else _OF_DATAGRAMS if shape is Shape.DATAGRAMS else _OF_TRANSACTIONS


def find_rate_unit(test: Test) -> str:
    """Return the heading's unit of throughput (``10^6bits/s``); "" if hidden by ``-P 0``."""
    found = _RATE.search(test.units.text) if test.units else None
    return re.sub(r"\s", "", found[0]) if found else ""


def gather_figures(test: Test, into: FragmentBuilder, cpu: Processors) -> None:
    """Keep the figures of a whole table."""
    if test.kind is None:
        return
    if test.kind.shape is Shape.STREAM:
        _gather_stream_row(test, into, cpu)
    else:
        (_gather_datagram_rows if test.is_stream else _gather_transaction_rows)(test, into, cpu)
    into.add_fact("title", test.rows[0].rest, test.rows[0].line)


def _gather_stream_row(test: Test, into: FragmentBuilder, cpu: Processors) -> None:
    row = test.rows[0]
    into.add_facts(("receive_window", "window", "message_bytes"), row.cells[:3], row.line)
    into.add_reading("driver_s", row.cell(3), "s")
    _gather_throughput(row.cell(4), find_rate_unit(test), into)
    if len(row.cells) > 5:
        _read_processors(test, [row.cell(place) for place in range(5, 9)], cpu)


def _gather_transaction_rows(test: Test, into: FragmentBuilder, cpu: Processors) -> None:
    row, remote = test.rows
    keys = ("window", "socket.local_recv_bytes", "socket.remote_send_bytes", "receive_window")
    for key, printed in zip(keys, (row.cell(0), row.cell(1), remote.cell(0), remote.cell(1)), strict=True):
        into.add_printed(key, printed)
    closes_only = test.banner is not None and "CLOSE" in test.banner.test.upper()
    for key, place in (("request_bytes", 2), ("response_bytes", 3)):
        into.add_printed(key, Printed("0", row.line) if closes_only else row.cell(place))
    into.add_reading("driver_s", row.cell(4), "s")
    # With -f the column is the rate of data, of both directions together.
    unit = find_rate_unit(test)
    into.add_reading("mb_per_s" if unit else "trans_per_s", row.cell(5), unit or "trans/s")
    _read_processors(test, [row.cell(place) for place in range(6, 10)], cpu)


def _gather_datagram_rows(test: Test, into: FragmentBuilder, cpu: Processors) -> None:
    """Keep figures of datagrams; the receiver's line, the second, has the throughput."""
    (sent, received), unit = test.rows, find_rate_unit(test)
    into.add_printed("window", sent.cell(0))
    into.add_printed("receive_window", received.cell(0))
    into.add_printed("message_bytes", sent.cell(1))
    into.add_reading("driver_s", sent.cell(2), "s")
    into.add_printed("messages_sent", sent.cell(3))
    into.add_reading("errors", sent.cell(4), "errors")
    _gather_sent_rate(sent.cell(5), unit, into)
    into.add_printed("messages_received", received.cell(2))
    _gather_throughput(received.cell(3), unit, into)
    _read_processors(test, [sent.cell(6), received.cell(4), sent.cell(7), received.cell(5)], cpu)


def _gather_throughput(printed: Printed | None, unit: str, into: FragmentBuilder) -> None:
    if unit:  # Depends on -f, and is unknown without heading.
        into.add_reading("mb_per_s", printed, unit)


def _gather_sent_rate(rate: Printed | None, unit: str, into: FragmentBuilder) -> None:
    if rate is not None:
        into.add_printed("sent_throughput", rate._replace(text=f"{rate.text} {unit}"))


def _read_processors(test: Test, cells: Sequence[Printed | None], cpu: Processors) -> None:
    """Take CPU % of the local and the remote machine, then both service demands."""
    heading = test.units.text if test.units else ""
    letters = [letter for found in _METHOD.finditer(heading) for letter in found[1] or " "]
    methods = [letters[end].strip() if end < len(letters) else "" for end in range(2)]
    demand = _DEMAND.search(heading)
    for end, util, service_demand, method in zip((cpu.local, cpu.remote), cells[:2], cells[2:], methods, strict=True):
        end.take(util, service_demand, method, demand[0] if demand else "")


def find_kind_by_values(test: Test) -> Kind | None:
    """Return the kind by the command line, printed or typed, else by the direction."""
    asked = _find_option(test.values.get("COMMAND_LINE"), "t") or find_typed(test)
    if asked and asked.lower() != "omni":
        return find_kind(asked)
    direction = test.values.get("DIRECTION")
    return find_kind(f"OMNI {direction.text}") if direction else None


def find_asked_seconds(test: Test) -> Printed | None:
    """Return the seconds of ``-l``; None if unknown, or for a negative amount."""
    command = test.values.get("COMMAND_LINE")
    text = _find_option(command, "l")
    return Printed(text, command.line) if command and text and is_decimal(text) and float(text) > 0 else None


def _find_option(command: Printed | None, letter: str) -> str | None:
    """Return the value of an option of netperf's own."""
    return next((found[2] for found in _OPTION.finditer(_general(command)) if found[1] == letter), None)


def _general(command: Printed | None) -> str:
    """Return a command without the options of the test, behind a blank."""
    return f" {command.text.split(' -- ')[0]}" if command else ""


def find_typed(test: Test) -> str | None:
    """Return the test that a typed command names; netperf's default without a name."""
    return _find_option(test.command, "t") or ("TCP_STREAM" if _NETPERF.search(_general(test.command)) else None)


def find_missing_keys(test: Test) -> list[str]:
    """Return the selected keys that are not in the log."""
    command = test.values.get("COMMAND_LINE")
    if command is None:
        everything = tuple(test.values)[: len(_FIRST_OF_ALL)] == _FIRST_OF_ALL
        return ["COMMAND_LINE"] if everything else []
    selected = _SELECTED.search(command.text)
    return [key for key in selected[1].split(",") if key and key not in test.values] if selected else []


def gather_values(test: Test, into: FragmentBuilder, cpu: Processors) -> None:
    """Keep figures as readings, circumstances as facts, other values as facts ``netperf.<name>``."""
    values = {key: printed for key, printed in test.values.items() if _NONE.fullmatch(printed.text) is None}
    into.add_reading("driver_s", values.get("ELAPSED_TIME"), "s")
    if test.is_stream:
        _gather_stream_values(test, values, into)
    else:
        _gather_transaction_values(values, into)
    for name, end in (("LOCAL", cpu.local), ("REMOTE", cpu.remote)):
        method, unit = (values.get(key, _MISSING).text for key in (f"{name}_CPU_METHOD", "SD_UNITS"))
        end.take(values.get(f"{name}_CPU_UTIL"), values.get(f"{name}_SD"), method, unit)
    _gather_retransmits(test, values, into)
    _gather_options(test, values, into)
    _gather_other_values(test, values, into)


def _gather_transaction_values(values: dict[str, Printed], into: FragmentBuilder) -> None:
    """Keep rates and latencies; TRANSACTION_RATE has more digits than THROUGHPUT."""
    unit = values.get("THROUGHPUT_UNITS")
    if "TRANSACTION_RATE" in values:
        into.add_reading("trans_per_s", values["TRANSACTION_RATE"], "trans/s")
    elif unit is not None and unit.text.lower().startswith("tran"):
        into.add_reading("trans_per_s", values.get("THROUGHPUT"), unit.text)
    elif unit is not None:
        into.add_reading("mb_per_s", values.get("THROUGHPUT"), unit.text)
    into.add_printed("request_bytes", values.get("REQUEST_SIZE"))
    into.add_printed("response_bytes", values.get("RESPONSE_SIZE"))
    into.add_reading("response_ms", values.get("RT_LATENCY") or values.get("MEAN_LATENCY"), "usec")
    for key, name in _LATENCIES.items():
        into.add_reading(name, values.get(key), "usec")


def _gather_stream_values(test: Test, values: dict[str, Printed], into: FragmentBuilder) -> None:
    """Keep the rate of arrived data; for datagrams the receiver's."""
    unit, rate = values.get("THROUGHPUT_UNITS", _MISSING).text, values.get("THROUGHPUT")
    if test.kind is not None and test.kind.shape is Shape.DATAGRAMS:
        _gather_sent_rate(rate, unit, into)
        rate = values.get("REMOTE_RECV_THROUGHPUT")
    _gather_throughput(rate, unit, into)
    into.add_printed("message_bytes", values.get("REMOTE_SEND_SIZE" if test.returns else "LOCAL_SEND_SIZE"))
    moved, key = ("bytes_received", "LOCAL_BYTES_RECVD") if test.returns else ("bytes_sent", "LOCAL_BYTES_SENT")
    into.add_reading(moved, values.get(key), "bytes")


def _gather_retransmits(test: Test, values: dict[str, Printed], into: FragmentBuilder) -> None:
    """Keep retransmits: a stream's sender has the total, transactions have both roles."""
    sender = "REMOTE" if test.returns else "LOCAL"
    for name, role in (("LOCAL", "client"), ("REMOTE", "server")):
        owner = "total" if test.is_stream and name == sender else role
        into.add_reading("retransmits", values.get(f"{name}_TRANSPORT_RETRANS"), "segments", owner)
    into.add_printed("factor.congestion_control", values.get(f"{sender}_CONG_CONTROL"))


def _gather_options(test: Test, values: dict[str, Printed], into: FragmentBuilder) -> None:
    """Keep the options that change the work; socket sizes are those at the start."""
    ends = ("RSS", "LSR") if test.returns else ("LSS", "RSR")
    for name, socket in zip(("window", "receive_window"), ends, strict=True):
        into.add_printed(name, values.get(f"{socket}_SIZE") or values.get(f"{socket}_SIZE_REQ"))
    nodelay, burst, banner = values.get("LOCAL_NODELAY"), values.get("BURST_SIZE"), test.banner
    if nodelay is not None and nodelay.text.strip("0") and not (banner and "nodelay" in banner.flags):
        into.add_fact("nodelay", "on", nodelay.line)
    if burst is not None and burst.text.strip("0") and not (banner and banner.burst):
        into.add_printed("burst", burst)
    pause, at_once = values.get("LOCAL_INTERVAL_USECS"), values.get("LOCAL_INTERVAL_BURST")
    if pause and at_once and at_once.text.strip("0"):
        into.add_fact("rate", f"{at_once.text} every {pause.text} us", pause.line)


def _gather_other_values(test: Test, values: dict[str, Printed], into: FragmentBuilder) -> None:
    if test.banner is None or not find_protocol(test.banner.test):
        into.add_printed("factor.protocol", values.get("PROTOCOL"))
    if test.banner is None:
        into.add_printed("server", values.get("DEST_ADDR"))
    read = _READ
    if not test.is_stream:
        into.add_reading("bytes_sent", values.get("LOCAL_BYTES_SENT"), "bytes")
        into.add_reading("bytes_received", values.get("LOCAL_BYTES_RECVD"), "bytes")
        read = _READ | _LATENCIES.keys() | {"RT_LATENCY"}
    for key, printed in values.items():
        if key not in read:
            plain = re.sub(r"[^a-z0-9]+", "_", key.lower()).strip("_")
            into.add_printed(_NAMED.get(key, f"netperf.{plain}"), printed)
