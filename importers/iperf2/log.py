"""Results of iperf 2, client's or server's, as text or as CSV (``-y C``)."""

from collections.abc import Iterator

from importers.iperf2 import csv_lines, plain
from importers.iperf2.results import fragment_of
from importers.model import Fragment, Parsed, Problem, Text
from importers.problem_log import ProblemLog
from importers.trial_numbers import number_each

TITLE = "iperf 2 result"


def recognise(text: Text) -> bool:
    """The heading in dashes that iperf 2 begins with, or its lines of comma-separated values."""
    return plain.recognise(text) or csv_lines.recognise(text)


def parse(text: Text) -> Parsed:
    """One fragment a test."""
    problems: list[Problem] = []
    return Parsed(list(each(text, problems)), problems)


def each(text: Text, problems: list[Problem]) -> Iterator[Fragment]:
    """One fragment after the other: tests in a line each are very many."""
    found = ProblemLog(text.name, problems=problems)
    tests = csv_lines.tests(text) if csv_lines.recognise(text) else plain.tests(text)
    return number_each(fragment_of(test, text.name, found) for test in tests)
