"""nuttcp: results as printed by the client."""

import re
from collections.abc import Container, Iterator, Sequence
from functools import lru_cache

from importers.fragment_builder import FragmentBuilder, Printed, driver_fragment
from importers.listing_columns import Column, Row, listing
from importers.model import Fragment, Parsed, Status, Text
from importers.nuttcp import scan
from importers.nuttcp.scan import Test, Transfer
from importers.problem_log import ProblemLog
from importers.tcp_segments import mtu_of
from importers.trial_numbers import number_trials

NAME = "nuttcp"
TITLE = "nuttcp result"
VERSION = 4

_AGAIN = "Measure again."
_STREAMS = re.compile(r"(?:^|\s)-N\s*(\S*)")
_FIGURES = (
    ("retransmits", "retransmits", "count"),
    ("packets_lost", "lost", "count"),
    ("loss_percent", "percent", "%"),
    ("rtt_ms", "rtt", "ms"),
)
_COLUMNS = {
    "retransmits": ("retransmits", "count"),
    "lost": ("lost_packets", "count"),
    "packets": ("packets", "count"),
    "percent": ("lost_percent", "%"),
}

_Figure = tuple[str, Printed]
"""Name and text of a further figure."""


def recognise(text: Text) -> bool:
    """Look for a line that only nuttcp prints."""
    return scan.recognise(text)


def parse(text: Text) -> Parsed:
    """Return a fragment for each test."""
    found = ProblemLog(text.name)
    fragments = [_read(test, text.name, found) for test in scan.scan_tests(text)]
    return Parsed(number_trials(fragments), found.problems)


def _read(test: Test, file: str, found: ProblemLog) -> Fragment:
    status = _judge(test, found)
    workload = _find_workload(test)
    if status is Status.COMPLETE and workload is None:
        remedy = "Give the workload (STRP or STRG) with the upload, or measure with -v."
        found.note("nuttcp.no-direction", "The result does not say which side sent.", remedy, test.last_line)
    into, figures = FragmentBuilder(), list(_list_figures(test))
    _gather_facts(test, status, workload, figures, into)
    _gather_readings(test, status, workload, dict(figures), into)
    source, lines = (file, NAME, VERSION), (test.first_line, test.last_line)
    listings = listing("intervals", map(_list_interval, test.intervals))
    return driver_fragment(source, lines, status, into.facts, into.readings, listings=listings)


def _judge(test: Test, found: ProblemLog) -> Status:
    if test.error is not None:
        found.warn("nuttcp.failed", f"The test failed: {test.error.text}.", _AGAIN, test.error.line)
        return Status.FAILED
    if test.interrupted is not None:
        message = "The test was interrupted; what was transferred until then is kept without a throughput."
        found.warn("nuttcp.interrupted", message, _AGAIN, test.interrupted)
        return Status.INCOMPLETE
    received = _find_received(test)
    if received is not None and scan.is_zero(received.transfer):
        found.warn("nuttcp.failed", "Nothing was transferred.", _AGAIN, received.line)
        return Status.FAILED
    if not test.is_over or received is None:
        message = "The test has no result: the file was cut off, or nuttcp was killed."
        found.warn("nuttcp.cut-off", message, "Transfer the file again and import it.", test.last_line)
        return Status.INCOMPLETE
    return Status.COMPLETE


def _find_received(test: Test) -> Transfer | None:
    """Return the received transfer: the result's line, in verbose output the receiver's."""
    sides = (side.transfer for side in test.sides if side.letter == "r")
    return test.result or next(sides, None)


def _find_workload(test: Test) -> str | None:
    """Return the direction by the first side, else by the command's ``-r``."""
    if test.sides:
        return "STRP" if test.sides[0].letter == "t" else "STRG"
    options = test.command.text.split() if test.command else ["-F"]
    if "-F" in options:
        return None
    return "STRG" if "-r" in options else "STRP"


def _gather_facts(
    test: Test, status: Status, workload: str | None, figures: Sequence[_Figure], into: FragmentBuilder
) -> None:
    into.add_facts(("factor.tool", "workload"), (NAME, workload), test.first_line)
    if test.command is not None:
        _gather_command(test.command, test.facts, into)
    for fact in test.facts.values():
        is_protocol = fact.key == "protocol"
        key, text = ("factor.protocol", fact.text.upper()) if is_protocol else (fact.key, fact.text)
        into.add_fact(key, text, fact.line)
        if fact.key == "mss":
            into.add_fact("mtu", mtu_of(fact.text), fact.line)
    if test.error is not None:
        into.add_raw_fact("error", *test.error)
    if test.result is not None and not test.sides:
        into.add_fact("factor.protocol", _find_protocol(test.result), test.result.line)
    measured = next((line for key, (_, line) in figures if key.endswith("_cpu")), None)
    if measured is not None:
        into.add_fact("cpu_scope", "process", measured)
    for side in test.sides:
        if side.letter == "t" and side.transfer is not None:
            into.add_fact("sent_rate", f"{side.transfer.rate} {side.transfer.rate_unit}", side.transfer.line)
    if status is not Status.COMPLETE and (so_far := _find_received(test)) is not None:
        into.add_fact("rate_so_far", f"{so_far.rate} {so_far.rate_unit}", so_far.line)


def _gather_command(command: Printed, known: Container[str], into: FragmentBuilder) -> None:
    """Keep the command and, unless known, the number of streams."""
    into.add_fact("command_line", f"nuttcp {command.text}", command.line)
    streams = _STREAMS.search(command.text)
    if "users" not in known and (streams is None or streams[1].isdecimal()):
        into.add_fact("users", streams[1] if streams else "1", command.line)


def _find_protocol(result: Transfer) -> str:
    """Return the protocol by the columns.

    Only UDP loses datagrams; only TCP has retransmits and round trips.
    """
    if "packets" in result.more:
        return "UDP"
    return "TCP" if result.more.keys() & {"retransmits", "rtt"} else ""


def _gather_readings(
    test: Test, status: Status, workload: str | None, figures: dict[str, Printed], into: FragmentBuilder
) -> None:
    received = _find_received(test)
    if received is not None and status is not Status.FAILED:
        if status is Status.COMPLETE:
            into.add_raw_number(("mb_per_s", received.rate_unit, "total"), received.rate, received.line)
        into.add_raw_number(("bytes_received", "MB", "total"), received.transfer, received.line)
        into.add_raw_number(("driver_s", "s", "total"), received.seconds, received.line)
    for sent in (side.transfer for side in test.sides if side.letter == "t"):
        if sent is not None and status is not Status.FAILED:
            into.add_raw_number(("bytes_sent", "MB", "total"), sent.transfer, sent.line)
    for name, key, unit in _FIGURES:
        if key in figures:
            into.add_raw_number((name, unit, "total"), *figures[key])
    roles = {"STRP": ("client", "server"), "STRG": ("server", "client")}.get(workload or "", ("sender", "receiver"))
    for role, key in zip(roles, ("sender_cpu", "receiver_cpu"), strict=True):
        if key in figures:
            into.add_raw_number(("processor_util", "%", role), *figures[key])


def _list_figures(test: Test) -> Iterator[_Figure]:
    """Yield the further figures; in verbose output of both sides."""
    if test.result is not None:
        yield from ((key, Printed(text, test.result.line)) for key, text in test.result.more.items())
    for side in test.sides:
        name = "sender_cpu" if side.letter == "t" else "receiver_cpu"
        yield from ((name if key == "cpu" else key, figure) for key, figure in side.figures.items())


def _list_interval(each: Transfer) -> Row:
    more = each.more
    keys, columns = _columns(each.rate_unit, frozenset(more))
    return each.line, columns, [each.seconds, each.transfer, each.rate, *(more[key] for key in keys)]


@lru_cache(64)
def _columns(unit: str, more: frozenset[str]) -> tuple[tuple[str, ...], tuple[Column, ...]]:
    """Return the further figures of the listing, and all columns."""
    keys = tuple(key for key in _COLUMNS if key in more)
    return keys, (("seconds", "s"), ("bytes", "MB"), ("throughput", unit), *(_COLUMNS[key] for key in keys))
