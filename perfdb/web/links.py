"""Where numbers lead: the run behind one, or the list of just the runs behind it.

Of a frozen answer they lead to the runs as they were then, which are there even when the database has them no more.
"""

from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import urlencode

from django.urls import reverse

from perfdb.analysis.dimensions import Value
from perfdb.analysis.query.parameters import spell_value
from perfdb.analysis.query.query import Query
from perfdb.analysis.tables.table import CellKey, Table
from perfdb.results.queries.questions import Question
from perfdb.results.runs import recorded_reads

# More run ids make an address longer than servers take.
_MOST_NAMED = 50


def to_question(question: Question) -> str:
    """The page that answers a question from today's data."""
    return f"{reverse(f'web:{question.page}')}?{question.encode()}"


def to_run(number: int) -> str:
    """The address of a run by its number in the database."""
    if tape := recorded_reads.playing_tape():
        return reverse("web:frozen-run", args=[tape.label, number])
    return reverse("web:run", args=[number])


def to_runs(query: Query, fixed: Mapping[str, Value], runs: Sequence[int]) -> str:
    """The address of runs of a query that have the ``fixed`` values; of the run itself where it is one; else empty."""
    if not runs:
        return ""
    if len(runs) == 1:
        return to_run(runs[0])
    filters = {**query.filters, **{name: (value,) for name, value in fixed.items()}}
    asked = Query(filters=filters, exclude=query.exclude, ranges=query.ranges)
    return _list([*asked.pairs(), *([] if recorded_reads.playing_tape() else [("status", "complete")])])


def to_these(runs: Sequence[int]) -> str:
    """The address of runs that only their numbers tell from others; empty where there are too many for an address."""
    if len(runs) == 1:
        return to_run(runs[0])
    return _list([("run", str(number)) for number in runs]) if 0 < len(runs) <= _MOST_NAMED else ""


def to_explanation(table: Table, key: CellKey) -> str:
    """Where a compared cell is explained; empty for one that is not compared, and for what is frozen."""
    cell = table.cells.get(key)
    if cell is None or cell.comparison is None or recorded_reads.playing_tape():
        return ""
    named = zip(table.query.layout_names, table.split + key[0] + key[1], strict=True)
    at = [("at", f"{name}:{spell_value(value)}") for name, value in named]
    return f"{reverse('web:explain')}?{urlencode([*table.query.pairs(), ('of', str(table.measure)), *at])}"


def to_explanation_of(old: int, new: int) -> str:
    """Where the difference between two runs is explained."""
    return f"{reverse('web:explain')}?{urlencode([('old', old), ('new', new)])}"


def _list(pairs: Iterable[tuple[str, str]]) -> str:
    tape = recorded_reads.playing_tape()
    page = reverse("web:frozen-runs", args=[tape.label]) if tape else reverse("web:runs")
    return f"{page}?{urlencode(list(pairs))}"
