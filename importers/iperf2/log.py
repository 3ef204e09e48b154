"""iperf 2: results of client and server, as text or CSV (``-y C``)."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product

from importers.fragment_builder import Column, FragmentBuilder, build_listing, join_ports
from importers.fragment_builder import Row as ListingRow
from importers.iperf2 import csv_lines, plain
from importers.iperf2.connections import SUM, TO_CLIENT, TO_SERVER, Row, Test, parse_time
from importers.model import Fragment, ProblemLog, Status, Text
from importers.trial_numbers import number_each

NAME = "iperf2"
TITLE = "iperf 2 result"
VERSION = 5

_AGAIN = "Measure again."
_TRANSFER = "Transfer the file again and import it."
_MORE = {
    **{"packets_lost": "count", "loss_percent": "%", "jitter_ms": "ms"},
    **{"retransmits": "count", "transactions": "count"},
    **{f"latency_{kind}_ms": "ms" for kind in ("mean", "min", "max", "sd")},
}
_INTERVAL: tuple[Column, ...] = (("t0", "s"), ("t1", "s"))
_INTERVAL_OF_ONE: tuple[Column, ...] = (("id", ""), *_INTERVAL)
_CONNECTION: tuple[Column, ...] = (("id", ""), ("seconds", "s"))
_COLUMN_UNITS = _MORE | {"packets": "count", "rtt": "us", "write_errors": "count", "busy_rps": "1/s"}
_COLUMN_UNITS |= {"one_way_latency": "ms"}


def recognise(text: Text) -> bool:
    """Look for iperf 2's heading below dashes, or for lines of comma-separated values."""
    return plain.recognise(text) or csv_lines.recognise(text)


def parse(text: Text, found: ProblemLog) -> Iterator[Fragment]:
    """Yield the fragments one by one: a file may hold very many tests."""
    tests = csv_lines.read_tests(text) if csv_lines.recognise(text) else plain.read_tests(text)
    return number_each(_read(test, text.name, found) for test in tests)


def _read(test: Test, file: str, found: ProblemLog) -> Fragment:
    ids = test.ids
    results = _find_results(test, ids)
    status = _judge(test, results, found)
    into = FragmentBuilder()
    _gather_facts(test, results, into)
    for way, row in results.items():
        if status is Status.COMPLETE and row is not None:
            role = way if len(results) > 1 else "server" if test.role == "server" else "total"
            _gather_row(test, row, way, role, into)
    time, zone = test.started
    return into.build(
        (file, NAME, VERSION),
        (test.first_line, test.last_line),
        status,
        listings=(
            *build_listing("intervals", _intervals(test, ids)),
            *build_listing("connections", _connections(test, ids)),
        ),
        role=test.role,
        taken=parse_time(time, "%Y-%m-%d %H:%M:%S"),
        ended=parse_time(test.ended, "%Y%m%d%H%M%S"),
        zone="+00:00" if zone in {"UTC", "GMT"} else zone,
    )


_Results = dict[str, Row | None]
"""The row with the result of each direction; None if several connections have no sum."""


def _find_results(test: Test, listed: Sequence[str]) -> _Results:
    ways: dict[str, list[str]] = {}
    for row_id in listed:
        ways.setdefault(test.direction(row_id), []).append(row_id)
    results: _Results = {}
    for way, ids in ways.items():
        is_report = test.is_udp and test.role == "client" and way == TO_SERVER
        if len(ids) == 1:
            row = test.find_result(ids[0], is_report=is_report)
        else:
            # A sum of both ways is of no way, and a sum of datagrams has no losses.
            is_added = (
                is_report or (not test.is_csv and test.is_udp) or (len(ways) > 1 and (test.ended or not test.is_csv))
            )
            row = test.add_up(ids, is_report=is_report) if is_added else None
            row = row or (test.find_result(SUM) if len(ways) == 1 and not is_report else None)
        results[way] = row if row is None or row.id == SUM or not row.is_empty else None
    return results


def _judge(test: Test, results: _Results, found: ProblemLog) -> Status:
    nothing = all(row.is_empty for row in test.rows)
    if nothing and (test.error or test.rows):
        error, line = test.error or ("nothing was transferred", test.last_line)
        return found.fail("iperf2.failed", f"The test failed: {error}.", _AGAIN, line)
    refused = test.is_csv and test.is_udp  # A client without server says so after its own figures.
    if test.error is not None and "ack of last datagram" not in test.error.text and not refused:
        return found.cut("iperf2.interrupted", f"The test broke off: {test.error.text}.", _AGAIN, test.error.line)
    open_ids = [each for each in test.connections if not _has_result(test, each)]
    if open_ids or not test.connections or (test.cut_line is not None and test.is_csv):
        line = test.cut_line or test.last_line
        return found.cut("iperf2.cut-off", "The file ends inside a test: it was cut off.", _TRANSFER, line)
    return _judge_results(test, results, found)


def _has_result(test: Test, connection: str) -> bool:
    """Return whether a connection, or the way back (``*``), has a result."""
    ids = [connection] if f"*{connection}" in test.connections else [connection, f"*{connection}"]
    return any(test.find_result(each) is not None or test.find_result(each, is_report=True) is not None for each in ids)


def _judge_results(test: Test, results: _Results, found: ProblemLog) -> Status:
    """Judge a test with all connections ended, perhaps without a direction's result."""
    line = test.last_line
    missing = [way for way, row in results.items() if row is None]
    if missing and test.is_udp and test.role == "client":
        silent = [each for each in test.connections if test.find_result(each, is_report=True) is None]
        of = f" about connection {', '.join(silent)}" if any(row.is_report for row in test.rows) else ""
        message = f"There is no server report{of}: the received amount is unknown."
        return found.cut("iperf2.no-server-report", message, _AGAIN, line)
    if missing and not test.is_csv:
        message = "The sum of the connections is missing: the file was cut off."
        return found.cut("iperf2.cut-off", message, _TRANSFER, line)
    if missing:
        message = "There is no sum of the connections: each has its rate, but the test has none."
        return found.cut("iperf2.no-sum", message, "Use text instead of -y C, or iperf3, for parallel streams.", line)
    if any(row is not None and not row.rate.strip("0.") and not row.is_empty for row in results.values()):
        message = "The test was too short for a rate: bytes were moved, and the rate is 0."
        return found.cut("iperf2.no-rate", message, "Transfer more bytes.", line)
    for result in results.values():
        if result is not None and result is test.find_result(SUM):
            _check_sum(test, result, found)
    if len(results) > 1 and test.is_csv and not test.ended and not any("*" in each for each in test.ids):
        message = "The lines have no time: they were taken as one test in both directions, though -r makes two tests."
        found.note("iperf2.both-ways", message, "Use text instead of -y C for tests in both directions.", line)
    if not test.knows_direction:
        message = "These values are of a server, or of a client that received; the workload is open."
        found.note("iperf2.no-direction", message, "Give the workload (STRP or STRG) with the upload.", line)
    return Status.COMPLETE


def _check_sum(test: Test, sums: Row, found: ProblemLog) -> None:
    """Note a sum that ends before the connections (version 2.1): too high a rate."""
    longest = max((float(row.t1) for each in test.ids if (row := test.find_result(each))), default=0.0)
    if float(sums.t1) < longest:
        message = f"The sum's interval ends after {sums.t1} s, before its last connection does: its rate is too high."
        found.note("iperf2.short-sum", message, "Compare it with the listing of connections.", sums.line)


def _gather_facts(test: Test, results: _Results, into: FragmentBuilder) -> None:
    into.add_fact("factor.tool", NAME, test.first_line)
    if test.is_csv:
        into.add_fact("factor.protocol", "UDP" if test.is_udp else "TCP", test.first_line)
    for fact in test.facts.values():
        if fact.key != "message_bytes" or not test.is_bounceback:
            into.add_fact(fact.key, fact.text, fact.line)
    first = test.rows[0].line if test.rows else test.first_line
    into.add_fact("ports", join_ports(test.ports), first)
    into.add_fact("workload", _pattern(test), first)
    # Two connections in opposite directions are one user.
    ways = list(test.connections.values())
    if users := max((ways.count(way) for way in set(ways)), default=0):
        into.add_fact("users", str(users), first)
    into.add_printed("error", test.error)
    for way, row in results.items():
        suffix = f"_{way}" if len(results) > 1 else ""
        own = _find_sent(test, row)
        if own is not None:
            into.add_fact(f"sent_rate{suffix}", f"{own.rate} {own.rate_unit}", own.line)
        if row is not None:
            keys = ("busy_rps", "datagrams", f"one_way_latency_ms{suffix}", f"write_errors{suffix}")
            texts = map(row.more.get, ("busy_rps", "datagrams", "one_way_latency", "write_errors"))
            into.add_facts(keys, texts, row.line)


def _find_sent(test: Test, result: Row | None) -> Row | None:
    """Return the row with the UDP data that a client sent."""
    if result is not None:
        return test.find_result(result.id) if result.is_report else None
    if not test.is_udp or test.role != "client":
        return None
    ids = [each for each in test.connections if test.direction(each) == TO_SERVER]
    return test.find_result(ids[0] if len(ids) == 1 else SUM)


def _pattern(test: Test) -> str | None:
    ways = set(map(test.direction, test.ids)) or set(test.connections.values())
    if test.is_bounceback or not test.knows_direction or not ways:
        return "RR" if test.is_bounceback else None
    return "STRB" if len(ways) > 1 else "STRP" if TO_SERVER in ways else "STRG"


def _gather_row(test: Test, row: Row, way: str, role: str, into: FragmentBuilder) -> None:
    """Keep a direction's result."""
    if row.has_duration:
        into.add_raw_number(("driver_s", "sec", role), row.t1, row.line)
    if not test.is_bounceback:
        into.add_raw_number(("mb_per_s", row.rate_unit, role), row.rate, row.line)
        if test.knows_direction:
            is_received = row.is_report or (way == TO_CLIENT) is (test.role == "client")
            name = "bytes_received" if is_received else "bytes_sent"
            into.add_raw_number((name, row.transfer_unit, role), row.transfer, row.line)
    own = test.find_result(row.id) if row.is_report else None
    if own is not None:
        into.add_raw_number(("bytes_sent", own.transfer_unit, role), own.transfer, own.line)
    for name, unit in _MORE.items():
        if name in row.more:
            into.add_raw_number((name, unit, role), row.more[name], row.line)
    if "latency_mean_ms" in row.more:
        into.add_raw_number(("response_ms", "ms", role), row.more["latency_mean_ms"], row.line)
    if row.more.get("rtt", "0").strip("0") and row.id != SUM:
        into.add_raw_number(("rtt_ms", "us", role), row.more["rtt"], row.line)


def _intervals(test: Test, listed: Sequence[str]) -> Iterator[ListingRow]:
    """Yield the rows that are no results; only the sums if there are any."""
    results = {row.line for each in (*listed, SUM) if (row := test.find_result(each)) is not None}
    rows = [row for row in test.rows if row.line not in results and not row.is_report]
    ids = {row.id for row in rows}
    first = _INTERVAL if len(ids) == 1 or SUM in ids else _INTERVAL_OF_ONE
    for row in rows:
        if row.id == SUM or SUM not in ids:
            texts = [row.t0, row.t1] if first is _INTERVAL else [row.id, row.t0, row.t1]
            yield _list_row(row, first, texts)


def _connections(test: Test, listed: Sequence[str]) -> Iterator[ListingRow]:
    for each, is_report in product(listed, (False, True)):
        if (row := test.find_result(each, is_report=is_report)) is not None:
            yield _list_row(row, _CONNECTION, [each.strip("*"), row.t1])


def _list_row(row: Row, first: tuple[Column, ...], texts: list[str]) -> ListingRow:
    more = row.more
    texts += (row.transfer, row.rate, *more.values())
    return row.line, first + _columns(row.transfer_unit, row.rate_unit, row.is_report, tuple(more)), texts


@lru_cache(256)
def _columns(transfer_unit: str, rate_unit: str, is_report: bool, more: tuple[str, ...]) -> tuple[Column, ...]:
    always = ("received" if is_report else "bytes", transfer_unit), ("throughput", rate_unit)
    return *always, *((name.removesuffix("_ms"), _COLUMN_UNITS[name]) for name in more)
