"""NetPIPE's curves: a result a message size, from its log or from its table (np.out)."""

import re
from collections.abc import Iterator

from importers.fragment_builder import Gathered, of_client
from importers.model import Fragment, Parsed, Problem, Status, Text, make_readings
from importers.problem_log import ProblemLog
from importers.trial_numbers import number_each

NAME = "netpipe"
TITLE = "NetPIPE log or table"
VERSION = 2

_COMPLETE = Status.COMPLETE  # Python 3.11 looks a member of an enumeration up in four times the time.

_HEAD_LINES = 50
_DECIMAL = r"\d{1,15}(?:\.\d{1,15})?"
_LOGGED = re.compile(
    r"\s*\d+:\s+(?P<bytes>\d+) bytes\s+(?P<times>\d+) times -->"
    rf"\s+(?P<rate>{_DECIMAL}) Mbps in\s+(?P<time>{_DECIMAL}) usec\s*"
)
# Nothing of a row is tried twice.
_TABLED = re.compile(r"\s*+(?P<bytes>\d{1,15}+)\s++(?P<rate>\d{1,15}+\.\d{6})\s++(?P<time>\d{1,15}+\.\d{8})\s*+")
_BUFFERS = re.compile(r"Send and receive buffers are (\d+) and (\d+) bytes")
_KNOWN = re.compile(r"Sending output to .*|\(A bug in Linux doubles.*|Now starting the main loop.*|\d+: \S+.*")
# NetPIPE's megabit has 2^20 bits.
_RATE = ("mb_per_s", "Mbit/s 2^20", "total")
_LOGGED_HEADS = (_RATE, ("response_ms", "usec one way", "total"))
_TABLED_HEADS = (_RATE, ("response_ms", "s one way", "total"))
# Each message is sent when the one before is back; only streaming never waits.
_KEYS = ("factor.tool", "users", "workload", "request_bytes", "response_bytes", "think_ms")
_LOGGED_KEYS = (*_KEYS, "repetitions")
_SAID = (NAME, "1", "RR")


def recognise(text: Text) -> bool:
    """A line of its log, or a table of nothing but its three columns."""
    head = [line for line in text.lines[:_HEAD_LINES] if line.strip()]
    return any(_LOGGED.fullmatch(line) for line in head) or (
        bool(head) and all(_TABLED.fullmatch(line) for line in head[:-1]) and _TABLED.fullmatch(head[0]) is not None
    )


def parse(text: Text) -> Parsed:
    """One fragment a size. A last line without end may be half a figure and does not count."""
    problems: list[Problem] = []
    return Parsed(list(each(text, problems)), problems)


def each(text: Text, problems: list[Problem]) -> Iterator[Fragment]:
    """One fragment after the other: curves that are measured over and over have very many sizes."""
    unknown: list[int] = []
    is_empty = True
    for fragment in number_each(_results(text, unknown)):
        is_empty = False
        yield fragment
    _report(text, [] if is_empty else unknown, ProblemLog(text.name, problems=problems))


def _results(text: Text, unknown: list[int]) -> Iterator[Fragment]:
    """The sizes, one after another; lines that are none of NetPIPE's go to ``unknown``."""
    common, written = Gathered(), (text.name, NAME, VERSION)
    for number, line in text.whole():
        # A size: the message goes there and comes back, and its time is printed one way.
        if ":" in line and (logged := _LOGGED.fullmatch(line)):
            size, times, *figures = logged.groups()
            facts = common.facts_with(_LOGGED_KEYS, (*_SAID, size, size, "0", times), number)
            yield of_client(written, (number, number), _COMPLETE, facts, make_readings(_LOGGED_HEADS, figures, number))
        elif tabled := _TABLED.fullmatch(line):
            size, *figures = tabled.groups()
            facts = common.facts_with(_KEYS, (*_SAID, size, size, "0"), number)
            yield of_client(written, (number, number), _COMPLETE, facts, make_readings(_TABLED_HEADS, figures, number))
        elif buffers := _BUFFERS.match(line):
            common = _common(buffers, number)
        elif line.strip() and not _KNOWN.fullmatch(line):
            unknown.append(number)


def _common(buffers: re.Match[str], line: int) -> Gathered:
    """What stands above the results of a log and holds for them; of several logs in one file each has its own."""
    common = Gathered()
    common.say_all(("socket.send_bytes", "socket.recv_bytes"), buffers.groups(), line)
    return common


def _report(text: Text, unknown: list[int], found: ProblemLog) -> None:
    """Each size is a result of its own, so that a log that breaks off is only short of sizes."""
    if not text.ends_whole:
        message = "The file ends inside a line: the curve was cut off, and further sizes may be missing."
        found.warn("netpipe.cut-off", message, "Transfer the file again.", len(text.lines))
    if unknown:
        message = f"{len(unknown)} lines are none of NetPIPE's and were left out."
        found.note("netpipe.unknown-lines", message, "See whether they matter.", unknown[0])
