"""The page of one event."""

from collections.abc import Sequence
from dataclasses import dataclass

from perfdb.analysis.dimensions import describe_values
from perfdb.analysis.metrics import Measure
from perfdb.analysis.query.parameters import sort_dimensions
from perfdb.analysis.render.labels import measure_title
from perfdb.analysis.trends import words
from perfdb.analysis.trends.states import Phase, Reason
from perfdb.results.models import TrendAct, TrendChange
from perfdb.web.trends.event_lines import EventLine, series_address


@dataclass(frozen=True, slots=True)
class MemberLine:
    """A change of an event."""

    pk: int
    title: str
    name: str
    size: str
    q: str
    state: str
    address: str


@dataclass(frozen=True, slots=True)
class EventPage:
    """What the page of an event shows; ``told`` is the number of subscriptions it was announced to."""

    line: EventLine
    members: list[MemberLine]
    acts: Sequence[TrendAct]
    told: int


def build_event_page(line: EventLine) -> EventPage:
    """Return the page of an event."""
    rows = sorted(line.event.changes.all(), key=lambda row: (row.metric, str(sorted(row.dimensions.items()))))
    acts = list(line.event.acts.select_related("by"))
    return EventPage(line, [_member(line, row) for row in rows], acts, line.event.deliveries.count())


def _member(line: EventLine, row: TrendChange) -> MemberLine:
    measure, names = Measure.parse(row.metric), sort_dimensions(row.dimensions)
    state = words.REASON_WORDS[Reason(row.reason)] if row.phase == Phase.CLOSED else row.phase
    return MemberLine(
        row.pk,
        measure_title(measure),
        describe_values(names, [row.dimensions[name] for name in names]) or "all runs",
        words.size_text(row.difference, row.logarithmic),
        "< 0.001" if row.q < 0.001 else f"{row.q:.2g}",
        "new" if state == Phase.CONFIRMED else state,
        series_address(line.event.study, measure, row.dimensions),
    )
