"""A test in iperf3's JSON: one object, or lines of events."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from importers.files.json_documents import Document, Node
from importers.fragment_builder import Column, Printed, Row

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
        sums = find_sums(interval, "sum")
        if self.has_both is None:
            self.has_both = len(sums) > 1
        if sums:
            self.rows.append(self._list_interval(sums[:2], streams))

    def _list_interval(self, sums: list[Node], streams: list[Node]) -> Row:
        cells: dict[Column, str] = {("phase", ""): "warmup" if sums[0].is_true("omitted") else "measure"}
        cells |= _find_cells(sums[0], _TIMES)
        for place, each in enumerate(sums):
            suffix = f"_{find_direction(place, each, self.is_server)}" if len(sums) > 1 else ""
            cells |= _find_cells(each, _INTERVAL, suffix)
        if len(streams) == 1:
            cells |= _find_cells(streams[0], _STREAM)
        return sums[0].line, tuple(cells), [*cells.values()]


def _find_cells(node: Node, columns: Iterable[tuple[str, str, str]], suffix: str = "") -> dict[Column, str]:
    figures = node.figures()
    return {(name + suffix, unit): figures[key] for name, unit, key in columns if key in figures}


def is_start(root: Node) -> bool:
    """Return whether an object is a result of iperf3, or the first event."""
    version = root.string("start", "version") or root.string("data", "version")
    return version is not None and version.text.startswith("iperf 3")


def read_tests(documents: Iterable[Document]) -> Iterator[Test]:
    """Yield each test once complete; skip other documents."""
    test: Test | None = None
    for document in documents:
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


def _read_object(root: Node, document: Document) -> Test:
    test = Test(
        first_line=document.first_line,
        last_line=document.last_line,
        top=root,
        end=root.get("end"),
        error=root.get("error"),
        problem=document.problem,
        problem_line=document.problem_line,
        server_output=root.get("server_output_json"),
    )
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


def find_sums(node: Node, key: str) -> list[Node]:
    """Return the sums of each direction; 3.7 to 3.10 repeat the same keys."""
    return [each for each in (*node.get_all(key), *node.get_all(key + _REVERSE)) if each.is_object]


def find_direction(place: int, sums: Node | None, is_server: bool) -> str:
    """Return the direction of one of two sums, by sender or by place."""
    to_server = place == 0
    if sums is not None and sums.get("sender") is not None:
        to_server = sums.is_true("sender") is not is_server
    return "to_server" if to_server else "to_client"
