"""The comma-separated values of iperf 2 (``-y C``) as tests."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from importers.iperf2.rows import SUM, TO_SERVER, Row, Test
from importers.model import Fact, Text

_HEAD_LINES = 20
_LINE = re.compile(
    r"(?:[+-]\d{4}:)?(?P<time>\d{14})(?:\.\d+)?,(?P<own>[^,\s]+),(?P<own_port>\d+),(?P<other>[^,\s]+),(?P<other_port>\d+),"
    r"(?P<id>-?\d+),(?P<t0>\d+\.\d+)-(?P<t1>\d+\.\d+),(?P<transfer>\d+),(?P<rate>\d+)"
    r"(?:,(?P<jitter_ms>-?[\d.]+),(?P<packets_lost>-?\d+),(?P<packets>-?\d+),(?P<loss_percent>-?[\d.naif]+),-?\d+)?"
)
_SAID = re.compile(r"(?:\w+ )?\w+ failed: .+|WARNING: did not receive ack .+")
_NEVER = "19700101000000"  # What 2.1.8 writes when there is only one report.


def recognise(text: Text) -> bool:
    """Whether one of the first lines is a whole line of values."""
    return any(_LINE.fullmatch(line.strip()) for line in islice(text.lines, _HEAD_LINES))


def tests(text: Text) -> Iterator[Test]:
    """All tests, in order; what is no line of values may be an error message."""
    reader = _Reader()
    for number, line in text.whole():
        if match := _LINE.fullmatch(line.strip()):
            before = reader.test
            if reader.take(number, match) is not before and before is not None:
                yield before
        elif said := _SAID.search(line):
            reader.said = reader.said or (said[0], number)
            if reader.test is not None:
                reader.test.said = reader.test.said or reader.said
    if reader.test is not None:
        reader.test.cut_line = None if text.ends_whole else len(text.lines)
        yield reader.test


@dataclass(slots=True)
class _Reader:
    """A test ends where an id comes again with other ports."""

    test: Test | None = None
    ports: dict[str, frozenset[str]] = field(default_factory=dict)
    said: tuple[str, int] | None = None

    def take(self, number: int, match: re.Match[str]) -> Test:
        """Take the next line of values; answers the test that it is of."""
        ports = frozenset((match["own_port"], match["other_port"]))
        is_sum = match["id"] == "-1"
        test = self.test
        if test is None or (not is_sum and self.ports.get(match["id"], ports) != ports):
            test = self.test = self._begin(number, match)
        test.last_line = number
        if match["time"] != _NEVER:
            test.ended = match["time"]
        if not is_sum:
            self.ports[match["id"]] = ports
            test.connections[match["id"]] = TO_SERVER
        more = _known(match)
        is_report = match["jitter_ms"] is not None and test.role == "client"
        test.is_udp = test.is_udp or match["jitter_ms"] is not None
        texts = match["t0"], match["t1"], match["transfer"], "bytes", match["rate"], "bits/s"
        test.add(Row(number, SUM if is_sum else match["id"], *texts, more=more, is_report=is_report))
        return test

    def _begin(self, number: int, match: re.Match[str]) -> Test:
        """The side with the lower port is the one that listens; a sum's own port is 0."""
        is_server = 0 < int(match["own_port"]) < int(match["other_port"])
        own, other = ("server", "client") if is_server else ("client", "server")
        test = Test(own, number, number, knows_direction=False, said=self.said)
        test.facts = [
            Fact(f"{own}_address", match["own"], number),
            Fact(f"{other}_address", match["other"], number),
        ]
        self.ports, self.said = {}, None
        return test


def _known(match: re.Match[str]) -> dict[str, str]:
    """What the server said of UDP; a client that never heard of it writes -1 datagrams."""
    if match["packets"] is None or int(match["packets"]) <= 0:
        return {}
    keys = ("jitter_ms", "packets_lost", "packets", "loss_percent")
    return {key: match[key] for key in keys if not match[key].startswith("-")}
