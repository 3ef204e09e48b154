"""Figures of netperf's classic tables, by the number of the column; units are in the heading."""

import re
from collections.abc import Sequence

from importers.fragment_builder import Gathered, Printed
from importers.netperf.banner import Shape
from importers.netperf.processors import Processors
from importers.netperf.scan import Test

# Number of columns in the first and the second line, without and with CPU figures.
_OF_STREAM, _OF_TRANSACTIONS, _OF_DATAGRAMS = ((5, 9),), ((6, 10), (2,)), ((6, 8), (4, 6))
_RATE = re.compile(r"(?:10\^\d+\s*bits|[KMGT]?Bytes)\s*/s(?:ec)?")
_DEMAND = re.compile(r"us/\w+")
_METHOD = re.compile(r"%(?: ([A-Z]{1,2}))?(?=\s|$)")


def find_odd_line(test: Test) -> int | None:
    """Return the line of figures with a wrong number of columns, if any."""
    if test.misfit is not None or test.kind is None:
        return test.misfit
    for row, counts in zip(test.rows, _column_counts(test.kind.shape), strict=False):
        if len(row.cells) not in counts:
            return row.line
    return None


def is_whole(test: Test) -> bool:
    """Return whether the table has all its lines."""
    return test.kind is not None and len(test.rows) == len(_column_counts(test.kind.shape))


def _column_counts(shape: Shape) -> tuple[tuple[int, ...], ...]:
    # Comparing is faster than looking up an enumeration's member in a dictionary.
    return _OF_STREAM if shape is Shape.STREAM else _OF_DATAGRAMS if shape is Shape.DATAGRAMS else _OF_TRANSACTIONS


def find_rate_unit(test: Test) -> str:
    """Return the heading's unit of throughput (``10^6bits/s``); "" if hidden by ``-P 0``."""
    found = _RATE.search(test.units.text) if test.units else None
    return re.sub(r"\s", "", found[0]) if found else ""


def gather_figures(test: Test, into: Gathered, cpu: Processors) -> None:
    """Keep the figures of a whole table."""
    if test.kind is None:
        return
    shape = test.kind.shape
    gather = _gather_transactions
    if shape is not Shape.TRANSACTIONS:
        gather = _gather_stream if shape is Shape.STREAM else _gather_datagrams
    gather(test, into, cpu)
    into.say("title", test.rows[0].rest, test.rows[0].line)


def _gather_stream(test: Test, into: Gathered, cpu: Processors) -> None:
    row = test.rows[0]
    into.say_all(("socket.recv_bytes", "socket.send_bytes", "message_bytes"), row.cells[:3], row.line)
    into.measure(("driver_s", "s", "total"), row.cells[3], row.line)
    _gather_throughput(row.at(4), find_rate_unit(test), into)
    if len(row.cells) > 5:
        _read_processors(test, [row.at(place) for place in range(5, 9)], cpu)


def _gather_transactions(test: Test, into: Gathered, cpu: Processors) -> None:
    row, remote = test.rows[0], test.rows[1]
    keys = ("local_send", "local_recv", "remote_send", "remote_recv")
    for key, printed in zip(keys, (row.at(0), row.at(1), remote.at(0), remote.at(1)), strict=True):
        into.fact(f"socket.{key}_bytes", printed)
    for key, place in (("request_bytes", 2), ("response_bytes", 3)):
        printed = row.at(place)
        closes_only = test.banner is not None and "CLOSE" in test.banner.test.upper()
        into.fact(key, Printed("0", row.line) if closes_only else printed)
    into.reading("driver_s", row.at(4), "s")
    into.reading("trans_per_s", row.at(5), "trans/s")
    _read_processors(test, [row.at(place) for place in range(6, 10)], cpu)


def _gather_datagrams(test: Test, into: Gathered, cpu: Processors) -> None:
    """Keep figures of datagrams; the receiver's line, the second, has the throughput."""
    sent, received = test.rows[0], test.rows[1]
    unit = find_rate_unit(test)
    into.fact("socket.send_bytes", sent.at(0))
    into.fact("socket.recv_bytes", received.at(0))
    into.fact("message_bytes", sent.at(1))
    into.reading("driver_s", sent.at(2), "s")
    into.fact("messages_sent", sent.at(3))
    into.reading("errors", sent.at(4), "errors")
    rate = sent.at(5)
    into.fact("sent_throughput", Printed(f"{rate.text} {unit}", rate.line) if rate else None)
    into.fact("messages_received", received.at(2))
    _gather_throughput(received.at(3), unit, into)
    _read_processors(test, [sent.at(6), received.at(4), sent.at(7), received.at(5)], cpu)


def _gather_throughput(printed: Printed | None, unit: str, into: Gathered) -> None:
    if unit:  # Depends on -f, and is unknown without heading.
        into.reading("mb_per_s", printed, unit)


def _read_processors(test: Test, cells: Sequence[Printed | None], cpu: Processors) -> None:
    """Take CPU % of the local and the remote machine, then both service demands."""
    heading = test.units.text if test.units else ""
    letters = [letter for found in _METHOD.finditer(heading) for letter in found[1] or " "]
    methods = [letters[end].strip() if end < len(letters) else "" for end in range(2)]
    demand = _DEMAND.search(heading)
    unit = demand[0] if demand else ""
    cpu.local.take(cells[0], cells[2], methods[0], unit)
    cpu.remote.take(cells[1], cells[3], methods[1], unit)
