"""Template context of the result section, with hints beside an answer, for live and frozen answers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, islice
from typing import Any

from django.db.models import Count
from django.urls import reverse

from perfdb.analysis import metrics
from perfdb.analysis.dimensions import Value, dimension
from perfdb.analysis.metrics import Measure
from perfdb.analysis.query.query import Query, Summary
from perfdb.analysis.render.charts.chart_options import Draw, Drawing, Facets
from perfdb.analysis.render.charts.reduced_tables import MOST_LINES, count_lines_by, limit_lines, line_keys
from perfdb.analysis.tables.table import Table
from perfdb.results.changes import spellings
from perfdb.results.changes.spellings import Offer
from perfdb.results.models import Page
from perfdb.results.queries.compare import ChosenSides
from perfdb.results.queries.conditions import select_runs
from perfdb.results.queries.observations import measure_columns
from perfdb.results.queries.questions import Answer, Question
from perfdb.results.runs import measures, recorded_reads
from perfdb.web.compare import compare_page
from perfdb.web.compare.workload_answers import Measured
from perfdb.web.links import to_alias, to_question
from perfdb.web.questions import question_links
from perfdb.web.runs.run_values import group_of
from perfdb.web.tables import maximum_page, table_grids
from perfdb.web.tables.table_grids import MOST_CHARTS, Panel

# The form's menus offer all values.
_MOST_VALUES = 8
# At most so many dimensions; these first, since runs that agree in these are comparable.
_MOST_WAYS = 4
_FIRST = ("study", "workload")


def find_crowd(question: Question, answer: Answer) -> dict[str, Any] | None:
    """Return how to narrow a chart with more lines than are drawn, or None if every line is legible.

    ``apart``: (title, address) of the question split into small charts. Frozen answers have no addresses.
    """
    tables = [table for table in answer.tables if table.cells]
    if not tables or question.drawing.draw is Draw.HEAT:
        return None
    fullest = max(tables, key=lambda table: len(line_keys([table])))
    known = line_keys([fullest])
    if len(known) <= MOST_LINES:
        return None
    crowd = {"lines": len(known), "drawn": limit_lines([fullest])[1]}
    if recorded_reads.playing_tape():
        return crowd
    leaving = count_lines_by([fullest], known)
    ways = islice(_ways(question, answer.query, leaving, len(known)), _MOST_WAYS)
    return crowd | {"ways": list(ways), "apart": list(_apart(answer.query, leaving))}


def _ways(
    question: Question, query: Query, leaving: Mapping[str, Mapping[Value, int]], all_of_them: int
) -> Iterator[dict[str, Any]]:
    """Yield dimensions to filter by, with the lines left by each value; ``more`` are only in the form's menu."""
    for name in sorted(leaving, key=lambda name: _FIRST.index(name) if name in _FIRST else len(_FIRST)):
        fewer = [(value, number) for value, number in leaving[name].items() if number < all_of_them]
        if name in query.baseline or not fewer:
            continue
        shown = [
            {
                "text": dimension(name).describe(value),
                "lines": number,
                "address": to_question(replace(question, query=question.query.with_filter(name, value))),
            }
            for value, number in fewer[:_MOST_VALUES]
        ]
        yield {"title": dimension(name).title, "values": shown, "more": len(fewer) - len(shown)}


def _apart(query: Query, leaving: Mapping[str, Mapping[Value, int]]) -> Iterator[tuple[str, str]]:
    """Yield (title, address) of the question split into small charts that are legible."""
    for name, values in leaving.items():
        fits = len(values) <= MOST_CHARTS and max(values.values()) <= MOST_LINES
        if fits and name not in query.baseline and name not in query.split:
            rows, columns = (tuple(each for each in part if each != name) for part in (query.rows, query.columns))
            split = query.replace(rows=rows, columns=columns).with_split(name)
            yield dimension(name).title, to_question(Question(Page.CHARTS, split, Drawing(facets=Facets.TOGETHER)))


def suggest_metrics(panel: Panel, question: Question, answer: Answer) -> Panel:
    """Add questions about metrics of the same kind to a panel without values."""
    if panel.lacking is None or recorded_reads.playing_tape():
        return panel
    return replace(panel, instead=list(_offers(panel.lacking, question, answer)))


def _offers(lacking: Measure, question: Question, answer: Answer) -> Iterator[tuple[str, str]]:
    """Yield (title, address) of the question with another metric of the same kind."""
    asked = answer.query.metrics
    for name, each in groupby(_available_measures(lacking, answer), key=lambda measure: measure.metric):
        found = list(each)
        wanted = [new for old in asked for new in (found if old == lacking else [old])]
        query = question.query.replace(metrics=tuple(dict.fromkeys(wanted)))
        roles = [measure.role for measure in found]
        title = ", ".join([metrics.BY_NAME[name].title, *(roles if roles != [metrics.TOTAL] else [])])
        yield title, to_question(replace(question, query=query))


def _kind(metric: str) -> tuple[str, str]:
    """Return a metric's kind, within which metrics can replace each other."""
    return group_of(metric), metrics.BY_NAME[metric].better


def _available_measures(lacking: Measure, answer: Answer) -> list[Measure]:
    """Return the measures of the same kind that runs have, totals first."""
    kind, asked = _kind(lacking.metric), answer.query.metrics
    known = [each for each in measures.read_slots() if each not in asked and _kind(each.metric) == kind]
    columns = measure_columns(known)
    counts = select_runs(answer.query).aggregate(**{f"n{at}": Count(each) for at, each in enumerate(columns)})
    there = [measure for at, measure in enumerate(known) if counts[f"n{at}"]]
    return sorted(there, key=lambda each: (each.metric, each.role != metrics.TOTAL, each.role))


def find_spellings_in_tables(tables: Sequence[Table]) -> list[dict[str, Any]]:
    """Return values in tables with likely double spellings; none for frozen answers."""
    shown: dict[str, dict[Value, None]] = {}
    for table in tables:
        for row, column in table.cells:
            for name, value in zip(table.query.layout_names, table.split + row + column, strict=False):
                shown.setdefault(name, {})[value] = None
    return [] if recorded_reads.playing_tape() else find_spellings(shown)


def find_spellings(shown: Mapping[str, Iterable[Value]]) -> list[dict[str, Any]]:
    """Return likely double spellings. ``studies``: (title, address that makes an alias)."""
    found: dict[tuple[str, str, str], list[Offer]] = {}
    for offer in spellings.find_offers(shown):
        found.setdefault((offer.dimension, offer.printed, offer.meaning), []).append(offer)
    return [
        {
            "title": dimension(name).title,
            "printed": printed,
            "meaning": meaning,
            "studies": [(offer.title, to_alias(offer.study, name, printed, meaning)) for offer in offers],
        }
        for (name, printed, meaning), offers in found.items()
    ]


def build_result(question: Question, answer: Answer, opened: str = "") -> dict[str, Any]:
    """Return a question's result section. ``opened``: a comparison's workload, or `EVERY`."""
    heat = table_grids.better_as_heat_map(answer.tables, question.drawing)
    offered = {"heat": to_question(replace(question, drawing=heat))} if heat else {}
    same = find_spellings_in_tables(answer.tables[:1])
    return {"query": question.query, "alike": same, **offered, **_RESULTS[question.page](question, answer, opened)}


def _charts(question: Question, answer: Answer, _: str) -> dict[str, Any]:
    drawing = question.drawing
    return {
        "crowd": find_crowd(question, answer),
        "groups": [
            [suggest_metrics(panel, question, answer) for panel in group]
            for group in table_grids.build_panels(answer.tables, drawing)
        ],
        "fold": f"{reverse('web:table')}?{question.encode()}",
        "mixes": table_grids.find_mixes(answer.tables),
        "any": any(table.cells for table in answer.tables),
        "exports": question_links.list_exports(answer.query),
        "address": question_links.charts_address(answer.query, drawing),
        "compare": compare_page.compare_address(compare_page.plain_query(answer.query), Drawing(), ChosenSides()),
    }


def _compare(question: Question, answer: Answer, opened: str) -> dict[str, Any]:
    assert answer.comparison is not None  # for the type checker
    compared = compare_page.build_comparison(answer.comparison, question.query, question.drawing, opened)
    answers = compared["answers"]
    for each in answers:
        measured = [replace(one, panel=suggest_metrics(one.panel, question, answer)) for one in each.measured]
        each.measured[:] = _sort_measured(measured, question, elsewhere=len(answers) > 1)
    return {
        "crowd": find_crowd(question, answer),
        "compared": compared,
        "said": next((card["alone"] for each in answers for card in each.cards), ""),
        # The tables of the pairs are an ordinary question; only the comparison knows the rest.
        "exports": [
            ("JSON", f"/api/v1/comparisons/?{question.encode()}"),
            *question_links.list_exports(answer.query)[1:],
        ],
        "charts": question_links.charts_address(answer.query, question.drawing),
        "apart": compare_page.unpaired_links(answer.comparison, question.query),
    }


def _sort_measured(measured: list[Measured], question: Question, *, elsewhere: bool) -> list[Measured]:
    """Return the metrics, those with values first.

    A metric without values is left out if another one has values, the person did not ask for the metric, and it
    belongs to another workload (``elsewhere``) or there is no alternative.
    """
    asked = bool(question.query.metrics)
    numbers = [each for each in measured if each.panel.lacking is None]
    none = [each for each in measured if each.panel.lacking]
    return [*numbers, *(each for each in none if asked or not numbers or (each.panel.instead and not elsewhere))]


def _maximum(question: Question, answer: Answer, _: str) -> dict[str, Any]:
    maxima = maximum_page.build_maxima(answer.tables, answer.best)
    return {
        "by_run": question.query.summary is Summary.TRIAL,
        "said": next(iter(maxima["answer"]), "") if maxima else "",
        "exports": question_links.list_exports(answer.query),
        "maxima": maxima,
        "charts_of_maxima": maximum_page.build_charts(answer.tables),
    }


_RESULTS = {Page.CHARTS: _charts, Page.COMPARE: _compare, Page.MAXIMUM: _maximum}
