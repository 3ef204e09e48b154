"""The text of iperf 2 (2.0.4 to 2.1.x, with and without -e) as tests."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice, pairwise

from importers.iperf2.connections import TO_CLIENT, TO_SERVER, Row, Test
from importers.model import Fact, Text
from importers.tcp_segments import mtu_of

_HEAD_LINES = 60
_DASHES = "-" * 60
_HEADING = re.compile(
    r"Client connecting to (?P<server>[^\s,]+), (?P<client_protocol>TCP|UDP) port (?P<port>\d+)"
    r"|Server listening on (?P<protocol>TCP|UDP) port (?P<listening>\d+)"
)
_ROW = re.compile(
    r"\[ *(?P<id>\*?\d+|SUM)\] +(?P<t0>\d+\.\d+)- ?(?P<t1>\d+\.\d+) sec"
    r" +(?P<transfer>\d+(?:\.\d*)?) (?P<transfer_unit>[KMGT]?Bytes) +(?P<rate>\d+(?:\.\d*)?)"
    r" (?P<rate_unit>[KMGT]?(?:bits|Bytes)/sec)(?P<more>(?: .*)?)$"
)
_CONNECTED = re.compile(
    r"\[ *\*?(?P<id>\d+)\] local (?P<own>[^\s%]+)(?:%\S+)? port (?P<own_port>\d+)"
    r" connected with (?P<other>\S+) port (?P<other_port>\d+)(?P<more>.*)"
)
_REPORT = re.compile(r"\[ *\d+\] Server Report:")
_FURTHER = (
    re.compile(
        r" +(?P<jitter_ms>[\d.]+) ms +(?P<packets_lost>\d+)/ *(?P<packets>[1-9]\d*) +\((?P<loss_percent>[\d.e+-]+)%\)"
    ),
    re.compile(
        r" +(?P<transactions>\d+)=(?P<latency_mean_ms>[\d.]+)/(?P<latency_min_ms>[\d.]+)/(?P<latency_max_ms>[\d.]+)"
        r"/(?P<latency_sd_ms>[\d.]+) ms +(?P<retransmits>\d+) +\S+ us +(?P<busy_rps>\d+) rps"
    ),
    re.compile(r" +\d+/(?P<write_errors>\d+) +(?P<retransmits>\d+)(?: +-?\d+K?/(?P<rtt>\d+)(?:\(\d+\))? us)?"),
)
_COLUMNS = tuple((pattern, tuple(pattern.groupindex)) for pattern in _FURTHER)
# Each with a word that its line must have.
_FACTS = (
    ("Write buffer", re.compile(r"Write buffer size: +(?P<message_bytes>\d+) Byte")),
    (" byte datagrams", re.compile(r"(?:Sending|Receiving) (?P<message_bytes>\d+) byte datagrams")),
    ("TCP window", re.compile(r"TCP window size: *(?P<window>[^(]{1,30}) \(")),
    ("Bounce-back", re.compile(r"Bounce-back test \(size= *(?P<request_bytes>\d+) Byte\)")),
    ("iperf version", re.compile(r"iperf version (?P<tool_version>2\.\d[\w.-]*)")),
    ("MSS size", re.compile(r"\[ *\*?\d+\] MSS size (?P<mss>\d+) bytes")),
    ("BB8(f)-PDF", re.compile(r"BB8\(f\)-PDF: (?P<histogram>bin\S.{0,4000})")),
)
# The congestion window, the segment size and the round trip of the handshake, as 2.1 knows them of a connection.
_HANDSHAKE = re.compile(r"icwnd/mss/irtt=\d+/(?P<mss>\d+)/(?P<initial_rtt_us>\d+)")
_PEER = re.compile(r"\(peer (?P<peer_version>\d[\w.-]*)\)")
_STARTED = re.compile(r" on (?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) \((?P<zone>[^()]+)\)")
_SAID = re.compile(r"(?:^|[:\] ])(?P<said>(?:\w+ )?\w+ failed: .+|WARNING: did not receive ack .+|unable to connect.+)")


def recognise(text: Text) -> bool:
    """A line of dashes, then who connects where or who listens."""
    head = list(islice(text.lines, _HEAD_LINES))
    return any(_DASHES in dashes and _HEADING.match(line.lstrip()) for dashes, line in pairwise(head))


def tests(text: Text) -> list[Test]:
    """All tests that began, in order."""
    reader = _Reader(text.name)
    for number, line in text.whole():
        reader.take(number, line)
    if not text.ends_whole and reader.tests:
        reader.tests[-1].cut_line = len(text.lines)
    for test in reader.tests:
        _complete(test)
    return [test for test in reader.tests if test.connections or test.said or test.role == "client"]


@dataclass(slots=True)
class _Reader:
    """Sorts lines into tests: a heading begins one, and so does a connection after all before it have a result."""

    file: str
    tests: list[Test] = field(default_factory=list)
    listening: str = ""
    open_ids: set[str] = field(default_factory=set)
    is_report: bool = False
    said: tuple[str, int] | None = None

    def take(self, number: int, line: str) -> None:
        """Take the next line."""
        if (row := _ROW.search(line)) is not None:
            self._take_row(number, row)
        elif " port " in line and (heading := _HEADING.search(line)) is not None:
            self._take_heading(number, heading)
        elif " port " in line and (connected := _CONNECTED.search(line)) is not None:
            self._take_connection(number, connected)
        elif _may_have_failed(line) and (said := _SAID.search(line)) is not None:
            self._take_error(said["said"].strip(), number)
        elif self.tests:
            self.is_report = self.is_report or ("Report:" in line and _REPORT.search(line) is not None)
            self._take_facts(number, line)

    def _take_heading(self, number: int, heading: re.Match[str]) -> None:
        """A client's and a server's heading without a connection between them are those of one test, run both ways."""
        protocol = heading["protocol"] or heading["client_protocol"]
        test = self.tests[-1] if self.tests else None
        if test is None or (test.connections and test.role == "client"):
            test = self._begin("server" if heading["listening"] else "client", number)
            self.listening = ""
        test.is_udp = protocol == "UDP"
        _add(test, Fact("factor.protocol", protocol, number))
        if heading["listening"]:
            self.listening = heading["listening"]
        elif not test.connections:
            test.role = "client"
            _add(test, Fact("server", heading["server"], number))
            _add(test, Fact("port", heading["port"], number))

    def _begin(self, role: str, number: int) -> Test:
        test = Test(role, number, number, said=self.said)
        self.said, self.open_ids = None, set()
        self.tests.append(test)
        return test

    def _take_connection(self, number: int, match: re.Match[str]) -> None:
        if not self.tests:
            return
        test = self.tests[-1]
        if test.rows and not self.open_ids:
            test = self._next(test, number)
        self.open_ids.add(match["id"])
        test.last_line = number
        is_accepted = test.role == "client" and match["own_port"] == self.listening
        is_back = "(reverse)" in match["more"] or is_accepted
        test.connections[match["id"]] = TO_CLIENT if is_back else TO_SERVER
        if "(full-duplex)" in match["more"]:
            test.connections["*" + match["id"]] = TO_CLIENT
        test.is_bounceback = test.is_bounceback or "(bb " in match["more"]
        own, other = ("client", "server") if test.role == "client" else ("server", "client")
        _add(test, Fact(f"{own}_address", match["own"], number))
        _add(test, Fact(f"{other}_address", match["other"], number))
        for pattern in (_HANDSHAKE, _PEER):
            if known := pattern.search(match["more"]):
                for key, value in known.groupdict().items():
                    _add(test, Fact(key, value, number))
        if started := _STARTED.search(match["more"]):
            test.started = test.started if test.started[0] else (started["time"], started["zone"])

    def _next(self, test: Test, number: int) -> Test:
        """Another test under the same heading, as a server has them and a client that tests one way after the other."""
        kept = {"factor.protocol", "server", "port", "window", "tool_version"}
        if test.is_udp or test.role == "client":
            kept.add("message_bytes")
        following = self._begin(test.role, number)
        following.facts = [fact for fact in test.facts if fact.key in kept]
        following.is_udp = test.is_udp
        self.is_report = False
        return following

    def _take_row(self, number: int, match: re.Match[str]) -> None:
        if not self.tests:
            return
        test = self.tests[-1]
        row_id, t0, t1, transfer, unit, rate, rate_unit, more = match.groups()
        test.add(Row(number, row_id, t0, t1, transfer, unit, rate, rate_unit, _further(more), self.is_report))
        self.is_report = False
        self.open_ids.discard(row_id.strip("*"))
        test.last_line = number

    def _take_error(self, said: str, number: int) -> None:
        """Version 2.0 writes that it cannot connect before the heading of the test."""
        test = self.tests[-1] if self.tests else None
        if test is None or (test.rows and test.role == "client" and "connect" in said):
            self.said = self.said or (said, number)
        else:
            test.said = test.said or (said, number)

    def _take_facts(self, number: int, line: str) -> None:
        test = self.tests[-1]
        for word, pattern in _FACTS:
            if word in line and (match := pattern.search(line)):
                test.last_line = max(test.last_line, number)
                for key, value in match.groupdict().items():
                    _add(test, Fact(key, value.strip(), number))


def _may_have_failed(line: str) -> bool:
    return "failed:" in line or "did not receive ack" in line or "unable to connect" in line


def _further(columns: str) -> dict[str, str]:
    """What stands behind transfer and rate, by its names."""
    for pattern, names in _COLUMNS:
        if found := pattern.match(columns):
            texts = found.groups()
            said = zip(names, texts, strict=True)
            return {name: text for name, text in said if text is not None} if None in texts else dict(said)
    return {}


def _add(test: Test, fact: Fact) -> None:
    """The first time that something is said counts."""
    if fact.key not in [known.key for known in test.facts]:
        test.facts.append(fact)


def _complete(test: Test) -> None:
    """What follows from what was said: the answer of a bounce-back is as long, and some segments tell the MTU."""
    for fact in _following(test.facts):
        _add(test, fact)


def _following(facts: list[Fact]) -> Iterator[Fact]:
    for fact in list(facts):
        if fact.key == "request_bytes":
            yield Fact("response_bytes", fact.text, fact.line)
        elif fact.key == "mss" and (mtu := mtu_of(fact.text)):
            yield Fact("mtu", mtu, fact.line)
