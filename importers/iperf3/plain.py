"""iperf3's text (tables of intervals, then a result for each side), and problems at the end of a test."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from itertools import islice

from importers.fragment_builder import Column, FragmentBuilder, LinePattern, Printed, Row, build_listing, join_ports
from importers.model import Fact, Fragment, ProblemLog, Reading, Status, Text

_HEAD_LINES = 60
_TABLE = re.compile(r"\[ ID\](?:\[Role\])? Interval {6,}Transfer {3,}(?:Bitrate|Bandwidth)")
_OPENING = re.compile(
    r"Connecting to host \S+, port \d+|Server listening on \d+(?: |$)|Accepted connection from \S+, port "
)
_FIRST_ERROR = re.compile(r"iperf3: (?:error|interrupt) - ")
_WORDS = ("Connecting to host ", "Server listening on ", "Accepted connection from ", "iperf3: ")
_DASHES = "- - - - -"
_DONE = "iperf Done."  # With --timestamps behind the time.
_ROW = re.compile(
    r"\[ *(?P<id>\d+|SUM)\](?:\[(?P<way>[TR]X-[CS])\])? +(?P<t0>[\d.]+)-(?P<t1>[\d.]+) +sec"
    r" +(?P<transfer>[\d.]+) (?P<transfer_unit>[KMGT]?Bytes) +(?P<rate>[\d.]+) (?P<rate_unit>[KMGT]?(?:bits|Bytes)/sec)"
    r"(?: +(?P<jitter>[\d.]+) ms +(?P<lost>\d+)/(?P<total>\d+) \((?P<percent>[\d.e+-]+)%\)| +(?P<count>\d+)(?= |$))?"
    r"(?: +[\d.]+ [KMG]?Bytes)?(?: +(?P<omitted>\(omitted\)))?(?: +(?P<side>sender|receiver))?\s*$"
)
TRANSFER = "Transfer the file again and import it."
AGAIN = "Measure again."
SERVER_ENDED = "server has terminated"
_INTERRUPTED = ("interrupt", "has terminated", "closed the connection")


_ERROR = LinePattern("iperf3: ", r"iperf3: (?:error - )?(?P<error>\S.*)")
_CONNECTED = LinePattern(
    " connected to ",
    r"\[ *(?P<id>\d+)\] local (?P<own>\S+) port (?P<own_port>\d+)"
    r" connected to (?P<other>\S+) port (?P<other_port>\d+)",
)
# Mostly with -V; the names of the groups are the keys of the facts.
_FACTS = (
    LinePattern("iperf 3.", r"^(?:.*\s)?iperf (?P<tool_version>3\.\d[\w.+-]*)(?: \(|$)"),
    LinePattern("Connecting ", r"Connecting to host (?P<server>\S+), port (?P<port>\d+)"),
    LinePattern("Accepted ", r"Accepted connection from (?P<client>\S+), port \d+"),
    LinePattern("TCP MSS: ", r"TCP MSS: (?P<mss>[1-9]\d*) "),
    LinePattern("Target Bitrate: ", r"Target Bitrate: (?P<rate>[1-9]\d*)"),
    LinePattern("Cookie: ", r"Cookie: (?P<cookie>\S+)"),
    LinePattern(
        "Starting Test: ",
        r"Starting Test: protocol: (?P<protocol>\w+), (?P<users>\d+) streams, (?P<message_bytes>\d+) byte blocks, "
        r"omitting (?P<warmup_s>\d+) seconds, (?:(?P<asked_duration_s>\d+) second|(?P<asked_bytes>\d+) bytes) "
        r"(?:[^,]*, tos (?P<tos>\d+))?",
    ),
    LinePattern("snd_tcp_congestion ", r"snd_tcp_congestion (?P<congestion_control>\w+)"),
    LinePattern("Title: ", r"^Title: (?P<title>.+)"),
)
_FACTOR = {"protocol", "congestion_control"}
_TIME = LinePattern("Time: ", r"Time: \w{3}, (?P<time>\d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2}) (?P<zone>GMT|UTC)")
_CPU = LinePattern(
    "CPU Utilization: ",
    r"CPU Utilization: local/\w+ (?P<own>[\d.]+)% [^,]{0,40}, remote/\w+ (?P<other>[\d.]+)%",
)
_REVERSE = LinePattern("Reverse mode, ", r"Reverse mode, remote host \S+ is sending")
_Numbered = tuple[int, re.Match[str]]
_DIRECTIONS = {"TX-C": "to_server", "RX-S": "to_server", "RX-C": "to_client", "TX-S": "to_client"}


@dataclass(slots=True)
class _Block:
    """The rows and other lines of one test; results follow a line of dashes."""

    role: str
    lines: list[tuple[int, str]]
    last_line: int
    intervals: list[_Numbered] = field(default_factory=list)
    results: list[_Numbered] = field(default_factory=list)
    error: Printed | None = None
    is_opened: bool = True
    is_done: bool = False
    is_udp: bool = False
    is_both: bool = False
    in_results: bool = False
    below_dashes: bool = False

    @property
    def other_role(self) -> str:
        return "client" if self.role == "server" else "server"

    @property
    def first_line(self) -> int:
        return min(each[0][0] for each in (self.lines, self.intervals, self.results) if each)

    def find_all(self, statement: LinePattern) -> list[_Numbered]:
        """Return the numbered matches of a statement."""
        return [(line, match) for line, text in self.lines if (match := statement.search(text))]

    @property
    def is_error_alone(self) -> bool:
        """Return whether there is an error and no test."""
        return self.error is not None and not (self.is_opened or self.intervals or self.results)

    def take_error(self, other: "_Block") -> bool:
        """Take over an error without a test, if it can be the end of this test; a refused test never began."""
        if self.role == "server" or not self.is_opened or self.is_done or self.error is not None:
            return False
        if other.error is None or "unable to connect" in other.error.text:
            return False
        self.error, self.lines = other.error, sorted([*other.lines, *self.lines])
        self.last_line = max(self.last_line, other.last_line)
        return True

    def add(self, number: int, line: str) -> None:
        self.last_line = number
        # Trailing blanks would be tried by every optional part of the pattern.
        if " sec " in line and (row := _ROW.search(line.rstrip(" "))):
            (self.results if self.in_results or row["side"] else self.intervals).append((number, row))
            self.is_udp = self.is_udp or row["lost"] is not None
            self.below_dashes = False
            return
        self.lines.append((number, line))
        if "[ ID]" in line and _TABLE.search(line):
            self.in_results = self.in_results or self.below_dashes
            self.is_udp = self.is_udp or "Datagrams" in line
            self.is_both = self.is_both or "[Role]" in line
        elif error := _ERROR.search(line):
            self.error = self.error or Printed(error["error"].strip(), number)
        self.below_dashes = _DASHES in line or (self.below_dashes and "Summary Results" in line)


def recognise(text: Text) -> bool:
    """Look for a result, or for iperf3's table below an opening line or of rates, or for an error message."""
    if not text.mentions((*_WORDS, "[ ID]", " sec "), _HEAD_LINES):
        return False
    head = [line for line in islice(text.lines, _HEAD_LINES) if line.strip()]
    rows = [row for line in head if " sec " in line and (row := _ROW.search(line.rstrip(" ")))]
    if any(row["side"] for row in rows):
        return True
    if rows and any("Bitrate" in line and _TABLE.search(line) for line in head):  # iperf 2 has a bandwidth.
        return True
    if any(_OPENING.search(line) for line in head):
        return any(_TABLE.search(line) or _FIRST_ERROR.search(line) for line in head) or len(head) < _HEAD_LINES // 2
    return any(_FIRST_ERROR.match(line) for line in head)


def parse(text: Text, source: tuple[str, str, int], found: ProblemLog) -> list[Fragment]:
    """Return a fragment for each test that began; ``source`` is file, format and version."""
    is_whole = text.ends_whole or text.lines[-1].rstrip().endswith((_DONE, " receiver"))
    return parse_lines(text.numbered() if is_whole else text.whole(), source, found)


def parse_lines(lines: Iterable[tuple[int, str]], source: tuple[str, str, int], found: ProblemLog) -> list[Fragment]:
    """Return a fragment for each test in numbered lines."""
    blocks = []
    for block in _blocks(lines):
        if block.is_error_alone and block.error is not None and SERVER_ENDED in block.error.text:
            report_no_test(block.last_line, found)
        else:
            blocks.append(block)
    tests = [block for block in blocks if not block.is_error_alone]
    if len(tests) == 1:
        for block in blocks:
            if block.is_error_alone and block.error is not None and not tests[0].take_error(block):
                report_aside(block.error, found)
        blocks = tests
    return [_read(block, source, found) for block in _join_errors(blocks)]


def _blocks(lines: Iterable[tuple[int, str]]) -> list[_Block]:
    """Split the lines into tests; lines before a test belong to that test."""
    blocks: list[_Block] = []
    waiting: list[tuple[int, str]] = []
    current: _Block | None = None
    client: _Block | None = None
    for number, line in lines:
        opening = _OPENING.search(line) if ", port " in line or "Server " in line else None
        # A further table behind results is of another test; a result may have no table.
        is_table = "[ ID]" in line and (current is None or bool(current.results)) and _TABLE.search(line) is not None
        is_row = current is None and " sec " in line and _ROW.search(line.rstrip(" ")) is not None
        if opening and opening[0].startswith("Server"):
            if current is not None and current.error is not None and SERVER_ENDED in current.error.text:
                current.error = None  # The server ended while it waited: its error came before this line.
            current = None
        elif opening or is_table or is_row or (current is None and _FIRST_ERROR.search(line)):
            role = "server" if opening and opening[0].startswith("Accepted") else "client"
            current = _Block(role, waiting, number, is_opened=opening is not None)
            client = current if role == "client" else client
            blocks.append(current)
            waiting = []
        if line.endswith(_DONE) and client is not None:
            client.is_done, client, current = True, None, None
        elif current is not None:
            current.add(number, line)
        else:
            waiting.append((number, line))
    return blocks


def _join_errors(blocks: list[_Block]) -> list[_Block]:
    """Join each error with the unfinished test behind it: an error output may come before all other output."""
    joined: list[_Block] = []
    for block in blocks:
        if joined and joined[-1].is_error_alone and block.take_error(joined[-1]):
            joined.pop()
        joined.append(block)
    return joined


def _read(block: _Block, source: tuple[str, str, int], found: ProblemLog) -> Fragment:
    status = _judge(block, found)
    times = block.find_all(_TIME)
    return FragmentBuilder(_list_facts(block), _list_readings(block, status)).build(
        source,
        (block.first_line, block.last_line),
        status,
        listings=build_listing("intervals", _list_intervals(block)),
        role=block.role,
        taken=datetime.strptime(times[0][1]["time"], "%d %b %Y %H:%M:%S") if times else None,
        zone="+00:00" if times else "",
    )


def _judge(block: _Block, found: ProblemLog) -> Status:
    if block.error is not None:
        return judge_failure(block.error, found)
    last, results = block.last_line, _find_totals(block)
    is_received = any(row["side"] == "receiver" for _, row in results)
    lacks_way = block.is_both and len({row["way"] for _, row in results}) < 2
    if not results or (block.role == "client" and not block.is_done and not (is_received and not lacks_way)):
        return report_cut("The test has no result", last, found)
    is_one_sided = all(row["side"] is None and row["lost"] for _, row in results)
    received = {row["way"]: float(row["transfer"]) for _, row in results if row["side"] == "receiver"}
    if block.role == "server":
        return judge_result(last, found, is_whole=is_one_sided or any(float(row["transfer"]) for _, row in results))
    is_whole = not lacks_way and all(received.get(row["way"]) for _, row in results)
    return judge_result(last, found, is_whole=is_whole, is_sender_only=is_one_sided)


def _find_totals(block: _Block) -> list[_Numbered]:
    """Return the sums of the results, or the rows of the only connection of each direction."""
    found = {row["id"] for _, row in block.results}
    connected = {match["id"] for _, match in block.find_all(_CONNECTED)}
    others = connected | {row["id"] for _, row in block.intervals} - {"SUM"}
    return [] if others - found and "SUM" not in found else _find_rows(block.results)


def _find_rows(rows: list[_Numbered]) -> list[_Numbered]:
    """Return the sums, or the rows of the only connection of each direction."""
    sums = [(line, row) for line, row in rows if row["id"] == "SUM"]
    if sums:
        return sums
    ways: dict[str | None, set[str]] = {}
    for _, row in rows:
        ways.setdefault(row["way"], set()).add(row["id"])
    return rows if all(len(ids) == 1 for ids in ways.values()) else []


def _list_facts(block: _Block) -> Iterator[Fact]:
    stated = _find_statements(block)
    yield Fact("factor.tool", "iperf3", block.first_line)
    yield from stated.values()
    yield from _list_addresses(block)
    yield from _list_workload(block)
    connected = block.find_all(_CONNECTED)
    rows = [(line, row) for line, row in block.intervals + block.results if row["id"] != "SUM"]
    of_one_way = [(line, row) for line, row in rows if row["way"] == rows[0][1]["way"]] or connected
    if "users" not in stated and of_one_way:
        yield Fact("users", str(len({row["id"] for _, row in of_one_way})), (connected or of_one_way)[0][0])
    counting = [line for line, row in block.intervals + block.results if block.is_udp or row["count"]]
    if "protocol" not in stated and counting:
        # UDP shows in the table, TCP in retransmits.
        yield Fact("factor.protocol", "UDP" if block.is_udp else "TCP", counting[0])
    if block.error is not None:
        yield Fact("error", *block.error)
    for line, row in _find_totals(block):
        if row["side"] == "sender":
            suffix = f"_{_DIRECTIONS[row['way']]}" if row["way"] else ""
            yield Fact(f"sent_rate{suffix}", f"{row['rate']} {row['rate_unit']}", line)
    for line, _ in block.find_all(_CPU)[:1]:
        yield Fact("cpu_scope", "process", line)


def _find_statements(block: _Block) -> dict[str, Fact]:
    """Return the first fact of each key."""
    stated: dict[str, Fact] = {}
    for line, text in block.lines:
        for match in filter(None, [statement.search(text) for statement in _FACTS]):
            for key, value in match.groupdict().items():
                if value is not None:
                    stated.setdefault(key, Fact(f"factor.{key}" if key in _FACTOR else key, value, line))
    options = {"omit": stated.get("warmup_s"), "tos": stated.get("tos")}
    used = [f"{name}={fact.text}" for name, fact in options.items() if fact is not None and fact.text.strip("0")]
    if used:
        stated["tool_options"] = Fact("tool_options", ", ".join(used), stated["warmup_s"].line)
    return stated


def _list_addresses(block: _Block) -> Iterator[Fact]:
    if found := block.find_all(_CONNECTED):
        line, match = found[0]
        yield Fact(f"{block.role}_address", match["own"], line)
        yield Fact(f"{block.other_role}_address", match["other"], line)
        ends = ("own_port", "other_port") if block.role == "client" else ("other_port", "own_port")
        yield Fact("ports", join_ports((each[ends[0]], each[ends[1]]) for _, each in found), line)


def _list_workload(block: _Block) -> Iterator[Fact]:
    """Yield the direction, by a client's own words or by a server's result."""
    rows = block.results or block.intervals
    reverse = block.find_all(_REVERSE)
    if any(row["way"] for _, row in rows):
        yield Fact("workload", "STRB", rows[0][0])
    elif block.role == "client" and rows and (block.is_opened or reverse):
        yield Fact("workload", "STRG" if reverse else "STRP", (reverse or rows)[0][0])
    elif block.results and len({row["side"] for _, row in block.results}) == 1:
        line, row = block.results[0]
        yield Fact("workload", "STRG" if row["side"] == "sender" else "STRP", line)


def _list_readings(block: _Block, status: Status) -> Iterator[Reading]:
    for line, row in _find_totals(block):
        role = _DIRECTIONS[row["way"]] if row["way"] else "server" if block.role == "server" else "total"
        yield from _read_result(row, line, role, status)
    for line, cpu in block.find_all(_CPU):
        yield Reading("processor_util", cpu["own"], "%", line, block.role)
        yield Reading("processor_util", cpu["other"], "%", line, block.other_role)


def _read_result(row: re.Match[str], line: int, role: str, status: Status) -> Iterator[Reading]:
    """Yield a side's figures; the only UDP row of old versions is the sender's."""
    is_complete = status is Status.COMPLETE and float(row["transfer"]) > 0
    is_received = row["side"] == "receiver" or (row["side"] is None and row["lost"] and not row["lost"].strip("0"))
    if is_received and is_complete:
        yield Reading("mb_per_s", row["rate"], row["rate_unit"], line, role)
        yield Reading("bytes_received", row["transfer"], row["transfer_unit"], line, role)
        yield Reading("driver_s", row["t1"], "sec", line, role)
    if row["side"] == "sender" and row["count"]:
        yield Reading("retransmits", row["count"], "count", line, role)
    if row["side"] != "receiver" and float(row["transfer"]) > 0:
        yield Reading("bytes_sent", row["transfer"], row["transfer_unit"], line, role)
    if row["side"] != "sender" and row["lost"] and is_complete:
        yield Reading("packets_lost", row["lost"], "count", line, role)
        yield Reading("loss_percent", row["percent"], "%", line, role)
        yield Reading("jitter_ms", row["jitter"], "ms", line, role)


def _list_intervals(block: _Block) -> Iterable[Row]:
    """Yield the sums of each interval, with a row for each direction."""
    is_udp = block.is_udp
    for line, row in _find_rows(block.intervals):
        _, way, t0, t1, transfer, unit, rate, rate_unit, jitter, lost, total, percent, count, omitted, _ = row.groups()
        texts = ["warmup" if omitted else "measure", t0, t1, transfer, rate]
        counted = ""
        if count:
            counted = "packets" if is_udp else "retransmits"
            texts.append(count)
        elif lost:
            counted = "lost"
            texts += (lost, total, percent, jitter)
        yield line, _columns(way, unit, rate_unit, counted), texts


@cache
def _columns(way: str | None, unit: str, rate_unit: str, counted: str) -> tuple[Column, ...]:
    suffix = f"_{_DIRECTIONS[way]}" if way else ""
    always = (("phase", ""), ("t0", "s"), ("t1", "s"), (f"bytes{suffix}", unit), (f"throughput{suffix}", rate_unit))
    if counted != "lost":
        return (*always, (counted, "count")) if counted else always
    return *always, ("lost_packets", "count"), ("packets", "count"), ("lost_percent", "%"), ("jitter", "ms")


def judge_failure(error: Printed, found: ProblemLog, known_bytes: str = "") -> Status:
    """Return the status by iperf3's own error; ``known_bytes``: "sent" or "received", if known."""
    if is_interrupt(error.text):
        message = f"The test was interrupted ({error.text}): figures are missing, and there is no throughput."
        if known_bytes:
            message += f" What was {known_bytes} is kept."
        return found.cut("iperf3.interrupted", message, AGAIN, error.line)
    return found.fail("iperf3.failed", f"The test failed: {error.text}.", AGAIN, error.line)


def judge_result(line: int, found: ProblemLog, *, is_whole: bool, is_sender_only: bool = False) -> Status:
    """Return the status of a result; ``is_sender_only``: of old versions, for UDP with losses."""
    if is_sender_only:
        message = "This version of iperf3 prints the sender's rate alone; what arrived follows from the loss."
        found.note("iperf3.received-unknown", message, "Measure with iperf3 3.12 or later.", line)
    elif not is_whole:
        message = "The result does not say what was received: there is no throughput."
        return found.cut("iperf3.nothing-received", message, AGAIN, line)
    return Status.COMPLETE


def report_cut(what: str, line: int, found: ProblemLog) -> Status:
    """Report a file that ends before the test."""
    return found.cut("iperf3.cut-off", f"{what}: the file was cut off, or iperf3 was killed.", TRANSFER, line)


def report_no_test(line: int, found: ProblemLog) -> None:
    """Note a server that was ended between tests."""
    message = "The server was ended while it waited for a test; there is no run to keep."
    found.note("iperf3.no-test", message, "Nothing needs to be done.", line)


def report_aside(error: Printed, found: ProblemLog) -> None:
    """Note an error outside a finished test."""
    message = f"There is an error without a test beside the result: {error.text}."
    found.note("iperf3.error-aside", message, "Import an attempt that failed by itself.", error.line)


def is_interrupt(error: str) -> bool:
    """Return whether an error says that the test was interrupted."""
    return any(word in error for word in _INTERRUPTED)
