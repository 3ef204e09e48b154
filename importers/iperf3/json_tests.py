"""Tests in iperf3's JSON (one object, or lines of events), with figures by direction and listings."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from importers.files.json_documents import Document, Node, find_results
from importers.fragment_builder import Column, FragmentBuilder, Printed, Row
from importers.model import Status

_REVERSE = "_bidir_reverse"
_TIMES = (("t0", "s", "start"), ("t1", "s", "end"))
_INTERVAL = (
    ("bytes", "bytes", "bytes"),
    ("throughput", "bits/s", "bits_per_second"),
    ("retransmits", "count", "retransmits"),
    ("packets", "count", "packets"),
    ("lost_packets", "count", "lost_packets"),
    ("lost_percent", "%", "lost_percent"),
    ("jitter", "ms", "jitter_ms"),
)
_STREAM = (("rtt", "us", "rtt"), ("send_window", "bytes", "snd_cwnd"))
# Column, unit, the sides that may have the figure, and its key.
_CONNECTION = (
    ("seconds", "s", ("receiver", "sender", "udp"), "seconds"),
    ("bytes_sent", "bytes", ("sender",), "bytes"),
    ("bytes_received", "bytes", ("receiver",), "bytes"),
    ("bytes", "bytes", ("udp",), "bytes"),
    ("sent", "bits/s", ("sender", "udp"), "bits_per_second"),
    ("throughput", "bits/s", ("receiver",), "bits_per_second"),
    ("retransmits", "count", ("sender",), "retransmits"),
    *((f"rtt_{kind}", "us", ("sender",), f"{kind}_rtt") for kind in ("min", "mean", "max")),
    ("packets", "count", ("udp",), "packets"),
    ("lost_packets", "count", ("udp",), "lost_packets"),
    ("lost_percent", "%", ("udp",), "lost_percent"),
    ("jitter", "ms", ("udp",), "jitter_ms"),
    ("out_of_order", "count", ("udp",), "out_of_order"),
)
# Zero means that the figure was not measured: only the sender measures round trips.
_NEVER_ZERO = frozenset({"rtt_min", "rtt_mean", "rtt_max", "bytes_sent", "bytes_received", "sent", "throughput"})


@dataclass(slots=True)
class Test:
    """The parts of a test; ``top`` holds the title and the server's output.

    ``rows`` are the intervals, converted when read, since a test may have very many; ``paths`` are the MTUs of
    senders; ``has_both``: the first interval has sums of two directions. ``problem`` is set if the JSON is not
    whole. ``message`` is an error outside the JSON.
    """

    first_line: int
    last_line: int
    top: Node | None = None
    start: Node | None = None
    end: Node | None = None
    error: Node | None = None
    problem: str = ""
    problem_line: int | None = None
    message: Printed | None = None
    server_output: Node | None = None
    server_text: Printed | None = None
    is_server: bool = False
    rows: list[Row] = field(default_factory=list)
    paths: dict[str, Printed] = field(default_factory=dict)
    has_both: bool | None = None

    def begin(self, start: Node | None) -> None:
        self.start = start
        self.is_server = start is not None and start.get("accepted_connection") is not None

    @property
    def failure(self) -> Printed | None:
        """Return iperf3's own error, or its message outside the JSON."""
        if self.error is not None and self.error.text.strip():
            return Printed(self.error.text.strip().removeprefix("error - "), self.error.line)
        return self.message

    def peer(self) -> "Test | None":
        """Return the server's side of the test, if the client requested the output."""
        root = self.server_output
        if root is None or root.get("start") is None:
            return None
        return _read_object(root, Document(root, root.line, self.last_line, self.problem, self.problem_line))

    def add_interval(self, interval: Node) -> None:
        listed = interval.get("streams")
        streams = list(listed.values()) if listed is not None else []
        for stream in streams:
            path = stream.figure("pmtu")
            if path is not None and path.text != "0":
                self.paths[path.text] = path
        sums = _find_sums(interval, "sum")
        if self.has_both is None:
            self.has_both = len(sums) > 1
        if not sums:
            return
        first = next(iter(sums.values()))
        cells: dict[Column, str] = {("phase", ""): "warmup" if first.is_true("omitted") else "measure"}
        cells |= _find_cells(first, _TIMES)
        for way, each in sums.items():
            suffix = f"_{way}" if self.has_both else ""
            cells |= _find_cells(each, _INTERVAL, suffix)
        if len(streams) == 1:
            cells |= _find_cells(streams[0], _STREAM)
        self.rows.append((first.line, tuple(cells), [*cells.values()]))


def _find_cells(node: Node, columns: Iterable[tuple[str, str, str]], suffix: str = "") -> dict[Column, str]:
    figures = node.figures()
    return {(name + suffix, unit): figures[key] for name, unit, key in columns if key in figures}


def is_start(root: Node) -> bool:
    """Return whether an object is a result of iperf3, or the first event."""
    version = root.string("start", "version") or root.string("data", "version")
    return version is not None and version.text.startswith("iperf 3")


def read_tests(documents: Iterable[Document]) -> Iterator[Test]:
    """Yield each test once complete, also out of arrays and objects; skip other documents."""
    test: Test | None = None
    for document in find_results(documents, _is_part):
        event = document.root.string("event")
        if test is not None and (event is None or event.text == "start"):
            yield test
            test = None
        if event is None:
            start = document.root.get("start")
            if start is not None and start.is_object:
                yield _read_object(document.root, document)
            continue
        test = test or Test(document.first_line, document.last_line)
        _take_event(test, event.text, document)
        if event.text == "end":
            yield test
            test = None
    if test is not None:
        yield test


def _is_part(node: Node) -> bool:
    """Return whether an object is a test, or an event of one."""
    start, event = node.get("start"), node.string("event")
    return (start is not None and start.is_object) or (event is not None and node.get("data") is not None)


def _read_object(root: Node, document: Document) -> Test:
    test = Test(document.first_line, document.last_line, root)
    test.problem, test.problem_line = document.problem, document.problem_line
    test.end, test.error, test.server_output = map(root.get, ("end", "error", "server_output_json"))
    test.server_text = root.string("server_output_text")
    test.begin(root.get("start"))
    intervals = root.get("intervals")
    for each in intervals.values() if intervals is not None else ():
        test.add_interval(each)
    return test


def _take_event(test: Test, event: str, document: Document) -> None:
    test.last_line = document.last_line
    if not document.whole:
        test.problem, test.problem_line = document.problem, document.problem_line
        return
    data = document.root.get("data")
    if data is None:
        return
    match event:
        case "start":
            test.begin(data)
        case "interval":
            test.add_interval(data)
        case "end":
            test.end = data
        case "error":
            test.error = data
        case "server_output_json":
            test.server_output = data
        case "server_output_text":
            test.server_text = document.root.string("data")


def _find_sums(node: Node, key: str) -> dict[str, Node]:
    """Return the sums by direction; both sides print the way to the server first. 3.7 to 3.10 repeat the same key."""
    first, *others = [*node.get_all(key), None]
    ways = {"to_server": first, "to_client": node.get(key + _REVERSE) or others[0] if others else None}
    return {way: each for way, each in ways.items() if each is not None and each.is_object}


@dataclass(frozen=True, slots=True)
class Direction:
    """The sums of a direction; ``is_sender_only``: old versions' UDP result, without the receiver's rate."""

    role: str
    sent: Node | None
    received: Node | None
    loss: Node | None
    is_sender_only: bool = False

    @property
    def rate(self) -> Printed | None:
        """Return the received bits per second."""
        return self.received.figure("bits_per_second") if self.received is not None else None


def find_directions(test: Test) -> list[Direction]:
    """Return the directions in the order printed, those without any sum too."""
    if test.end is None:
        return []
    sums = [_find_sums(test.end, key) for key in ("sum_sent", "sum_received", "sum")]
    found = {way for each in sums for way in each}
    asks_both = test.has_both or (test.start is not None and test.start.is_true("test_start", "bidir"))
    is_both = len(found) > 1 or bool(found and asks_both)
    ways = ("to_server", "to_client") if is_both else found
    return [_read_direction(way, is_both, [each.get(way) for each in sums]) for way in ways]


def _read_direction(way: str, is_one_of_two: bool, sums: Sequence[Node | None]) -> Direction:
    sent, received, both = sums
    role = way if is_one_of_two else "total"
    if received is None and both is not None:
        lost = both.figure("lost_packets")
        is_whole = lost is not None and not _is_positive(lost)
        return Direction(role, both, both if is_whole else None, both, is_sender_only=True)
    loss = received if received is not None and received.get("packets") is not None else both
    counts = loss is not None and _is_positive(loss.figure("packets")) and _drop_silent(received) is not None
    return Direction(role, _drop_silent(sent), _drop_silent(received), loss if counts else None)


def _is_positive(figure: Printed | None) -> bool:
    return figure is not None and float(figure.text) > 0


def _drop_silent(sums: Node | None) -> Node | None:
    """Return the sums; None for zero bytes, which a silent side has."""
    return sums if sums is not None and _is_positive(sums.figure("bytes")) else None


def gather_readings(test: Test, ways: Sequence[Direction], status: Status, into: FragmentBuilder) -> None:
    """Keep the figures; only a complete test has a throughput."""
    if test.end is None:
        return
    total = "server" if test.is_server else "total"
    for each in ways:
        _gather_direction(each, total if each.role == "total" else each.role, status, into)
    for role, share in _list_cpu(test, test.end):
        into.add_raw_number(("processor_util", "%", role), *share)
    rtt = test.end.figure("streams", 0, "sender", "mean_rtt")
    if _is_positive(rtt) and test.end.get("streams", 1) is None:
        into.add_reading("rtt_ms", rtt, "us", total)


def _gather_direction(each: Direction, role: str, status: Status, into: FragmentBuilder) -> None:
    wanted = [
        ("bytes_sent", each.sent, "bytes", "bytes"),
        ("retransmits", each.sent, "retransmits", "count"),
        ("driver_s", each.received or each.sent, "seconds", "s"),
    ]
    if status is Status.COMPLETE:
        wanted += [
            ("mb_per_s", each.received, "bits_per_second", "bits/s"),
            ("bytes_received", each.received, "bytes", "bytes"),
            ("loss_percent", each.loss, "lost_percent", "%"),
            ("packets_lost", each.loss, "lost_packets", "count"),
            ("jitter_ms", each.loss, "jitter_ms", "ms"),
        ]
    elif not each.is_sender_only:
        wanted.append(("bytes_received", each.received, "bytes", "bytes"))
    for name, sums, key, unit in wanted:
        if sums is not None and (figure := sums.figure(key)) is not None and not figure.text.startswith("-"):
            into.add_reading(name, figure, unit, role)


def _list_cpu(test: Test, end: Node) -> Iterator[tuple[str, Printed]]:
    """Yield each role's use of one processor; a remote of zero did not report."""
    own, other = ("server", "client") if test.is_server else ("client", "server")
    if (share := end.figure("cpu_utilization_percent", "host_total")) is not None:
        yield own, share
    if (share := end.figure("cpu_utilization_percent", "remote_total")) is not None and _is_positive(share):
        yield other, share


def describe_known_bytes(ways: Sequence[Direction]) -> str:
    """Return the known bytes of an interrupted test: "sent", "received", both or ""."""
    sent = any(each.sent is not None for each in ways)
    received = any(each.received is not None and not each.is_sender_only for each in ways)
    return " and ".join(["sent"] * sent + ["received"] * received)


def gather_facts(test: Test, ways: Sequence[Direction], status: Status, into: FragmentBuilder) -> None:
    """Keep the sender's rates, an incomplete test's rates, and the congestion control."""
    for each in ways:
        suffix = "" if each.role == "total" else f"_{each.role}"
        into.add_printed(f"sent_bits_per_second{suffix}", each.sent.figure("bits_per_second") if each.sent else None)
        if status is not Status.COMPLETE and not each.is_sender_only:
            into.add_printed(f"received_bits_per_second{suffix}", each.rate)
    if test.end is None:
        return
    if used := next(_list_cpu(test, test.end), None):
        into.add_raw_fact("cpu_scope", "process", used[1].line)
    for key, name in (("factor.", "sender_tcp_congestion"), ("receiver_", "receiver_tcp_congestion")):
        into.add_printed(f"{key}congestion_control", test.end.string(name))


def list_connections(test: Test) -> Iterator[Row]:
    """Yield a row for each connection."""
    streams = test.end.get("streams") if test.end is not None else None
    for stream in streams.values() if streams is not None else ():
        sides = {key: node.figures() for key in ("sender", "receiver", "udp") if (node := stream.get(key)) is not None}
        first = "udp" if "udp" in sides and "sender" not in sides else "sender"
        cells: dict[Column, str] = {}
        for name, unit, candidates, key in (("id", "", (first,), "socket"), *_CONNECTION):
            text = next((sides[side][key] for side in candidates if key in sides.get(side, ())), None)
            if text is not None and (name not in _NEVER_ZERO or float(text) > 0):
                cells[name, unit] = text
        yield stream.line, tuple(cells), [*cells.values()]
