"""Contents of a study: systems, levels, devices and workloads; first charts, and a first answer in a sentence."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import compress
from typing import Any, NamedTuple, TypeVar

from django.db.models import Exists, QuerySet, Sum

from perfdb.analysis.dimensions import dimension
from perfdb.analysis.metrics import Measure
from perfdb.analysis.query.parameters import QueryError, value_order
from perfdb.analysis.query.query import Query
from perfdb.analysis.render.charts.chart_options import Drawing
from perfdb.analysis.render.charts.reduced_tables import MOST_LINES
from perfdb.analysis.render.labels import measure_title
from perfdb.results.models import Device, Experiment, Level, Page, Run, RunCount, Study, System
from perfdb.results.queries.compare import suggest_sides
from perfdb.results.queries.observations import measure_columns
from perfdb.results.queries.questions import Question, answer_question
from perfdb.web.compare.compare_page import choose_sides
from perfdb.web.links import to_page, to_question
from perfdb.web.questions import question_links
from perfdb.web.tables import answer_section

_Named = TypeVar("_Named", System, Level, Device)


class WorkloadLinks(NamedTuple):
    """A workload with links to its first questions."""

    name: str
    runs: int
    charts: str
    maximum: str
    query: Query


def subjects(study: Study) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return (title, values) of the study's systems, levels and devices."""
    systems, levels, devices = _counts(study, ("system", "level", "device"))
    # The name of a system has the processors and the memory already, where they are known.
    found = [
        ("Systems", [_subject(study, "system", each, _facts(each.facts), systems) for each in _in(System, systems)]),
        ("Levels", [_subject(study, "level", each, _facts(each.facts), levels) for each in _in(Level, levels)]),
        ("Devices", [_subject(study, "device", each, _of_device(each), devices) for each in _in(Device, devices)]),
    ]
    return [(title, each) for title, each in found if each]


def workloads(study: Study) -> list[WorkloadLinks]:
    """Return the workloads of a study's complete runs in natural order."""
    complete = _of(study).filter(status=Run.Status.COMPLETE).exclude(experiment__workload=None)
    counts = dict(complete.values_list("experiment__workload__name").annotate(number=Sum("runs")))
    return [_links(study, name, counts[name]) for name in sorted(counts, key=value_order)]


def _links(study: Study, name: str, runs: int) -> WorkloadLinks:
    query = question_links.workload_query(name).with_filter("study", study.slug)
    maximum = Query(filters={"study": (study.slug,), "workload": (name,)})
    charts = question_links.charts_address(query, Drawing())
    return WorkloadLinks(name, runs, charts, to_page("maximum", maximum), query)


def _counts(study: Study, names: Sequence[str]) -> list[Counter[int]]:
    """Return for each dimension the number of runs by the id of its value."""
    kept = _of(study).exclude(status=Run.Status.WITHDRAWN)
    counts: list[Counter[int]] = [Counter() for _ in names]
    ids = [f"experiment__{name}_id" for name in names]
    for *found, runs in kept.values_list(*ids).annotate(number=Sum("runs")):
        for count, pk in zip(counts, found, strict=True):
            if pk is not None:
                count[pk] += runs
    return counts


def _of(study: Study) -> QuerySet[RunCount]:
    """Return the run counts of a study's experiments."""
    return RunCount.objects.filter(experiment__study=study, runs__gt=0).order_by()


def _in(model: type[_Named], counts: Mapping[int, int]) -> list[_Named]:
    found = model._default_manager.filter(pk__in=counts)
    return sorted(found, key=lambda each: value_order(each.name))


def _subject(
    study: Study, dimension: str, of: System | Level | Device, says: str, counts: Mapping[int, int]
) -> dict[str, Any]:
    query = Query(filters={"study": (study.slug,), dimension: (of.name,)})
    return {"name": of.name, "says": says, "runs": counts[of.pk], "address": to_page("runs", query)}


def _of_device(device: Device) -> str:
    kind = "" if device.kind == Device.Kind.UNKNOWN else device.kind
    speed = f"{device.speed_bits_per_s / 1e9:g} Gbit/s" if device.speed_bits_per_s else ""
    return ", ".join(part for part in (kind, speed) if part)


def _facts(facts: Mapping[str, object]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in facts.items() if value)


# So many workloads have charts; those of the others are a click away.
MOST_WORKLOADS = 3

# A device, and an MTU size.
_Line = tuple[str | None, int | None]


def first_charts(study: Study, workloads: Sequence[WorkloadLinks]) -> list[dict[str, str]]:
    """Return a chart for each measure of the first workloads that runs have.

    ``figure``: address of the data; ``page``: address of the chart with its table; ``left_out`` describes lines that
    are not drawn, or is "".
    """
    shown = workloads[:MOST_WORKLOADS]
    lines, measured = _lines(study, [each.name for each in shown]), _measured(study, shown)
    return [chart for each in shown for chart in _charts(each, lines[each.name], measured[each.name])]


def _charts(workload: WorkloadLinks, lines: set[_Line], measured: Sequence[Measure]) -> Iterator[dict[str, str]]:
    """Yield a workload's charts; of the commonest MTU size if lines are too many."""
    query, left_out = workload.query, ""
    if len(lines) > MOST_LINES:
        # The MTU size of most lines, the smallest of several.
        counts = Counter(size for _, size in lines)
        size, devices = max(counts.items(), key=lambda each: (each[1], -(each[0] or 0)))
        query = query.with_filter("mtu", size)
        of_size = dimension("mtu").describe(size)
        left_out = f"{min(devices, MOST_LINES)} of {len(lines)} lines are drawn, of {of_size}"
    for measure in measured:
        yield {
            "title": f"{measure_title(measure)}, {workload.name}",
            "figure": to_page("figure", query.replace(metrics=(measure,))),
            "page": workload.charts,
            "left_out": left_out,
        }


def _measured(study: Study, workloads: Sequence[WorkloadLinks]) -> dict[str, list[Measure]]:
    """Return, of each workload's usual measures, those that any complete run has."""
    asked = [(each.name, measure) for each in workloads for measure in each.query.metrics]
    columns = measure_columns([measure for _, measure in asked])
    complete = Run.objects.filter(study=study, status=Run.Status.COMPLETE)
    has = [
        Exists(complete.filter(workload__name=name).annotate(figure=column).exclude(figure=None))
        for (name, _), column in zip(asked, columns, strict=True)
    ]
    said = Study.objects.filter(pk=study.pk).values_list(*has).get() if has else ()
    found = defaultdict(list)
    for name, measure in compress(asked, said):
        found[name].append(measure)
    return found


def _lines(study: Study, workloads: Sequence[str]) -> dict[str, set[_Line]]:
    """Return the devices and MTU sizes of each workload's experiments."""
    about = ("workload__name", "device__name", "mtu")
    there = Experiment.objects.filter(study=study, workload__name__in=workloads)
    found = defaultdict(set)
    for workload, device, mtu in there.values_list(*about).distinct():
        found[workload].add((device, mtu))
    return found


def answer_study(study: Study, workloads: Sequence[WorkloadLinks], devices: int) -> dict[str, str] | None:
    """Return the best device of a workload, else the comparison with most pairs."""
    if not workloads:
        return None
    workload = question_links.usual_workload([each.name for each in workloads])
    with suppress(QueryError):
        if devices > 1:
            page, (question, address) = "ranking", question_links.device_ranking(study.slug, workload)
        elif found := suggest_sides(study.slug):
            about = Query(filters={"workload": (workload,), "study": (study.slug,)})
            page, question = "comparison", Question(Page.COMPARE, about, chosen=choose_sides(found[0][0]))
            address = to_question(question)
        else:
            return None
        sentence = answer_section.build_result(question, answer_question(question)).get("said", "")
        answer = {"workload": workload, "sentence": sentence, "page": page, "address": address}
        return answer if sentence else None
    return None
