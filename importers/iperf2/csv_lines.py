"""Tests in iperf 2's comma-separated values (``-y C``).

Version 2.0 writes its own end of a connection first, and the ends of a server's report the other way round; version 2.1
writes the sender first. The lower port is the server's.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from importers.fragment_builder import Printed
from importers.iperf2.connections import SUM, TO_CLIENT, TO_SERVER, Row, Test, parse_time
from importers.key_values import whole
from importers.model import Text

_HEAD_LINES = 20
_LINE = re.compile(
    r"(?:(?P<zone>[+-]\d{4}):)?(?P<time>\d{14})(?:\.\d+)?,(?P<own>[^,\s]+),(?P<own_port>\d+),(?P<other>[^,\s]+),"
    r"(?P<other_port>\d+),(?P<id>-?\d+),(?P<t0>\d+\.\d+)-(?P<t1>\d+\.\d+),(?P<transfer>\d+),(?P<rate>\d+)"
    r"(?:,(?P<jitter_ms>-?[\d.]+),(?P<packets_lost>-?\d+),(?P<packets>-?\d+),(?P<loss_percent>-?[\d.naif]+),-?\d+)?"
)
_ERROR = re.compile(r"\b(?:\w+ )?\w+ failed: .+|WARNING: did not receive ack .+")
_FIGURES = ("jitter_ms", "packets_lost", "packets", "loss_percent")
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
    """Grouping of lines into tests; ``ids`` by ports and the clients' end."""

    test: Test | None = None
    ids: dict[frozenset[str], str] = field(default_factory=dict)
    port: str = ""
    server: str = ""
    error: Printed | None = None

    def take(self, number: int, match: re.Match[str]) -> Test:
        """Add the next line of values and return the test."""
        # A test has few ids and very many rows.
        row_id, ports = sys.intern(match["id"]), frozenset((match["own_port"], match["other_port"]))
        is_sum, is_back = row_id == "-1", match["other_port"] == "0"
        packets, test = match["packets"], self.test
        if is_back and not is_sum:
            # The way back of --full-duplex.
            row_id, ports = f"*{row_id}", ports | {row_id}
        known = self.ids.get(ports)
        if test is None or (not is_sum and known is None and self._is_next(test, row_id, match)):
            test, known = self._begin(number, match), None
        is_report = False
        if not is_sum and known is None:
            self._connect(test, row_id, match, number)
            self.ids[ports] = row_id
        elif known is not None:
            swapped = (match["own_port"] == self.port) and test.direction(known) == TO_SERVER
            is_report = packets is not None and test.role == "client" and (swapped or row_id != known)
            row_id = known
        test.last_line = number
        if match["time"] != _NEVER:
            test.ended = match["time"]
        test.is_udp = test.is_udp or packets is not None
        if packets is not None and packets.startswith("-") and is_report:
            # A client writes this line if the server's report never arrived.
            return test
        # The server's figures about UDP, if any datagram arrived.
        counted = packets is not None and not packets.startswith("-") and whole(packets)
        more = {key: match[key] for key in _FIGURES if not match[key].startswith("-")} if counted else _NOTHING
        texts = match["t0"], match["t1"], match["transfer"], "bytes", match["rate"], "bits/s"
        test.add(Row(number, SUM if is_sum else row_id, *texts, more=more, is_report=is_report))
        return test

    def _is_next(self, test: Test, row_id: str, match: re.Match[str]) -> bool:
        """Return whether a new connection is of another test: its id is in use, or it began after the others."""
        begun, ended = (parse_time(text, "%Y%m%d%H%M%S") for text in (match["time"], test.ended))
        if row_id in test.connections or not test.connections or match["time"] == _NEVER or not (begun and ended):
            return row_id in test.connections
        pause, seconds = (begun - ended).total_seconds(), float(match["t1"])
        return pause > seconds or (pause == seconds and seconds > 0)

    def _begin(self, number: int, match: re.Match[str]) -> Test:
        """Begin a test, of a server if its end is first in a dated line, or if a sender's line has a report."""
        # The way back alone (``-r``).
        is_back = self.test is not None and self.port == match["own_port"] and match["own"] != self.server
        first_is_server = not is_back and 0 < whole(match["own_port"]) < whole(match["other_port"])
        is_dated = match["time"] != _NEVER
        counted = match["packets"] is not None and not match["packets"].startswith("-")
        is_server = not is_back and (is_dated if first_is_server else counted)
        self.test = test = Test("server" if is_server else "client", number, number, is_csv=True, error=self.error)
        test.knows_direction = not (is_server and first_is_server)
        if not is_back:
            ends = (match["own"], match["own_port"]), (match["other"], match["other_port"])
            self.server, self.port = ends[0] if first_is_server or match["other_port"] == "0" else ends[1]
        test.add_fact("port", self.port, number)
        test.started = "", match["zone"] or ""
        self.ids, self.error = {}, None
        return test

    def _connect(self, test: Test, row_id: str, match: re.Match[str], number: int) -> None:
        """Add a connection with its direction and ends."""
        ends = [(match["own"], match["own_port"]), (match["other"], match["other_port"])]
        is_back = match["own_port"] == self.port or match["other_port"] == "0"
        is_back = is_back or match["own"] == self.server != match["other"]
        test.connections[row_id] = TO_CLIENT if test.knows_direction and is_back else TO_SERVER
        if ends[1][1] != "0":
            server = self.server, self.port
            begins_with_server = ends[0] == server or (ends[1] != server and ends[0][0] == self.server)
            own, other = ends if begins_with_server is (test.role == "server") else ends[::-1]
            test.add_ends(own, other, number)
