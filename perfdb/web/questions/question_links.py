"""Links of questions: default ones, presets, exports, titles, and named queries."""

from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

from django.http import HttpRequest
from django.urls import reverse

from perfdb.analysis.dimensions import describe_values, dimension
from perfdb.analysis.metrics import Measure
from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import Query
from perfdb.analysis.render.charts.chart_options import Drawing
from perfdb.analysis.render.labels import measure_title
from perfdb.analysis.workloads import cost_metric, primary_metric
from perfdb.results.models import Page, Run, SavedQuery
from perfdb.results.queries import compare, saved_queries
from perfdb.results.queries.observations import find_patterns
from perfdb.results.queries.questions import Question, parse_pattern
from perfdb.results.runs import access
from perfdb.web.links import to_question


class Preset(NamedTuple):
    """A question with a title. ``chosen``: the page answers this question now."""

    title: str
    address: str
    chosen: bool


# Ending of the API's address, and its name.
_FORMS = (
    ("/", "JSON"),
    (".csv", "CSV"),
    (".parquet", "Parquet"),
    (".md", "Markdown"),
    (".tex", "LaTeX"),
    (".txt", "text"),
)


def list_exports(query: Query) -> list[tuple[str, str]]:
    """Return (title, address) of a query's tables in other formats."""
    return [(title, f"/api/v1/tables{ending}?{query.encode()}") for ending, title in _FORMS]


def charts_address(query: Query, drawing: Drawing) -> str:
    """Return the Charts address of a query."""
    return f"{reverse('web:charts')}?{urlencode([*query.pairs(), *drawing.pairs()])}"


def default_query(there: dict[str, list[tuple[str, str]]]) -> Query:
    """Return the first question: the newest run's workload, in the study if several."""
    complete = Run.objects.filter(status=Run.Status.COMPLETE).exclude(workload=None)
    newest = complete.order_by("-started", "-id").values_list("workload__name", "study__slug").first()
    if newest is None:
        return workload_query("RR")
    workload, study = newest
    query = workload_query(workload)
    return query.with_filter("study", study) if len(dict(there["study"])) > 1 else query


def workload_query(workload: str) -> Query:
    """Return the query of a workload's rate and CPU cost over users."""
    pattern = parse_pattern(workload)
    return Query(
        metrics=(Measure(primary_metric(pattern)), Measure(cost_metric(pattern))),
        filters={"workload": (workload,)},
        rows=("users",),
        columns=("device", "mtu"),
    )


# The workload that most studies have.
_USUAL = "RR"


def usual_workload(names: Sequence[str]) -> str:
    """Return the usual one of some workloads, else the first."""
    return _USUAL if _USUAL in names else names[0]


def device_ranking(study: str, workload: str) -> tuple[Question, str]:
    """Return the ranking of a study's devices by rate with the CPU cost alone, and the address of its page.

    The page reads all metrics. Raise QueryError for a workload without a rate.
    """
    about = Query(filters={"workload": (workload,), "study": (study,)})
    cost = workload_query(workload).metrics[1:]
    return Question(Page.MAXIMUM, about.replace(metrics=cost)), to_question(Question(Page.MAXIMUM, about))


def usual_query(query: Query) -> Query:
    """Return a query, or the usual one of the first workload for mere filters."""
    if query != Query(filters=query.filters, exclude=query.exclude, ranges=query.ranges):
        return query
    patterns = find_patterns(query)
    if not patterns:
        return query
    usual = workload_query(patterns[0])
    filters = dict(usual.filters) | dict(query.filters)
    return query.replace(metrics=usual.metrics, filters=filters, rows=usual.rows, columns=usual.columns)


def workload_presets(query: Query, there: dict[str, list[tuple[str, str]]]) -> list[Preset]:
    """Return the preset of each workload, within the query's study."""
    study, chosen = query.filters.get("study", ()), query.filters.get("workload")
    asked = [(name, workload_query(name).with_filter("study", *study)) for name, _ in there["workload"]]
    return [Preset(name, f"?{each.encode()}", chosen == (name,)) for name, each in asked]


def maximum_presets(query: Query, there: dict[str, list[tuple[str, str]]]) -> list[Preset]:
    """Return the maximum table of each workload, with the other filters kept."""
    chosen = query.filters.get("workload")
    kept = Query(filters=dict(query.filters), columns=query.columns)
    asked = [(name, kept.with_filter("workload", name)) for name, _ in there["workload"]]
    return [Preset(name, f"?{each.encode()}", chosen == (name,)) for name, each in asked]


# Titles name at most so many metrics.
_MOST_NAMED = 3


def question_title(question: Question) -> str:
    """Return a question in words: metrics and filters."""
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
        shown = "Ranking"
    return " · ".join(part for part in (shown, about) if part)


# The page of saved queries lists all.
MOST_OFFERED = 20
# Characters.
_LONGEST = 200

TITLES = {"charts": "Charts", "compare": "Compare", "maximum": "Ranking"}


# Sizes of pictures, in pixels; the first is that of the cards that chat programs show of a link.
PICTURE_SIZES = {
    "1200x630": "card of a link, 1200×630",
    "1920x1080": "slide 16:9, 1920×1080",
    "960x1080": "half a slide, 960×1080",
    "1000x750": "column of a report, 1000×750",
}


def picture_context(request: HttpRequest, path: str, asked: str = "") -> dict[str, Any]:
    """Return what ``keep.html`` needs to offer the picture of an answer. ``path``: its address without an ending."""
    return {
        "picture": request.build_absolute_uri(f"{path}.png{'?' if asked else ''}{asked}"),
        "picture_path": path,
        "pairs": parse_qsl(asked),
        "sizes": PICTURE_SIZES.items(),
    }


def question_actions_context(request: HttpRequest, question: Question) -> dict[str, Any]:
    """Return the context of ``keep.html``: save, freeze or publish a question."""
    text = question.encode()
    found = list(saved_queries.list_queries(question.page)[: MOST_OFFERED + 1])
    return {
        "keeping": {
            "page": question.page,
            "query": text,
            "name": question_title(question)[:_LONGEST],
            "link": request.build_absolute_uri(to_question(question)),
            **picture_context(request, reverse(f"web:{question.page}").rstrip("/"), text),
            "report": f"{reverse('web:put-in-report')}?{urlencode({'page': question.page, 'query': text})}",
            "saved": found[:MOST_OFFERED],
            "more": len(found) > MOST_OFFERED,
        }
    }


def describe_saved(request: HttpRequest, each: SavedQuery) -> dict[str, Any]:
    """Return a named query as lists show it. ``error``: why perfdb cannot read the query."""
    address = error = ""
    try:
        address = to_question(Question.parse(each.page, each.query))
    except QueryError as problem:
        error = problem.message
    mine = access.may_change(request.user, each)
    return {"saved": each, "title": TITLES[each.page], "address": address, "error": error, "mine": mine}
