"""The first questions about a study that has no report: rate and cost of its workloads, as charts that pages fetch."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress

from django.db.models import Exists
from django.urls import reverse

from perfdb.analysis.dimensions import dimension
from perfdb.analysis.metrics import Measure
from perfdb.analysis.render.charts.reduced_tables import MOST_LINES
from perfdb.analysis.render.labels import measure_title
from perfdb.results.models import Experiment, Run, Study
from perfdb.results.queries.observations import measure_columns
from perfdb.web.studies.study_contents import WorkloadLinks

# So many workloads have charts; those of the others are a click away.
MOST_WORKLOADS = 3

# A device, and an MTU size.
_Line = tuple[str | None, int | None]


@dataclass(frozen=True, slots=True)
class FirstChart:
    """A chart by its title, the address of its figure, and the page that shows all of it with its table.

    ``left_out`` says which lines are not drawn; empty where all are.
    """

    title: str
    figure: str
    page: str
    left_out: str


def first_charts(study: Study, workloads: Sequence[WorkloadLinks]) -> list[FirstChart]:
    """A chart for each measure that runs of the first workloads have."""
    shown = workloads[:MOST_WORKLOADS]
    lines, measured = _lines(study, [each.name for each in shown]), _measured(study, shown)
    return [chart for each in shown for chart in _charts(each, lines[each.name], measured[each.name])]


def _charts(workload: WorkloadLinks, lines: set[_Line], measured: Sequence[Measure]) -> Iterator[FirstChart]:
    """Of the size that most devices have, where one chart of all lines could not be read."""
    query, left_out = workload.query, ""
    if len(lines) > MOST_LINES:
        size, devices = _commonest(lines)
        query = query.with_filter("mtu", size)
        of_size = dimension("mtu").describe(size)
        left_out = f"{min(devices, MOST_LINES)} of {len(lines)} lines are drawn, of {of_size}"
    for measure in measured:
        figure = f"{reverse('web:figure')}?{query.replace(metrics=(measure,)).encode()}"
        yield FirstChart(f"{measure_title(measure)}, {workload.name}", figure, workload.charts, left_out)


def _commonest(lines: set[_Line]) -> tuple[int | None, int]:
    """The size that most devices have, the smallest of several, and how many devices these are."""
    counts = Counter(size for _, size in lines)
    return max(counts.items(), key=lambda each: (each[1], -(each[0] or 0)))


def _measured(study: Study, workloads: Sequence[WorkloadLinks]) -> dict[str, list[Measure]]:
    """What any complete run of each workload has a value of, of what its question is about."""
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
    """The devices and MTU sizes that experiments of each workload have."""
    about = ("workload__name", "device__name", "mtu")
    there = Experiment.objects.filter(study=study, workload__name__in=workloads)
    found = defaultdict(set)
    for workload, device, mtu in there.values_list(*about).distinct():
        found[workload].add((device, mtu))
    return found
