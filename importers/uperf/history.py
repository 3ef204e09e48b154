"""The history that ``uperf -X`` writes: a line for each operation, of which the moments are taken."""

import re
from collections.abc import Iterator
from itertools import islice

from importers.fragment_builder import Gathered, Printed, from_epoch
from importers.model import Fragment, Kind, Parsed, Text
from importers.problem_log import ProblemLog

# Process, thread, kind of operation, its end and its duration, both in nanoseconds.
_LINE = re.compile(r"\s*\d+\s+\d{6,}\s+\d{1,3}\s+(?P<end>\d{19})\s+\d+\s*")
_HEAD = 5


def recognise(text: Text) -> bool:
    """Whether the first lines are such lines; threads write at once, so one of them may be cut into another."""
    head = [line for line in islice(text.lines, _HEAD) if line.strip()]
    fitting = sum(_LINE.fullmatch(line) is not None for line in head)
    return fitting > 0 and fitting >= len(head) - 1


def parse(text: Text, name: str, version: int) -> Parsed:
    """A report with the time from the first to the last whole line. What the operations took stays in the file."""
    found = ProblemLog(text.name)
    whole = _whole_lines(text)
    first_line, first = next(whole)
    last_line, latest, count = first_line, first, 1
    for number, end in whole:
        last_line, latest, count = number, max(latest, end), count + 1
    gathered = Gathered()
    gathered.fact("history.first_end_ns", Printed(first, first_line))
    gathered.fact("history.last_end_ns", Printed(latest, last_line))
    odd = sum(1 for line in text.lines if line.strip()) - count
    if odd:
        message = f"{odd} lines of the history are not five numbers; they were left out."
        found.note("uperf.torn-lines", message, "None is needed: threads that write at once tear each other's lines.")
    moments = [_moment(end) for end in (first, latest)]
    fragment = Fragment(
        file=text.name,
        format=name,
        format_version=version,
        kind=Kind.REPORT,
        first_line=first_line,
        last_line=last_line,
        taken=from_epoch(moments[0]),
        ended=from_epoch(moments[1]),
        zone="+00:00",
        facts=gathered.facts,
    )
    return Parsed([fragment], found.problems)


def _whole_lines(text: Text) -> Iterator[tuple[int, str]]:
    for number, line in text.numbered():
        match = _LINE.fullmatch(line)
        if match is not None:
            yield number, match["end"]


def _moment(nanoseconds: str) -> str:
    """Nanoseconds since 1970 as seconds, by placing the point."""
    return f"{nanoseconds[:-9]}.{nanoseconds[-9:]}"
