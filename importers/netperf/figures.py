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
    "MIN_LATENCY": "latency_min_ms",
    "MEAN_LATENCY": "latency_mean_ms",
    "STDDEV_LATENCY": "latency_sd_ms",
    "P50_LATENCY": "latency_p50_ms",
    "P90_LATENCY": "latency_p90_ms",
    "P99_LATENCY": "latency_p99_ms",
    "MAX_LATENCY": "latency_max_ms",
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
            _report_same_machine(self.local, into, found)


def _drop_invalid(printed: Printed | None) -> Printed | None:
    if printed is None or not is_decimal(printed.text) or float(printed.text) < 0:
        return None
    return printed


def _report_impossible(util: Printed, found: ProblemLog) -> None:
    message = f"CPU utilisation of {util.text}% is more than all processors: no CPU figure of this test was used."
    remedy = "Both ends ran on one machine, or netperf counted the processors of the other; measure CPU time apart."
    found.warn("netperf.cpu-above-100", message, remedy, util.line)


def _report_same_machine(end: _End, into: FragmentBuilder, found: ProblemLog) -> None:
    line = end.util.line if end.util else None
    into.add_printed("cpu_shared", Printed("local and remote figures are equal", line or 0))
    message = "Both ends have the very same CPU figures: each seems to count the work of both, on one machine."
    found.note("netperf.same-machine", message, "Do not add the figures of client and server.", line)


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
    shape = test.kind.shape
    gather = _gather_transaction_rows
    if shape is not Shape.TRANSACTIONS:
        gather = _gather_stream_row if shape is Shape.STREAM else _gather_datagram_rows
    gather(test, into, cpu)
    into.add_fact("title", test.rows[0].rest, test.rows[0].line)


def _gather_stream_row(test: Test, into: FragmentBuilder, cpu: Processors) -> None:
    row = test.rows[0]
    into.add_facts(("receive_window", "window", "message_bytes"), row.cells[:3], row.line)
    into.add_number(("driver_s", "s", "total"), row.cells[3], row.line)
    _gather_throughput(row.cell(4), find_rate_unit(test), into)
    if len(row.cells) > 5:
        _read_processors(test, [row.cell(place) for place in range(5, 9)], cpu)


def _gather_transaction_rows(test: Test, into: FragmentBuilder, cpu: Processors) -> None:
    row, remote = test.rows[0], test.rows[1]
    keys = ("window", "socket.local_recv_bytes", "socket.remote_send_bytes", "receive_window")
    for key, printed in zip(keys, (row.cell(0), row.cell(1), remote.cell(0), remote.cell(1)), strict=True):
        into.add_printed(key, printed)
    for key, place in (("request_bytes", 2), ("response_bytes", 3)):
        printed = row.cell(place)
        closes_only = test.banner is not None and "CLOSE" in test.banner.test.upper()
        into.add_printed(key, Printed("0", row.line) if closes_only else printed)
    into.add_reading("driver_s", row.cell(4), "s")
    # With -f the column is the rate of data, of both directions together.
    unit = find_rate_unit(test)
    into.add_reading("mb_per_s" if unit else "trans_per_s", row.cell(5), unit or "trans/s")
    _read_processors(test, [row.cell(place) for place in range(6, 10)], cpu)


def _gather_datagram_rows(test: Test, into: FragmentBuilder, cpu: Processors) -> None:
    """Keep figures of datagrams; the receiver's line, the second, has the throughput."""
    sent, received = test.rows[0], test.rows[1]
    unit = find_rate_unit(test)
    into.add_printed("window", sent.cell(0))
    into.add_printed("receive_window", received.cell(0))
    into.add_printed("message_bytes", sent.cell(1))
    into.add_reading("driver_s", sent.cell(2), "s")
    into.add_printed("messages_sent", sent.cell(3))
    into.add_reading("errors", sent.cell(4), "errors")
    rate = sent.cell(5)
    into.add_printed("sent_throughput", Printed(f"{rate.text} {unit}", rate.line) if rate else None)
    into.add_printed("messages_received", received.cell(2))
    _gather_throughput(received.cell(3), unit, into)
    _read_processors(test, [sent.cell(6), received.cell(4), sent.cell(7), received.cell(5)], cpu)


def _gather_throughput(printed: Printed | None, unit: str, into: FragmentBuilder) -> None:
    if unit:  # Depends on -f, and is unknown without heading.
        into.add_reading("mb_per_s", printed, unit)


def _read_processors(test: Test, cells: Sequence[Printed | None], cpu: Processors) -> None:
    """Take CPU % of the local and the remote machine, then both service demands."""
    heading = test.units.text if test.units else ""
    letters = [letter for found in _METHOD.finditer(heading) for letter in found[1] or " "]
    methods = [letters[end].strip() if end < len(letters) else "" for end in range(2)]
    demand = _DEMAND.search(heading)
    unit = demand[0] if demand else ""
    cpu.local.take(cells[0], cells[2], methods[0], unit)
    cpu.remote.take(cells[1], cells[3], methods[1], unit)


def find_kind_by_values(test: Test) -> Kind | None:
    """Return the kind by the command line, printed or typed, else by the direction."""
    asked = _find_option(test, "t") or find_typed(test)
    if asked and asked.lower() != "omni":
        return find_kind(asked)
    direction = test.values.get("DIRECTION")
    return find_kind(f"OMNI {direction.text}") if direction else None


def find_asked_seconds(test: Test) -> Printed | None:
    """Return the seconds of ``-l``; None if unknown, or for a negative amount."""
    text = _find_option(test, "l")
    if text is None or not is_decimal(text) or float(text) <= 0:
        return None
    return Printed(text, test.values["COMMAND_LINE"].line)


def _find_option(test: Test, letter: str) -> str | None:
    command = test.values.get("COMMAND_LINE")
    general = command.text.split(" -- ")[0] if command else ""
    return next((found[2] for found in _OPTION.finditer(general) if found[1] == letter), None)


def find_typed(test: Test) -> str | None:
    """Return the test that a typed command names; netperf's default without a name."""
    if test.command is None:
        return None
    general = f" {test.command.text.split(' -- ')[0]}"
    named = next((found[2] for found in _OPTION.finditer(general) if found[1] == "t"), None)
    return named or ("TCP_STREAM" if _NETPERF.search(general) else None)


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
    if test.kind is None or test.kind.shape is Shape.TRANSACTIONS:
        _gather_transaction_values(values, into)
    if test.kind is not None and test.kind.shape is not Shape.TRANSACTIONS:
        _gather_stream_values(test.kind, values, into)
    unit = values["SD_UNITS"].text if "SD_UNITS" in values else ""
    for name, end in (("LOCAL", cpu.local), ("REMOTE", cpu.remote)):
        method = values[f"{name}_CPU_METHOD"].text if f"{name}_CPU_METHOD" in values else ""
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


def _gather_stream_values(kind: Kind, values: dict[str, Printed], into: FragmentBuilder) -> None:
    """Keep the rate of arrived data; for datagrams the receiver's."""
    unit = values["THROUGHPUT_UNITS"].text if "THROUGHPUT_UNITS" in values else ""
    rate = values.get("THROUGHPUT")
    if kind.shape is Shape.DATAGRAMS:
        into.add_printed("sent_throughput", Printed(f"{rate.text} {unit}", rate.line) if rate else None)
        rate = values.get("REMOTE_RECV_THROUGHPUT")
    if unit:
        into.add_reading("mb_per_s", rate, unit)
    sender = "REMOTE" if kind.pattern == "STRG" else "LOCAL"
    into.add_printed("message_bytes", values.get(f"{sender}_SEND_SIZE"))
    into.add_reading("bytes_sent", values.get("LOCAL_BYTES_SENT") if sender == "LOCAL" else None, "bytes")
    into.add_reading("bytes_received", values.get("LOCAL_BYTES_RECVD") if sender == "REMOTE" else None, "bytes")


def _gather_retransmits(test: Test, values: dict[str, Printed], into: FragmentBuilder) -> None:
    """Keep retransmits: a stream's sender has the total, transactions have both roles."""
    streams = test.kind is not None and test.kind.shape is not Shape.TRANSACTIONS
    sender = "REMOTE" if test.kind is not None and test.kind.pattern == "STRG" else "LOCAL"
    for name, role in (("LOCAL", "client"), ("REMOTE", "server")):
        owner = "total" if streams and name == sender else role
        into.add_reading("retransmits", values.get(f"{name}_TRANSPORT_RETRANS"), "segments", owner)
    into.add_printed("factor.congestion_control", values.get(f"{sender}_CONG_CONTROL"))


def _gather_options(test: Test, values: dict[str, Printed], into: FragmentBuilder) -> None:
    """Keep the options that change the work; socket sizes are those at the start."""
    returns = test.kind is not None and test.kind.pattern == "STRG"
    for name, socket in (("window", "RSS" if returns else "LSS"), ("receive_window", "LSR" if returns else "RSR")):
        into.add_printed(name, values.get(f"{socket}_SIZE") or values.get(f"{socket}_SIZE_REQ"))
    nodelay, banner = values.get("LOCAL_NODELAY"), test.banner
    if nodelay is not None and nodelay.text.strip("0") and not (banner and "nodelay" in banner.flags):
        into.add_fact("nodelay", "on", nodelay.line)
    burst = values.get("BURST_SIZE")
    if burst is not None and burst.text.strip("0") and not (banner and banner.burst):
        into.add_printed("burst", burst)
    pause, at_once = values.get("LOCAL_INTERVAL_USECS"), values.get("LOCAL_INTERVAL_BURST")
    if pause and at_once and at_once.text.strip("0"):
        into.add_fact("rate", f"{at_once.text} every {pause.text} us", pause.line)


def _gather_other_values(test: Test, values: dict[str, Printed], into: FragmentBuilder) -> None:
    transactions = test.kind is None or test.kind.shape is Shape.TRANSACTIONS
    if test.banner is None or not find_protocol(test.banner.test):
        into.add_printed("factor.protocol", values.get("PROTOCOL"))
    if test.banner is None:
        into.add_printed("server", values.get("DEST_ADDR"))
    if transactions:
        into.add_reading("bytes_sent", values.get("LOCAL_BYTES_SENT"), "bytes")
        into.add_reading("bytes_received", values.get("LOCAL_BYTES_RECVD"), "bytes")
    read = _READ | (_LATENCIES.keys() | {"RT_LATENCY"} if transactions else frozenset())
    for key, printed in values.items():
        if key not in read:
            into.add_printed(
                _NAMED.get(key) or f"netperf.{re.sub(r'[^a-z0-9]+', '_', key.lower()).strip('_')}", printed
            )
