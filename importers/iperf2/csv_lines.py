"""Tests in iperf 2's comma-separated values (``-y C``)."""

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from importers.fragment_builder import Printed
from importers.iperf2.connections import SUM, TO_CLIENT, TO_SERVER, Row, Test
from importers.key_values import whole
from importers.model import Fact, Text

_HEAD_LINES = 20
_LINE = re.compile(
    r"(?:(?P<zone>[+-]\d{4}):)?(?P<time>\d{14})(?:\.\d+)?,(?P<own>[^,\s]+),(?P<own_port>\d+),(?P<other>[^,\s]+),(?P<other_port>\d+),"
    r"(?P<id>-?\d+),(?P<t0>\d+\.\d+)-(?P<t1>\d+\.\d+),(?P<transfer>\d+),(?P<rate>\d+)"
    r"(?:,(?P<jitter_ms>-?[\d.]+),(?P<packets_lost>-?\d+),(?P<packets>-?\d+),(?P<loss_percent>-?[\d.naif]+),-?\d+)?"
)
_ERROR = re.compile(r"\b(?:\w+ )?\w+ failed: .+|WARNING: did not receive ack .+")
_NOTHING: Mapping[str, str] = {}
_NEVER = "19700101000000"  # Version 2.1.8 writes this time if there is only one report.


def recognise(text: Text) -> bool:
    """Look for a whole line of values."""
    return any(_LINE.fullmatch(line.strip()) for line in islice(text.lines, _HEAD_LINES))


def read_tests(text: Text) -> Iterator[Test]:
    """Yield all tests; lines without values may be error messages."""
    reader = _Reader()
    for number, line in text.whole():
        if match := _LINE.fullmatch(line.strip()):
            before = reader.test
            if reader.take(number, match) is not before and before is not None:
                yield before
        elif error := _ERROR.search(line):
            reader.error = reader.error or Printed(error[0], number)
            if reader.test is not None:
                reader.test.error = reader.test.error or reader.error
    if reader.test is not None:
        reader.test.cut_line = None if text.ends_whole else len(text.lines)
        yield reader.test


@dataclass(slots=True)
class _Reader:
    """Grouping of lines into tests, which end where other ports have the same id."""

    test: Test | None = None
    ports: dict[str, frozenset[str]] = field(default_factory=dict)
    address: str = ""
    server_port: str = ""
    error: Printed | None = None

    def take(self, number: int, match: re.Match[str]) -> Test:
        """Add the next line of values and return the test."""
        zone, time, own, own_port, _, other_port, id_, t0, t1, transfer, rate, jitter, _, packets, _ = match.groups()
        # A test has few ids and very many rows.
        row_id, ports = sys.intern(id_), frozenset((own_port, other_port))
        is_sum = row_id == "-1"
        test = self.test
        if test is None or (not is_sum and self.ports.get(row_id, ports) != ports):
            test = self.test = self._begin(number, match)
        test.last_line = number
        if time != _NEVER:
            test.ended = time
            test.started = "", zone or ""
        is_udp = jitter is not None
        test.is_udp = test.is_udp or is_udp
        # In a client's lines, the server's report has the addresses exchanged, and the way back the ports alone.
        is_report = is_udp and test.role == "client" and own != self.address
        is_back = not is_report and not is_sum and test.role == "client" and own_port == self.server_port
        if is_report or is_back:
            test.knows_direction = True
        if not is_sum:
            self.ports[row_id] = ports
            if row_id not in test.connections:
                test.add_ports(own_port, other_port)
            test.connections.setdefault(row_id, TO_CLIENT if is_back else TO_SERVER)
        is_unknown = packets is not None and packets.startswith("-")
        if is_unknown and is_report:
            # A client writes this line if the server's report never arrived.
            return test
        more = _NOTHING if is_unknown or packets is None else _read_report(match)
        texts = t0, t1, transfer, "bytes", rate, "bits/s"
        test.add(Row(number, SUM if is_sum else row_id, *texts, more=more, is_report=is_report))
        return test

    def _begin(self, number: int, match: re.Match[str]) -> Test:
        """Begin a test; the server has the lower port, a sum has port 0."""
        is_server = 0 < whole(match["own_port"]) < whole(match["other_port"])
        own, other = ("server", "client") if is_server else ("client", "server")
        test = Test(own, number, number, is_csv=True, knows_direction=False, error=self.error)
        test.facts = [Fact(f"{side}_address", match[end], number) for side, end in ((own, "own"), (other, "other"))]
        self.address, self.server_port = match["own"], match["own_port" if is_server else "other_port"]
        test.facts.append(Fact("port", self.server_port, number))
        self.ports, self.error = {}, None
        return test


def _read_report(match: re.Match[str]) -> Mapping[str, str]:
    """Return the server's figures about UDP, if any datagram arrived."""
    if not whole(match["packets"]):
        return _NOTHING
    keys = ("jitter_ms", "packets_lost", "packets", "loss_percent")
    return {key: match[key] for key in keys if not match[key].startswith("-")}
