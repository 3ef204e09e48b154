"""Tests in iperf 2's text (2.0.4 to 2.1.x, with and without ``-e``)."""

import re
from dataclasses import dataclass, field
from itertools import islice, pairwise

from importers.fragment_builder import LinePattern, Printed, mtu_of
from importers.iperf2.connections import TO_CLIENT, TO_SERVER, Row, Test
from importers.model import Text

_HEAD_LINES = 60
_DASHES = "-" * 60
_HEADING = re.compile(
    r"Client connecting to (?P<server>[^\s,]+), (?P<client_protocol>TCP|UDP) port (?P<port>\d+)"
    r"|Server listening on (?P<protocol>TCP|UDP) port (?P<listening>\d+)"
)
_ROW = re.compile(
    r"\[ *(?P<id>\*?\d+|SUM)(?:-\d+)?\] +(?P<t0>\d+\.\d+)- ?(?P<t1>\d+\.\d+) sec"
    r" +(?P<transfer>\d+(?:\.\d*)?) (?P<transfer_unit>[KMGT]?Bytes) +(?P<rate>\d+(?:\.\d*)?)"
    r" (?P<rate_unit>[KMGT]?(?:bits|Bytes)/sec)(?P<more>(?: .*)?)$"
)
_CONNECTED = re.compile(
    r"\[ *\*?(?P<id>\d+)\] local (?P<own>[^\s%]+)(?:%\S+)? port (?P<own_port>\d+)"
    r" connected with (?P<other>\S+) port (?P<other_port>\d+)(?P<more>.*)"
)
_REPORT = re.compile(r"\[ *\d+\] Server Report:")
_ONE_WAY = r"(?: +(?P<one_way_latency>[\d.]+/[\d./ -]+?) ms\b)"  # Of datagrams, or with --trip-times of bursts.
_FURTHER = tuple(
    re.compile(pattern)
    for pattern in (
        r" +(?P<jitter_ms>[\d.]+) ms +(?P<packets_lost>\d+)/ *(?P<packets>[1-9]\d*) +\((?P<loss_percent>[\d.e+-]+)%\)"
        rf"{_ONE_WAY}?",
        r" +(?P<transactions>\d+)=(?P<latency_mean_ms>[\d.]+)/(?P<latency_min_ms>[\d.]+)/(?P<latency_max_ms>[\d.]+)"
        r"/(?P<latency_sd_ms>[\d.]+) ms +(?P<retransmits>\d+) +\S+ us +(?P<busy_rps>\d+) rps",
        r" +\d+/(?P<write_errors>\d+) +(?P<retransmits>\d++)(?! pps)(?: +-?\d+K?/(?P<rtt>\d+)(?:\(\d+\))? us)?",
        _ONE_WAY,
    )
)
_FACTS = (
    LinePattern("Write buffer", r"Write buffer size: +(?P<message_bytes>\d+) Byte"),
    LinePattern(" byte datagrams", r"(?:Sending|Receiving) (?P<message_bytes>\d+) byte datagrams"),
    LinePattern(" size:", r"(?:window|UDP buffer) size: *(?P<default_window>[\d.]+ [KMG]?Byte) \(default\)"),
    LinePattern(
        " size:", r"(?:window|UDP buffer) size: *(?:[^(]*\(.*requested *)?(?P<window>\d[\d.]* [KMG]?Byte)\)?\s*$"
    ),
    LinePattern("IPG target", r"IPG target: +(?P<rate>[\d.]+ us)"),
    LinePattern("TOS set", r"TOS set to .*(?P<nodelay>nodelay)"),
    LinePattern("congestion", r"TCP congestion control set to (?P<congestion_control>\w+)"),
    LinePattern("ursting: ", r"(?P<tool_options>Bursting: .{1,100})"),
    LinePattern("Isochronous: ", r"(?P<tool_options>Isochronous: .{1,100})"),
    LinePattern("Bounce-back", r"Bounce-back test \(size= *(?P<request_bytes>\d+) Byte\)"),
    LinePattern("iperf version", r"iperf version (?P<tool_version>2\.\d[\w.-]*)"),
    LinePattern("MSS size", r"\[ *\*?\d+\] MSS size (?P<mss>\d+) bytes"),
    LinePattern("BB8(f)-PDF", r"BB8\(f\)-PDF: (?P<histogram>bin\S.{0,4000})"),
)
# Printed figures that are no texts of facts yet.
_AS_FACTS = {"rate": "1 every {}", "nodelay": "on"}
_FACTOR = frozenset({"congestion_control"})
# Congestion window, segment size and round trip of the handshake, which 2.1 prints for a connection.
_HANDSHAKE = re.compile(r"icwnd/mss/irtt=\d+/(?P<mss>\d+)/(?P<initial_rtt_us>\d+)")
_PEER = re.compile(r"\(peer (?P<peer_version>\d[\w.-]*)\)")
_STARTED = re.compile(r" on (?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) \((?P<zone>[^()]+)\)")
_FAILURES = ("failed:", "did not receive ack", "unable to connect")
_ERROR = re.compile(r"(?:^|[:\] ])((?:\w+ )?\w+ failed: .+|WARNING: did not receive ack .+|unable to connect.+)")


def recognise(text: Text) -> bool:
    """Look for a heading of client or server below a line of dashes."""
    head = list(islice(text.lines, _HEAD_LINES))
    return any(_DASHES in dashes and _HEADING.match(line.lstrip()) for dashes, line in pairwise(head))


def read_tests(text: Text) -> list[Test]:
    """Return all tests that began."""
    reader = _Reader()
    for number, line in text.whole():
        reader.take(number, line)
    if not text.ends_whole and reader.tests:
        reader.tests[-1].cut_line = len(text.lines)
    for test in reader.tests:
        for fact in list(test.facts.values()):
            if fact.key == "request_bytes":  # Of a bounce-back.
                test.add_fact("response_bytes", fact.text, fact.line)
            elif fact.key == "mss" and (mtu := mtu_of(fact.text)):
                test.add_fact("mtu", mtu, fact.line)
    return [test for test in reader.tests if test.connections or test.error or test.role == "client"]


@dataclass(slots=True)
class _Reader:
    """Grouping of lines into tests, by headings, and connections when none is open."""

    tests: list[Test] = field(default_factory=list)
    listening: str = ""
    open_ids: set[str] = field(default_factory=set)
    is_report: bool = False
    error: Printed | None = None

    def take(self, number: int, line: str) -> None:
        if (row := _ROW.search(line)) is not None:
            self._take_row(number, row)
        elif " port " in line and (heading := _HEADING.search(line)) is not None:
            self._take_heading(number, heading)
        elif " port " in line and (connected := _CONNECTED.search(line)) is not None:
            self._take_connection(number, connected)
        elif any(words in line for words in _FAILURES) and (error := _ERROR.search(line)) is not None:
            self._take_error(Printed(error[1].strip(), number))
        elif self.tests:
            self.is_report = self.is_report or ("Report:" in line and _REPORT.search(line) is not None)
            self._take_facts(number, line)

    def _take_heading(self, number: int, heading: re.Match[str]) -> None:
        """Begin a test, unless headings of client and server are of one test."""
        protocol = heading["protocol"] or heading["client_protocol"]
        test = self.tests[-1] if self.tests else None
        is_listener = heading["listening"] and self.open_ids
        if test is None or (test.connections and test.role == "client" and not is_listener):
            test = self._begin("server" if heading["listening"] else "client", number)
            self.listening = ""
        test.is_udp = protocol == "UDP"
        test.add_fact("factor.protocol", protocol, number)
        if heading["listening"]:
            self.listening = heading["listening"]
        elif not test.connections:
            test.role = "client"
            test.add_fact("server", heading["server"], number)
            test.add_fact("port", heading["port"], number)

    def _begin(self, role: str, number: int) -> Test:
        test = Test(role, number, number, error=self.error)
        self.error, self.open_ids = None, set()
        self.tests.append(test)
        return test

    def _take_connection(self, number: int, match: re.Match[str]) -> None:
        if not self.tests:
            return
        test = self.tests[-1]
        # Under a client's heading, only its connection's way back is of the same test.
        is_accepted = match["own_port"] == self.listening
        is_next = test.role == "server" or is_accepted or match["id"] in test.connections
        if test.rows and not self.open_ids and is_next:
            test = self._begin_next(test, number)
        self.open_ids.add(match["id"])
        test.last_line = number
        is_back = "(reverse)" in match["more"] or (is_accepted and test.role == "client")
        test.connections[match["id"]] = TO_CLIENT if is_back else TO_SERVER
        if "(full-duplex)" in match["more"]:
            test.connections["*" + match["id"]] = TO_CLIENT
        test.is_bounceback = test.is_bounceback or "(bb " in match["more"]
        test.add_ends((match["own"], match["own_port"]), (match["other"], match["other_port"]), number)
        for pattern in (_HANDSHAKE, _PEER):
            if known := pattern.search(match["more"]):
                for key, value in known.groupdict().items():
                    test.add_fact(key, value, number)
        if started := _STARTED.search(match["more"]):
            test.started = test.started if test.started[0] else (started["time"], started["zone"])

    def _begin_next(self, test: Test, number: int) -> Test:
        """Begin another test under the same heading."""
        kept = {"factor.protocol", "factor.congestion_control", "server", "port", "window", "default_window"}
        kept |= {"rate", "nodelay", "tool_options", "tool_version"}
        if test.is_udp or test.role == "client":
            kept.add("message_bytes")
        following = self._begin(test.role, number)
        following.facts = {key: fact for key, fact in test.facts.items() if key in kept}
        following.is_udp = test.is_udp
        self.is_report = False
        return following

    def _take_row(self, number: int, match: re.Match[str]) -> None:
        if not self.tests:
            return
        test = self.tests[-1]
        row_id, t0, t1, transfer, unit, rate, rate_unit, more = match.groups()
        found = next(filter(None, (pattern.match(more) for pattern in _FURTHER)), None)
        columns = {name: text for name, text in found.groupdict().items() if text is not None} if found else {}
        test.add(Row(number, row_id, t0, t1, transfer, unit, rate, rate_unit, columns, self.is_report))
        self.is_report = False
        self.open_ids.discard(row_id.strip("*"))
        test.last_line = number

    def _take_error(self, error: Printed) -> None:
        """Keep an error; version 2.0 prints failed connections before the heading."""
        test = self.tests[-1] if self.tests else None
        if test is None or (test.rows and test.role == "client" and "connect" in error.text):
            self.error = self.error or error
        else:
            test.error = test.error or error

    def _take_facts(self, number: int, line: str) -> None:
        test = self.tests[-1]
        for statement in _FACTS:
            if match := statement.search(line):
                test.last_line = max(test.last_line, number)
                for key, value in match.groupdict().items():
                    text = _AS_FACTS.get(key, "{}").format(value.strip())
                    test.add_fact(f"factor.{key}" if key in _FACTOR else key, text, number)
