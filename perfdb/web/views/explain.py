"""The page that explains a difference: of a compared cell, or of two runs."""

from django.contrib.auth.decorators import user_passes_test
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from perfdb.analysis import parameters
from perfdb.analysis.metrics import Measure
from perfdb.analysis.parameters import QueryError
from perfdb.analysis.query import Query
from perfdb.analysis.render.drawing import Drawing
from perfdb.results import explaining
from perfdb.results.access import may_read
from perfdb.results.explaining import Explanation
from perfdb.web import questions
from perfdb.web.explaining import explained

_OWN = ("of", "at", "old", "new")


@require_GET
@user_passes_test(may_read)
def explain(request: HttpRequest) -> HttpResponse:
    """``old`` and ``new`` are numbers of runs; else a query with a baseline, a measure (``of``) and a cell (``at``)."""
    given = dict(request.GET.lists())
    try:
        measure = parameters.measure("of", text) if (text := parameters.single(given, "of")) else None
        if "old" in given or "new" in given:
            found = explaining.of_runs(_number(given, "old"), _number(given, "new"), measure)
            back = ""
        else:
            found, back = _cell(given, measure)
    except QueryError as error:
        return render(request, "web/explain.html", {"error": error}, status=400)
    return render(request, "web/explain.html", {"back": back, "found": found, "explained": explained(found)})


def _cell(given: dict[str, list[str]], measure: Measure | None) -> tuple[Explanation, str]:
    """The explanation of a compared cell, and the page of its question."""
    if measure is None:
        raise QueryError("of", "which figure is to be explained?")
    _, pairs = Drawing.take((name, text) for name, texts in given.items() for text in texts if name not in _OWN)
    query = Query.parse(pairs)
    found = explaining.of_cell(query, measure, explaining.read_at(given.get("at", [])))
    return found, questions.address(query, Drawing())


def _number(given: dict[str, list[str]], name: str) -> int:
    text = parameters.single(given, name)
    if not text.isdecimal():
        raise QueryError(name, f"which run is the {name} one? {name} is the number of a run, as in its address")
    return int(text)
