"""uperf's history of operations (``uperf -X``), of which only the times are read."""

import re
from itertools import islice

from importers.fragment_builder import FragmentBuilder, Printed, build_fragment, from_epoch
from importers.model import Kind, Parsed, ProblemLog, Status, Text

# Process, thread, kind of operation, its end and its duration, both in nanoseconds.
_LINE = re.compile(r"\s*\d+\s+\d{6,}\s+\d{1,3}\s+(?P<end>\d{19})\s+\d+\s*")
_HEAD = 5


def recognise(text: Text) -> bool:
    """Look for lines of five numbers; threads may have torn one line."""
    head = [line for line in islice(text.lines, _HEAD) if line.strip()]
    fitting = sum(_LINE.fullmatch(line) is not None for line in head)
    return fitting > 0 and fitting >= len(head) - 1


def parse(text: Text, name: str, version: int) -> Parsed:
    """Return a report with the time from the first to the last operation."""
    found = ProblemLog(text.name)
    whole = ((number, match["end"]) for number, line in text.numbered() if (match := _LINE.fullmatch(line)))
    first_line, first = next(whole)
    last_line, latest, count = first_line, first, 1
    for number, end in whole:
        last_line, latest, count = number, max(latest, end), count + 1
    gathered = FragmentBuilder()
    gathered.add_printed("history.first_end_ns", Printed(first, first_line))
    gathered.add_printed("history.last_end_ns", Printed(latest, last_line))
    odd = sum(1 for line in text.lines if line.strip()) - count
    if odd:
        message = f"{odd} lines of the history are not five numbers; they were left out."
        found.note("uperf.torn-lines", message, "None is needed: threads that write at once tear each other's lines.")
    taken, ended = (from_epoch(f"{nanoseconds[:-9]}.{nanoseconds[-9:]}") for nanoseconds in (first, latest))
    source, lines, zone = (text.name, name, version), (first_line, last_line), "+00:00"
    facts, kind = gathered.facts, Kind.REPORT
    fragment = build_fragment(
        source, lines, Status.COMPLETE, facts, kind=kind, role=None, taken=taken, ended=ended, zone=zone
    )
    return Parsed([fragment], found.problems)
