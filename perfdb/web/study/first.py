"""The first questions about a study that has no report: rate and cost of its workloads, as charts that pages fetch."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.urls import reverse

from perfdb.analysis.metrics import Measure
from perfdb.analysis.query import Query
from perfdb.analysis.render import facets
from perfdb.analysis.render.drawing import Drawing, Facets
from perfdb.analysis.render.labels import measure_title
from perfdb.analysis.render.legible import MOST_LINES
from perfdb.results.asking import Question
from perfdb.results.models import Experiment, Page, Study
from perfdb.web.links import to_question
from perfdb.web.study.about import WorkloadLinks
from perfdb.web.tables import MOST_CHARTS

# So many workloads have charts; those of the others are a click away.
MOST_WORKLOADS = 3


@dataclass(frozen=True, slots=True)
class FirstChart:
    """A chart by its title, the page that shows it with its table, and the address of its figure.

    ``small`` is how many small figures it is made of, 0 for a plain one; ``height`` is theirs in pixels.
    """

    title: str
    page: str
    figure: str
    small: int

    @property
    def height(self) -> int:
        """How high it is."""
        return facets.height(self.small)


def first_charts(study: Study, workloads: Sequence[WorkloadLinks]) -> list[FirstChart]:
    """A chart for each measure of the first workloads."""
    shown = workloads[:MOST_WORKLOADS]
    lines = _lines(study, [each.name for each in shown])
    return [chart for each in shown for chart in _charts(each, lines[each.name])]


def _charts(workload: WorkloadLinks, lines: set[tuple[str | None, int | None]]) -> Iterator[FirstChart]:
    """Small figures for each MTU where one of all lines could not be read."""
    query, small = workload.query, 0
    sizes = {mtu for _, mtu in lines}
    if len(lines) > MOST_LINES and 1 < len(sizes) <= MOST_CHARTS:
        query, small = query.replace(columns=("device",)).with_split("mtu"), len(sizes)
    for measure in query.metrics:
        yield _chart(workload.name, query.replace(metrics=(measure,)), measure, small)


def _chart(workload: str, query: Query, measure: Measure, small: int) -> FirstChart:
    question = Question(Page.CHARTS, query, Drawing(facets=Facets.TOGETHER if small else Facets.APART))
    figure = f"{reverse('web:figure')}?{question.encode()}"
    return FirstChart(f"{measure_title(measure)}, {workload}", to_question(question), figure, small)


def _lines(study: Study, workloads: Sequence[str]) -> dict[str, set[tuple[str | None, int | None]]]:
    """The devices and MTU sizes that experiments of each workload have."""
    about = ("workload__name", "device__name", "mtu")
    found = defaultdict(set)
    for workload, device, mtu in (
        Experiment.objects.filter(study=study, workload__name__in=workloads).values_list(*about).distinct()
    ):
        found[workload].add((device, mtu))
    return found
