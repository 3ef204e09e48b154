"""What a page says where a question has more lines than anybody could read, and the clicks that narrow it down."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from perfdb.analysis.dimensions import Value, dimension
from perfdb.analysis.query.query import Query
from perfdb.analysis.render.charts.chart_options import Draw, Drawing, Facets
from perfdb.analysis.render.charts.reduced_tables import MOST_LINES, count_lines_by, limit_lines, line_keys
from perfdb.results.models import Page
from perfdb.results.queries.questions import Answer, Question
from perfdb.results.runs import recorded_reads
from perfdb.web.shared.links import to_question
from perfdb.web.tables.table_grids import MOST_CHARTS

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


def crowd(question: Question, answer: Answer) -> Crowd | None:
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
