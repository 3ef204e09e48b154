"""ping (iputils, BSD, busybox, Windows) and fping: response times and losses of echoes."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from importers.files.typed_commands import find_command
from importers.fragment_builder import FragmentBuilder, Printed, from_epoch
from importers.key_values import whole
from importers.load_tools.blocks import Block
from importers.model import Fragment, Listing, ProblemLog, Status, Text
from importers.trial_numbers import number_each

NAME = "ping"
TITLE = "ping or fping report"
VERSION = 4

_HEAD_LINES = 50
_ADDRESS = r"(?:\d+(?:\.\d+){3}|[\da-fA-F]*:[\da-fA-F:]+(?:%\w+)?)"
_HEADS = tuple(
    re.compile(pattern)
    for pattern in (
        r"PING6? ?(?P<server>[^\s(]+) ?\((?P<address>.+?)\)(?: from (?P<client>\S+)(?: \S+)?)?:? "
        r"(?P<bytes>\d+)(?:\(\d+\))? (?:data )?bytes(?: of data)?\.?(?:, id .*)?\s*",
        r"PING6\(\d+=40\+8\+(?P<bytes>\d+) bytes\) (?P<client>\S+) --> (?P<server>\S+)\s*",
        # Of Windows, in any language.
        rf"(?:.*? )??(?:(?P<server>\S+) \[(?P<address>{_ADDRESS})\]|(?P<server_w>{_ADDRESS}))"
        rf"(?: \w+ (?P<client>{_ADDRESS}))?\D*? (?P<bytes>\d+) \D+:\s*",
    )
)
_REPLY = re.compile(
    r"(?:\[(?P<epoch>\d+\.\d+)\] )?\d+ bytes from .+?[:,] (?:icmp_)?seq=(?P<seq>\d+) "
    r"(?:.*?time[=<](?P<time>[\d.]+) ?ms.*|(?:hlim|ttl)=\d+\s*)"
    rf"|(?:.* )?{_ADDRESS}[^:=]*: ?.*[=<](?P<time_w>\d+) ?(?:ms|мс)(?: TTL=\d+)?\s*"
)
_NAMED = re.compile(r"[.E\b ]*--- (?P<server>\S+) ping6? statistics ---\s*|Ping statistics for (?P<address>\S+):\s*")
_NAMED_ABROAD = re.compile(rf".*\b[Pp]ing\b.* (?P<address>{_ADDRESS})\b.*:\s*")
_STATISTICS = re.compile(
    r"(?P<sent>\d+) packets transmitted, (?P<received>\d+) (?:packets )?received,"
    r"(?: (?:\+?(?P<duplicates>\d+) duplicates|\+\d+ corrupted|\+(?P<errors>\d+) errors),)*"
    r" (?:(?P<loss>[\d.,]+)% packet loss|-- somebody.*)(?:, time (?P<time>\d+)ms|, \d+ packets out of wait time)?\s*"
    r"|\s+\S+ ?: \D+ = (?P<sent_w>\d+), \D+ = (?P<received_w>\d+), \D+ = \d+(?: \(\D*(?P<loss_w>\d+)%\D*\),?)?\s*"
)
_LOSS_BELOW = re.compile(r"\s+\(\D*(?P<loss>\d+)%\D*\),?\s*")
_TIMES = re.compile(
    r"(?:rtt|round-trip) min/avg/max(?:/(?:mdev|stddev|std-dev))? = (?P<min>[\d.]+)/(?P<mean>[\d.]+)/(?P<max>[\d.]+)"
    r"(?:/(?P<sd>[\d.]+))? ms(?:, pipe \d+)?(?:, ipg/ewma (?P<gap>[\d.]+)/[\d.]+ ms)?\s*"
    r"|\s+\w+ = (?P<min_w>\d+) ?\w+, \w+ = (?P<max_w>\d+) ?\w+, \w+ = (?P<mean_w>\d+) ?(?:ms|мс\w*)\s*"
)
_KINDS = {_STATISTICS: "statistics", _TIMES: "times", _NAMED: "named", _NAMED_ABROAD: "named", _LOSS_BELOW: "loss"}
_TOO_LONG = re.compile(r"(?:ping: |From .*)?.*[Mm]essage too long,? \(?mtu ?= ?(\d+)\)?.*|From .*\(mtu = (\d+)\)\s*")
_ERROR = re.compile(
    r"(?:(?:\S*/)?ping[46]?|PING): (?!(?i:warning)\b|sock|.*attempting).*\S|connect: Network is unreachable\s*"
    r"|Ping request could not find host .*"
)
_WORDS = ("PING", "ping", "Ping", "Network is unreachable", "time=", "time<")
_UNREACHED = re.compile(
    r"From \S+.*|\d+ bytes from .+: (?!icmp_seq|seq).*|Reply from \S+: (?!bytes=).*"
    r"|(?:Request timed out|General failure|Destination .*)\..*"
)
_EXPECTED = re.compile(
    r"no answer yet for .*|Request timeout for .*|pipe \d+\s*|Approximate round trip times in .*|[.E\b ]+"
    r"|(?:(?:\S*/)?ping[46]?: )?(?:(?i:warning): .*|sock.*|.*attempting .*)|ai->ai_.*|PATTERN: .*"
)
_HOST = r"(?P<server>\S+)(?: \((?P<address>[^)\s]+)\))?\s+:"
_HOST_TIMES = re.compile(rf"{_HOST}(?P<times>(?: (?:\d+(?:\.\d+)?|-)){{2,}})\s*")
_HOST_REPLY = re.compile(
    rf"(?:\[(?P<epoch>[\d.]+)\] )?{_HOST} \[(?P<seq>\d+)\], (?:\d+ bytes, (?P<time>[\d.]+) ms|timed out).*"
)
_HOST_SUMMARY = re.compile(
    rf"{_HOST} xmt/rcv/%(?:loss|return) = (?P<sent>\d+)/(?P<received>\d+)/(?P<loss>[\d.]+)%"
    r"(?:, outage\(ms\) = (?P<outage>\d+))?(?:, min/avg/max = (?P<min>[\d.]+)/(?P<mean>[\d.]+)/(?P<max>[\d.]+))?\s*"
)
_HOST_OTHER = re.compile(
    r"\s+[\d.]+ (?:targets|alive|unreachable|unknown addresses|timeouts|ICMP|other ICMP|ms \(|sec \().*"
    r"|\[\d\d:\d\d:\d\d\]|\S+.* : duplicate for \[.*|ICMP .+ for ICMP Echo sent to .+"
    r"|\S+(?: is|:) (?:alive|unreachable|.*not known).*"
)
_INTERIM = re.compile(r"\[\d\d:\d\d:\d\d\]\s*")
_TIMED_BYTES = 16
_FPING_KEYS = ("factor.tool", "factor.protocol", "workload", "users", "server", "server_address")
_COLUMNS = (("n", ""), ("response_ms", "ms"))
_Source = tuple[str, str, int]
"""File, format and version."""


@dataclass(slots=True)
class _Replies:
    """The echoes of a host, with the first and the last time."""

    cells: list[tuple[str, str | None]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    epochs: list[str] = field(default_factory=list)

    def add(self, sequence: str | None, time: str | None, epoch: str | None, line: int) -> None:
        self.cells.append((sequence or str(len(self.cells)), time))
        self.lines.append(line)
        if epoch:
            self.epochs[1:] = [epoch]


@dataclass(slots=True)
class _Report(Block):
    """One report, with all replies."""

    replies: _Replies = field(default_factory=_Replies)
    error: Printed | None = None
    unreached: Printed | None = None
    counted: Printed | None = None
    """An answer of a router that Windows counts as received."""
    mtu: Printed | None = None

    def find(self, kind: str, name: str) -> Printed | None:
        """Return a group in the spelling of Linux or Windows."""
        match, line = self.lines.get(kind, (None, 0))
        groups = match.groupdict() if match else {}
        text = groups.get(name) or groups.get(f"{name}_w")
        return Printed(text.replace(",", "."), line) if text else None


def recognise(text: Text) -> bool:
    """Look for ping's first line, error or replies, or for fping's lines alone."""
    head = text.lines[:_HEAD_LINES]
    if text.mentions(_WORDS, _HEAD_LINES) and any(
        _match_head(line) or any(each.fullmatch(line) for each in (_ERROR, _REPLY, _NAMED)) for line in head
    ):
        return True
    return _is_fping(head)


def _match_head(line: str) -> re.Match[str] | None:
    may_be = line[:1] == "P" or line.rstrip()[-1:] == ":"
    return next((match for head in _HEADS if (match := head.fullmatch(line))), None) if may_be else None


def parse(text: Text, found: ProblemLog) -> Iterator[Fragment]:
    """Yield the fragments one by one: a network may have very many hosts."""
    # A last line without end may be cut off.
    if _is_fping(text.lines[:_HEAD_LINES]):
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
        found.note_unknown_lines("ping.unknown-lines", "ping", unknown)


def _begins(current: _Report | None, line: str) -> bool:
    """Return whether a line without head before begins a report: its first lines may have been cut away."""
    if current is None:
        return any(each.fullmatch(line) for each in (_ERROR, _REPLY, _NAMED, _STATISTICS))
    return "statistics" in current.lines and _REPLY.fullmatch(line) is not None


def _take(report: _Report, number: int, line: str) -> bool:
    reply = _REPLY.fullmatch(line)
    if reply is not None:
        epoch = reply["epoch"] if from_epoch(reply["epoch"] or "") else None
        report.replies.add(reply["seq"], reply["time"] or reply["time_w"], epoch, number)
    elif (too_long := _TOO_LONG.fullmatch(line)) is not None:
        report.mtu = report.mtu or Printed(too_long[1] or too_long[2], number)
        _keep_reason(report, number, line)
    elif _ERROR.fullmatch(line) or _UNREACHED.fullmatch(line):
        _keep_reason(report, number, line)
    else:
        match = next(filter(None, (pattern.fullmatch(line) for pattern in _KINDS)), None)
        if match is None:
            return _EXPECTED.fullmatch(line) is not None
        report.lines.setdefault(_KINDS[match.re], (match, number))
    report.last_line = number
    return True


def _keep_reason(report: _Report, number: int, line: str) -> None:
    printed = Printed(line.strip(), number)
    if _ERROR.fullmatch(line):
        report.error = report.error or printed
    else:
        report.unreached = report.unreached or printed
        if line.startswith("Reply from "):
            report.counted = report.counted or printed


def _read(report: _Report, text: Text, found: ProblemLog) -> Fragment:
    into = FragmentBuilder()
    _gather_facts(report, into)
    status = _judge(report, found)
    if status is not Status.FAILED:
        _gather_figures(report, into)
    return _build((text.name, NAME, VERSION), (report.first_line, report.last_line), into, report.replies, status)


def _build(
    source: _Source, lines: tuple[int, int], into: FragmentBuilder, replies: _Replies, status: Status
) -> Fragment:
    listings = (Listing("intervals", _COLUMNS, replies.cells, replies.lines),) if replies.lines else ()
    taken, ended = (from_epoch(replies.epochs[0]), from_epoch(replies.epochs[-1])) if replies.epochs else (None, None)
    zone = "+00:00" if taken else ""
    return into.build(source, lines, status, listings=listings, taken=taken, ended=ended, zone=zone)


def _gather_facts(report: _Report, into: FragmentBuilder) -> None:
    keys = ("factor.tool", "factor.protocol", "workload", "users")
    into.add_facts(keys, (NAME, "ICMP", "PING", "1"), report.first_line)
    # An echo returns the bytes that were sent.
    into.add_printed("request_bytes", report.find("head", "bytes"))
    into.add_printed("response_bytes", report.find("head", "bytes"))
    for key, name in (("server", "server"), ("server_address", "address"), ("client", "client")):
        into.add_printed(key, report.find("head", name) or report.find("named", name))
    into.add_printed("mtu", report.mtu)
    into.add_printed("error", report.error)
    into.add_printed("packets_sent", report.find("statistics", "sent"))
    into.add_printed("packets_received", report.find("statistics", "received"))
    into.add_printed("duplicates", report.find("statistics", "duplicates"))
    into.add_printed("packet_gap_ms", report.find("times", "gap"))


def _gather_figures(report: _Report, into: FragmentBuilder) -> None:
    """Keep times and losses; ping's pace is given, so its rate is no result."""
    into.add_reading("response_ms", report.find("times", "mean"), "ms")
    for name in ("min", "mean", "max", "sd"):
        into.add_reading(f"latency_{name}_ms", report.find("times", name), "ms")
    if report.counted is None:
        into.add_reading("loss_percent", report.find("statistics", "loss") or report.find("loss", "loss"), "%")
    into.add_reading("errors", report.find("statistics", "errors"), "errors")
    into.add_reading("driver_s", report.find("statistics", "time"), "ms")


def _judge(report: _Report, found: ProblemLog) -> Status:
    """Return the status, with a warning unless complete."""
    received, has_times = report.find("statistics", "received"), "times" in report.lines
    nothing = received is None or not received.text.strip("0")
    if report.error is not None and nothing:
        text = report.error.text
        remedy = "Send fewer bytes, or raise the MTU." if "too long" in text.lower() else "Correct host or network."
        return found.fail("ping.failed", f"ping failed: {text.removeprefix('ping: ')}", remedy, report.error.line)
    if received is not None and (nothing or (report.counted and not has_times)):
        message = f"No echo came back{f': {report.unreached.text}' if report.unreached else '.'}"
        return found.fail("ping.no-answer", message, "Check the host and the network.", received.line)
    if received is not None and not has_times and _is_too_short(report):
        message = "The echoes are too short for ping's time stamp: there are no times."
        return found.cut("ping.no-times", message, "Send 16 bytes or more (-s).", received.line)
    if received is None or not has_times:
        message = "The report has no statistics: ping was killed, or the file was cut off."
        return found.cut("ping.cut-off", message, "Transfer the report again, or measure again.", report.last_line)
    if report.counted is not None:
        message = "Windows counts answers of routers as received echoes: the loss is unknown."
        found.warn("ping.counted-unreachable", message, "Check the route to the host.", report.counted.line)
    return Status.COMPLETE


def _is_too_short(report: _Report) -> bool:
    size = report.find("head", "bytes")
    return any(time is None for _, time in report.replies.cells) or (
        size is not None and whole(size.text) < _TIMED_BYTES
    )


def _is_fping(lines: Iterable[str]) -> bool:
    """Return whether a line is fping's alone, or all lines are fping's and one has times."""
    matches = [(line, _match_host(line)) for line in lines]
    if any(match and match.re is not _HOST_TIMES for _, match in matches):
        return True
    return any(match for _, match in matches) and all(match or _is_expected(line) for line, match in matches)


def _is_expected(line: str) -> bool:
    return not line.strip() or _HOST_OTHER.fullmatch(line) is not None or find_command(line, "fping") is not None


def _read_hosts(source: _Source, lines: Iterable[tuple[int, str]], found: ProblemLog) -> Iterator[Fragment]:
    """Yield a fragment for each host, from times or from a summary with replies."""
    replies: dict[str, _Replies] = {}
    awaited: dict[str, int] = {}  # Hosts without final summary, with the last line of each.
    interim: set[str] | None = None  # Hosts that reported since a stamp of -Q, whose first summary is no final one.
    unknown = []
    for number, line in lines:
        match = _match_host(line)
        if match is None:
            interim = set() if _INTERIM.fullmatch(line) else interim
            unknown += [] if _is_expected(line) else [number]
            continue
        server = match["server"]
        awaited[server] = number
        if match.re is _HOST_REPLY:
            replies.setdefault(server, _Replies()).add(match["seq"], match["time"], match["epoch"], number)
        elif interim is not None and server not in interim:
            interim.add(server)
        else:
            del awaited[server]
            yield _read_host(source, match, number, replies.pop(server, _Replies()), found)
    for server, number in awaited.items():
        message = f"The summary of {server} is missing: fping was killed, or the file was cut off."
        found.warn("ping.cut-off", message, "Transfer the report again, or measure again.", number)
    found.note_unknown_lines("ping.unknown-lines", "fping", unknown)


def _match_host(line: str) -> re.Match[str] | None:
    """Return the match of a line by the text behind the colon."""
    pattern = _HOST_REPLY if ": [" in line else _HOST_SUMMARY if ": xmt" in line else _HOST_TIMES
    return pattern.fullmatch(line)


def _read_host(source: _Source, line: re.Match[str], number: int, replies: _Replies, found: ProblemLog) -> Fragment:
    """Return the fragment of a host, from a summary or from times."""
    into, server, status = FragmentBuilder(), line["server"], Status.COMPLETE
    into.add_facts(_FPING_KEYS, ("fping", "ICMP", "PING", "1", server, line["address"]), number)
    if line.re is _HOST_SUMMARY:
        received = line["received"].strip("0")
        _gather_summary(line, number, into, found)
    else:
        times = [None if text == "-" else text for text in line["times"].split()]
        received = "".join(filter(None, times))
        _gather_times(times, number, into)
        if not replies.cells:
            replies = _Replies([(str(place), time) for place, time in enumerate(times)], [number] * len(times))
    if not received:
        message = f"No echo of {server} came back."
        status = found.fail("ping.no-answer", message, "See to the host and network.", number)
    return _build(source, (replies.lines[0] if replies.lines else number, number), into, replies, status)


def _gather_summary(line: re.Match[str], number: int, into: FragmentBuilder, found: ProblemLog) -> None:
    sent, received = line.group("sent", "received")
    into.add_fact("outage_ms", line["outage"], number)
    into.add_facts(("packets_sent", "packets_received"), (sent, received), number)
    if not received.strip("0"):
        return
    into.add_number(("response_ms", "ms", "total"), line["mean"], number)
    for name in ("min", "mean", "max"):
        into.add_number((f"latency_{name}_ms", "ms", "total"), line[name], number)
    if whole(received) <= whole(sent):
        into.add_number(("loss_percent", "%", "total"), line["loss"], number)
        return
    message = f"More echoes came back ({received}) than were sent ({sent}): some came twice, so the loss is unknown."
    found.warn("ping.duplicates", message, "Check the network for duplicates.", number)


def _gather_times(times: list[str | None], number: int, into: FragmentBuilder) -> None:
    """Keep the times; the line has no summary, so lost echoes are counted here."""
    answered = [time for time in times if time is not None]
    into.add_fact("samples_response_ms", " ".join(answered), number)
    into.add_facts(("packets_sent", "packets_received"), (str(len(times)), str(len(answered))), number)
    if answered:
        lost = 100 * (len(times) - len(answered)) / len(times)
        into.add_number(("loss_percent", "%", "total"), f"{lost:.2f}".rstrip("0").rstrip("."), number)
