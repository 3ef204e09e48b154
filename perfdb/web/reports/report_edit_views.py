"""Editing a study's report: its items in their order, each in a form with a preview."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from perfdb.analysis.query.parameters import QueryError
from perfdb.results.models import RemovedItem, ReportItem, Study
from perfdb.results.runs import access
from perfdb.results.studies import report_items
from perfdb.results.studies.report_items import ChangedMeanwhileError, ItemText
from perfdb.web.reports import report_form
from perfdb.web.studies.study_lifecycle_views import study_to_change


@require_http_methods(["GET", "POST"])
@login_required
def items_list(request: HttpRequest, slug: str) -> HttpResponse:
    """The items of a report; POST puts them in another order."""
    study = study_to_change(request, slug)
    if request.method == "POST":
        try:
            report_items.reorder_items(study, report_form.order(request.POST))
        except QueryError as error:
            return _list(request, study, error)
        if not request.headers.get("HX-Request"):
            return redirect("web:report-edit", slug=slug)
    return _list(request, study)


def _list(request: HttpRequest, study: Study, error: QueryError | None = None) -> HttpResponse:
    context = {
        "study": study,
        "lines": report_form.lines(study),
        "removed": report_form.removed(study),
        "kinds": report_form.KINDS,
        "offered": report_form.offered(study, request.user),
        "error": error,
    }
    return render(request, "web/report_edit.html", context, status=400 if error else 200)


@require_http_methods(["GET", "POST"])
@login_required
def item_new(request: HttpRequest, slug: str) -> HttpResponse:
    """A new item; the address may begin it with ``kind``, ``title``, and ``query`` or ``saved``."""
    study = study_to_change(request, slug)
    if request.method == "GET":
        written = report_form.begun(study, request.GET, request.user)
        return _form(request, study, written, reverse("web:report-item-new", args=[slug]))
    written = ItemText.from_form(request.POST.dict())
    context = {"action": reverse("web:report-item-new", args=[slug])}
    if "preview" in request.POST:
        return _form(request, study, written, **context)
    try:
        item = report_items.add_item(study, written)
    except QueryError as error:
        return _form(request, study, written, error=error, **context)
    messages.success(request, f"“{item.title}” is in the report.")
    return redirect(f"{reverse('web:report-edit', args=[slug])}#item-{item.pk}")


@require_http_methods(["GET", "POST"])
@login_required
def item_edit(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The form of an item; what somebody else has changed meanwhile is shown beside what was written here."""
    study = study_to_change(request, slug)
    item = get_object_or_404(ReportItem.objects.select_related("study"), study=study, pk=pk)
    action = reverse("web:report-item", args=[slug, pk])
    if request.method == "GET":
        return _form(request, study, ItemText.from_item(item), action, item=item, version=item.version)
    written = ItemText.from_form({"kind": item.kind, **request.POST.dict()})
    text = request.POST.get("version", "")
    version = int(text) if text.isdecimal() and len(text) < 10 else 0
    if "preview" in request.POST:
        return _form(request, study, written, action, item=item, version=version)
    try:
        report_items.change_item(item, written, version)
    except QueryError as error:
        return _form(request, study, written, action, item=item, version=version, error=error)
    except ChangedMeanwhileError:
        item.refresh_from_db()
        theirs = report_form.differing(item, written)
        return _form(request, study, written, action, item=item, version=item.version, theirs=theirs)
    messages.success(request, f"“{written.title}” was changed.")
    return redirect(f"{reverse('web:report-edit', args=[slug])}#item-{pk}")


def _form(request: HttpRequest, study: Study, written: ItemText, action: str, **more: Any) -> HttpResponse:
    context = {"study": study, "written": written, "action": action, "kinds": report_form.KINDS, **more}
    found = report_form.shown(study, written)
    context |= {"wrong": found} if isinstance(found, QueryError) else {"part": found}
    status = 409 if more.get("theirs") is not None else 400 if more.get("error") else 200
    return render(request, "web/report_item_edit.html", context, status=status)


@require_POST
@login_required
def item_remove(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Take an item out; it can be put back from the list."""
    item = get_object_or_404(ReportItem.objects.select_related("study"), study=study_to_change(request, slug), pk=pk)
    report_items.remove_item(item, access.signed_in_user(request.user))
    messages.success(request, f"“{item.title}” was taken out. It can be put back below.")
    return redirect(f"{reverse('web:report-edit', args=[slug])}#removed")


@require_POST
@login_required
def item_put_back(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Put back what was taken out."""
    study = study_to_change(request, slug)
    item = report_items.restore_item(get_object_or_404(RemovedItem.objects.select_related("study"), study=study, pk=pk))
    messages.success(request, f"“{item.title}” is back in the report.")
    return redirect(f"{reverse('web:report-edit', args=[slug])}#item-{item.pk}")
