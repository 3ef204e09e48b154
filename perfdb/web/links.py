"""Addresses of pages: runs behind a number, questions, explanations.

In frozen answers, runs link to the frozen page of their recorded values.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse

from perfdb.analysis.dimensions import Value
from perfdb.analysis.query.parameters import spell_value
from perfdb.analysis.query.query import Query
from perfdb.analysis.tables.table import CellKey, Table
from perfdb.results.queries.questions import Question
from perfdb.results.runs import recorded_reads

# Longer addresses exceed servers' limits.
_MOST_NAMED = 50


def to_question(question: Question) -> str:
    """Return the address of a question's page."""
    return f"{reverse(f'web:{question.page}')}?{question.encode()}"


def to_page(page: str, query: Query) -> str:
    """Return the address of a page about a query."""
    return f"{reverse(f'web:{page}')}?{query.encode()}"


def read_pairs(data: QueryDict) -> Iterator[tuple[str, str]]:
    """Yield the (name, text) pairs of an address."""
    return ((name, text) for name, texts in data.lists() for text in texts)


def to_run(number: int) -> str:
    """Return the address of a run; in a frozen answer, of its recorded values."""
    if tape := recorded_reads.playing_tape():
        return reverse("web:frozen-run", args=[tape.label, number])
    return reverse("web:run", args=[number])


def to_runs(query: Query, fixed: Mapping[str, Value], runs: Sequence[int]) -> str:
    """Return the address of one run, or of a query's runs with ``fixed`` values."""
    if not runs:
        return ""
    if len(runs) == 1:
        return to_run(runs[0])
    filters = {**query.filters, **{name: (value,) for name, value in fixed.items()}}
    asked = Query(filters=filters, exclude=query.exclude, ranges=query.ranges)
    return _list([*asked.pairs(), *([] if recorded_reads.playing_tape() else [("status", "complete")])])


def to_runs_by_number(runs: Sequence[int]) -> str:
    """Return the address of runs by number, or "" for none or too many."""
    if len(runs) == 1:
        return to_run(runs[0])
    return _list([("run", str(number)) for number in runs]) if 0 < len(runs) <= _MOST_NAMED else ""


def to_runs_compared(runs: Sequence[int]) -> str:
    """Return the address of a comparison of runs, the first being the baseline."""
    return f"{reverse('web:compare')}?runs={','.join(map(str, runs))}"


def to_explanation(table: Table, key: CellKey) -> str:
    """Return the Explain address of a cell; "" if not compared, or if frozen."""
    cell = table.cells.get(key)
    if cell is None or cell.comparison is None or recorded_reads.playing_tape():
        return ""
    named = zip(table.query.layout_names, table.split + key[0] + key[1], strict=True)
    at = [("at", f"{name}:{spell_value(value)}") for name, value in named]
    return f"{reverse('web:explain')}?{urlencode([*table.query.pairs(), ('of', str(table.measure)), *at])}"


def to_alias(study: str, dimension: str, printed: str, meaning: str) -> str:
    """Return the address that previews an alias of a study."""
    asked = urlencode({"dimension": dimension, "printed": printed, "meaning": meaning})
    return f"{reverse('web:aliases', args=[study])}?{asked}#preview"


def to_run_difference(old: int, new: int) -> str:
    """Return the Explain address of the difference between two runs."""
    return f"{reverse('web:explain')}?{urlencode([('old', old), ('new', new)])}"


def _list(pairs: Iterable[tuple[str, str]]) -> str:
    tape = recorded_reads.playing_tape()
    page = reverse("web:frozen-runs", args=[tape.label]) if tape else reverse("web:runs")
    return f"{page}?{urlencode(list(pairs))}"
