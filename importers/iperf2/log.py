"""Results of iperf 2, client's or server's, as text or as CSV (``-y C``)."""

from importers.iperf2 import comma, plain
from importers.iperf2.results import fragment_of
from importers.model import Parsed, Text
from importers.problem_log import ProblemLog
from importers.repeats import number_trials

TITLE = "iperf 2 result"


def recognise(text: Text) -> bool:
    """The heading in dashes that iperf 2 begins with, or its lines of comma-separated values."""
    return plain.recognise(text) or comma.recognise(text)


def parse(text: Text) -> Parsed:
    """One fragment a test."""
    found = ProblemLog(text.name)
    tests = comma.tests(text) if comma.recognise(text) else plain.tests(text)
    fragments = [fragment_of(test, text.name, found) for test in tests]
    return Parsed(number_trials(fragments), found.problems)
