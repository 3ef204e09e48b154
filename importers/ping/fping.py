"""fping's lines: the times of every host (-C), or its summary (-c)."""

import re
from collections.abc import Iterable, Sequence

from importers.gathering import Gathered, Printed
from importers.model import Fragment, Kind, Listing, Status
from importers.problem_log import ProblemLog

_TIMES = re.compile(r"(?P<server>\S+)\s+:(?P<times>(?: (?:\d+(?:\.\d+)?|-)){2,})\s*")
_REPLY = re.compile(
    r"(?:\[(?P<epoch>[\d.]+)\] )?(?P<server>\S+)\s+: \[(?P<seq>\d+)\], (?:\d+ bytes, (?P<time>[\d.]+) ms|timed out).*"
)
_SUMMARY = re.compile(
    r"(?P<server>\S+)\s+: xmt/rcv/%loss = (?P<sent>\d+)/(?P<received>\d+)/(?P<loss>[\d.]+)%"
    r"(?:, min/avg/max = (?P<min>[\d.]+)/(?P<mean>[\d.]+)/(?P<max>[\d.]+))?\s*"
)
_PATTERNS = (_TIMES, _REPLY, _SUMMARY)


def recognise(lines: Iterable[str]) -> bool:
    """Whether all lines are fping's: a name, a colon and numbers alone say too little."""
    fitting = (any(pattern.fullmatch(line) for pattern in _PATTERNS) for line in lines)
    return next(fitting, False) and all(fitting)


def read(file: str, name: str, version: int, lines: Iterable[tuple[int, str]], found: ProblemLog) -> list[Fragment]:
    """One fragment a host: from its line of times, or from its summary with the replies above."""
    fragments = []
    replies: dict[str, list[tuple[str, str | None, int]]] = {}
    for number, line in lines:
        reply, summary, times = (pattern.fullmatch(line) for pattern in (_REPLY, _SUMMARY, _TIMES))
        if reply is not None:
            replies.setdefault(reply["server"], []).append((reply["seq"], reply["time"], number))
        elif summary is not None:
            rows = replies.pop(summary["server"], [])
            fragments.append(_fragment((file, name, version), summary, number, rows, found))
        elif times is not None:
            printed = enumerate(times["times"].split())
            rows = [(str(place), None if text == "-" else text, number) for place, text in printed]
            fragments.append(_fragment((file, name, version), times, number, rows, found))
    for server, rows in replies.items():
        message = f"The summary of {server} is missing: fping was killed, or the file was cut off."
        found.warn("ping.cut-off", message, "Transfer the report again, or measure again.", rows[-1][2])
    return fragments


def _fragment(
    source: tuple[str, str, int],
    line: re.Match[str],
    number: int,
    rows: Sequence[tuple[str, str | None, int]],
    found: ProblemLog,
) -> Fragment:
    into = Gathered()
    for key, text in (("factor.tool", "fping"), ("factor.protocol", "ICMP"), ("workload", "PING"), ("users", "1")):
        into.fact(key, Printed(text, number))
    into.fact("server", Printed(line["server"], number))
    groups = {key: Printed(text, number) for key, text in line.groupdict().items() if text}
    into.fact("packets_sent", groups.get("sent"))
    into.fact("packets_received", groups.get("received"))
    answered = [time for _, time, _ in rows if time is not None]
    if "times" in groups:
        into.fact("samples_response_ms", Printed(" ".join(answered), number))
    lost = not answered if "times" in groups else not groups["received"].text.strip("0")
    if lost:
        found.warn("ping.no-answer", f"No echo of {line['server']} came back.", "See to the host and network.", number)
    else:
        into.reading("response_ms", groups.get("mean"), "ms")
        for name in ("min", "mean", "max"):
            into.reading(f"latency_{name}_ms", groups.get(name), "ms")
        into.reading("loss_percent", groups.get("loss"), "%")
    file, tool, version = source
    columns = (("n", ""), ("response_ms", "ms"))
    cells = tuple((seq, time) for seq, time, _ in rows)
    listing = Listing("intervals", columns, cells, tuple(row[2] for row in rows))
    return Fragment(
        file=file,
        format=tool,
        format_version=version,
        kind=Kind.DRIVER,
        first_line=rows[0][2] if rows else number,
        last_line=number,
        role="client",
        status=Status.FAILED if lost else Status.COMPLETE,
        facts=into.facts,
        readings=into.readings,
        listings=(listing,) if rows else (),
    )
