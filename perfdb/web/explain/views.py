"""The page that explains a difference: of a compared cell, or of two runs."""

from django.contrib.auth.decorators import user_passes_test
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.render.charts.chart_options import Drawing
from perfdb.results.queries import explain as explaining
from perfdb.results.runs.access import may_read
from perfdb.web.explain.explain_page import explained
from perfdb.web.explain.next_steps import next_steps
from perfdb.web.questions import suggested_questions
from perfdb.web.shared.problem_list import by_run


@require_GET
@user_passes_test(may_read)
def explain(request: HttpRequest) -> HttpResponse:
    """What is known about the difference that the address names."""
    try:
        found, query = explaining.explain_address((name, text) for name, texts in request.GET.lists() for text in texts)
    except QueryError as error:
        return render(request, "web/explain.html", {"error": error}, status=400)
    context = {"found": found, "explained": explained(found), "problems": by_run(found.problems)}
    if query:
        return render(request, "web/explain.html", context | {"back": suggested_questions.address(query, Drawing())})
    ((old,), (new,)) = (side.sample for side in (found.old, found.new))
    steps = next_steps(int(old.run), int(new.run), found.comparison)
    return render(request, "web/explain.html", context | {"steps": steps})
