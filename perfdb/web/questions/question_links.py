"""The questions pages ask by themselves: the first one, and one for each workload."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

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
from perfdb.results.queries.maximum_throughput import parse_pattern
from perfdb.results.queries.observations import find_patterns
from perfdb.results.queries.questions import Question
from perfdb.web.links import to_question


@dataclass(frozen=True, slots=True)
class Preset:
    """A question with a name; ``chosen`` when it is the one being answered."""

    title: str
    address: str
    chosen: bool


# The same question in other forms: the ending of its address, and what people call it.
_FORMS = (
    ("/", "JSON"),
    (".csv", "CSV"),
    (".parquet", "Parquet"),
    (".md", "Markdown"),
    (".tex", "LaTeX"),
    (".txt", "text"),
)


def list_exports(query: Query) -> list[tuple[str, str]]:
    """Where the same tables are in other forms: (title, address)."""
    return [(title, f"/api/v1/tables{ending}?{query.encode()}") for ending, title in _FORMS]


def charts_address(query: Query, drawing: Drawing) -> str:
    """The charts page of a question, drawn so."""
    return f"{reverse('web:charts')}?{urlencode([*query.pairs(), *drawing.pairs()])}"


def default_query(there: dict[str, list[tuple[str, str]]]) -> Query:
    """Throughput and cost of the newest complete run's workload over users, in its study; any where there is none."""
    complete = Run.objects.filter(status=Run.Status.COMPLETE).exclude(workload=None)
    newest = complete.order_by("-started", "-id").values_list("workload__name", "study__slug").first()
    if newest is None:
        return workload_query("RR")
    workload, study = newest
    named = dict(there["study"])
    query = workload_query(workload)
    return query.with_filter("study", study) if len(named) > 1 else query


def workload_query(workload: str) -> Query:
    """Rate and CPU cost of a workload over users, one line for each device and MTU."""
    pattern = parse_pattern(workload)
    return Query(
        metrics=(Measure(primary_metric(pattern)), Measure(cost_metric(pattern))),
        filters={"workload": (workload,)},
        rows=("users",),
        columns=("device", "mtu"),
    )


def usual_query(query: Query) -> Query:
    """The usual question about runs that are only filtered: of the first of their workloads, where they have several.

    A question that says what is to be measured or how it is laid out is left as it is, and so is one about no runs.
    """
    if query != Query(filters=query.filters, exclude=query.exclude, ranges=query.ranges):
        return query
    patterns = find_patterns(query)
    if not patterns:
        return query
    usual = workload_query(patterns[0])
    filters = dict(usual.filters) | dict(query.filters)
    return query.replace(metrics=usual.metrics, filters=filters, rows=usual.rows, columns=usual.columns)


def workload_presets(query: Query, there: dict[str, list[tuple[str, str]]]) -> list[Preset]:
    """A question for each workload, within the study that is being looked at."""
    found = []
    for workload, _ in there["workload"]:
        study = query.filters.get("study", ())
        asked = workload_query(workload).with_filter("study", *study)
        chosen = query.filters.get("workload") == (workload,)
        found.append(Preset(workload, f"?{asked.encode()}", chosen))
    return found


def maximum_presets(query: Query, there: dict[str, list[tuple[str, str]]]) -> list[Preset]:
    """The maximum table of each workload, other filters kept."""
    chosen = query.filters.get("workload")
    kept = Query(filters=dict(query.filters), columns=query.columns)
    asked = [(name, kept.with_filter("workload", name)) for name, _ in there["workload"]]
    return [Preset(name, f"?{each.encode()}", chosen == (name,)) for name, each in asked]


# More metrics make a longer title than anybody reads.
_MOST_NAMED = 3


def question_title(question: Question) -> str:
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


# A menu holds so many; the page of all of them has the rest.
MOST_OFFERED = 20
# No name may be longer, in characters.
_LONGEST = 200

TITLES = {"charts": "Charts", "compare": "Compare", "maximum": "Maximum"}


@dataclass(frozen=True, slots=True)
class Named:
    """A named query in a list: where it opens, and why it does not where perfdb understands it no more."""

    saved: SavedQuery
    title: str
    address: str
    error: str
    mine: bool


def question_actions_context(request: HttpRequest, question: Question) -> dict[str, Any]:
    """What the part ``keep.html`` shows of a question that was answered."""
    text = question.encode()
    found = list(saved_queries.list_queries(question.page)[: MOST_OFFERED + 1])
    return {
        "keeping": {
            "page": question.page,
            "query": text,
            "name": question_title(question)[:_LONGEST],
            "link": request.build_absolute_uri(to_question(question)),
            "report": f"{reverse('web:put-in-report')}?{urlencode({'page': question.page, 'query': text})}",
            "saved": found[:MOST_OFFERED],
            "more": len(found) > MOST_OFFERED,
        }
    }


def describe_saved(request: HttpRequest, each: SavedQuery) -> Named:
    """A named query as lists show it."""
    mine = saved_queries.may_change(request.user, each)
    try:
        question = saved_queries.parse_question(each)
    except QueryError as error:
        return Named(each, TITLES[each.page], "", error.message, mine)
    return Named(each, TITLES[each.page], to_question(question), "", mine)
