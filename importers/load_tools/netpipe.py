"""NetPIPE: a result for each message size, from log or table (``np.out``)."""

import re
from collections.abc import Iterator

from importers.fragment_builder import FragmentBuilder
from importers.model import Fragment, ProblemLog, Status, Text
from importers.trial_numbers import number_each

NAME = "netpipe"
TITLE = "NetPIPE log or table"
VERSION = 3

_HEAD_LINES = 50
_DECIMAL = r"\d{1,15}(?:\.\d{1,15})?"
_LOGGED = re.compile(
    r"\s*\d+:\s+(?P<bytes>\d+) bytes\s+(?P<times>\d+) times -->"
    rf"\s+(?P<rate>{_DECIMAL}) Mbps in\s+(?P<time>{_DECIMAL}) usec\s*"
)
# Possessive, so that matching takes linear time.
_TABLED = re.compile(r"\s*+(?P<bytes>\d{1,15}+)\s++(?P<rate>\d{1,15}+\.\d{6})\s++(?P<time>\d{1,15}+\.\d{8})\s*+")
_BUFFERS = re.compile(r"Send and receive buffers are (\d+) and (\d+) bytes")
_KNOWN = re.compile(r"Sending output to .*|\(A bug in Linux doubles.*|Now starting the main loop.*|\d+: \S+.*")
_RATE = ("mb_per_s", "Mbit/s 2^20", "total")  # NetPIPE's megabit has 2^20 bits.
_KEYS = ("factor.tool", "users", "workload", "request_bytes", "response_bytes", "think_ms", "repetitions")


def recognise(text: Text) -> bool:
    """Look for a line of the log, or for a table with three columns."""
    head = [line for line in text.lines[:_HEAD_LINES] if line.strip()]
    return any(_LOGGED.fullmatch(line) for line in head) or (
        bool(head) and all(_TABLED.fullmatch(line) for line in head[:-1]) and _TABLED.fullmatch(head[0]) is not None
    )


def parse(text: Text, found: ProblemLog) -> Iterator[Fragment]:
    """Yield the fragments one by one: repeated curves have very many sizes."""
    return number_each(_results(text, found))


def _results(text: Text, found: ProblemLog) -> Iterator[Fragment]:
    unknown: list[int] = []
    is_empty = True
    buffers = FragmentBuilder()
    for number, line in text.whole():
        row = (_LOGGED.fullmatch(line) if ":" in line else None) or _TABLED.fullmatch(line)
        if row is not None:
            is_empty = False
            size, times = row["bytes"], row.groupdict().get("times")
            into = FragmentBuilder(buffers.facts)
            # think_ms is 0: each message is sent as soon as the one before is back.
            into.add_facts(_KEYS, (NAME, "1", "RR", size, size, "0", times), number)
            into.add_raw_number(_RATE, row["rate"], number)
            # The message goes there and comes back; its time is printed one way.
            into.add_raw_number(("response_ms", "usec one way" if times else "s one way", "total"), row["time"], number)
            source, lines = (text.name, NAME, VERSION), (number, number)
            yield into.build(source, lines, Status.COMPLETE)
        elif sizes := _BUFFERS.match(line):
            buffers = FragmentBuilder()  # Each log of a file has its own.
            buffers.add_facts(("window", "receive_window"), sizes.groups(), number)
        elif line.strip() and not _KNOWN.fullmatch(line):
            unknown.append(number)
    if not text.ends_whole:
        message = "The file ends inside a line: the curve was cut off, and further sizes may be missing."
        found.warn("netpipe.cut-off", message, "Transfer the file again.", len(text.lines))
    found.note_unknown_lines("netpipe.unknown-lines", "NetPIPE", [] if is_empty else unknown)
