"""fping: the times of every host (``-C``), or a summary of each host (``-c``)."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from importers.fragment_builder import FragmentBuilder, build_fragment
from importers.model import Fragment, Listing, ProblemLog, Status

_TIMES = re.compile(r"(?P<server>\S+)\s+:(?P<times>(?: (?:\d+(?:\.\d+)?|-)){2,})\s*")
_REPLY = re.compile(
    r"(?:\[(?P<epoch>[\d.]+)\] )?(?P<server>\S+)\s+: \[(?P<seq>\d+)\], (?:\d+ bytes, (?P<time>[\d.]+) ms|timed out).*"
)
_SUMMARY = re.compile(
    r"(?P<server>\S+)\s+: xmt/rcv/%loss = (?P<sent>\d+)/(?P<received>\d+)/(?P<loss>[\d.]+)%"
    r"(?:, min/avg/max = (?P<min>[\d.]+)/(?P<mean>[\d.]+)/(?P<max>[\d.]+))?\s*"
)
_KEYS = ("factor.tool", "factor.protocol", "workload", "users", "server")
_COLUMNS = (("n", ""), ("response_ms", "ms"))
_Source = tuple[str, str, int]
"""File, format and version."""


@dataclass(slots=True)
class _Rows:
    """The echoes of a host."""

    cells: list[tuple[str, str | None]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)


def recognise(lines: Iterable[str]) -> bool:
    """Return whether all lines are fping's; a few such lines are no proof."""
    matches = map(_match, lines)
    return next(matches, None) is not None and None not in matches


def read_hosts(source: _Source, lines: Iterable[tuple[int, str]], found: ProblemLog) -> Iterator[Fragment]:
    """Yield a fragment for each host, from times or from a summary with replies."""
    replies: dict[str, _Rows] = {}
    for number, line in lines:
        match = _match(line)
        if match is None:
            continue
        if match.re is _REPLY:
            rows = replies.setdefault(match["server"], _Rows())
            rows.cells.append((match["seq"], match["time"]))
            rows.lines.append(number)
        elif match.re is _SUMMARY:
            rows = replies.pop(match["server"], _Rows())
            yield _read_summary(source, match, number, rows, found)
        else:
            yield _read_times(source, match, number, found)
    for server, rows in replies.items():
        message = f"The summary of {server} is missing: fping was killed, or the file was cut off."
        found.warn("ping.cut-off", message, "Transfer the report again, or measure again.", rows.lines[-1])


def _match(line: str) -> re.Match[str] | None:
    """Return the match of a line by the text behind the colon."""
    pattern = _REPLY if ": [" in line else _SUMMARY if ": xmt" in line else _TIMES
    return pattern.fullmatch(line)


def _read_times(source: _Source, line: re.Match[str], number: int, found: ProblemLog) -> Fragment:
    server, printed = line.groups()
    times = [None if text == "-" else text for text in printed.split()]
    answered = [time for time in times if time is not None]
    into = _begin(server, number)
    into.add_fact("samples_response_ms", " ".join(answered), number)
    into.add_facts(("packets_sent", "packets_received"), (str(len(times)), str(len(answered))), number)
    if answered:
        # The line has no summary, so lost echoes are counted here.
        lost = 100 * (len(times) - len(answered)) / len(times)
        into.add_number(("loss_percent", "%", "total"), f"{lost:.2f}".rstrip("0").rstrip("."), number)
    cells = [(str(place), time) for place, time in enumerate(times)]
    status = _judge(not answered, server, number, found)
    return _build_fragment(source, number, into, _Rows(cells, [number] * len(cells)), status)


def _read_summary(source: _Source, line: re.Match[str], number: int, rows: _Rows, found: ProblemLog) -> Fragment:
    server, sent, received, loss, *times = line.groups()
    into = _begin(server, number)
    into.add_facts(("packets_sent", "packets_received"), (sent, received), number)
    status = _judge(not received.strip("0"), server, number, found)
    if status is Status.COMPLETE:
        into.add_number(("response_ms", "ms", "total"), times[1], number)
        for name, time in zip(("min", "mean", "max"), times, strict=True):
            into.add_number((f"latency_{name}_ms", "ms", "total"), time, number)
        into.add_number(("loss_percent", "%", "total"), loss, number)
    return _build_fragment(source, number, into, rows, status)


def _begin(server: str, number: int) -> FragmentBuilder:
    into = FragmentBuilder()
    into.add_facts(_KEYS, ("fping", "ICMP", "PING", "1", server), number)
    return into


def _judge(lost: bool, server: str, number: int, found: ProblemLog) -> Status:
    if not lost:
        return Status.COMPLETE
    found.warn("ping.no-answer", f"No echo of {server} came back.", "See to the host and network.", number)
    return Status.FAILED


def _build_fragment(source: _Source, number: int, into: FragmentBuilder, rows: _Rows, status: Status) -> Fragment:
    lines = rows.lines[0] if rows.lines else number, number
    listings = (Listing("intervals", _COLUMNS, rows.cells, rows.lines),) if rows.lines else ()
    return build_fragment(source, lines, status, into.facts, into.readings, listings=listings)
