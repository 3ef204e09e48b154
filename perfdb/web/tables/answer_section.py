"""Template context of the result section, for live and frozen answers."""

from dataclasses import replace
from typing import Any

from django.urls import reverse

from perfdb.analysis.query.query import Summary
from perfdb.analysis.render.charts.chart_options import Drawing
from perfdb.results.models import Page
from perfdb.results.queries.compare import ChosenSides
from perfdb.results.queries.questions import Answer, Question
from perfdb.web.compare import compare_page
from perfdb.web.compare.workload_answers import Measured
from perfdb.web.links import to_question
from perfdb.web.questions import question_links
from perfdb.web.tables import answer_hints, maximum_page, table_grids
from perfdb.web.tables.answer_hints import find_crowd, suggest_metrics


def build_result(question: Question, answer: Answer, opened: str = "") -> dict[str, Any]:
    """Return the context of a question's result section.

    ``opened``: the workload that a comparison shows, `EVERY` for all of them.
    """
    heat = table_grids.better_as_heat_map(answer.tables, question.drawing)
    offered = {"heat": to_question(replace(question, drawing=heat))} if heat else {}
    same = answer_hints.find_spellings_in_tables(answer.tables[:1])
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
        measured = [replace(one, panel=suggest_metrics(one.panel, question, answer)) for one in each["measured"]]
        each["measured"] = _sort_measured(measured, question, elsewhere=len(answers) > 1)
    return {
        "crowd": find_crowd(question, answer),
        "compared": compared,
        "said": next((card["alone"] for each in answers for card in each["cards"]), ""),
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
