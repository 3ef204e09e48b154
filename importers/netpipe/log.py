"""NetPIPE's curves: a result a message size, from its log or from its table (np.out)."""

import re

from importers.gathering import Gathered, Printed
from importers.model import Fragment, Kind, Parsed, Status, Text
from importers.problem_log import ProblemLog
from importers.repeats import number_trials

NAME = "netpipe"
TITLE = "NetPIPE log or table"
VERSION = 1

_HEAD_LINES = 50
_LOGGED = re.compile(
    r"\s*\d+:\s+(?P<bytes>\d+) bytes\s+(?P<times>\d+) times -->\s+(?P<rate>[\d.]+) Mbps in\s+(?P<time>[\d.]+) usec\s*"
)
_TABLED = re.compile(r"\s*(?P<bytes>\d{1,15})\s+(?P<rate>\d+\.\d{6})\s+(?P<time>\d+\.\d{8})\s*")
_BUFFERS = re.compile(r"Send and receive buffers are (\d+) and (\d+) bytes")
_KNOWN = re.compile(r"Sending output to .*|\(A bug in Linux doubles.*|Now starting the main loop.*|\d+: \S+.*")
# NetPIPE's megabit has 2^20 bits.
_MEGABITS = "Mbit/s 2^20"


def recognise(text: Text) -> bool:
    """A line of its log, or a table of nothing but its three columns."""
    head = [line for line in text.lines[:_HEAD_LINES] if line.strip()]
    return any(_LOGGED.fullmatch(line) for line in head) or (
        bool(head) and all(_TABLED.fullmatch(line) for line in head[:-1]) and _TABLED.fullmatch(head[0]) is not None
    )


def parse(text: Text) -> Parsed:
    """One fragment a size. A last line without end may be half a figure and does not count."""
    found = ProblemLog(text.name)
    common = Gathered()
    fragments, unknown = [], []
    whole = len(text.lines) if text.ends_whole else len(text.lines) - 1
    for number, line in text.numbered():
        if number > whole or not line.strip():
            continue
        logged = _LOGGED.fullmatch(line)
        result = logged or _TABLED.fullmatch(line)
        if result is not None:
            fragments.append(_read(text.name, result, number, common, "usec" if logged else "s"))
        elif not _take(common, line, number):
            unknown.append(number)
    _report(text, fragments, unknown, found)
    return Parsed(number_trials(fragments), found.problems)


def _take(common: Gathered, line: str, number: int) -> bool:
    """What stands above the results and holds for all of them."""
    buffers = _BUFFERS.match(line)
    if buffers is not None:
        common.fact("socket.send_bytes", Printed(buffers[1], number))
        common.fact("socket.recv_bytes", Printed(buffers[2], number))
    return buffers is not None or _KNOWN.fullmatch(line) is not None


def _read(file: str, result: re.Match[str], line: int, common: Gathered, unit: str) -> Fragment:
    """A size: the message goes there and comes back, and its time is printed one way."""
    into = Gathered(common.facts)
    for key, text in (
        ("factor.tool", NAME),
        ("users", "1"),
        ("workload", "RR"),
        ("request_bytes", result["bytes"]),
        ("response_bytes", result["bytes"]),
        ("think_ms", "0"),  # Each message is sent when the one before is back; only streaming never waits.
        ("repetitions", result.groupdict().get("times", "")),
    ):
        into.fact(key, Printed(text, line))
    into.reading("mb_per_s", Printed(result["rate"], line), _MEGABITS)
    into.reading("response_ms", Printed(result["time"], line), f"{unit} one way")
    return Fragment(
        file=file,
        format=NAME,
        format_version=VERSION,
        kind=Kind.DRIVER,
        first_line=line,
        last_line=line,
        role="client",
        status=Status.COMPLETE,
        facts=into.facts,
        readings=into.readings,
    )


def _report(text: Text, fragments: list[Fragment], unknown: list[int], found: ProblemLog) -> None:
    """Each size is a result of its own, so that a log that breaks off is only short of sizes."""
    if not text.ends_whole:
        message = "The file ends inside a line: the curve was cut off, and further sizes may be missing."
        found.warn("netpipe.cut-off", message, "Transfer the file again.", len(text.lines))
    if unknown and fragments:
        message = f"{len(unknown)} lines are none of NetPIPE's and were left out."
        found.note("netpipe.unknown-lines", message, "See whether they matter.", unknown[0])
