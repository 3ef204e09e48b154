"""The answer of a question as its page shows it: what stands in the section of the result, living or frozen."""

from dataclasses import replace
from typing import Any

from django.urls import reverse

from perfdb.analysis.dimensions import describe_values, dimension
from perfdb.analysis.query.query import Summary
from perfdb.analysis.render.charts.chart_options import Drawing
from perfdb.analysis.render.labels import measure_title
from perfdb.results.models import Page
from perfdb.results.queries import compare
from perfdb.results.queries.compare import ChosenSides
from perfdb.results.queries.questions import Answer, Question
from perfdb.web.aliases import alias_hints
from perfdb.web.compare import compare_page
from perfdb.web.compare.compare_page import Measured
from perfdb.web.questions import suggested_questions
from perfdb.web.shared.links import to_question
from perfdb.web.tables import maximum_page, table_grids
from perfdb.web.tables.crowded_charts import crowd
from perfdb.web.tables.metric_suggestions import offering

# More metrics make a longer title than anybody reads.
_MOST_NAMED = 3


def result(question: Question, answer: Answer) -> dict[str, Any]:
    """What the template of the question's page shows of its answer."""
    heat = table_grids.better_as_heat_map(answer.tables, question.drawing)
    offered = {"heat": to_question(replace(question, drawing=heat))} if heat else {}
    same = alias_hints.of_tables(answer.tables[:1])
    return {"query": question.query, "alike": same, **offered, **_RESULTS[question.page](question, answer)}


def _charts(question: Question, answer: Answer) -> dict[str, Any]:
    drawing = question.drawing
    return {
        "crowd": crowd(question, answer),
        "groups": [
            [offering(panel, question, answer) for panel in group]
            for group in table_grids.panels(answer.tables, drawing)
        ],
        "fold": f"{reverse('web:table')}?{question.encode()}",
        "any": any(table.cells for table in answer.tables),
        "exports": suggested_questions.exports(answer.query),
        "address": suggested_questions.address(answer.query, drawing),
        "compare": compare_page.address(compare_page.plain(answer.query), Drawing(), ChosenSides()),
    }


def _compare(question: Question, answer: Answer) -> dict[str, Any]:
    assert answer.comparison is not None  # for the type checker
    compared = compare_page.compared(answer.comparison, question.query, question.drawing)
    measured = [replace(each, panel=offering(each.panel, question, answer)) for each in compared.measured]
    return {
        "crowd": crowd(question, answer),
        "compared": replace(compared, measured=_telling(measured, question)),
        # The tables of the pairs are an ordinary question; only the comparison knows the rest.
        "exports": [
            ("JSON", f"/api/v1/comparisons/?{question.encode()}"),
            *suggested_questions.exports(answer.query)[1:],
        ],
        "charts": suggested_questions.address(answer.query, question.drawing),
        "apart": compare_page.without_pairs(answer.comparison, question.query),
    }


def _telling(measured: list[Measured], question: Question) -> list[Measured]:
    """What has numbers first, then what has none; of what nobody asked for by name, only what tells something."""
    asked = bool(question.query.metrics)
    numbers = [each for each in measured if each.panel.lacking is None]
    none = [each for each in measured if each.panel.lacking and (asked or each.panel.instead or not numbers)]
    return [*numbers, *none]


def _maximum(question: Question, answer: Answer) -> dict[str, Any]:
    return {
        "by_run": question.query.summary is Summary.TRIAL,
        "exports": suggested_questions.exports(answer.query),
        "maxima": maximum_page.of(answer.tables, answer.best),
        "charts_of_maxima": maximum_page.charts(answer.tables),
    }


_RESULTS = {Page.CHARTS: _charts, Page.COMPARE: _compare, Page.MAXIMUM: _maximum}


def title(question: Question) -> str:
    """A question in words: what is shown of which runs."""
    shown = ", ".join(measure_title(measure) for measure in question.query.metrics[:_MOST_NAMED])
    filters = question.query.filters
    about = describe_values(
        [name for name, values in filters.items() for _ in values],
        [value for values in filters.values() for value in values],
    )
    if question.page is Page.COMPARE:
        sides = compare.parse_sides(question.chosen)
        known = dimension(sides[0].dimension)
        shown = f"{known.describe(sides[0].old)} → {', '.join(known.describe(each.new) for each in sides)}"
    if question.page is Page.MAXIMUM:
        shown = "Maximum throughput"
    return " · ".join(part for part in (shown, about) if part)
