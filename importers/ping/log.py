"""ping (iputils, BSD, busybox, Windows) and fping: response times and losses of echoes."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from importers.files.typed_commands import find_command
from importers.fragment_builder import FragmentBuilder, Printed, from_epoch
from importers.model import Fragment, Listing, Parsed, Problem, ProblemLog, Status, Text
from importers.trial_numbers import number_each

NAME = "ping"
TITLE = "ping or fping report"
VERSION = 3

_HEAD_LINES = 50
_HEADS = tuple(
    re.compile(pattern)
    for pattern in (
        r"PING6? ?(?P<server>[^\s(]+) ?\((?P<address>.+?)\)(?: from (?P<client>\S+)(?: \S+)?)?:? "
        r"(?P<bytes>\d+)(?:\(\d+\))? (?:data )?bytes(?: of data)?\.?\s*",
        r"PING6\(\d+=40\+8\+(?P<bytes>\d+) bytes\) (?P<client>\S+) --> (?P<server>\S+)\s*",
        r"Pinging (?P<server>\S+)(?: \[(?P<address>[^\]]+)\])?(?: from (?P<client>\S+))?"
        r" with (?P<bytes>\d+) bytes of data:\s*",
    )
)
_REPLY = re.compile(
    r"(?:\[(?P<epoch>\d+\.\d+)\] )?(?:\d+ bytes from .+?[:,] (?:icmp_)?seq=(?P<seq>\d+) |Reply from \S+: )"
    r".*?time[=<](?P<time>[\d.]+) ?ms.*"
)
_NAMED = re.compile(r"--- (?P<server>\S+) ping6? statistics ---\s*|Ping statistics for (?P<address>\S+):\s*")
_STATISTICS = re.compile(
    r"(?P<sent>\d+) packets transmitted, (?P<received>\d+) (?:packets )?received,"
    r"(?: (?:\+(?P<duplicates>\d+) duplicates|\+(?P<errors>\d+) errors),)* (?P<loss>[\d.]+)% packet loss"
    r"(?:, time (?P<time>\d+)ms)?\s*"
    r"|\s+Packets: Sent = (?P<sent_w>\d+), Received = (?P<received_w>\d+), Lost = \d+ \((?P<loss_w>\d+)% loss\),?\s*"
)
_TIMES = re.compile(
    r"(?:rtt|round-trip) min/avg/max(?:/(?:mdev|stddev|std-dev))? = (?P<min>[\d.]+)/(?P<mean>[\d.]+)/(?P<max>[\d.]+)"
    r"(?:/(?P<sd>[\d.]+))? ms(?:, pipe \d+)?(?:, ipg/ewma (?P<gap>[\d.]+)/[\d.]+ ms)?\s*"
    r"|\s+Minimum = (?P<min_w>\d+)ms, Maximum = (?P<max_w>\d+)ms, Average = (?P<mean_w>\d+)ms\s*"
)
_TOO_LONG = re.compile(r"(?:ping: |From .*)?.*[Mm]essage too long,? \(?mtu ?= ?(\d+)\)?.*|From .*\(mtu = (\d+)\)\s*")
_ERROR = re.compile(r"ping6?: .*\S|connect: Network is unreachable\s*")
_WORDS = ("PING", "ping", "Ping", "Network is unreachable", "time=", "time<")
_UNREACHED = re.compile(
    r"From \S+.*|Reply from \S+: (?!bytes=).*|(?:Request timed out|General failure|Destination .*)\..*"
)
_EXPECTED = re.compile(r"no answer yet for .*|Request timeout for .*|pipe \d+\s*|Approximate round trip times in .*")
_HOST_TIMES = re.compile(r"(?P<server>\S+)\s+:(?P<times>(?: (?:\d+(?:\.\d+)?|-)){2,})\s*")
_HOST_REPLY = re.compile(
    r"(?:\[(?P<epoch>[\d.]+)\] )?(?P<server>\S+)\s+: \[(?P<seq>\d+)\], (?:\d+ bytes, (?P<time>[\d.]+) ms|timed out).*"
)
_HOST_SUMMARY = re.compile(
    r"(?P<server>\S+)\s+: xmt/rcv/%(?:loss|return) = (?P<sent>\d+)/(?P<received>\d+)/(?P<loss>[\d.]+)%"
    r"(?:, min/avg/max = (?P<min>[\d.]+)/(?P<mean>[\d.]+)/(?P<max>[\d.]+))?\s*"
)
_HOST_OTHER = re.compile(
    r"\s+[\d.]+ (?:targets|alive|unreachable|unknown addresses|timeouts|ICMP|other ICMP|ms \(|sec \().*"
    r"|ICMP .+ for ICMP Echo sent to .+|\S+(?: is|:) (?:alive|unreachable|.*not known).*"
)
_FPING_KEYS = ("factor.tool", "factor.protocol", "workload", "users", "server")
_COLUMNS = (("n", ""), ("response_ms", "ms"))
_Source = tuple[str, str, int]
"""File, format and version."""


@dataclass(slots=True)
class _Report:
    """One report: first line of each kind, all replies, first and last time."""

    first_line: int
    last_line: int
    lines: dict[str, tuple[re.Match[str], int]] = field(default_factory=dict)
    replies: list[tuple[str, str]] = field(default_factory=list)
    reply_lines: list[int] = field(default_factory=list)
    epochs: tuple[str, str] | None = None
    error: Printed | None = None
    unreached: Printed | None = None
    mtu: Printed | None = None

    def group(self, kind: str, name: str) -> Printed | None:
        found = self.lines.get(kind)
        groups = found[0].groupdict() if found else {}
        text = groups.get(name) or groups.get(f"{name}_w")
        return Printed(text, found[1]) if found and text else None

    @property
    def is_ended(self) -> bool:
        return "statistics" in self.lines


def recognise(text: Text) -> bool:
    """Look for ping's first line, error or replies, or for lines that are all fping's."""
    head = text.lines[:_HEAD_LINES]
    if text.mentions(_WORDS, _HEAD_LINES) and any(
        _match_head(line) or _ERROR.fullmatch(line) or _REPLY.fullmatch(line) or _NAMED.fullmatch(line) for line in head
    ):
        return True
    return _is_fping(line for line in head if line.strip())


def _match_head(line: str) -> re.Match[str] | None:
    return next((match for head in _HEADS if (match := head.fullmatch(line))), None) if line[:1] == "P" else None


def parse(text: Text) -> Parsed:
    """Return a fragment for each report of ping, or for each host of fping."""
    problems: list[Problem] = []
    return Parsed(list(each(text, problems)), problems)


def each(text: Text, problems: list[Problem]) -> Iterator[Fragment]:
    """Yield the fragments one by one: a network may have very many hosts."""
    found = ProblemLog(text.name, problems=problems)
    # A last line without end may be cut off.
    if _is_fping(line for _, line in text.whole() if line.strip()):
        return number_each(_read_hosts((text.name, NAME, VERSION), text.whole(), found))
    return number_each(_read(report, text, found) for report in _reports(text.whole(), found))


def _reports(lines: Iterable[tuple[int, str]], found: ProblemLog) -> Iterator[_Report]:
    current: _Report | None = None
    unknown = []
    for number, line in lines:
        head = _match_head(line)
        if head is not None or _begins(current, line):
            if current is not None:
                yield current
            current = _Report(number, number)
            if head is not None:
                current.lines["head"] = (head, number)
                continue
        is_output = line.strip() and find_command(line, NAME) is None
        if is_output and (current is None or not _take(current, number, line)):
            unknown.append(number)
    if current is not None:
        yield current
        if unknown:
            message = f"{len(unknown)} lines are none of ping's and were left out."
            found.note("ping.unknown-lines", message, "See whether they matter.", unknown[0])


def _begins(current: _Report | None, line: str) -> bool:
    """Return whether a line without head before begins a report: its first lines may have been cut away."""
    if current is None:
        return any(each.fullmatch(line) for each in (_ERROR, _REPLY, _NAMED, _STATISTICS))
    return current.is_ended and _REPLY.fullmatch(line) is not None


def _take(report: _Report, number: int, line: str) -> bool:
    reply = _REPLY.fullmatch(line)
    if reply is not None:
        report.replies.append((reply["seq"] or str(len(report.replies)), reply["time"]))
        report.reply_lines.append(number)
        if from_epoch(reply["epoch"] or ""):
            report.epochs = (report.epochs or (reply["epoch"], ""))[0], reply["epoch"]
    elif (too_long := _TOO_LONG.fullmatch(line)) is not None:
        report.mtu = report.mtu or Printed(too_long[1] or too_long[2], number)
        _keep_reason(report, number, line)
    elif _ERROR.fullmatch(line) or _UNREACHED.fullmatch(line):
        _keep_reason(report, number, line)
    else:
        kinds = (("statistics", _STATISTICS), ("times", _TIMES), ("named", _NAMED))
        kind = next(((name, match) for name, pattern in kinds if (match := pattern.fullmatch(line))), None)
        if kind is None:
            return _EXPECTED.fullmatch(line) is not None
        report.lines.setdefault(kind[0], (kind[1], number))
    report.last_line = number
    return True


def _keep_reason(report: _Report, number: int, line: str) -> None:
    printed = Printed(line.strip(), number)
    if _ERROR.fullmatch(line):
        report.error = report.error or printed
    else:
        report.unreached = report.unreached or printed


def _read(report: _Report, text: Text, found: ProblemLog) -> Fragment:
    into = FragmentBuilder()
    _gather_facts(report, into)
    status = _judge(report, found)
    if status is not Status.FAILED:
        _gather_figures(report, into)
    taken, ended = map(from_epoch, report.epochs) if report.epochs else (None, None)
    rows, lines = report.replies, report.reply_lines
    return into.build(
        (text.name, NAME, VERSION),
        (report.first_line, report.last_line),
        status,
        listings=(Listing("intervals", (("n", ""), ("response_ms", "ms")), rows, lines),) if rows else (),
        taken=taken,
        ended=ended,
        zone="+00:00" if taken else "",
    )


def _gather_facts(report: _Report, into: FragmentBuilder) -> None:
    keys = ("factor.tool", "factor.protocol", "workload", "users")
    into.add_facts(keys, (NAME, "ICMP", "PING", "1"), report.first_line)
    # An echo returns the bytes that were sent.
    into.add_printed("request_bytes", report.group("head", "bytes"))
    into.add_printed("response_bytes", report.group("head", "bytes"))
    for key, name in (("server", "server"), ("server_address", "address"), ("client", "client")):
        into.add_printed(key, report.group("head", name) or report.group("named", name))
    into.add_printed("mtu", report.mtu)
    into.add_printed("error", report.error)
    into.add_printed("packets_sent", report.group("statistics", "sent"))
    into.add_printed("packets_received", report.group("statistics", "received"))
    into.add_printed("duplicates", report.group("statistics", "duplicates"))
    into.add_printed("packet_gap_ms", report.group("times", "gap"))


def _gather_figures(report: _Report, into: FragmentBuilder) -> None:
    """Keep times and losses; ping's pace is given, so its rate is no result."""
    into.add_reading("response_ms", report.group("times", "mean"), "ms")
    for name in ("min", "mean", "max", "sd"):
        into.add_reading(f"latency_{name}_ms", report.group("times", name), "ms")
    into.add_reading("loss_percent", report.group("statistics", "loss"), "%")
    into.add_reading("errors", report.group("statistics", "errors"), "errors")
    into.add_reading("driver_s", report.group("statistics", "time"), "ms")


def _judge(report: _Report, found: ProblemLog) -> Status:
    """Return the status, with a warning unless complete."""
    received = report.group("statistics", "received")
    nothing = received is None or not received.text.strip("0")
    if report.error is not None and nothing:
        text = report.error.text
        remedy = "Send fewer bytes, or raise the MTU." if "too long" in text.lower() else "Correct host or network."
        return found.fail("ping.failed", f"ping failed: {text.removeprefix('ping: ')}", remedy, report.error.line)
    if received is not None and nothing:
        reason = f": {report.unreached.text}" if report.unreached else "."
        return found.fail(
            "ping.no-answer", f"No echo came back{reason}", "Check the host and the network.", received.line
        )
    if received is None or "times" not in report.lines:
        message = "The report has no statistics: ping was killed, or the file was cut off."
        return found.cut("ping.cut-off", message, "Transfer the report again, or measure again.", report.last_line)
    return Status.COMPLETE


@dataclass(slots=True)
class _Rows:
    """The echoes of a host."""

    cells: list[tuple[str, str | None]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)


def _is_fping(lines: Iterable[str]) -> bool:
    """Return whether all lines are fping's, of its hosts at least one."""
    hosts = 0
    for line in lines:
        if _match_host(line) is not None:
            hosts += 1
        elif _HOST_OTHER.fullmatch(line) is None and find_command(line, "fping") is None:
            return False
    return hosts > 0


def _read_hosts(source: _Source, lines: Iterable[tuple[int, str]], found: ProblemLog) -> Iterator[Fragment]:
    """Yield a fragment for each host, from times or from a summary with replies."""
    replies: dict[str, _Rows] = {}
    for number, line in lines:
        match = _match_host(line)
        if match is None:
            continue
        if match.re is _HOST_REPLY:
            rows = replies.setdefault(match["server"], _Rows())
            rows.cells.append((match["seq"], match["time"]))
            rows.lines.append(number)
        elif match.re is _HOST_SUMMARY:
            rows = replies.pop(match["server"], _Rows())
            yield _read_host_summary(source, match, number, rows, found)
        else:
            yield _read_host_times(source, match, number, replies.pop(match["server"], None), found)
    for server, rows in replies.items():
        message = f"The summary of {server} is missing: fping was killed, or the file was cut off."
        found.warn("ping.cut-off", message, "Transfer the report again, or measure again.", rows.lines[-1])


def _match_host(line: str) -> re.Match[str] | None:
    """Return the match of a line by the text behind the colon."""
    pattern = _HOST_REPLY if ": [" in line else _HOST_SUMMARY if ": xmt" in line else _HOST_TIMES
    return pattern.fullmatch(line)


def _read_host_times(
    source: _Source, line: re.Match[str], number: int, replies: _Rows | None, found: ProblemLog
) -> Fragment:
    server, printed = line.groups()
    times = [None if text == "-" else text for text in printed.split()]
    answered = [time for time in times if time is not None]
    into = _begin_host(server, number)
    into.add_fact("samples_response_ms", " ".join(answered), number)
    into.add_facts(("packets_sent", "packets_received"), (str(len(times)), str(len(answered))), number)
    if answered:
        # The line has no summary, so lost echoes are counted here.
        lost = 100 * (len(times) - len(answered)) / len(times)
        into.add_number(("loss_percent", "%", "total"), f"{lost:.2f}".rstrip("0").rstrip("."), number)
    cells = [(str(place), time) for place, time in enumerate(times)]
    status = _judge_host(not answered, server, number, found)
    return _build_host(source, number, into, replies or _Rows(cells, [number] * len(cells)), status)


def _read_host_summary(source: _Source, line: re.Match[str], number: int, rows: _Rows, found: ProblemLog) -> Fragment:
    server, sent, received, loss, *times = line.groups()
    into = _begin_host(server, number)
    into.add_facts(("packets_sent", "packets_received"), (sent, received), number)
    status = _judge_host(not received.strip("0"), server, number, found)
    if status is Status.COMPLETE:
        into.add_number(("response_ms", "ms", "total"), times[1], number)
        for name, time in zip(("min", "mean", "max"), times, strict=True):
            into.add_number((f"latency_{name}_ms", "ms", "total"), time, number)
        if int(received) > int(sent):
            message = (
                f"More echoes came back ({received}) than were sent ({sent}): some came twice, so the loss is unknown."
            )
            found.warn("ping.duplicates", message, "Check the network for duplicates.", number)
        else:
            into.add_number(("loss_percent", "%", "total"), loss, number)
    return _build_host(source, number, into, rows, status)


def _begin_host(server: str, number: int) -> FragmentBuilder:
    into = FragmentBuilder()
    into.add_facts(_FPING_KEYS, ("fping", "ICMP", "PING", "1", server), number)
    return into


def _judge_host(lost: bool, server: str, number: int, found: ProblemLog) -> Status:
    if not lost:
        return Status.COMPLETE
    return found.fail("ping.no-answer", f"No echo of {server} came back.", "See to the host and network.", number)


def _build_host(source: _Source, number: int, into: FragmentBuilder, rows: _Rows, status: Status) -> Fragment:
    lines = rows.lines[0] if rows.lines else number, number
    listings = (Listing("intervals", _COLUMNS, rows.cells, rows.lines),) if rows.lines else ()
    return into.build(source, lines, status, listings=listings)
