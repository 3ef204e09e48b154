"""What is one test among the JSON of a file: an object of its own, or lines of events from ``start`` to ``end``."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from importers.files.json_documents import Document, Node
from importers.iperf3.interval_rows import Intervals


@dataclass(slots=True)
class Test:
    """The parts of a test, whichever way they were written; ``top`` holds the title and what the server sent.

    ``problem`` says why the JSON is not whole. ``said`` is what iperf3 wrote beside it, with its line.
    """

    first_line: int
    last_line: int
    top: Node | None = None
    start: Node | None = None
    intervals: Intervals = field(default_factory=Intervals)
    end: Node | None = None
    error: Node | None = None
    problem: str = ""
    problem_line: int | None = None
    said: tuple[str, int] | None = None
    server_output: Node | None = None

    @property
    def is_server(self) -> bool:
        """Whether the listening side wrote it."""
        return self.intervals.is_server

    def begin(self, start: Node | None) -> None:
        """Take what is said at the start."""
        self.start = start
        self.intervals.is_server = start is not None and start.get("accepted_connection") is not None

    @property
    def failure(self) -> tuple[str, int] | None:
        """What iperf3 says went wrong, with its line."""
        if self.error is not None and self.error.text.strip():
            return self.error.text.strip().removeprefix("error - "), self.error.line
        return self.said

    def peer(self) -> "Test | None":
        """The server's view of the same test, where the client asked for it."""
        root = self.server_output
        if root is None or root.get("start") is None:
            return None
        return _of_object(root, Document(root, root.line, self.last_line, self.problem, self.problem_line))


def is_start(root: Node) -> bool:
    """Whether an object begins a result of iperf3, as a whole or as the first of its events."""
    version = root.string("start", "version") or root.string("data", "version")
    return version is not None and version.text.startswith("iperf 3")


def tests_of(documents: Iterable[Document]) -> Iterator[Test]:
    """All tests, in order, each as soon as it is all there; documents of another kind are passed over."""
    test: Test | None = None
    for document in documents:
        event = document.root.string("event")
        if test is not None and (event is None or event.text == "start"):
            yield test
            test = None
        if event is None:
            start = document.root.get("start")
            if start is not None and start.is_object:
                yield _of_object(document.root, document)
            continue
        test = test or Test(document.first_line, document.last_line)
        _take(test, event.text, document)
        if event.text == "end":
            yield test
            test = None
    if test is not None:
        yield test


def _of_object(root: Node, document: Document) -> Test:
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
        test.intervals.add(each)
    return test


def _take(test: Test, event: str, document: Document) -> None:
    """Add an event to its test; one that is not whole says nothing but that."""
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
            test.intervals.add(data)
        case "end":
            test.end = data
        case "error":
            test.error = data
        case "server_output_json":
            test.server_output = data
