"""Views of named queries, questions put into reports, and frozen links."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from perfdb.analysis import metrics
from perfdb.analysis.dimensions import dimension
from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import Query
from perfdb.analysis.render.labels import measure_title
from perfdb.analysis.tables.observations import Observations, Row, narrow_observations
from perfdb.results.models import FrozenLink, Run, SavedQuery
from perfdb.results.queries import frozen_links
from perfdb.results.queries import saved_queries as saved
from perfdb.results.queries.questions import Question
from perfdb.results.queries.saved_queries import NameTakenError
from perfdb.results.runs import access, recorded_reads
from perfdb.results.studies.report_items import add_question
from perfdb.web.links import read_pairs, to_question
from perfdb.web.questions import question_links
from perfdb.web.tables import answer_section
from perfdb.web.view_access import changeable_studies, person_of, read_required, sign_in_required


@read_required("GET", "POST")
def saved_queries(request: HttpRequest) -> HttpResponse:
    """List named queries; POST saves one, and asks before it replaces the person's own."""
    if request.method == "GET":
        return _list(request)
    return _save(request)


@sign_in_required()
def _save(request: HttpRequest) -> HttpResponse:
    data = request.POST
    try:
        question = Question.parse(data.get("page", ""), data.get("query", ""))
        kept = saved.save_query(person_of(request), data.get("name", ""), question, replace="replace" in data)
    except NameTakenError as error:
        return _list(request, {"taken": error.taken, "asked": data}, status=409)
    except QueryError as error:
        return _list(request, {"error": error}, status=400)
    messages.success(request, f"Saved as “{kept.name}”.")
    return redirect(to_question(question))


def _list(request: HttpRequest, more: dict[str, Any] | None = None, status: int = 200) -> HttpResponse:
    found = [question_links.describe_saved(request, each) for each in saved.list_queries()]
    return render(request, "web/saved.html", {"named": found, **(more or {})}, status=status)


@read_required()
def saved_query(request: HttpRequest, pk: int) -> HttpResponse:
    """Redirect to the page that answers a named query."""
    found = get_object_or_404(SavedQuery, pk=pk)
    try:
        return redirect(to_question(Question.parse(found.page, found.query)))
    except QueryError as error:
        return _list(request, {"error": error, "broken": found}, status=400)


def _own(request: HttpRequest, pk: int) -> SavedQuery:
    found = get_object_or_404(SavedQuery, pk=pk)
    if not access.may_change(request.user, found):
        raise PermissionDenied
    return found


@sign_in_required()
def rename(request: HttpRequest, pk: int) -> HttpResponse:
    """Rename a named query."""
    found = _own(request, pk)
    try:
        saved.rename_query(found, request.POST.get("name", ""))
    except NameTakenError as error:
        messages.error(request, f"There is a query called “{error.taken.name}” already.")
    except QueryError as error:
        return _list(request, {"error": error}, status=400)
    return redirect("web:saved")


@sign_in_required()
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a named query."""
    found = _own(request, pk)
    found.delete()
    messages.success(request, f"“{found.name}” was deleted.")
    return redirect("web:saved")


@sign_in_required("GET", "POST")
def report_item(request: HttpRequest) -> HttpResponse:
    """Add a question to a study's report; GET shows the form."""
    given = request.POST if request.method == "POST" else request.GET
    studies = changeable_studies(request)
    context: dict[str, Any] = {"given": given, "studies": studies, "title": given.get("title", "")}
    try:
        question = Question.parse(given.get("page", ""), given.get("query", ""))
        of_question = str(question.studies[0] or "") if question.studies else ""
        context |= {"address": to_question(question), "chosen": given.get("study") or of_question}
        if request.method == "GET" and not context["title"]:
            # A report's items need not name its study.
            context["title"] = question_links.question_title(
                replace(question, query=question.query.with_filter("study"))
            )[:300]
        if request.method == "POST":
            study = get_object_or_404(studies, slug=given.get("study", ""))
            item = add_question(study, given.get("kind", ""), given.get("title", ""), question)
            messages.success(request, f"“{item.title}” is {item.kind} {item.number} of this report now.")
            return redirect(f"{reverse('web:study', args=[study.slug])}#{item.kind}-{item.number}")
    except QueryError as error:
        return render(request, "web/put_in_report.html", context | {"error": error}, status=400)
    return render(request, "web/put_in_report.html", context)


# More runs are only counted.
MOST_LISTED = 500

_FORMS = (("csv", "CSV"), ("parquet", "Parquet"), ("md", "Markdown"), ("tex", "LaTeX"), ("txt", "text"))


@sign_in_required("GET", "POST")
def freeze(request: HttpRequest) -> HttpResponse:
    """Freeze a question's answer and redirect to the link; GET leads to what can be frozen."""
    if request.method != "POST":
        return redirect("web:saved")
    try:
        question = Question.parse(request.POST.get("page", ""), request.POST.get("query", ""))
        link = frozen_links.freeze_question(question, person_of(request))
    except QueryError as error:
        return render(request, "web/frozen.html", {"error": error}, status=400)
    return redirect("web:frozen", token=link.token)


@read_required()
def frozen(request: HttpRequest, token: str) -> HttpResponse:
    """Show a frozen answer, and whether today's differs."""
    link = _link(token)
    try:
        with frozen_links.open_link(link) as (question, answer):
            context = answer_section.build_result(question, answer, request.GET.get("open", ""))
        changes = frozen_links.find_changes(link)
    except QueryError as error:
        return render(request, "web/frozen.html", {"link": link, "error": error}, status=400)
    title = question_links.question_title(question)
    # No links to today's data, which may differ.
    context |= {"charts": "", "compare": "", "address": "", "exports": _exports(token)}
    context |= {
        "link": link,
        "frozen": True,
        "changes": changes,
        "living": to_question(question),
        "tab": f"{request.path}?",
        "title": title,
        "keeping": {
            "link": request.build_absolute_uri(),
            **question_links.picture_context(request, reverse("web:frozen", args=[token]).rstrip("/")),
            "name": title,
        },
    }
    return render(request, f"web/frozen_{link.page}.html", context)


def _link(token: str) -> FrozenLink:
    return get_object_or_404(FrozenLink.objects.select_related("made_by"), token=token)


def _exports(token: str) -> list[tuple[str, str]]:
    base = f"/api/v1/frozen/{token}/"
    tables = [(title, f"{base}tables.{form}") for form, title in _FORMS]
    pictures = [(form.upper(), reverse("web:frozen-picture", args=[token, form])) for form in ("svg", "png")]
    return [("JSON", base), *tables, *pictures]


@read_required()
def frozen_run(request: HttpRequest, token: str, pk: int) -> HttpResponse:
    """Show the recorded values of one run."""
    link, found = _kept(token)
    rows = [row for row in found.rows if row[0] == pk]
    if not rows:
        raise Http404(f"run {pk} is not in this answer")
    return _listed(request, link, found, rows)


@read_required()
def frozen_runs(request: HttpRequest, token: str) -> HttpResponse:
    """Show the recorded values of the runs that the address selects."""
    link, found = _kept(token)
    try:
        asked = Query.parse(read_pairs(request.GET))
    except QueryError as error:
        raise Http404(error.message) from None
    return _listed(request, link, found, narrow_observations(asked, found).rows)


def _kept(token: str) -> tuple[FrozenLink, Observations]:
    link = _link(token)
    found = recorded_reads.find_observations(frozen_links.read_tape(link), frozen_links.RUNS)
    if found is None:
        raise Http404("there are no runs in this answer")
    return link, found


def _listed(request: HttpRequest, link: FrozenLink, found: Observations, rows: Sequence[Row]) -> HttpResponse:
    there = set(Run.objects.filter(pk__in=[row[0] for row in rows]).values_list("pk", flat=True))
    # Title, unit, and whether the values are numbers.
    columns = [
        *((dimension(name).title, "", False) for name in found.dimensions),
        *((measure_title(each), metrics.BY_NAME[each.metric].unit, True) for each in found.measures),
    ]
    told = [at for at in range(len(columns)) if any(row[at + 1] is not None for row in rows)]
    shown = rows[:MOST_LISTED]
    context: dict[str, Any] = {
        "link": link,
        "headings": [columns[at] for at in told],
        # A run that was deleted has no address.
        "rows": [
            (
                reverse("web:run", args=[row[0]]) if row[0] in there else "",
                [(_in_full(row[at + 1]), columns[at][-1]) for at in told],
            )
            for row in shown
        ],
        "number": len(rows),
        "more": len(rows) - len(shown),
    }
    return render(request, "web/frozen_runs.html", context)


def _in_full(value: object) -> str:
    if value is None:
        return "–"
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)
