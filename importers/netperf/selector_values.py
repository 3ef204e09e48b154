"""Values of netperf's output selectors (``-k``, ``-o`` and ``-O``), by the names with ``-k``."""

import re

from importers.fragment_builder import FragmentBuilder, Printed, is_decimal
from importers.netperf.banner import Kind, Shape, find_kind, find_protocol
from importers.netperf.processors import Processors
from importers.netperf.scan import Test

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
_KEYS = re.compile(r"\s-k\s+([A-Z][A-Z0-9_,]*)")
_FIRST_OF_ALL = ("SOCKET_TYPE", "PROTOCOL", "DIRECTION", "ELAPSED_TIME")


def find_kind_by_values(test: Test) -> Kind | None:
    """Return the kind by the command line, else by the direction."""
    asked = _find_option(test, "t")
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


def find_missing_keys(test: Test) -> list[str]:
    """Return the selected keys that are not in the log."""
    command = test.values.get("COMMAND_LINE")
    if command is None:
        everything = tuple(test.values)[: len(_FIRST_OF_ALL)] == _FIRST_OF_ALL
        return ["COMMAND_LINE"] if everything else []
    selected = _KEYS.search(command.text)
    return [key for key in selected[1].split(",") if key and key not in test.values] if selected else []


def gather_values(test: Test, into: FragmentBuilder, cpu: Processors) -> None:
    """Keep figures as readings, circumstances as facts, other values as facts ``netperf.<name>``."""
    values = {key: printed for key, printed in test.values.items() if _NONE.fullmatch(printed.text) is None}
    into.add_reading("driver_s", values.get("ELAPSED_TIME"), "s")
    if test.kind is None or test.kind.shape is Shape.TRANSACTIONS:
        _gather_transactions(values, into)
    if test.kind is not None and test.kind.shape is not Shape.TRANSACTIONS:
        _gather_stream(test.kind, values, into)
    unit = values["SD_UNITS"].text if "SD_UNITS" in values else ""
    for name, end in (("LOCAL", cpu.local), ("REMOTE", cpu.remote)):
        method = values[f"{name}_CPU_METHOD"].text if f"{name}_CPU_METHOD" in values else ""
        end.take(values.get(f"{name}_CPU_UTIL"), values.get(f"{name}_SD"), method, unit)
    _gather_retransmits(test, values, into)
    _gather_facts(test, values, into)


def _gather_transactions(values: dict[str, Printed], into: FragmentBuilder) -> None:
    """Keep rates and latencies; TRANSACTION_RATE has more digits than THROUGHPUT."""
    unit = values.get("THROUGHPUT_UNITS")
    if "TRANSACTION_RATE" in values:
        into.add_reading("trans_per_s", values["TRANSACTION_RATE"], "trans/s")
    elif unit is not None and unit.text.lower().startswith("tran"):
        into.add_reading("trans_per_s", values.get("THROUGHPUT"), unit.text)
    into.add_printed("request_bytes", values.get("REQUEST_SIZE"))
    into.add_printed("response_bytes", values.get("RESPONSE_SIZE"))
    into.add_reading("response_ms", values.get("RT_LATENCY") or values.get("MEAN_LATENCY"), "usec")
    for key, name in _LATENCIES.items():
        into.add_reading(name, values.get(key), "usec")


def _gather_stream(kind: Kind, values: dict[str, Printed], into: FragmentBuilder) -> None:
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


def _gather_facts(test: Test, values: dict[str, Printed], into: FragmentBuilder) -> None:
    transactions = test.kind is None or test.kind.shape is Shape.TRANSACTIONS
    if test.banner is None or not find_protocol(test.banner.test):
        into.add_printed("factor.protocol", values.get("PROTOCOL"))
    if test.banner is None:
        into.add_printed("server", values.get("DEST_ADDR"))
    burst = values.get("BURST_SIZE")
    if burst is not None and burst.text.strip("0") and not (test.banner and test.banner.burst):
        into.add_printed("factor.first_burst", burst)
    if transactions:
        into.add_reading("bytes_sent", values.get("LOCAL_BYTES_SENT"), "bytes")
        into.add_reading("bytes_received", values.get("LOCAL_BYTES_RECVD"), "bytes")
    read = _READ | (_LATENCIES.keys() | {"RT_LATENCY"} if transactions else frozenset())
    for key, printed in values.items():
        if key not in read:
            into.add_printed(
                _NAMED.get(key) or f"netperf.{re.sub(r'[^a-z0-9]+', '_', key.lower()).strip('_')}", printed
            )
