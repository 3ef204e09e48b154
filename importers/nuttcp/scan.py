"""The tests in nuttcp's output: brief, ``-fparse`` and verbose (``-v``)."""

import re
from dataclasses import dataclass, field
from itertools import islice

from importers.fragment_builder import Printed
from importers.model import Fact, Text

_HEAD_LINES = 60
_LONGEST_COMMAND = 1000
_BRIEF = re.compile(
    r"(?:nuttcp-[tr]: )?\s*(?P<transfer>\d[\d.]*) MB / +(?P<seconds>\d[\d.]*) sec = +(?P<rate>\d[\d.]*)"
    r" (?P<rate_unit>[KMG]?bps)\b(?P<more>.*)"
)
_PARSE = re.compile(
    r"megabytes=(?P<transfer>\d[\d.]*) real_sec(?P<is_result>onds)?=(?P<seconds>\d[\d.]*)"
    r" rate_Mbps=(?P<rate>\d[\d.]*)(?P<more>.*)"
)
_Patterns = tuple[tuple[str, re.Pattern[str]], ...]
"""Patterns, each with a word to search for first, which is faster."""
_MORE: _Patterns = (
    ("%TX", re.compile(r" (?P<sender_cpu>[\d.]+) %TX")),
    ("%RX", re.compile(r" (?P<receiver_cpu>[\d.]+) %RX")),
    ("retrans", re.compile(r" (?P<retransmits>\d+) retrans\b")),
    ("%loss", re.compile(r" (?P<lost>\d+) / +(?P<packets>\d+) ~?drop/pkt +(?P<percent>[\d.]+) ~?%loss")),
    ("msRTT", re.compile(r" (?P<rtt>[\d.]+) msRTT")),
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
_TRANSFER = re.compile(
    r"(?P<transfer>\d[\d.]*) MB in (?P<seconds>\d[\d.]*) real seconds = .{0,80}?"
    r"(?P<rate>\d[\d.]*) (?P<rate_unit>[KMG]bps)"
)
_SIDE_FACTS: _Patterns = (
    ("v", _VERSION),
    (
        "buflen=",
        re.compile(
            r"buflen=(?P<message_bytes>\d+), nstream=(?P<users>\d+), port=(?P<port>\d+) (?P<protocol>tcp|udp)\b"
        ),
    ),
    ("port=", re.compile(r"port=\d+ (?:tcp|udp) (?:->|<-) (?P<server>\S+)")),
    ("time limit", re.compile(r"time limit = (?P<asked_duration_s>[\d.]+) seconds")),
    ("connect to", re.compile(r"connect to (?P<server_address>\S+?)(?: with|$)")),
    ("mss=", re.compile(r"\bmss=(?P<mss>\d+)")),
    ("accept from", re.compile(r"accept from (?P<client_address>\S+)")),
)
_SIDE_FIGURES: _Patterns = (
    ("RTT=", re.compile(r"RTT=(?P<rtt>[\d.]+) ms")),
    ("retrans", re.compile(r"retrans = (?P<retransmits>\d+)")),
    ("drop/pkt", re.compile(r"(?<!\d)(?P<lost>\d+) / +(?P<packets>\d+) drop/pkt +(?P<percent>[\d.]+) ?%")),
    ("user ", re.compile(r"(?<![\d.])[\d.]+user [\d.]+sys \S+real (?P<cpu>\d+)% ")),
)
_ERROR = re.compile(
    r"(?:nuttcp-[tr](?:<\S+>)?: (?:v(?P<tool_version>\d[\w.]*): )?)?"
    r"(?P<error>Error: .+|connect: .+|invalid ctlport = .+|errno=\d+)"
)
_WORDS = (" MB / ", "megabytes=", "nuttcp-", "invalid ctlport")
_INTERRUPTED = "*** transfer interrupted ***"
_COMMAND = re.compile(r"(?:^|[\s/])nuttcp(?P<options>(?: +[\w./:@-]+)+) *$")


@dataclass(slots=True)
class Transfer:
    """The transfer in one line; ``more`` holds further figures by name."""

    line: int
    transfer: str
    seconds: str
    rate: str
    rate_unit: str
    more: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Side:
    """One end's verbose output: ``t`` sends, ``r`` receives; ``is_whole`` if complete."""

    letter: str
    transfer: Transfer | None = None
    figures: dict[str, Printed] = field(default_factory=dict)
    is_whole: bool = False


@dataclass(slots=True)
class Test:
    """One test, local side first; ``result`` is a brief or ``-fparse`` line."""

    first_line: int
    last_line: int
    facts: dict[str, Fact] = field(default_factory=dict)
    sides: list[Side] = field(default_factory=list)
    intervals: list[Transfer] = field(default_factory=list)
    result: Transfer | None = None
    error: Printed | None = None
    interrupted: int | None = None
    command: Printed | None = None

    @property
    def is_over(self) -> bool:
        """Whether the next line belongs to another test."""
        return self.result is not None or (len(self.sides) > 1 and self.sides[-1].is_whole)

    def add(self, key: str, text: str, line: int) -> None:
        self.facts.setdefault(key, Fact(key, text, line))


def recognise(text: Text) -> bool:
    """Look for a line that only nuttcp prints."""
    head = islice(text.lines, _HEAD_LINES) if text.mentions(_WORDS, _HEAD_LINES) else ()
    return any(_BRIEF.match(line) or _PARSE.match(line) or _is_other(line) for line in head)


def _is_other(line: str) -> bool:
    side = _SIDE.match(line)
    if side is not None:
        return _VERSION.match(side["what"]) is not None or side["what"].startswith(("Error: ", "Info: "))
    return re.fullmatch(r"invalid ctlport = \d+", line.strip()) is not None


def scan_tests(text: Text) -> list[Test]:
    """Return all tests, without a last line that may be cut off."""
    found: list[Test] = []
    command: Printed | None = None
    for number, line in text.whole():
        if "nuttcp " in line and len(line) < _LONGEST_COMMAND and (asked := _COMMAND.search(line)):
            command = Printed(asked["options"].strip(), number)
            if found and not found[-1].is_over:
                found.append(Test(number, number))
                found[-1].command = command
            continue
        match = _match(line)
        if match is not None or _INTERRUPTED in line:
            if not found or found[-1].is_over or _begins(match, found[-1]):
                found.append(Test(number, number))
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


def _begins(match: re.Match[str] | None, test: Test) -> bool:
    """Return whether a line begins another test.

    Figures follow an error, or a side's first line is repeated. A test that could not begin prints a result of zero
    behind the error.
    """
    if match is None:
        return False
    if test.error is not None:
        return match.re in {_BRIEF, _PARSE} and not is_zero(match["transfer"])
    if match.re is not _SIDE or not _VERSION.match(match["what"]):
        return False
    return len(test.sides) > 1 or any(each.letter == match["side"] for each in test.sides)


def is_zero(figure: str) -> bool:
    """Return whether a figure is zero, with any number of digits."""
    return not figure.strip("0.")


def _take(test: Test, number: int, line: str, match: re.Match[str] | None) -> None:
    test.last_line = number
    if match is not None and match.re is _BRIEF:
        transfer, seconds, rate, unit, more = match.groups()
        figures = _find_all(_MORE, more.partition(" Tot:")[0])
        is_result = "sender_cpu" in figures and "receiver_cpu" in figures
        _take_transfer(test, Transfer(number, transfer, seconds, rate, unit, figures), is_result=is_result)
    elif match is not None and match.re is _PARSE:
        figures = {_PAIR_NAMES[key]: value for key, value in _PAIR.findall(match["more"]) if key in _PAIR_NAMES}
        whole = Transfer(number, match["transfer"], match["seconds"], match["rate"], "Mbps", figures)
        _take_transfer(test, whole, is_result=match["is_result"] is not None)
    elif _INTERRUPTED in line:
        test.interrupted = number
    elif match is not None and match.re is _ERROR:
        test.error = test.error or Printed(match["error"].removeprefix("Error: "), number)
        if match["tool_version"]:
            test.add("tool_version", match["tool_version"], number)
    elif match is not None:
        _take_side(test, number, match["side"], match["what"])


def _find_all(patterns: _Patterns, line: str) -> dict[str, str]:
    """Return all groups that the patterns find in a line."""
    figures: dict[str, str] = {}
    for word, pattern in patterns:
        if word in line and (match := pattern.search(line)):
            figures |= match.groupdict()
    return figures


def _take_transfer(test: Test, transfer: Transfer, *, is_result: bool) -> None:
    if is_result:
        test.result = transfer
    else:
        test.intervals.append(transfer)


def _take_side(test: Test, number: int, letter: str, what: str) -> None:
    """Take a line of verbose output; the local side's circumstances count."""
    if what.startswith("v") and _VERSION.match(what):
        test.sides.append(Side(letter))
    for side in test.sides:
        if side.letter == letter:
            _take_figures(side, test, number, what)
            return


def _take_figures(side: Side, test: Test, number: int, what: str) -> None:
    for key, value in _find_all(_SIDE_FACTS, what).items():
        test.add(key, value, number)
    for key, value in _find_all(_SIDE_FIGURES, what).items():
        side.figures[key] = Printed(value, number)
    side.is_whole = side.is_whole or "cpu" in side.figures
    if side.transfer is None and " MB in " in what and (transfer := _TRANSFER.match(what)):
        seconds, rate, unit = transfer["seconds"], transfer["rate"], transfer["rate_unit"]
        side.transfer = Transfer(number, transfer["transfer"], seconds, rate, unit)
