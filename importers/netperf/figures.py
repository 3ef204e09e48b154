"""Figures of a netperf test, from a classic table or output selectors, and CPU figures of both ends.

Output selectors (``-k``, ``-o`` and ``-O``) have the names with ``-k``. Units of a classic table are in its heading.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from importers.fragment_builder import FragmentBuilder, Printed, is_decimal
from importers.model import ProblemLog
from importers.netperf.banner import Kind, Shape, find_kind, find_protocol
from importers.netperf.scan import Test

Place = tuple[int, int]
"""A figure's line in a classic table, and its column there."""


class _Table(NamedTuple):
    """Columns of each line, without and with CPU figures; and the figures' places.

    ``cpu`` has CPU % of the local and the remote machine, then both service demands.
    """

    widths: tuple[tuple[int, ...], ...]
    facts: dict[str, Place]
    seconds: Place
    rate: Place
    cpu: tuple[Place, Place, Place, Place]
    errors: Place | None = None


_TABLES = {
    Shape.STREAM: _Table(
        widths=((5, 9),),
        facts={"receive_window": (0, 0), "window": (0, 1), "message_bytes": (0, 2)},
        seconds=(0, 3),
        rate=(0, 4),
        cpu=((0, 5), (0, 6), (0, 7), (0, 8)),
    ),
    Shape.TRANSACTIONS: _Table(
        widths=((6, 10), (2,)),
        facts={
            **{"window": (0, 0), "socket.local_recv_bytes": (0, 1), "socket.remote_send_bytes": (1, 0)},
            **{"receive_window": (1, 1), "request_bytes": (0, 2), "response_bytes": (0, 3)},
        },
        seconds=(0, 4),
        rate=(0, 5),
        cpu=((0, 6), (0, 7), (0, 8), (0, 9)),
    ),
    # The receiver's line, the second, has the throughput.
    Shape.DATAGRAMS: _Table(
        widths=((6, 8), (4, 6)),
        facts={
            **{"window": (0, 0), "receive_window": (1, 0), "message_bytes": (0, 1), "messages_sent": (0, 3)},
            **{"sent_throughput": (0, 5), "messages_received": (1, 2)},
        },
        seconds=(0, 2),
        rate=(1, 3),
        cpu=((0, 6), (1, 4), (0, 7), (1, 5)),
        errors=(0, 4),
    ),
}
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


class End(NamedTuple):
    """One machine's CPU %, service demand with unit, and method of measurement."""

    util: Printed | None
    demand: Printed | None
    method: str
    unit: str


def _read_end(util: Printed | None, demand: Printed | None, method: str, unit: str) -> End:
    """Return figures; -1, nan and the method U (unknown) mean not measured."""
    if method == "U":
        return End(None, None, method, unit)
    return End(_drop_invalid(util), _drop_invalid(demand), method, unit)


def _drop_invalid(printed: Printed | None) -> Printed | None:
    return printed if printed is not None and is_decimal(printed.text) and float(printed.text) >= 0 else None


def gather_processors(ends: Sequence[End], into: FragmentBuilder, found: ProblemLog) -> None:
    """Keep the readings of netperf's machine and the remote one; figures above 100% become facts, with a warning."""
    utils = [end.util for end in ends if end.util is not None]
    refused = [util for util in utils if float(util.text) > 100]
    for (name, role), end in zip((("local", "client"), ("remote", "server")), ends, strict=False):
        printed = end.util or end.demand
        into.add_printed(f"cpu_method.{name}", Printed(end.method, printed.line) if printed else None)
        if refused:
            into.add_printed(f"refused.{name}_cpu_util", end.util)
            into.add_printed(f"refused.{name}_service_demand", end.demand)
            continue
        into.add_reading("cpu_util", end.util, "%", role)
        into.add_reading("cpu_ms_per_mb" if "KB" in end.unit else "cpu_ms_per_trans", end.demand, end.unit, role)
    texts = [[printed.text for printed in (end.util, end.demand) if printed is not None] for end in ends]
    if refused:
        util = refused[0]
        message = f"CPU utilisation of {util.text}% is more than all processors: no CPU figure of this test was used."
        remedy = "Both ends ran on one machine, or netperf counted the processors of the other; measure CPU time apart."
        found.warn("netperf.cpu-above-100", message, remedy, util.line)
    elif len(utils) == 2 and len(texts[0]) == 2 and texts[0] == texts[1]:
        into.add_printed("cpu_shared", Printed("local and remote figures are equal", utils[0].line))
        message = "Both ends have the very same CPU figures: each seems to count the work of both, on one machine."
        found.note("netperf.same-machine", message, "Do not add the figures of client and server.", utils[0].line)


def find_odd_line(test: Test) -> int | None:
    """Return the line of figures with a wrong number of columns, if any."""
    if test.misfit is not None or test.kind is None:
        return test.misfit
    for row, counts in zip(test.rows, _TABLES[test.kind.shape].widths, strict=False):
        if len(row.cells) not in counts:
            return row.line
    return None


def find_rate_unit(test: Test) -> str:
    """Return the heading's unit of throughput (``10^6bits/s``); "" if hidden by ``-P 0``."""
    found = _RATE.search(test.units.text) if test.units else None
    return re.sub(r"\s", "", found[0]) if found else ""


def gather_figures(test: Test, into: FragmentBuilder) -> Sequence[End]:
    """Keep the figures of a whole table; return those of both processors."""
    if test.kind is None:
        return ()
    table, unit = _TABLES[test.kind.shape], find_rate_unit(test)

    def cell(place: Place) -> Printed | None:
        return test.rows[place[0]].cell(place[1])

    closes_only = test.banner is not None and "CLOSE" in test.banner.test.upper()
    for key, place in table.facts.items():
        if key == "sent_throughput":
            _gather_sent_rate(cell(place), unit, into)
        else:
            nothing = closes_only and key in {"request_bytes", "response_bytes"}
            into.add_printed(key, Printed("0", test.rows[0].line) if nothing else cell(place))
    into.add_reading("driver_s", cell(table.seconds), "s")
    into.add_reading("errors", cell(table.errors) if table.errors else None, "errors")
    # The unit depends on -f. With one, the rate of transactions is that of data, of both directions together.
    if unit:
        into.add_reading("mb_per_s", cell(table.rate), unit)
    elif not test.is_stream:
        into.add_reading("trans_per_s", cell(table.rate), "trans/s")
    into.add_fact("title", test.rows[0].rest, test.rows[0].line)
    return _read_processors(test, [*map(cell, table.cpu)])


def _gather_sent_rate(rate: Printed | None, unit: str, into: FragmentBuilder) -> None:
    if rate is not None:
        into.add_printed("sent_throughput", rate._replace(text=f"{rate.text} {unit}"))


def _read_processors(test: Test, cells: Sequence[Printed | None]) -> Sequence[End]:
    """Return CPU % and service demand of the local and the remote machine, with methods in the heading's letters."""
    heading = test.units.text if test.units else ""
    letters = [letter.strip() for found in _METHOD.finditer(heading) for letter in found[1] or " "]
    demand = _DEMAND.search(heading)
    pairs = zip(cells[:2], cells[2:], [*letters, "", ""], strict=False)
    return [_read_end(util, service, method, demand[0] if demand else "") for util, service, method in pairs]


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


def gather_values(test: Test, into: FragmentBuilder) -> Sequence[End]:
    """Keep figures, circumstances, and others as facts ``netperf.<name>``; return those of both processors."""
    values = {key: printed for key, printed in test.values.items() if _NONE.fullmatch(printed.text) is None}
    into.add_reading("driver_s", values.get("ELAPSED_TIME"), "s")
    if test.is_stream:
        _gather_stream_values(test, values, into)
    else:
        _gather_transaction_values(values, into)
    _gather_retransmits(test, values, into)
    _gather_options(test, values, into)
    _gather_other_values(test, values, into)
    unit, ends = values.get("SD_UNITS", _MISSING).text, []
    for end in ("LOCAL", "REMOTE"):
        method = values.get(f"{end}_CPU_METHOD", _MISSING).text
        ends.append(_read_end(values.get(f"{end}_CPU_UTIL"), values.get(f"{end}_SD"), method, unit))
    return ends


def _gather_transaction_values(values: dict[str, Printed], into: FragmentBuilder) -> None:
    """Keep rates and latencies; TRANSACTION_RATE has more digits than THROUGHPUT."""
    unit = values.get("THROUGHPUT_UNITS", _MISSING).text
    if "TRANSACTION_RATE" in values:
        into.add_reading("trans_per_s", values["TRANSACTION_RATE"], "trans/s")
    elif unit:
        name = "trans_per_s" if unit.lower().startswith("tran") else "mb_per_s"
        into.add_reading(name, values.get("THROUGHPUT"), unit)
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
    if unit:
        into.add_reading("mb_per_s", rate, unit)
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
