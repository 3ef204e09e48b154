"""The page that sets values of a dimension against one of them."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib.auth.decorators import user_passes_test
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from perfdb.analysis.dimensions import Value
from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import Query
from perfdb.analysis.render.charts.chart_options import Drawing
from perfdb.results.models import Page, Run
from perfdb.results.queries import compare as matching
from perfdb.results.queries import explain as explaining
from perfdb.results.queries.chosen_runs import compare_chosen_runs as beside_of
from perfdb.results.queries.compare import ChosenSides
from perfdb.results.queries.questions import Question, answer_question
from perfdb.results.runs.access import may_read
from perfdb.web.compare import compare_page, compare_runs
from perfdb.web.compare.explain_page import explained, next_steps
from perfdb.web.links import to_explanation_of
from perfdb.web.questions import question_links
from perfdb.web.questions.question_links import question_actions_context
from perfdb.web.tables import answer_section, filter_form
from perfdb.web.uploads.problem_list import by_run


@require_GET
@user_passes_test(may_read)
def compare(request: HttpRequest) -> HttpResponse:
    """Values of a dimension over all experiments that are otherwise equal; suggestions until both sides are chosen.

    ``runs`` are numbers of runs, parted by commas, that stand beside each other instead; the first is the base.
    """
    if "runs" in request.GET:
        return _beside(request)
    there = filter_form.read_offered_values()
    chosen, query, drawing, values = ChosenSides(), Query(), Drawing(), list[Value]()
    try:
        drawing, pairs = Drawing.parse((name, text) for name, texts in request.GET.lists() for text in texts)
        chosen, pairs = matching.take_sides(pairs)
        chosen, pairs = _of_this_dimension(chosen, pairs)
        query = compare_page.plain(Query.parse(pairs))
        if chosen.dimension:
            values = matching.find_values(query, chosen.dimension)
        question = Question(Page.COMPARE, query, drawing, chosen)
        answered = _answered(request, question) if chosen.complete else _suggested(question, dict(there["study"]))
    except QueryError as error:
        context = compare_page.form(chosen, values, query, drawing, there) | {"error": error}
        return render(request, "web/compare.html", context, status=400)
    return render(request, "web/compare.html", compare_page.form(chosen, values, query, drawing, there) | answered)


def _beside(request: HttpRequest) -> HttpResponse:
    try:
        runs = _numbers(request.GET.getlist("runs"))
        shown = compare_runs.shown(beside_of(runs))
    except QueryError as error:
        return render(request, "web/beside.html", {"error": error}, status=400)
    explain = to_explanation_of(*runs) if len(runs) == 2 else ""
    return render(request, "web/beside.html", {"beside": shown, "explain": explain})


def _numbers(texts: Iterable[str]) -> list[int]:
    parts = [part.strip() for text in texts for part in text.split(",") if part.strip()]
    if wrong := next((part for part in parts if not part.isdecimal()), ""):
        raise QueryError("runs", f"{wrong!r} is not the number of a run, as in its address")
    return list(dict.fromkeys(map(int, parts)))


def _of_this_dimension(chosen: ChosenSides, pairs: list[tuple[str, str]]) -> tuple[ChosenSides, list[tuple[str, str]]]:
    """Without the values of another dimension: those stand in a form until it is sent with the one now chosen.

    ``of`` is the dimension whose values the form offered.
    """
    offered = [text for name, text in pairs if name == "of"]
    if offered and offered != [chosen.dimension]:
        chosen = ChosenSides(chosen.dimension)
    return chosen, [(name, text) for name, text in pairs if name != "of"]


def _answered(request: HttpRequest, question: Question) -> dict[str, Any]:
    return answer_section.build_result(question, answer_question(question)) | question_actions_context(
        request, question
    )


def _suggested(question: Question, studies: Mapping[str, str]) -> dict[str, Any]:
    """What is worth comparing, while the sides are not chosen. ``studies``: titles by slug."""
    study = _study(question.query)
    promising = matching.suggest_sides(study, question.chosen.dimension) if study else []
    within = question.query.with_filter("study", *filter(None, [study]))
    return {"study": studies.get(study, study), "suggestions": compare_page.suggested(within, promising)}


def _study(query: Query) -> str:
    """The study asked for, else that of the newest complete run; empty where there is none."""
    asked = [study for study in query.filters.get("study", ()) if study]
    newest = Run.objects.filter(status=Run.Status.COMPLETE).order_by("-started", "-id")
    return str(asked[0]) if asked else newest.values_list("study__slug", flat=True).first() or ""


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
        return render(request, "web/explain.html", context | {"back": question_links.charts_address(query, Drawing())})
    ((old,), (new,)) = (side.sample for side in (found.old, found.new))
    steps = next_steps(int(old.run), int(new.run), found.comparison)
    return render(request, "web/explain.html", context | {"steps": steps})
