"""Pages that compare values of a dimension or chosen runs, and explain a difference."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from perfdb.analysis.dimensions import Value
from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import Query
from perfdb.analysis.render.charts.chart_options import Drawing
from perfdb.results.models import Page, Run
from perfdb.results.queries import compare as matching
from perfdb.results.queries import explain as explaining
from perfdb.results.queries.compare import ChosenSides, compare_chosen_runs, find_trials
from perfdb.results.queries.questions import Question, answer_question
from perfdb.web.compare import compare_page, compare_runs
from perfdb.web.compare.explain_page import build_explanation, next_steps
from perfdb.web.links import read_pairs, to_question, to_run_difference, to_runs_compared
from perfdb.web.questions import question_links
from perfdb.web.questions.question_links import question_actions_context
from perfdb.web.tables import answer_section, filter_form
from perfdb.web.uploads.problem_list import by_run
from perfdb.web.view_access import read_required


@read_required()
def compare(request: HttpRequest) -> HttpResponse:
    """Compare values of a dimension over matched pairs; suggest sides until both are chosen.

    ``open``: the workload to show of several.
    ``runs``: numbers of runs, separated by commas, to compare instead; the first is the baseline.
    """
    if "runs" in request.GET:
        return _beside(request)
    there = filter_form.read_offered_values()
    chosen, query, drawing, values, status = ChosenSides(), Query(), Drawing(), list[Value](), 200
    try:
        drawing, pairs = Drawing.parse(read_pairs(request.GET))
        chosen, pairs = matching.take_sides(pairs)
        chosen, pairs = _drop_other_sides(chosen, pairs)
        query = compare_page.plain_query(Query.parse(pairs))
        filter_form.check_studies(query)
        if chosen.dimension:
            values = matching.find_values(query, chosen.dimension)
        question = Question(Page.COMPARE, query, drawing, chosen)
        answered = _answered(request, question) if chosen.complete else _suggested(question, dict(there["study"]))
    except QueryError as error:
        answered, status = {"error": error}, filter_form.error_status(error)
    context = compare_page.form_context(chosen, values, query, drawing, there) | answered
    return render(request, "web/compare.html", context, status=status)


def _beside(request: HttpRequest) -> HttpResponse:
    try:
        runs = _numbers(request.GET.getlist("runs"))
        shown = compare_runs.build_run_comparison(compare_chosen_runs(runs, together="together" in request.GET))
    except QueryError as error:
        return render(request, "web/beside.html", {"error": error}, status=400)
    every = find_trials(runs)
    context = {
        "beside": shown,
        "explain": to_run_difference(*runs) if len(runs) == 2 else "",
        "pins": compare_runs.pin_links(shown["columns"], runs),
        "trials": len(every),
        "together": f"{to_runs_compared(every)}&together=1" if len(every) > len(runs) else "",
    }
    return render(request, "web/beside.html", context)


def _numbers(texts: Iterable[str]) -> list[int]:
    parts = [part.strip() for text in texts for part in text.split(",") if part.strip()]
    if wrong := next((part for part in parts if not part.isdecimal()), ""):
        raise QueryError("runs", f"{wrong!r} is not the number of a run, as in its address")
    return list(dict.fromkeys(map(int, parts)))


def _drop_other_sides(chosen: ChosenSides, pairs: list[tuple[str, str]]) -> tuple[ChosenSides, list[tuple[str, str]]]:
    """Drop sides of another dimension than ``of`` the form, and the parameter ``open``."""
    offered = [text for name, text in pairs if name == "of"]
    if offered and offered != [chosen.dimension]:
        chosen = ChosenSides(chosen.dimension)
    return chosen, [(name, text) for name, text in pairs if name not in ("of", "open")]


def _answered(request: HttpRequest, question: Question) -> dict[str, Any]:
    opened = request.GET.get("open", "")
    result = answer_section.build_result(question, answer_question(question), opened)
    return result | {"tab": f"{to_question(question)}&"} | question_actions_context(request, question)


def _suggested(question: Question, studies: Mapping[str, str]) -> dict[str, Any]:
    """Return suggested comparisons. ``studies``: titles by slug."""
    study = _study(question.query)
    promising = matching.suggest_sides(study, question.chosen.dimension) if study else []
    within = question.query.with_filter("study", *filter(None, [study]))
    return {"study": studies.get(study, study), "suggestions": compare_page.link_suggestions(within, promising)}


def _study(query: Query) -> str:
    """Return the study of the question, else of the newest complete run, or ""."""
    asked = [study for study in query.filters.get("study", ()) if study]
    newest = Run.objects.filter(status=Run.Status.COMPLETE).order_by("-started", "-id")
    return str(asked[0]) if asked else newest.values_list("study__slug", flat=True).first() or ""


@read_required()
def explain(request: HttpRequest) -> HttpResponse:
    """Explain the difference that the address names."""
    try:
        found, query = explaining.explain_address(read_pairs(request.GET))
    except QueryError as error:
        return render(request, "web/explain.html", {"error": error}, status=400)
    context = {"found": found, "explained": build_explanation(found), "problems": by_run(found.problems)}
    if query:
        return render(request, "web/explain.html", context | {"back": question_links.charts_address(query, Drawing())})
    ((old,), (new,)) = (side.sample for side in (found.old, found.new))
    steps = next_steps(int(old.run), int(new.run), found.comparison)
    return render(request, "web/explain.html", context | {"steps": steps})
