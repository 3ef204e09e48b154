"""Figures of netperf's classic tables by column; units are in the heading."""

import re
from collections.abc import Sequence

from importers.fragment_builder import FragmentBuilder, Printed
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
    gather = _gather_transactions
    if shape is not Shape.TRANSACTIONS:
        gather = _gather_stream if shape is Shape.STREAM else _gather_datagrams
    gather(test, into, cpu)
    into.add_fact("title", test.rows[0].rest, test.rows[0].line)


def _gather_stream(test: Test, into: FragmentBuilder, cpu: Processors) -> None:
    row = test.rows[0]
    into.add_facts(("socket.recv_bytes", "socket.send_bytes", "message_bytes"), row.cells[:3], row.line)
    into.add_number(("driver_s", "s", "total"), row.cells[3], row.line)
    _gather_throughput(row.cell(4), find_rate_unit(test), into)
    if len(row.cells) > 5:
        _read_processors(test, [row.cell(place) for place in range(5, 9)], cpu)


def _gather_transactions(test: Test, into: FragmentBuilder, cpu: Processors) -> None:
    row, remote = test.rows[0], test.rows[1]
    keys = ("local_send", "local_recv", "remote_send", "remote_recv")
    for key, printed in zip(keys, (row.cell(0), row.cell(1), remote.cell(0), remote.cell(1)), strict=True):
        into.add_printed(f"socket.{key}_bytes", printed)
    for key, place in (("request_bytes", 2), ("response_bytes", 3)):
        printed = row.cell(place)
        closes_only = test.banner is not None and "CLOSE" in test.banner.test.upper()
        into.add_printed(key, Printed("0", row.line) if closes_only else printed)
    into.add_reading("driver_s", row.cell(4), "s")
    into.add_reading("trans_per_s", row.cell(5), "trans/s")
    _read_processors(test, [row.cell(place) for place in range(6, 10)], cpu)


def _gather_datagrams(test: Test, into: FragmentBuilder, cpu: Processors) -> None:
    """Keep figures of datagrams; the receiver's line, the second, has the throughput."""
    sent, received = test.rows[0], test.rows[1]
    unit = find_rate_unit(test)
    into.add_printed("socket.send_bytes", sent.cell(0))
    into.add_printed("socket.recv_bytes", received.cell(0))
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
