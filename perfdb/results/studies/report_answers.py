"""A study's report with its answers: each table and figure is a saved Query, and shows what its document printed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl

from perfdb.analysis import units
from perfdb.analysis.metrics import Measure
from perfdb.analysis.query.query import Query
from perfdb.analysis.tables.table import Cell, Table
from perfdb.results.models import PublishedFigure, PublishedPercent, ReportItem, Study
from perfdb.results.queries.answers import answer_query

# What stands around a printed number: brackets that repeat a figure, and its per cent sign.
_AROUND = "()% "

# What answers a Query: the query as understood, and its tables.
Ask = Callable[[Query], tuple[Query, list[Table]]]


@dataclass(frozen=True, slots=True)
class Answered:
    """A report item with the tables of its queries, in their order.

    ``differences`` are the printed differences in per cent, by measure and the run that is compared.
    """

    item: ReportItem
    queries: tuple[Query, ...]
    tables: tuple[Table, ...]
    differences: Mapping[tuple[Measure, int], str]

    def difference(self, table: Table, cell: Cell) -> str:
        """What the document prints as the difference of a cell; empty where it prints none."""
        if len(cell.sample) != 1:
            return ""
        return self.differences.get((table.measure, cell.sample[0].run), "")


def questions(item: ReportItem) -> tuple[Query, ...]:
    """The queries of an item, about its study."""
    return tuple(question(item.study, text) for text in item.queries)


def question(study: Study, text: str) -> Query:
    """A query string of a study's report as a Query about the study. Raises QueryError."""
    return Query.parse(parse_qsl(text, keep_blank_values=True)).with_filter("study", study.slug)


def answered(item: ReportItem, ask: Ask = answer_query) -> Answered:
    """The tables of an item; cells of published runs carry what the item's table prints. Raises QueryError."""
    asked = questions(item)
    found = [ask(query) for query in asked]
    tables = [table for _, tables in found for table in tables]
    if item.kind == ReportItem.Kind.TABLE:
        tables = _as_printed(item, tables)
    return Answered(item, tuple(query for query, _ in found), tuple(tables), _differences(item))


def _as_printed(item: ReportItem, tables: Sequence[Table]) -> list[Table]:
    """The tables with the texts of the document: a figure that two tables print differently is each table's own."""
    figures = PublishedFigure.objects.filter(run__study=item.study_id, table=item.number)
    texts: dict[tuple[int, Measure], tuple[str, float]] = {}
    for run, metric, role, printed, read_as in figures.values_list("run_id", "metric", "role", "printed", "read_as"):
        value = units.convert(printed.strip(_AROUND), read_as, metric)
        # A figure that is repeated in brackets is first printed without.
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
    percents = PublishedPercent.objects.filter(run__study=item.study_id, table=item.number)
    if item.kind != ReportItem.Kind.TABLE:
        return {}
    rows = percents.values_list("metric", "role", "run_id", "printed")
    return {(Measure(metric, role), run): printed for metric, role, run, printed in rows}
