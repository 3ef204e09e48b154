"""Endpoint of trends: the histories of a study and what changed in them."""

import math
from typing import Any

from django.http import Http404, HttpResponseBase
from rest_framework.decorators import api_view
from rest_framework.request import Request

from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.trends.histories import History
from perfdb.analysis.trends.judge import Finding, Judged, State
from perfdb.api.caching import cache_answer
from perfdb.api.renderers import large_answer
from perfdb.api.schema import TREND_PARAMETERS, describe
from perfdb.api.trends.serializers import TrendsSerializer
from perfdb.results.runs import access
from perfdb.results.studies.trends import read_trends


@describe("trends", "What changed over the campaigns of a study", {200: TrendsSerializer}, (400, 404),
          parameters=TREND_PARAMETERS)  # fmt: skip
@api_view(["GET"])
def trends(request: Request) -> HttpResponseBase:
    """Return the rates and costs of a study's experiments over their campaigns, with the changes in them.

    Changes are judged anew at each request, all series of the study together. `state` selects series that have a
    change of that state.
    """
    slug, state = request.query_params.get("study", ""), request.query_params.get("state", "")
    if not slug:
        raise QueryError("study", "which study?")
    if state and state not in list(State):
        raise QueryError("state", f"there is no state {state!r}", list(State))
    if not access.visible_studies(request.user).filter(slug=slug).exists():
        raise Http404

    def make(headers: dict[str, str]) -> HttpResponseBase:
        pairs = read_trends(slug).pairs
        shown = [each for each in pairs if not state or any(finding.state == state for finding in each[1].findings)]
        return large_answer(request, {"study": slug, "series": [_series(*each) for each in shown]}, headers)

    return cache_answer(request, (slug,), make)


def _series(history: History, judged: Judged) -> dict[str, Any]:
    return {
        "metric": str(history.measure),
        "unit": history.metric.unit,
        "dimensions": {name: value for name, value in history.dims.items() if value is not None and name != "study"},
        "n": len(history.points),
        "rho": judged.rho,
        "p": judged.p,
        "q": judged.q,
        "smallest": None if judged.smallest is None else 100 * judged.smallest,
        "tail": {"p": judged.tail.p, "points": judged.tail.points, "suspect": judged.tail.suspect},
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
        "changes": [_change(history, judged, finding) for finding in judged.findings],
    }


def _change(history: History, judged: Judged, finding: Finding) -> dict[str, Any]:
    change = finding.change

    def size(difference: float) -> float:
        return 100 * math.expm1(difference) if judged.logarithmic else difference

    return {
        "k": change.k,
        "campaign": str(history.points[change.k].campaign),
        "place": list(change.place),
        "shape": change.shape.value,
        "state": finding.state.value,
        "percent": size(change.difference) if judged.logarithmic else None,
        "difference": None if judged.logarithmic else change.difference,
        "low": size(change.low),
        "high": size(change.high),
        "p": change.p,
        "q": finding.q,
        "small": finding.small,
    }
