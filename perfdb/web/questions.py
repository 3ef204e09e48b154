"""The questions pages ask by themselves: the first one, one for each workload, and that of the maximum table."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from perfdb.analysis.metrics import TOTAL, Measure
from perfdb.analysis.parameters import QueryError
from perfdb.analysis.query import Layout, Pick, Query
from perfdb.analysis.render.drawing import Drawing
from perfdb.analysis.workloads import cost_metric, parse_workload, primary_metric
from perfdb.results import measures
from perfdb.results.models import Run

# What the maximum table shows, in the order in which studies print it: rates of the whole run, then utilisations
# and costs, total first and then the roles.
_RATES = ("mb_per_s", "trans_per_s", "response_ms")
_BY_ROLE = (
    "cpu_util",
    "virtual_cpu_util",
    "cp_cpu_util",
    "processor_util",
    "virtual_processor_util",
    "cp_processor_util",
    "run_wait",
    "cpu_ms_per_trans",
    "virtual_cpu_ms_per_trans",
    "cp_cpu_ms_per_trans",
    "cpu_ms_per_mb",
    "virtual_cpu_ms_per_mb",
    "cp_cpu_ms_per_mb",
)


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


def _pattern(workload: str) -> str:
    """The traffic pattern of a workload; raises QueryError for one that has none."""
    try:
        return parse_workload(workload).pattern
    except ValueError as error:
        raise QueryError("workload", str(error)) from None


def for_workload(workload: str) -> Query:
    """Rate and CPU cost of a workload over users, one line for each device and MTU."""
    pattern = _pattern(workload)
    return Query(
        metrics=(Measure(primary_metric(pattern)), Measure(cost_metric(pattern))),
        filters={"workload": (workload,)},
        rows=("users",),
        columns=("device", "mtu"),
    )


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
    asked = [(name, Query(filters=dict(query.filters)).with_filter("workload", name)) for name, _ in there["workload"]]
    return [Preset(name, f"?{each.encode()}", chosen == (name,)) for name, each in asked]


def maximum(query: Query) -> Query:
    """The maximum-throughput question about the runs that ``query`` selects; raises QueryError for two workloads."""
    workloads = query.filters.get("workload") or ("RR",)
    if len(workloads) > 1:
        raise QueryError("workload", "a maximum-throughput table is about one workload")
    primary = Measure(primary_metric(_pattern(str(workloads[0]))))
    return Query(
        metrics=tuple(_shown(primary)),
        filters=dict(query.filters) | {"workload": workloads},
        columns=("device",),
        pick=Pick(primary, ("device",)),
        summary=query.summary,
        layout=Layout.METRICS,
    )


def _shown(primary: Measure) -> list[Measure]:
    """Every measure of the maximum table that any run has, the rate by which the best is chosen first."""
    known = sorted(measures.slots(), key=lambda each: (each.role != TOTAL, each.role))
    by_role = [each for name in _BY_ROLE for each in known if each.metric == name]
    return list(dict.fromkeys([primary, *map(Measure, _RATES), *by_role]))
