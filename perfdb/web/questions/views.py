"""Named queries, and putting a question into a study's report."""

from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required, user_passes_test
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from perfdb.analysis.query.parameters import QueryError
from perfdb.results.models import SavedQuery, Study
from perfdb.results.queries import saved_queries as saved
from perfdb.results.queries.questions import Question
from perfdb.results.queries.saved_queries import NameTakenError
from perfdb.results.runs import access
from perfdb.results.studies.report_items import add_question
from perfdb.web.questions import question_actions
from perfdb.web.shared.links import to_question
from perfdb.web.tables import answer_section


@require_http_methods(["GET", "POST"])
@user_passes_test(access.may_read)
def saved_queries(request: HttpRequest) -> HttpResponse:
    """All named queries; or one more, which may take the place of one's own of that name once that is confirmed."""
    if request.method == "GET":
        return _list(request)
    return _save(request)


@login_required
def _save(request: HttpRequest) -> HttpResponse:
    data = request.POST
    try:
        question = Question.parse(data.get("page", ""), data.get("query", ""))
        kept = saved.save_query(
            access.signed_in_user(request.user), data.get("name", ""), question, replace="replace" in data
        )
    except NameTakenError as error:
        return _list(request, {"taken": error.taken, "asked": data}, status=409)
    except QueryError as error:
        return _list(request, {"error": error}, status=400)
    messages.success(request, f"Saved as “{kept.name}”.")
    return redirect(to_question(question))


def _list(request: HttpRequest, more: dict[str, Any] | None = None, status: int = 200) -> HttpResponse:
    found = [question_actions.named(request, each) for each in saved.list_queries()]
    return render(request, "web/saved.html", {"named": found, **(more or {})}, status=status)


@require_GET
@user_passes_test(access.may_read)
def saved_query(request: HttpRequest, pk: int) -> HttpResponse:
    """Open a named query: on to the page that answers it."""
    found = get_object_or_404(SavedQuery, pk=pk)
    try:
        return redirect(to_question(saved.parse_question(found)))
    except QueryError as error:
        return _list(request, {"error": error, "broken": found}, status=400)


def _own(request: HttpRequest, pk: int) -> SavedQuery:
    found = get_object_or_404(SavedQuery, pk=pk)
    if not saved.may_change(request.user, found):
        raise PermissionDenied
    return found


@require_POST
@login_required
def rename(request: HttpRequest, pk: int) -> HttpResponse:
    """Give a named query another name."""
    found = _own(request, pk)
    try:
        saved.rename_query(found, request.POST.get("name", ""))
    except NameTakenError as error:
        messages.error(request, f"There is a query called “{error.taken.name}” already.")
    except QueryError as error:
        return _list(request, {"error": error}, status=400)
    return redirect("web:saved")


@require_POST
@login_required
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Forget a named query."""
    found = _own(request, pk)
    found.delete()
    messages.success(request, f"“{found.name}” was deleted.")
    return redirect("web:saved")


@require_http_methods(["GET", "POST"])
@login_required
def report_item(request: HttpRequest) -> HttpResponse:
    """Choose a study's report and a title for a question; it then stands at the end of that report."""
    given = request.POST if request.method == "POST" else request.GET
    studies = _changeable(request)
    context: dict[str, Any] = {"given": given, "studies": studies, "title": given.get("title", "")}
    try:
        question = Question.parse(given.get("page", ""), given.get("query", ""))
        context |= {"address": to_question(question), "chosen": given.get("study") or _first(question)}
        if request.method == "GET" and not context["title"]:
            # A report is of its study, which its parts need not say.
            context["title"] = answer_section.title(replace(question, query=question.query.with_filter("study")))[:300]
        if request.method == "POST":
            study = get_object_or_404(studies, slug=given.get("study", ""))
            item = add_question(study, given.get("kind", ""), given.get("title", ""), question)
            messages.success(request, f"“{item.title}” is {item.kind} {item.number} of this report now.")
            return redirect(f"{reverse('web:study', args=[study.slug])}#{item.kind}-{item.number}")
    except QueryError as error:
        return render(request, "web/put_in_report.html", context | {"error": error}, status=400)
    return render(request, "web/put_in_report.html", context)


def _first(question: Question) -> str:
    return str(question.studies[0] or "") if question.studies else ""


def _changeable(request: HttpRequest) -> QuerySet[Study]:
    """The studies whose reports this person may write."""
    person = access.signed_in_user(request.user)
    found = access.visible_studies(person).order_by("title")
    return found if person.is_staff else found.filter(owner=person)
