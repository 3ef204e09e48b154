"""Results of iperf3, client's or server's, in each of its three forms: JSON, JSON lines and plain text."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from importers.files import json_documents
from importers.files.json_documents import Document
from importers.iperf3 import plain, version
from importers.iperf3.json_events import Test, is_start, tests_of
from importers.iperf3.results import fragment_of
from importers.model import Fragment, Parsed, Problem, Text
from importers.problem_log import ProblemLog
from importers.trial_numbers import number_each

NAME, VERSION = version.NAME, version.VERSION
TITLE = "iperf3 result"

# The version comes after a list of all connections, of which there may be 128.
_HEAD = 64 * 1024
_SAID = re.compile(r"iperf3?: (?:error - )?(?P<what>.+)")


def recognise(text: Text) -> bool:
    """Whether a document names iperf 3 as its version, or lines look as iperf3 prints them."""
    documents = json_documents.head(text)
    if not _is_start(documents) and _may_start(documents):
        documents = json_documents.head(text, _HEAD)
    if _is_start(documents):
        return True
    events = [node.text for each in documents[:2] if (node := each.root.get("event")) is not None]
    return events == ["error", "end"] or (not documents and plain.recognise(text))


def _is_start(documents: list[Document]) -> bool:
    return bool(documents) and is_start(documents[0].root)


def _may_start(documents: list[Document]) -> bool:
    """Whether the version may be further away."""
    return not documents or any(documents[0].root.get(key) for key in ("start", "data", "event"))


def parse(text: Text) -> Parsed:
    """One fragment a test; a test whose server sent its own output along has one of role server too."""
    problems: list[Problem] = []
    return Parsed(list(each(text, problems)), problems)


def each(text: Text, problems: list[Problem]) -> Iterator[Fragment]:
    """One fragment after the other: where a server is down, a file may be nothing but failures."""
    return number_each(_read(text, ProblemLog(text.name, problems=problems)))


def _read(text: Text, found: ProblemLog) -> Iterator[Fragment]:
    is_empty = True
    for test in _tests(text):
        for fragment in _fragments(test, text, found):
            is_empty = False
            yield fragment
    if is_empty and not found.problems:
        yield from plain.parse(text, found)


def _tests(text: Text) -> Iterator[Test]:
    """The tests of a file, one after another; what iperf3 wrote beside its JSON belongs to the only one."""
    spans = _Spans()
    tests = tests_of(spans.of(json_documents.documents(text)))
    first, second = next(tests, None), next(tests, None)
    spans.are_asked_for = second is None
    if first is None:
        return
    if second is None and first.error is None:
        lines = json_documents.outside(text, spans.known)
        first.said = next(((match["what"], number) for number, line in lines if (match := _SAID.search(line))), None)
    yield first
    if second is not None:
        yield second
        yield from tests


@dataclass(slots=True)
class _Spans:
    """The first and last lines of documents that pass, as long as they are asked for."""

    known: list[tuple[int, int]] = field(default_factory=list)
    are_asked_for: bool = True

    def of(self, documents: Iterable[Document]) -> Iterator[Document]:
        """The same documents."""
        for document in documents:
            if self.are_asked_for:
                self.known.append(document.span)
            yield document


def _fragments(test: Test, text: Text, found: ProblemLog) -> list[Fragment]:
    read = (fragment_of(each, text.name, found) for each in (test, test.peer()) if each is not None)
    return [fragment for fragment in read if fragment is not None]
