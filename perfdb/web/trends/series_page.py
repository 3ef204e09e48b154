"""The page of one history."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.http import HttpRequest

from perfdb.analysis.dimensions import Value
from perfdb.analysis.query.query import Query
from perfdb.analysis.render.labels import measure_title
from perfdb.analysis.trends import words
from perfdb.analysis.trends.changes import Shape
from perfdb.analysis.trends.histories import History
from perfdb.analysis.trends.states import OPEN, KnownChange, Phase
from perfdb.analysis.units import significant_text
from perfdb.results.models import Study, TrendAct
from perfdb.results.trends.known_changes import named_dimensions
from perfdb.results.trends.read_trends import StoredChange, StudyTrends, Trend, find_events, read_trends
from perfdb.web.links import to_runs_compared
from perfdb.web.tables.filter_form import check_studies
from perfdb.web.trends.event_lines import EventLine, event_line
from perfdb.web.trends.trend_plot import Plot, draw_history
from perfdb.web.trends.trends_page import describe_last

_LARGE = (960, 300)
_MOST_RUNS = 4


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """A change in the table of a history's page. ``notes``: frozen, moved, found late, data changed since.

    ``acts`` are those on a change without an event.
    """

    pk: int
    day: str
    said: str
    q: str
    state: str
    notes: str
    compare: str
    event: int | None
    acts: Sequence[TrendAct]
    decidable: bool


@dataclass(frozen=True, slots=True)
class SeriesPage:
    """What the page of one history shows, with the ``event`` of the last change."""

    title: str
    name: str
    unit: str
    sentence: str
    caution: str
    plot: Plot
    changes: list[ChangeRow]
    event: EventLine | None
    data_changed: bool
    points: list[tuple[str, str, int]]


def read_asked_series(request: HttpRequest) -> tuple[Study | None, SeriesPage | None]:
    """Return the study and the page of the history that an address asks for, or None. Raise QueryError."""
    asked = Query.parse((name, text) for name, texts in request.GET.lists() for text in texts)
    check_studies(asked)
    study = Study.objects.filter(slug__in=map(str, asked.filters.get("study", ()))).first()
    return study, build_series_page(study, read_trends(study), asked) if study else None


def build_series_page(study: Study, found: StudyTrends, asked: Query) -> SeriesPage | None:
    """Return the page of the history that a query names, or None."""
    trend = next((each for each in found.trends if _is_asked(each.history, asked)), None)
    if trend is None:
        return None
    history, changes = trend.history, trend.shown
    told = [each for each in changes if each.known.phase in OPEN]
    events = [each.row.event_id for each in changes if each.row.event_id]
    event = find_events([study]).filter(pk=events[-1]).first() if events else None
    return SeriesPage(
        title=measure_title(history.measure),
        name=history.describe(list(named_dimensions(history))),
        unit=history.metric.unit,
        sentence=" ".join(describe_last(trend, each) for each in told) or words.describe_history(history, trend.judged),
        caution=words.describe_autocorrelation(trend.judged),
        plot=draw_history(history, [each.known for each in changes], *_LARGE, large=True),
        changes=[_row(trend, each) for each in trend.changes],
        event=event_line(event) if event else None,
        data_changed=any(each.row.data_changed for each in changes),
        points=[
            (words.point_text(history, at), significant_text(point.mean), len(point.values))
            for at, point in reversed(list(enumerate(history.points)))
        ],
    )


def _is_asked(history: History, asked: Query) -> bool:
    given: Mapping[str, Sequence[Value]] = {name: values for name, values in asked.filters.items() if name != "study"}
    known = {name: (value,) for name, value in named_dimensions(history).items()}
    return (history.measure,) == asked.metrics and known == dict(given)


def _row(trend: Trend, change: StoredChange) -> ChangeRow:
    row, known = change.row, change.known
    return ChangeRow(
        row.pk,
        words.point_text(trend.history, known.change.k),
        describe_last(trend, change),
        "< 0.001" if row.q < 0.001 else f"{row.q:.2g}",
        words.describe_phase(known),
        ", ".join(_notes(change)),
        compare_address(trend.history, known),
        row.event_id,
        list(row.acts.select_related("by")),
        row.event_id is None and known.phase is not Phase.GONE,
    )


def _notes(change: StoredChange) -> list[str]:
    known = change.known
    notes = {
        "data changed since": change.row.data_changed,
        "found late": known.late and known.change.shape is Shape.STEP,
        f"moved {known.moves} time{'s' * (known.moves != 1)}": known.moves,
        "place fixed": known.frozen,
    }
    return [note for note, holds in notes.items() if holds]


def compare_address(history: History, known: KnownChange) -> str:
    """Return the comparison of the last runs before a step with the first after it; empty for other shapes."""
    if known.change.shape is not Shape.STEP or not known.change.k:
        return ""
    before, after = (history.points[known.change.k + side].runs[:_MOST_RUNS] for side in (-1, 0))
    return to_runs_compared([*before, *after])
