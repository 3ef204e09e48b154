"""The questions pages ask by themselves: the first one, and one for each workload."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from perfdb.analysis.metrics import Measure
from perfdb.analysis.query.query import Query
from perfdb.analysis.render.charts.chart_options import Drawing
from perfdb.analysis.workloads import cost_metric, primary_metric
from perfdb.results.models import Run
from perfdb.results.queries.maximum_throughput import parse_pattern
from perfdb.results.queries.observations import find_patterns


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


def exports(query: Query) -> list[tuple[str, str]]:
    """Where the same tables are in other forms: (title, address)."""
    return [(title, f"/api/v1/tables{ending}?{query.encode()}") for ending, title in _FORMS]


def address(query: Query, drawing: Drawing) -> str:
    """The charts page of a question, drawn so."""
    return f"{reverse('web:charts')}?{urlencode([*query.pairs(), *drawing.pairs()])}"


def default(there: dict[str, list[tuple[str, str]]]) -> Query:
    """Throughput and cost of the newest complete run's workload over users, in its study; any where there is none."""
    complete = Run.objects.filter(status=Run.Status.COMPLETE).exclude(workload=None)
    newest = complete.order_by("-started", "-id").values_list("workload__name", "study__slug").first()
    if newest is None:
        return for_workload("RR")
    workload, study = newest
    named = dict(there["study"])
    query = for_workload(workload)
    return query.with_filter("study", study) if len(named) > 1 else query


def for_workload(workload: str) -> Query:
    """Rate and CPU cost of a workload over users, one line for each device and MTU."""
    pattern = parse_pattern(workload)
    return Query(
        metrics=(Measure(primary_metric(pattern)), Measure(cost_metric(pattern))),
        filters={"workload": (workload,)},
        rows=("users",),
        columns=("device", "mtu"),
    )


def laid_out(query: Query) -> Query:
    """The usual question about runs that are only filtered: of the first of their workloads, where they have several.

    A question that says what is to be measured or how it is laid out is left as it is, and so is one about no runs.
    """
    if query != Query(filters=query.filters, exclude=query.exclude, ranges=query.ranges):
        return query
    patterns = find_patterns(query)
    if not patterns:
        return query
    usual = for_workload(patterns[0])
    filters = dict(usual.filters) | dict(query.filters)
    return query.replace(metrics=usual.metrics, filters=filters, rows=usual.rows, columns=usual.columns)


def presets(query: Query, there: dict[str, list[tuple[str, str]]]) -> list[Preset]:
    """A question for each workload, within the study that is being looked at."""
    found = []
    for workload, _ in there["workload"]:
        study = query.filters.get("study", ())
        asked = for_workload(workload).with_filter("study", *study)
        chosen = query.filters.get("workload") == (workload,)
        found.append(Preset(workload, f"?{asked.encode()}", chosen))
    return found


def workloads(query: Query, there: dict[str, list[tuple[str, str]]]) -> list[Preset]:
    """The maximum table of each workload, other filters kept."""
    chosen = query.filters.get("workload")
    kept = Query(filters=dict(query.filters), columns=query.columns)
    asked = [(name, kept.with_filter("workload", name)) for name, _ in there["workload"]]
    return [Preset(name, f"?{each.encode()}", chosen == (name,)) for name, each in asked]
