"""nuttcp: results as printed by the client."""

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass, field

from importers.fragment_builder import FragmentBuilder, LinePattern, Printed, Row, build_listing, mtu_of
from importers.model import Fact, Fragment, ProblemLog, Status, Text
from importers.trial_numbers import number_trials

NAME = "nuttcp"
TITLE = "nuttcp result"
VERSION = 6

_AGAIN = "Measure again."
_ASKED = (("message_bytes", re.compile(r"(?:^|\s)-l\s*(\d\w*)")), ("rate", re.compile(r"(?:^|\s)-R\s*(i?\d\S*)")))
_STREAMS = re.compile(r"(?:^|\s)-N\s*(\S*)")
_FIGURES = (
    ("retransmits", "retransmits", "count"),
    ("packets_lost", "lost", "count"),
    ("loss_percent", "percent", "%"),
    ("rtt_ms", "rtt", "ms"),
    ("jitter_ms", "jitter", "ms"),
    ("jitter_max_ms", "jitter_max", "ms"),
)
_COLUMNS = {
    "retransmits": ("retransmits", "count"),
    "lost": ("lost_packets", "count"),
    "packets": ("packets", "count"),
    "percent": ("lost_percent", "%"),
}

_HEAD_LINES = 60
_LONGEST_COMMAND = 1000
_BRIEF = re.compile(
    r"(?:nuttcp-[tr]: )?\s*(?P<transfer>\d[\d.]*) MB / +(?P<seconds>\d[\d.]*) sec = +(?P<rate>\d[\d.]*)"
    r" (?P<rate_unit>[KMG]?bps)\b(?P<more>.*)"
)
_PARSE = re.compile(
    r"megabytes=(?P<transfer>\d[\d.]*) real_sec(?P<is_result>onds)?=(?P<seconds>\d[\d.]*)"
    r" rate_(?P<rate_unit>Mbps)=(?P<rate>\d[\d.]*)(?P<more>.*)"
)
_MORE = (
    LinePattern("%TX", r" (?P<sender_cpu>[\d.]+) %TX"),
    LinePattern("%RX", r" (?P<receiver_cpu>[\d.]+) %RX"),
    LinePattern("retrans", r" (?P<retransmits>\d+) retrans\b"),
    LinePattern("drop/pkt", r" (?P<lost>\d+) / +(?P<packets>\d+) ~?drop/pkt(?: +(?P<percent>[\d.]+) ~?%loss)?"),
    LinePattern("msRTT", r" (?P<rtt>[\d.]+) msRTT"),
    LinePattern("msAvgJitter", r" (?P<jitter>[\d.]+) msAvgJitter(?: (?P<jitter_max>[\d.]+) msMaxJitter)?"),
)
_PAIR_NAMES = {
    "tx_cpu": "sender_cpu",
    "rx_cpu": "receiver_cpu",
    "retrans": "retransmits",
    "rtt_ms": "rtt",
    "drop": "lost",
    "pkt": "packets",
    "data_loss": "percent",
}
_PAIR = re.compile(r"\b(?P<key>\w+)=(?P<value>\d[\d.]*)(?=\s|$)")
_SIDE = re.compile(r"nuttcp-(?P<side>[tr])(?:<\S+>)?: (?P<what>.*)")
_VERSION = re.compile(r"v(?P<tool_version>\d[\w.]*): ")
_FIRST = re.compile(rf"{_VERSION.pattern}socket\b")
_OTHER = re.compile(r"nuttcp-[tr](?:<\S+>)?: (?:v\d[\w.]*: |Error: |Info: )|\s*invalid ctlport = \d+\s*$")
_TRANSFER = re.compile(
    r"(?P<transfer>\d[\d.]*) MB in (?P<seconds>\d[\d.]*) real seconds = .{0,80}?"
    r"(?P<rate>\d[\d.]*) (?P<rate_unit>[KMG]bps)"
)
_PARSED_TRANSFER = re.compile(
    r"megabytes=(?P<transfer>\d[\d.]*) real_seconds=(?P<seconds>\d[\d.]*) .{0,80}?"
    r"rate_(?P<rate_unit>Mbps)=(?P<rate>[\d.]+)"
)
# Texts, and pairs of -fparse.
_SIDE_FACTS = (
    LinePattern("v", _VERSION.pattern),
    LinePattern(
        "buflen=",
        r"buflen=(?P<message_bytes>\d+),? nstream=(?P<users>\d+),? port=(?P<port>\d+) "
        r"(?:mode=)?(?P<protocol>tcp|udp)\b",
    ),
    LinePattern("port=", r"port=\d+ (?:tcp|udp) (?:->|<-) (?P<server>\S+)"),
    LinePattern("rate", r"rate(?: limit = |_limit=)(?P<rate>[\d.]+ \S+?)(?=,|\s|$)"),
    LinePattern("mode=", r"mode=\w+ host=(?P<server>\S+)"),
    LinePattern("time", r"time(?: limit = |_limit=)(?P<asked_duration_s>[\d.]+)(?: seconds?|$)"),
    LinePattern("connect", r"connect(?: to |=)(?P<server_address>\S+?)(?: with| mss=|$)"),
    LinePattern("mss=", r"\bmss=(?P<mss>\d+)"),
    LinePattern("accept", r"accept(?: from |=)(?P<client_address>\S+)"),
)
_WINDOWS = re.compile(r"send.window.size ?= ?(?P<t>\d+),? receive.window.size ?= ?(?P<r>\d+)")
_SIDE_FIGURES = (
    LinePattern("=", r"(?:RTT=|rtt_ms=)(?P<rtt>[\d.]+)(?: ms|$)"),
    LinePattern("retrans", r"retrans ?= ?(?P<retransmits>\d+)"),
    LinePattern("drop/pkt", r"(?<!\d)(?P<lost>\d+) / +(?P<packets>\d+) drop/pkt(?: +(?P<percent>[\d.]+) ?%)?"),
    LinePattern("drop=", r"drop=(?P<lost>\d+) pkt=(?P<packets>\d+)(?: data_loss=(?P<percent>[\d.]+))?"),
    LinePattern("user", r"(?<![\d.])[\d.]+user [\d.]+sys \S+real (?P<cpu>\d+)% "),
    LinePattern("cpu=", r"stats=cpu .* cpu=(?P<cpu>\d+)% "),
)
_ERROR = re.compile(
    r"(?:nuttcp-[tr](?:<\S+>)?: (?:v(?P<tool_version>\d[\w.]*): )?)?"
    r"(?P<error>Error: .+|connect: .+|invalid ctlport = .+|errno=\d+)"
)
_WORDS = (" MB / ", "megabytes=", "nuttcp-", "invalid ctlport")
_INTERRUPTED = "*** transfer interrupted ***"
_COMMAND = re.compile(r"(?:^|[\s/])nuttcp(?P<options>(?: +[\w./:@-]+)+) *$")


@dataclass(slots=True)
class _Transfer:
    """The transfer in one line; ``more`` holds further figures by name."""

    line: int
    transfer: str
    seconds: str
    rate: str
    rate_unit: str
    more: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Side:
    """One end's verbose output: ``t`` sends, ``r`` receives."""

    letter: str
    transfer: _Transfer | None = None
    figures: dict[str, Printed] = field(default_factory=dict)


@dataclass(slots=True)
class _Test:
    """One test, local side first; ``result`` is a brief or ``-fparse`` line."""

    first_line: int
    last_line: int
    facts: dict[str, Fact] = field(default_factory=dict)
    sides: list[_Side] = field(default_factory=list)
    intervals: list[_Transfer] = field(default_factory=list)
    result: _Transfer | None = None
    error: Printed | None = None
    interrupted: int | None = None
    command: Printed | None = None

    @property
    def is_over(self) -> bool:
        """Return whether the next line belongs to another test."""
        return self.result is not None or (len(self.sides) > 1 and "cpu" in self.sides[-1].figures)

    def add(self, key: str, text: str, line: int) -> None:
        self.facts.setdefault(key, Fact(key, text, line))

    @property
    def received(self) -> _Transfer | None:
        """Return the received transfer: the result's line, in verbose output the receiver's."""
        return self.result or self.transfer_of("r")

    def transfer_of(self, letter: str) -> _Transfer | None:
        """Return the transfer by a side's verbose output."""
        return next((side.transfer for side in self.sides if side.letter == letter), None)


def recognise(text: Text) -> bool:
    """Look for a line that only nuttcp prints."""
    head = text.lines[:_HEAD_LINES] if text.mentions(_WORDS, _HEAD_LINES) else ()
    return any(pattern.match(line) for pattern in (_BRIEF, _PARSE, _OTHER) for line in head)


def _scan_tests(text: Text) -> list[_Test]:
    """Return all tests, without a last line that may be cut off."""
    found: list[_Test] = []
    command: Printed | None = None
    for number, line in text.whole():
        if "nuttcp " in line and len(line) < _LONGEST_COMMAND and (asked := _COMMAND.search(line)):
            command = Printed(asked["options"].strip(), number)
            if found and not found[-1].is_over:
                found.append(_Test(number, number))
                found[-1].command = command
            continue
        match = _match(line)
        if match is not None or _INTERRUPTED in line:
            if not found or found[-1].is_over or _begins(match, found[-1]):
                found.append(_Test(number, number))
            found[-1].command = found[-1].command or command
            _take(found[-1], number, line, match)
    return [test for test in found if test.sides or test.intervals or test.result or test.error]


def _match(line: str) -> re.Match[str] | None:
    """Return the match of figures, an error or one side's output, if any."""
    if " MB / " in line and (brief := _BRIEF.match(line)):
        return brief
    if line.startswith("megabytes="):
        return _PARSE.match(line)
    return _ERROR.match(line) or _SIDE.match(line)


def _begins(match: re.Match[str] | None, test: _Test) -> bool:
    """Return whether a line begins a test: figures (not zero) after an error, or a repeated side."""
    if match is not None and test.error is not None:
        return match.re in {_BRIEF, _PARSE} and not _is_zero(match["transfer"])
    if match is None or match.re is not _SIDE or not _FIRST.match(match["what"]):
        return False
    return len(test.sides) > 1 or any(each.letter == match["side"] for each in test.sides)


def _is_zero(figure: str) -> bool:
    """Return whether a figure is zero, with any number of digits."""
    return not figure.strip("0.")


def _take(test: _Test, number: int, line: str, match: re.Match[str] | None) -> None:
    test.last_line = number
    if match is not None and match.re in {_BRIEF, _PARSE}:
        _take_transfer(test, number, match)
    elif _INTERRUPTED in line:
        test.interrupted = number
    elif match is not None and match.re is _ERROR:
        test.error = test.error or Printed(match["error"].removeprefix("Error: "), number)
        if match["tool_version"]:
            test.add("tool_version", match["tool_version"], number)
    elif match is not None:
        _take_side(test, number, match["side"], match["what"])


def _take_transfer(test: _Test, number: int, match: re.Match[str]) -> None:
    """Take a line of figures: the result or an interval."""
    if match.re is _BRIEF:
        more = _find_all(_MORE, match["more"].partition(" Tot:")[0])
        is_result = {"sender_cpu", "receiver_cpu"} <= more.keys()
    else:
        more = {_PAIR_NAMES[key]: value for key, value in _PAIR.findall(match["more"]) if key in _PAIR_NAMES}
        is_result = match["is_result"] is not None
    transfer = _Transfer(number, match["transfer"], match["seconds"], match["rate"], match["rate_unit"], more)
    if is_result:
        test.result = transfer
    else:
        test.intervals.append(transfer)


def _find_all(patterns: Iterable[LinePattern], line: str) -> dict[str, str]:
    """Return all groups that the patterns find in a line."""
    figures: dict[str, str] = {}
    for pattern in patterns:
        if match := pattern.search(line):
            figures |= {name: text for name, text in match.groupdict().items() if text is not None}
    return figures


def _take_side(test: _Test, number: int, letter: str, what: str) -> None:
    """Take a line of verbose output; the local side's circumstances count."""
    if what.startswith("v") and _FIRST.match(what):
        test.sides.append(_Side(letter))
    side = next((side for side in test.sides if side.letter == letter), None)
    if side is None:
        return
    for key, value in _find_all(_SIDE_FACTS, what.replace(" rate_unit=", " ")).items():
        test.add(key, value.upper() if key == "protocol" else value, number)
    if "send" in what and (windows := _WINDOWS.match(what)):
        test.add("window" if side.letter == "t" else "receive_window", windows[side.letter], number)
    for key, value in _find_all(_SIDE_FIGURES, what).items():
        side.figures[key] = Printed(value, number)
    if side.transfer is None and (found := _TRANSFER.match(what) or _PARSED_TRANSFER.match(what)):
        side.transfer = _Transfer(number, found["transfer"], found["seconds"], found["rate"], found["rate_unit"])


def parse(text: Text, found: ProblemLog) -> list[Fragment]:
    """Return a fragment for each test."""
    fragments = [_read(test, text.name, found) for test in _scan_tests(text)]
    return number_trials(fragments)


def _read(test: _Test, file: str, found: ProblemLog) -> Fragment:
    status = _judge(test, found)
    workload = _find_workload(test)
    if status is Status.COMPLETE and workload is None:
        remedy = "Give the workload (STRP or STRG) with the upload, or measure with -v."
        found.note("nuttcp.no-direction", "The result does not say which side sent.", remedy, test.last_line)
    into, figures = FragmentBuilder(), _find_figures(test)
    _gather_facts(test, status, workload, figures, into)
    _gather_readings(test, status, workload, figures, into)
    source, lines = (file, NAME, VERSION), (test.first_line, test.last_line)
    listings = build_listing("intervals", map(_list_interval, test.intervals))
    return into.build(source, lines, status, listings=listings)


def _judge(test: _Test, found: ProblemLog) -> Status:
    if test.error is not None:
        return found.fail("nuttcp.failed", f"The test failed: {test.error.text}.", _AGAIN, test.error.line)
    if test.interrupted is not None:
        message = "The test was interrupted; what was transferred until then is kept without a throughput."
        return found.cut("nuttcp.interrupted", message, _AGAIN, test.interrupted)
    received = test.received
    if received is not None and _is_zero(received.transfer):
        return found.fail("nuttcp.failed", "Nothing was transferred.", _AGAIN, received.line)
    if not test.is_over or received is None:
        message = "The test has no result: the file was cut off, or nuttcp was killed."
        return found.cut("nuttcp.cut-off", message, "Transfer the file again and import it.", test.last_line)
    return Status.COMPLETE


def _find_workload(test: _Test) -> str | None:
    """Return the direction by the first side, else by the command's ``-r``."""
    if test.sides:
        return "STRP" if test.sides[0].letter == "t" else "STRG"
    options = test.command.text.split() if test.command else ["-F"]
    if "-F" in options:
        return None
    return "STRG" if "-r" in options else "STRP"


def _gather_facts(
    test: _Test, status: Status, workload: str | None, figures: dict[str, Printed], into: FragmentBuilder
) -> None:
    into.add_facts(("factor.tool", "workload"), (NAME, workload), test.first_line)
    if test.command is not None:
        _gather_command(test.command, test.facts, into)
    for key, text, line, _ in test.facts.values():
        into.add_fact("factor.protocol" if key == "protocol" else key, text, line)
        into.add_fact("mtu", mtu_of(text) if key == "mss" else None, line)
    into.add_printed("error", test.error)
    if test.result is not None and not test.sides:
        # Only UDP loses datagrams, only TCP has retransmits and round trips.
        more = test.result.more.keys()
        protocol = "UDP" if "packets" in more else "TCP" if more & {"retransmits", "rtt"} else ""
        into.add_fact("factor.protocol", protocol, test.result.line)
    measured = next((line for key, (_, line) in figures.items() if key.endswith("_cpu")), 0)
    into.add_fact("cpu_scope", "process" if measured else None, measured)
    if sent := test.transfer_of("t"):
        into.add_fact("sent_rate", f"{sent.rate} {sent.rate_unit}", sent.line)
    if status is not Status.COMPLETE and (so_far := test.received) is not None:
        into.add_fact("rate_so_far", f"{so_far.rate} {so_far.rate_unit}", so_far.line)


def _gather_command(command: Printed, known: Container[str], into: FragmentBuilder) -> None:
    """Keep the command and, unless known, its options and the number of streams."""
    into.add_fact("command_line", f"nuttcp {command.text}", command.line)
    for key, option in _ASKED:
        if key not in known and (asked := option.search(command.text)):
            into.add_fact(key, asked[1], command.line)
    streams = _STREAMS.search(command.text)
    if "users" not in known and (streams is None or streams[1].isdecimal()):
        into.add_fact("users", streams[1] if streams else "1", command.line)


def _gather_readings(
    test: _Test, status: Status, workload: str | None, figures: dict[str, Printed], into: FragmentBuilder
) -> None:
    received, sent = test.received, test.transfer_of("t")
    if received is not None and status is not Status.FAILED:
        if status is Status.COMPLETE:
            into.add_raw_number(("mb_per_s", received.rate_unit, "total"), received.rate, received.line)
        into.add_raw_number(("bytes_received", "MB", "total"), received.transfer, received.line)
        into.add_raw_number(("driver_s", "s", "total"), received.seconds, received.line)
    if sent is not None and status is not Status.FAILED:
        into.add_raw_number(("bytes_sent", "MB", "total"), sent.transfer, sent.line)
    for name, key, unit in _FIGURES:
        if key in figures:
            into.add_raw_number((name, unit, "total"), *figures[key])
    roles = {"STRP": ("client", "server"), "STRG": ("server", "client")}.get(workload or "", ("sender", "receiver"))
    for role, key in zip(roles, ("sender_cpu", "receiver_cpu"), strict=True):
        if key in figures:
            into.add_raw_number(("processor_util", "%", role), *figures[key])


def _find_figures(test: _Test) -> dict[str, Printed]:
    """Return the further figures; in verbose output of both sides."""
    result = test.result
    figures = {key: Printed(text, result.line) for key, text in result.more.items()} if result else {}
    for side in test.sides:
        name = "sender_cpu" if side.letter == "t" else "receiver_cpu"
        figures |= {name if key == "cpu" else key: figure for key, figure in side.figures.items()}
    return figures


def _list_interval(each: _Transfer) -> Row:
    """Return a row, with those further figures that the line has."""
    more = {_COLUMNS[key]: each.more[key] for key in _COLUMNS if key in each.more}
    columns = (("seconds", "s"), ("bytes", "MB"), ("throughput", each.rate_unit), *more)
    return each.line, columns, [each.seconds, each.transfer, each.rate, *more.values()]
