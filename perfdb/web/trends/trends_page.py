"""The pages of trends: what changed in a study, and the history of one metric of one experiment."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpRequest

from perfdb.analysis.dimensions import Value
from perfdb.analysis.query.query import Query
from perfdb.analysis.render.labels import measure_title
from perfdb.analysis.trends import words
from perfdb.analysis.trends.changes import Shape
from perfdb.analysis.trends.histories import History, varying_names
from perfdb.analysis.trends.states import OPEN, KnownChange, Phase
from perfdb.analysis.units import significant_text
from perfdb.results.models import Study
from perfdb.results.trends.event_rows import is_member
from perfdb.results.trends.read_trends import (
    StoredChange,
    StudyTrends,
    Trend,
    find_events,
    named_dimensions,
    read_trends,
)
from perfdb.web.links import read_pairs, to_runs_compared
from perfdb.web.tables.filter_form import check_studies
from perfdb.web.trends.event_lines import OPEN_STATES, EventLine, count_effects, describe_q, event_line, series_address
from perfdb.web.trends.trend_plot import draw_history

# Sizes of pictures in lists and on the page of a history.
_SMALL, _LARGE = (160, 36), (960, 300)
# A comparison has so many runs of each side.
_MOST_RUNS = 4
# Further series of an event, and further stable ones, are only counted.
_MOST_OF_EVENT, _MOST_STABLE = 8, 200

# What the list may be narrowed to.
SHOWN = {
    "": "all changes",
    "review": "changes to review",
    "regressed": "regressions",
    "improved": "improvements",
    "mine": "changes assigned to me",
}


def build_page(study: Study, found: StudyTrends, shown: str = "", person: int | None = None) -> dict[str, Any]:
    """Return the Trends page of a study, narrowed to the changes that ``shown`` names."""
    names = varying_names([each.history for each in found.trends])
    lines = [event_line(each) for each in find_events([study]) if each.state != "gone"]
    of_event: dict[int, list[tuple[Trend, StoredChange]]] = {line.event.pk: [] for line in lines}
    doubtful, stable, short = [], [], 0
    for trend in found.trends:
        changes = trend.shown
        members = [each for each in changes if is_member(each.row) and each.row.event_id in of_event]
        for each in members:
            of_event[each.row.event_id or 0].append((trend, each))
        others = [each for each in changes if each not in members and each.known.phase is not Phase.CLOSED]
        other = others[-1] if others else None
        if other or (not members and trend.judged.tail.suspect):
            doubtful.append((trend, other))
        elif not members and trend.judged.judged:
            stable.append((trend, None))
        short += not (changes or trend.judged.judged)
    chosen = [line for line in lines if _is_shown(line, shown, person)]

    def build_lines(shown: Sequence[tuple[Trend, StoredChange | None]]) -> list[dict[str, Any]]:
        return [_line(study, names, trend, change) for trend, change in shown]

    def build_panels(*, open_ones: bool) -> list[dict[str, Any]]:
        own = [(line, of_event[line.event.pk]) for line in chosen if (line.event.state in OPEN_STATES) is open_ones]
        return [
            {"line": line, "series": build_lines(series[:_MOST_OF_EVENT]), "more": len(series[_MOST_OF_EVENT:])}
            for line, series in own
        ]

    return {
        "sentence": words.describe_study(count_effects(lines), len(stable), len(doubtful), short),
        "judged": words.day_text(found.look.looked.isoformat()) if found.look and found.look.number else "",
        "events": build_panels(open_ones=True),
        "closed": build_panels(open_ones=False),
        "doubtful": [] if shown else build_lines(doubtful),
        "stable": [] if shown else build_lines(stable[:_MOST_STABLE]),
        "more": 0 if shown else len(stable[_MOST_STABLE:]),
        "short": short,
        "most": max((len(each.history.points) for each in found.trends), default=0),
    }


def _is_shown(line: EventLine, shown: str, person: int | None) -> bool:
    match shown:
        case "review":
            return line.event.state == "new"
        case "mine":
            return person is not None and line.event.assignee_id == person
        case "":
            return True
        case effect:
            return effect in line.effects


def _line(study: Study, names: Sequence[str], trend: Trend, change: StoredChange | None) -> dict[str, Any]:
    """Return a history as a line of a list: picture, last value and verdict. ``change``: the told change, if any."""
    history, effect, size = trend.history, "", ""
    if change:
        found = change.known.change
        effect = words.effect_text(history.metric, found.difference) if is_member(change.row) else ""
        if found.shape is not Shape.LEVELS:
            size = words.size_text(found.difference, change.row.logarithmic)
    return {
        "title": measure_title(history.measure),
        "name": history.describe(names) or "all runs",
        "address": series_address(study, history.measure, named_dimensions(history)),
        "plot": draw_history(history, [each.known for each in trend.shown], *_SMALL),
        "now": f"{significant_text(history.points[-1].mean)} {history.metric.unit}",
        "size": size,
        "tone": words.TONES.get(effect, ""),
        "said": effect or _describe_last(trend, change),
    }


def _describe_last(trend: Trend, change: StoredChange | None) -> str:
    """Return what is said of a history: of a change, else of its last points or the smallest step that would show."""
    if change is None:
        return words.describe_history(trend.history, trend.judged)
    return words.describe_change(trend.history, change.known, logarithmic=change.row.logarithmic)


def read_asked_series(request: HttpRequest) -> tuple[Study | None, dict[str, Any] | None]:
    """Return the study and the page of the history that an address asks for, or None. Raise QueryError."""
    asked = Query.parse(read_pairs(request.GET))
    check_studies(asked)
    study = Study.objects.filter(slug__in=map(str, asked.filters.get("study", ()))).first()
    return study, _build_series_page(study, read_trends(study), asked) if study else None


def _build_series_page(study: Study, found: StudyTrends, asked: Query) -> dict[str, Any] | None:
    """Return the page of the history that a query names, with the ``event`` of the last change, or None."""
    trend = next((each for each in found.trends if _is_asked(each.history, asked)), None)
    if trend is None:
        return None
    history, changes = trend.history, trend.shown
    told = [each for each in changes if each.known.phase in OPEN]
    events = [each.row.event_id for each in changes if each.row.event_id]
    event = find_events([study]).filter(pk=events[-1]).first() if events else None
    return {
        "title": measure_title(history.measure),
        "name": history.describe(list(named_dimensions(history))),
        "unit": history.metric.unit,
        "sentence": " ".join(_describe_last(trend, each) for each in told)
        or words.describe_history(history, trend.judged),
        "caution": words.describe_autocorrelation(trend.judged),
        "plot": draw_history(history, [each.known for each in changes], *_LARGE, large=True),
        "changes": [_row(trend, each) for each in trend.changes],
        "event": event_line(event) if event else None,
        "data_changed": any(each.row.data_changed for each in changes),
        "points": [
            (words.point_text(history, at), significant_text(point.mean), len(point.values))
            for at, point in reversed(list(enumerate(history.points)))
        ],
    }


def _is_asked(history: History, asked: Query) -> bool:
    given: Mapping[str, Sequence[Value]] = {name: values for name, values in asked.filters.items() if name != "study"}
    known = {name: (value,) for name, value in named_dimensions(history).items()}
    return (history.measure,) == asked.metrics and known == dict(given)


def _row(trend: Trend, change: StoredChange) -> dict[str, Any]:
    """Return a change in the table of a history's page. ``acts``: those on a change without an event."""
    row, known = change.row, change.known
    return {
        "pk": row.pk,
        "day": words.point_text(trend.history, known.change.k),
        "said": _describe_last(trend, change),
        "q": describe_q(row),
        "state": words.describe_phase(known),
        "notes": ", ".join(_notes(change)),
        "compare": _compare_address(trend.history, known),
        "event": row.event_id,
        "acts": list(row.acts.select_related("by")),
        "decidable": row.event_id is None and known.phase is not Phase.GONE,
    }


def _notes(change: StoredChange) -> list[str]:
    known = change.known
    notes = {
        "data changed since": change.row.data_changed,
        "found late": known.late and known.change.shape is Shape.STEP,
        f"moved {known.moves} time{'s' * (known.moves != 1)}": known.moves,
        "place fixed": known.frozen,
    }
    return [note for note, holds in notes.items() if holds]


def _compare_address(history: History, known: KnownChange) -> str:
    """Return the comparison of the last runs before a step with the first after it; empty for other shapes."""
    if known.change.shape is not Shape.STEP or not known.change.k:
        return ""
    before, after = (history.points[known.change.k + side].runs[:_MOST_RUNS] for side in (-1, 0))
    return to_runs_compared([*before, *after])
