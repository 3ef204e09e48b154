"""Answers of a study's report, figures as printed, and exports of tables."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from json import dumps
from urllib.parse import parse_qsl

from perfdb.analysis import units
from perfdb.analysis.metrics import Measure
from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import Query
from perfdb.analysis.render.exports.json import table_data
from perfdb.analysis.render.exports.text import render_latex, render_markdown, render_text
from perfdb.analysis.render.exports.tidy import render_csv
from perfdb.analysis.tables.observations import Observations, narrow_observations
from perfdb.analysis.tables.table import Cell, Table
from perfdb.results.models import FrozenLink, PublishedFigure, PublishedPercent, ReportItem, Study
from perfdb.results.queries import frozen_links
from perfdb.results.queries.answers import answer_query, make_tables
from perfdb.results.queries.observations import add_notes, read_observations
from perfdb.results.runs.vocabulary import apply_aliases, read_meanings

# Characters around a printed number: brackets of a repeated figure, and the per cent sign.
_AROUND = "()% "

# A function that answers a query with the completed query and its tables.
Ask = Callable[[Query], tuple[Query, list[Table]]]


@dataclass(frozen=True, slots=True)
class AnsweredItem:
    """A report item with tables; ``differences``: printed per cents by measure and run."""

    item: ReportItem
    queries: tuple[Query, ...]
    tables: tuple[Table, ...]
    differences: Mapping[tuple[Measure, int], str]

    def difference(self, table: Table, cell: Cell) -> str:
        """Return the printed difference of a cell, or ""."""
        if len(cell.sample) != 1:
            return ""
        return self.differences.get((table.measure, cell.sample[0].run), "")


FROZEN = "frozen="
"""What a query of an item begins with that is the token of a frozen link."""


def find_frozen(text: str) -> FrozenLink | None:
    """Return the frozen link of an item's query, None for a live one. Raise QueryError for a missing link."""
    if not text.startswith(FROZEN):
        return None
    link = FrozenLink.objects.filter(token=text.removeprefix(FROZEN)).first()
    if link is None:
        raise QueryError("query", f"there is no frozen link /f/{text.removeprefix(FROZEN)}/")
    return link


def live_queries(item: ReportItem) -> Iterator[Query]:
    """Yield an item's queries that present data answer, filtered by study."""
    return (study_query(item.study, text) for text in item.queries if not text.startswith(FROZEN))


def study_query(study: Study, text: str) -> Query:
    """Return a report's query string as a query filtered by study. Raise QueryError."""
    return Query.parse(parse_qsl(text, keep_blank_values=True)).with_filter("study", study.slug)


def answer_item(item: ReportItem, ask: Ask = answer_query) -> AnsweredItem:
    """Answer an item; published runs get the printed texts. Raise QueryError."""
    found = [_answer(item.study, text, ask) for text in item.queries]
    tables = [table for _, tables in found for table in tables]
    if item.kind == ReportItem.Kind.TABLE:
        tables = _as_printed(item, tables)
    return AnsweredItem(item, tuple(query for query, _ in found), tuple(tables), _differences(item))


def _answer(study: Study, text: str, ask: Ask) -> tuple[Query, list[Table]]:
    if link := find_frozen(text):
        with frozen_links.open_link(link) as (question, answer):
            return question.query, list(answer.tables)
    return ask(study_query(study, text))


def _as_printed(item: ReportItem, tables: Sequence[Table]) -> list[Table]:
    """Return tables with the texts printed in the item's table."""
    figures = PublishedFigure.objects.filter(run__study=item.study_id, table=item.number)
    texts: dict[tuple[int, Measure], tuple[str, float]] = {}
    for run, metric, role, printed, read_as in figures.values_list("run_id", "metric", "role", "printed", "read_as"):
        value = units.convert(printed.strip(_AROUND), read_as, metric)
        # A figure repeated in brackets was printed without them before.
        texts.setdefault((run, Measure(metric, role)), (printed, value))
    return [
        replace(table, cells={key: _cell(table, cell, texts) for key, cell in table.cells.items()}) for table in tables
    ]


def _cell(table: Table, cell: Cell, texts: Mapping[tuple[int, Measure], tuple[str, float]]) -> Cell:
    found = texts.get((cell.sample[0].run, table.measure)) if len(cell.sample) == 1 else None
    if found is None:
        return cell
    printed, value = found
    sample = (cell.sample[0]._replace(value=value),)
    return cell._replace(printed=printed, centre=value, mean=value, sample=sample, step=units.finest_step([value]))


def _differences(item: ReportItem) -> dict[tuple[Measure, int], str]:
    if item.kind != ReportItem.Kind.TABLE:
        return {}
    percents = PublishedPercent.objects.filter(run__study=item.study_id, table=item.number)
    rows = percents.values_list("metric", "role", "run_id", "printed")
    return {(Measure(metric, role), run): printed for metric, role, run, printed in rows}


class StudyRuns:
    """The complete runs of a study, read once with the measures of many queries."""

    def __init__(self, study: Study, questions: Iterable[Query]) -> None:
        measures = dict.fromkeys(measure for query in questions for measure in query.measures)
        self._measures = set(measures)
        whole = Query(metrics=tuple(measures), filters={"study": (study.slug,)})
        self._runs = add_notes(read_observations(whole), whole)
        self._aliases = read_meanings([study.slug])

    def observations(self, query: Query) -> Observations:
        """Return the runs of a query, with all measures read."""
        if "tag" in query.used_names:
            return add_notes(read_observations(query), query)
        return narrow_observations(apply_aliases(query, self._runs, self._aliases), self._runs)

    def answer(self, query: Query) -> tuple[Query, list[Table]]:
        """Answer a query from the runs read; for other measures call `answer_query`. Raise QueryError."""
        if not query.metrics or not self._measures.issuperset(query.measures):
            return answer_query(query)
        query = apply_aliases(query, self._runs, self._aliases)
        return query, make_tables(query, self.observations(query))


def _render_csv(tables: Sequence[Table]) -> str:
    """Return tables as CSV, one block per layout, with empty lines between."""
    alike = groupby(tables, key=lambda table: (table.query.layout_names, bool(table.query.baseline)))
    parts = (list(group) for _, group in alike)
    return "\r\n".join(render_csv(part[0].query, part) for part in parts)


FORMS: Mapping[str, tuple[Callable[[Sequence[Table]], str], str]] = {
    "csv": (_render_csv, "text/csv"),
    "md": (render_markdown, "text/markdown"),
    "tex": (render_latex, "application/x-tex"),
    "txt": (render_text, "text/plain"),
}
"""Renderers and media types by the ending of an address."""


def render_json(tables: Sequence[Table]) -> str:
    """Return the tables as JSON."""
    return dumps({"tables": [table_data(table) for table in tables]}, ensure_ascii=False)
