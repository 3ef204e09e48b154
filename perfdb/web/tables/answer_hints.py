"""What a page says where a question has more lines than anybody could read, and the clicks that narrow it down."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from urllib.parse import urlencode

from django.db.models import Count
from django.urls import reverse

from perfdb.analysis import metrics
from perfdb.analysis.dimensions import Value, dimension
from perfdb.analysis.metrics import Measure
from perfdb.analysis.query.query import Query
from perfdb.analysis.render.charts.chart_options import Draw, Drawing, Facets
from perfdb.analysis.render.charts.reduced_tables import MOST_LINES, count_lines_by, limit_lines, line_keys
from perfdb.analysis.tables.table import Table
from perfdb.results.changes import spellings
from perfdb.results.changes.spellings import Offer
from perfdb.results.models import Page
from perfdb.results.queries.conditions import select_runs
from perfdb.results.queries.observations import measure_columns
from perfdb.results.queries.questions import Answer, Question
from perfdb.results.runs import measures, recorded_reads
from perfdb.web.links import to_question
from perfdb.web.runs.run_values import group_of
from perfdb.web.tables.table_grids import MOST_CHARTS, Panel

# So many values of a dimension are offered; all of them are in the menus of the form.
_MOST_VALUES = 8
# So many dimensions are a choice and no list. These come first: what belongs together was measured together, alike.
_MOST_WAYS = 4
_FIRST = ("study", "workload")


@dataclass(frozen=True, slots=True)
class Narrower:
    """A value to narrow down to: in words, how many lines it leaves, and where that is."""

    text: str
    line_keys: int
    address: str


@dataclass(frozen=True, slots=True)
class Way:
    """A dimension to narrow down by; ``more`` of its values are only in the form's menu."""

    title: str
    values: list[Narrower]
    more: int


@dataclass(frozen=True, slots=True)
class Crowd:
    """``drawn`` of ``line_keys`` lines are drawn.

    ``apart``: (title, address) of the same with a small chart for each value. Frozen answers offer no other question.
    """

    line_keys: int
    drawn: int
    ways: list[Way]
    apart: list[tuple[str, str]]


def find_crowd(question: Question, answer: Answer) -> Crowd | None:
    """What to say of the figures of an answer; None where every line of them can be read."""
    tables = [table for table in answer.tables if table.cells]
    if not tables or question.drawing.draw is Draw.HEAT:
        return None
    fullest = max(tables, key=lambda table: len(line_keys([table])))
    known = line_keys([fullest])
    if len(known) <= MOST_LINES:
        return None
    drawn = limit_lines([fullest])[1]
    if recorded_reads.playing_tape():
        return Crowd(len(known), drawn, [], [])
    leaving = count_lines_by([fullest], known)
    return Crowd(
        len(known),
        drawn,
        list(_ways(question, answer.query, leaving, len(known)))[:_MOST_WAYS],
        list(_apart(answer.query, leaving)),
    )


def _ways(
    question: Question, query: Query, leaving: Mapping[str, Mapping[Value, int]], all_of_them: int
) -> Iterator[Way]:
    for name in sorted(leaving, key=lambda name: _FIRST.index(name) if name in _FIRST else len(_FIRST)):
        fewer = {value: number for value, number in leaving[name].items() if number < all_of_them}
        if name in query.baseline or not fewer:
            continue
        shown = [
            Narrower(dimension(name).describe(value), number, _narrowed(question, name, value))
            for value, number in list(fewer.items())[:_MOST_VALUES]
        ]
        yield Way(dimension(name).title, shown, len(fewer) - len(shown))


def _narrowed(question: Question, name: str, value: Value) -> str:
    return to_question(replace(question, query=question.query.with_filter(name, value)))


def _apart(query: Query, leaving: Mapping[str, Mapping[Value, int]]) -> Iterator[tuple[str, str]]:
    """Questions whose small charts have few enough lines each."""
    for name, values in leaving.items():
        fits = len(values) <= MOST_CHARTS and max(values.values()) <= MOST_LINES
        if fits and name not in query.baseline and name not in query.split:
            small = Question(Page.CHARTS, _split(query, name), Drawing(facets=Facets.TOGETHER))
            yield dimension(name).title, to_question(small)


def _split(query: Query, name: str) -> Query:
    rows, columns = (tuple(each for each in part if each != name) for part in (query.rows, query.columns))
    return query.replace(rows=rows, columns=columns).with_split(name)


def suggest_metrics(panel: Panel, question: Question, answer: Answer) -> Panel:
    """The panel with questions about what there is, where it has nothing to show; what is frozen asks no other."""
    if panel.lacking is None or recorded_reads.playing_tape():
        return panel
    return replace(panel, instead=list(_offers(panel.lacking, question, answer)))


def _offers(lacking: Measure, question: Question, answer: Answer) -> Iterator[tuple[str, str]]:
    """For each metric of its kind the same question about it, for every role that has it: (title, address)."""
    asked = answer.query.metrics
    for name, each in groupby(_there(lacking, answer), key=lambda measure: measure.metric):
        found = list(each)
        wanted = [new for old in asked for new in (found if old == lacking else [old])]
        query = question.query.replace(metrics=tuple(dict.fromkeys(wanted)))
        yield _title(name, [measure.role for measure in found]), to_question(replace(question, query=query))


def _title(metric: str, roles: Sequence[str]) -> str:
    """The total goes without saying."""
    title = metrics.BY_NAME[metric].title
    return title if list(roles) == [metrics.TOTAL] else ", ".join([title, *roles])


def _kind(metric: str) -> tuple[str, str]:
    """What can stand for each other: the same sort of quantity, of which more or less is better."""
    return group_of(metric), metrics.BY_NAME[metric].better


def _there(lacking: Measure, answer: Answer) -> list[Measure]:
    """The measures of its kind that any of the runs has and nobody asked for, metric by metric, total first."""
    kind, asked = _kind(lacking.metric), answer.query.metrics
    known = [each for each in measures.read_slots() if each not in asked and _kind(each.metric) == kind]
    return sorted(_filled(known, answer), key=lambda each: (each.metric, each.role != metrics.TOTAL, each.role))


def _filled(known: Sequence[Measure], answer: Answer) -> list[Measure]:
    columns = measure_columns(known)
    counts = select_runs(answer.query).aggregate(**{f"n{at}": Count(each) for at, each in enumerate(columns)})
    return [measure for at, measure in enumerate(known) if counts[f"n{at}"]]


@dataclass(frozen=True, slots=True)
class Alike:
    """Two spellings of a value, and where one is made an alias of the other: (title of the study, address)."""

    title: str
    printed: str
    meaning: str
    studies: list[tuple[str, str]]


def find_spellings_in_tables(tables: Sequence[Table]) -> list[Alike]:
    """The spellings that stand beside each other in some tables; what is frozen stays as it was."""
    shown: dict[str, dict[Value, None]] = {}
    for table in tables:
        for row, column in table.cells:
            for name, value in zip(table.query.layout_names, table.split + row + column, strict=False):
                shown.setdefault(name, {})[value] = None
    return [] if recorded_reads.playing_tape() else find_spellings(shown)


def find_spellings(shown: Mapping[str, Iterable[Value]]) -> list[Alike]:
    """The spellings among values of dimensions that stand beside each other."""
    found: dict[tuple[str, str, str], list[Offer]] = {}
    for offer in spellings.find_offers(shown):
        found.setdefault((offer.dimension, offer.printed, offer.meaning), []).append(offer)
    return [
        Alike(dimension(name).title, printed, meaning, [(offer.title, _address(offer)) for offer in offers])
        for (name, printed, meaning), offers in found.items()
    ]


def _address(offer: Offer) -> str:
    asked = urlencode({"dimension": offer.dimension, "printed": offer.printed, "meaning": offer.meaning})
    return f"{reverse('web:aliases', args=[offer.study])}?{asked}#preview"
