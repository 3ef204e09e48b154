"""Endpoints of trends: histories of a study with changes, and events."""

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.utils.dateparse import parse_date
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from perfdb.analysis.query.parameters import QueryError, sort_dimensions
from perfdb.analysis.query.query import Query
from perfdb.analysis.trends.changes import in_percent
from perfdb.analysis.trends.states import Phase
from perfdb.api.permissions import get_own_study, signed_in
from perfdb.api.renderers import large_answer
from perfdb.api.schema import EVENT_PARAMETERS, TREND_PARAMETERS, describe
from perfdb.api.serializers import validate
from perfdb.api.trends.serializers import (
    EventListSerializer,
    EventSerializer,
    JudgeSerializer,
    NewActSerializer,
    TrendSeriesSerializer,
    TrendsSerializer,
)
from perfdb.results.models import Study, TrendChange, TrendEvent
from perfdb.results.runs import access
from perfdb.results.trends.acts import Act, act_on, act_on_change, judge_again
from perfdb.results.trends.event_rows import read_differences
from perfdb.results.trends.read_trends import (
    StudyTrends,
    Trend,
    find_events,
    named_dimensions,
    narrow_trends,
    read_trends,
)


@describe(
    "trends", "What changed over the campaigns of a study", TrendsSerializer, (400, 404), parameters=TREND_PARAMETERS
)
def trends(request: Request) -> HttpResponseBase:
    """Return the rates and costs of a study's experiments over their campaigns, with the changes in them.

    A worker judges all series of a study together after its data changed. `state` selects series that have a change
    of that state; `metric` and dimensions narrow the series, as in `device=OSA`.
    """
    study, found, shown = _asked_trends(request)
    return _answer(request, study, shown, looked=found.look and found.look.looked.isoformat())


def _answer(request: Request, study: Study, shown: Sequence[Trend], **more: Any) -> HttpResponseBase:
    answer = {"study": study.slug, "order": study.trend_order, **more, "series": [_series(each) for each in shown]}
    return large_answer(request, answer)


def _asked_trends(request: Request) -> tuple[Study, StudyTrends, list[Trend]]:
    """Return a study, all trends and the requested ones. Raise QueryError or Http404."""
    state = request.query_params.get("state", "")
    if state and state not in list(Phase):
        raise QueryError("state", f"there is no state {state!r}", list(Phase))
    pairs = ((name, text) for name, texts in request.query_params.lists() for text in texts)
    asked = Query.parse((name, text) for name, text in pairs if name != "state")
    slugs = asked.filters.get("study", ())
    if len(slugs) != 1:
        raise QueryError("study", "name one study")
    study = access.visible_studies(request.user).filter(slug=slugs[0]).first()
    if study is None:
        raise Http404
    found = read_trends(study)
    shown = narrow_trends(found.trends, asked)
    if state:
        shown = [each for each in shown if any(one.known.phase == state for one in each.changes)]
    return study, found, shown


@describe("trend_series", "One series of a study", TrendSeriesSerializer, (400, 404), parameters=TREND_PARAMETERS[:1])
def series(request: Request, key: str) -> HttpResponseBase:
    """Return one rate or cost of one experiment over its campaigns; `key` as in the list of trends."""
    _, _, found = _asked_trends(request)
    chosen = next((each for each in found if each.key == key), None)
    if chosen is None:
        raise Http404
    return large_answer(request, _series(chosen))


@describe("trends_csv", "The changes in a study's series as CSV", "text/csv", (400, 404), parameters=TREND_PARAMETERS)
def trends_csv(request: Request) -> HttpResponseBase:
    """Return a line for each change, and for each series without one."""
    _, _, found = _asked_trends(request)
    return HttpResponse(render_csv(found), "text/csv; charset=utf-8")


def _series(trend: Trend) -> dict[str, Any]:
    history, judged = trend.history, trend.judged
    return {
        "key": trend.key,
        "metric": str(history.measure),
        "unit": history.metric.unit,
        "dimensions": named_dimensions(history),
        "n": len(history.points),
        "rho": judged.rho,
        "p": judged.p,
        "q": judged.q,
        "smallest": None if judged.smallest is None else 100 * judged.smallest,
        "tail": judged.tail._asdict() | {"suspect": judged.tail.suspect},
        "points": [
            {
                "campaign": str(point.campaign),
                "date": point.began or None,
                "level": point.level,
                "value": point.mean,
                "n": len(point.values),
            }
            for point in history.points
        ],
        "changes": [_change(trend, each.row) for each in trend.changes],
    }


# What the answer tells of a change as stored.
_OF_A_CHANGE = ("p", "q", "small", "frozen", "late", "moves", "data_changed", "seen", "confirmed")


def _change(trend: Trend, row: TrendChange) -> dict[str, Any]:
    low, high = (in_percent(end) if row.logarithmic else end for end in (row.low, row.high))
    return {
        "id": row.pk,
        "event": row.event_id,
        "k": row.k,
        "campaign": str(trend.history.points[row.k].campaign),
        "place": [row.first, row.last],
        "shape": row.shape,
        "state": row.phase,
        "reason": row.reason or None,
        **_size(row),
        "low": low,
        "high": high,
        **{name: getattr(row, name) for name in _OF_A_CHANGE},
    }


def _size(row: TrendChange) -> dict[str, float | None]:
    """Return a change in per cent on a logarithmic scale, else as a difference."""
    size = in_percent(row.difference) if row.logarithmic else row.difference
    return {"percent": size, "difference": None} if row.logarithmic else {"percent": None, "difference": size}


def _events(request: Request) -> list[TrendEvent]:
    """Return the events that a request asks for. Raise QueryError."""
    asked = {name: request.query_params.get(name, "") for name in ("study", "state", "since", "mine")}
    studies = access.visible_studies(request.user)
    if asked["study"]:
        studies = studies.filter(slug=asked["study"])
        if not studies:
            raise QueryError("study", f"there is no study {asked['study']!r}")
    found = find_events(studies)
    if asked["since"]:
        if parse_date(asked["since"]) is None:
            raise QueryError("since", f"{asked['since']!r} is not a date such as 2026-11-30")
        found = found.filter(began__gte=asked["since"])
    states = {"": ("new", "open", "closed"), "open": ("new", "open"), "new": ("new",), "closed": ("closed",)}
    if asked["state"] not in states:
        raise QueryError("state", f"there is no state {asked['state']!r} of events", tuple(filter(None, states)))
    if asked["mine"]:
        found = found.filter(assignee=request.user.pk)
    return [each for each in found if each.state in states[asked["state"]]]


@describe("events", "Changes of many series at one place", EventListSerializer, (400,), parameters=EVENT_PARAMETERS)
def events(request: Request) -> Response:
    """List events, newest first, with rule, size by metric and circumstances."""
    return Response({"results": [_event(request, each) for each in _events(request)]})


def _find_event(request: Request, pk: int) -> TrendEvent:
    studies = access.visible_studies(request.user).filter(trend_events=pk)
    return get_object_or_404(find_events(studies), pk=pk)


@describe("event", "One event", EventSerializer, (404,))
def event(request: Request, pk: int) -> Response:
    """Return an event with its changes and acts."""
    return Response(_whole_event(request, _find_event(request, pk)))


@describe("event_act", "Act on an event", EventSerializer, (403, 404, 409), post=NewActSerializer)
def acts(request: Request, pk: int) -> Response:
    """Acknowledge, assign, link, close, reopen or split an event, or some of its changes.

    The answer is 409 if `version` is given and the event has changed since. A split answers with the new event.
    """
    found = _find_event(request, pk)
    get_own_study(request, found.study.slug)
    given = validate(NewActSerializer, request.data)
    version = given.pop("version", None)
    result = act_on(found, Act(given.pop("act"), **given), signed_in(request), version)
    return Response(_whole_event(request, _find_event(request, result.pk)))


@describe("change_act", "Act on a change", {204: None}, (403, 404), post=NewActSerializer)
def change_acts(request: Request, pk: int) -> Response:
    """Acknowledge, close or reopen a single change, also a suspected one, a drift or levels, which have no event."""
    found = get_object_or_404(TrendChange.objects.select_related("study"), pk=pk)
    get_own_study(request, found.study.slug)
    given = validate(NewActSerializer, request.data)
    act_on_change(found, Act(given["act"], given.get("reason", ""), given.get("note", "")), signed_in(request))
    return Response(status=204)


@describe("trends_judge", "Judge a study again", TrendsSerializer, (403, 404), post=JudgeSerializer)
def judge(request: Request) -> HttpResponseBase:
    """Judge a study's histories anew, also before changes whose data changed later."""
    study = get_own_study(request, validate(JudgeSerializer, request.data)["study"])
    judge_again(study)
    return _answer(request, study, read_trends(study).trends)


def _event(request: Request, event: TrendEvent) -> dict[str, Any]:
    rows = list(event.changes.all())
    return {
        "id": event.pk,
        "study": event.study.slug,
        "began": event.began or None,
        "version": event.version,
        "state": event.state,
        "late": event.late,
        "assignee": event.assignee and event.assignee.get_username(),
        "link": event.link or None,
        "parts": event.summary.get("parts", []),
        "differences": [asdict(each) for each in read_differences(event)],
        "changes": [row.pk for row in rows],
        "created": event.created,
        "announced": event.announced,
        "url": reverse("api:event", [event.pk], request=request),
    }


def _whole_event(request: Request, event: TrendEvent) -> dict[str, Any]:
    return _event(request, event) | {
        "members": [
            {
                "id": row.pk,
                "series": row.series,
                "metric": row.metric,
                "dimensions": row.dimensions,
                "state": row.phase,
                "reason": row.reason or None,
                **_size(row),
                "q": row.q,
            }
            for row in event.changes.all()
        ],
        "acts": [
            {
                "act": act.act,
                "reason": act.reason or None,
                "note": act.note,
                "by": act.by and act.by.get_username(),
                "at": act.at,
                "changes": act.changes,
            }
            for act in event.acts.select_related("by")
        ],
    }


_COLUMNS = (
    *("event", "change", "shape", "state", "reason", "campaign", "began", "percent", "low", "high", "difference"),
    *("p", "q", "small", "late"),
)


def render_csv(trends: Sequence[Trend]) -> str:
    """Return CSV with a line for each change, and for each series without."""
    names = sort_dimensions({name for each in trends for name in named_dimensions(each.history)})
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["key", "metric", "unit", *names, "campaigns", *_COLUMNS])
    for each in trends:
        history, dimensions = each.history, named_dimensions(each.history)
        begins = [each.key, str(history.measure), history.metric.unit, *(dimensions.get(name, "") for name in names)]
        for line in [_line(each, stored.row) for stored in each.changes] or [[""] * len(_COLUMNS)]:
            writer.writerow([*begins, len(history.points), *line])
    return text.getvalue()


def _line(trend: Trend, row: TrendChange) -> list[object]:
    """Return the columns of a change; flags are 0 or 1."""
    told = {**_change(trend, row), "change": row.pk, "began": trend.history.points[row.k].began}
    return [int(told[name]) if name in ("small", "late") else told[name] for name in _COLUMNS]
