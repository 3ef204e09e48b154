"""Events as pages show them: as lines from their summaries alone, and the page of one."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.db.models import QuerySet, Sum
from django.urls import reverse

from perfdb.analysis.dimensions import describe_values
from perfdb.analysis.metrics import Measure
from perfdb.analysis.query.parameters import sort_dimensions
from perfdb.analysis.query.query import Query
from perfdb.analysis.render.charts.chart_options import Drawing
from perfdb.analysis.render.labels import measure_title
from perfdb.analysis.trends import words
from perfdb.analysis.trends.states import Phase, Reason
from perfdb.results.models import Run, Study, TrendChange, TrendEvent, TrendLook
from perfdb.results.queries.compare import ChosenSides
from perfdb.results.trends.event_rows import EventPart, read_differences, read_parts, read_rule
from perfdb.results.trends.read_trends import find_events
from perfdb.web.compare.compare_page import DifferenceLine, compare_address, difference_line
from perfdb.web.links import to_page

OPEN_STATES = ("new", "open")
_MOST_DIFFERENCES = 6


@dataclass(frozen=True, slots=True)
class EventLine:
    """An event: when, which metrics, what else changed, and how far people have come."""

    event: TrendEvent
    day: str
    parts: list[EventPart]
    differs: list[DifferenceLine]
    state: str
    address: str

    @property
    def title(self) -> str:
        """Return the metrics that changed."""
        return ", ".join(part.title for part in self.parts)

    @property
    def effects(self) -> set[str]:
        """Return the effects of all parts."""
        return {part.effect for part in self.parts}

    @property
    def compare(self) -> str:
        """Return the address of the comparison of the last campaign before with the first after it."""
        name, before, after = self.event.summary["sides"]
        terms = read_rule(self.event.summary["parts"][0]).terms or ()
        query = Query(filters={"study": (self.event.study.slug,), **{name: (value,) for name, value in terms}})
        return compare_address(query, Drawing(), ChosenSides(name, before, (after,)))


def event_line(event: TrendEvent) -> EventLine:
    """Return an event, as read by ``find_events``, for a page."""
    return EventLine(
        event,
        words.day_text(event.began) or event.summary.get("campaign", ""),
        read_parts(event),
        [difference_line(each) for each in read_differences(event)[:_MOST_DIFFERENCES]],
        _state(event),
        reverse("web:trend-event", args=[event.pk]),
    )


def _state(event: TrendEvent) -> str:
    """Return how far people have come with an event: ``new``, ``acknowledged``, ``fixed``."""
    if event.state != "closed":
        return "acknowledged" if event.state == "open" else event.state
    reasons = {row.reason for row in event.changes.all() if row.reason}
    return " and ".join(sorted(words.REASON_WORDS[Reason(reason)] for reason in reasons)) or "closed"


def count_effects(lines: Iterable[EventLine]) -> list[str]:
    """Return the effect of each change that is not closed."""
    open_ones = (line for line in lines if line.event.state in OPEN_STATES)
    return [part.effect for line in open_ones for part in line.parts for _ in range(part.members)]


def series_address(study: Study, measure: Measure, dimensions: Mapping[str, str | int]) -> str:
    """Return the address of a history's page."""
    filters = {"study": (study.slug,), **{name: (value,) for name, value in dimensions.items()}}
    return to_page("trend", Query(metrics=(measure,), filters=filters))


def newest_events(studies: QuerySet[Study], most: int) -> list[EventLine]:
    """Return the newest events that are not closed."""
    found = (event for event in find_events(studies) if event.state in OPEN_STATES)
    return [event_line(event) for event in islice(found, most)]


def describe_quiet(studies: QuerySet[Study]) -> str:
    """Return that nothing changed: ``Nothing changed in 28 series.``; empty if none is judged."""
    judged = TrendLook.objects.filter(study__in=studies).aggregate(number=Sum("series", default=0))["number"]
    return f"Nothing changed in {judged} series." if judged else ""


def changes_from(run: Run) -> list[tuple[str, str]]:
    """Return (what changed, address) of the changes whose first run this is."""
    found = TrendChange.objects.filter(study=run.study_id, run=run.pk, sure=True).exclude(phase=Phase.GONE)
    return [
        (
            f"{measure_title(Measure.parse(row.metric))} {words.size_text(row.difference, row.logarithmic)}",
            series_address(run.study, Measure.parse(row.metric), row.dimensions),
        )
        for row in found.order_by("metric")
    ]


def build_event_page(line: EventLine) -> dict[str, Any]:
    """Return the page of an event. ``told``: number of subscriptions to which the event was announced."""
    rows = sorted(line.event.changes.all(), key=lambda row: (row.metric, str(sorted(row.dimensions.items()))))
    return {
        "line": line,
        "members": [_member(line, row) for row in rows],
        "acts": list(line.event.acts.select_related("by")),
        "told": line.event.deliveries.count(),
    }


def _member(line: EventLine, row: TrendChange) -> dict[str, Any]:
    measure, names = Measure.parse(row.metric), sort_dimensions(row.dimensions)
    state = words.REASON_WORDS[Reason(row.reason)] if row.phase == Phase.CLOSED else row.phase
    return {
        "pk": row.pk,
        "title": measure_title(measure),
        "name": describe_values(names, [row.dimensions[name] for name in names]) or "all runs",
        "size": words.size_text(row.difference, row.logarithmic),
        "q": describe_q(row),
        "state": "new" if state == Phase.CONFIRMED else state,
        "address": series_address(line.event.study, measure, row.dimensions),
    }


def describe_q(row: TrendChange) -> str:
    """Return the q of a change."""
    return "< 0.001" if row.q < 0.001 else f"{row.q:.2g}"
