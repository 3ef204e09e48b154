"""Results of iperf3, client's or server's, in each of its three forms: JSON, JSON lines and plain text."""

import re

from importers import json_text
from importers.iperf3 import plain
from importers.iperf3.results import fragment_of
from importers.iperf3.trees import Test, is_start, tests_of
from importers.model import Fragment, Parsed, Text
from importers.problem_log import ProblemLog
from importers.repeats import number_trials

TITLE = "iperf3 result"

# The version comes after a list of all connections, of which there may be 128.
_HEAD = 64 * 1024
_SAID = re.compile(r"iperf3?: (?:error - )?(?P<what>.+)")


def recognise(text: Text) -> bool:
    """Whether a document names iperf 3 as its version, or lines look as iperf3 prints them."""
    documents = json_text.head(text, _HEAD)
    if any(is_start(document.root) for document in documents[:1]):
        return True
    events = [node.text for each in documents[:2] if (node := each.root.get("event")) is not None]
    return events == ["error", "end"] or (not documents and plain.recognise(text))


def parse(text: Text) -> Parsed:
    """One fragment a test; a test whose server sent its own output along has one of role server too."""
    documents = json_text.documents(text)
    found = ProblemLog(text.name)
    tests = tests_of(documents)
    if not tests:
        fragments = plain.parse(text, found)
    else:
        said = [(number, match) for number, line in json_text.outside(text, documents) if (match := _SAID.search(line))]
        if len(tests) == 1 and said and tests[0].error is None:
            tests[0].said = (said[0][1]["what"], said[0][0])
        fragments = [fragment for test in tests for fragment in _fragments(test, text, found)]
    return Parsed(number_trials(fragments), found.problems)


def _fragments(test: Test, text: Text, found: ProblemLog) -> list[Fragment]:
    read = (fragment_of(each, text.name, found) for each in (test, test.peer()) if each is not None)
    return [fragment for fragment in read if fragment is not None]
