"""Editing what a study says about itself: its texts, how its run ids are read, and its test plan."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from perfdb.analysis.parameters import QueryError
from perfdb.results import access
from perfdb.results.models import Study
from perfdb.web.study import editing
from perfdb.web.study.editing import Written


@require_http_methods(["GET", "POST"])
@login_required
def edit(request: HttpRequest, slug: str) -> HttpResponse:
    """The form of a study for its owner and staff; "try" shows what run ids say and keeps nothing."""
    study = get_object_or_404(access.studies_for(request.user), slug=slug)
    if not access.may_change(request.user, study):
        raise PermissionDenied
    if request.method == "GET":
        return _form(request, study, Written.of(study), editing.examples(study))
    written, run_ids = Written.sent(request.POST.dict()), request.POST.get("run_ids", "")
    if "try" in request.POST:
        return _form(request, study, written, run_ids)
    try:
        editing.save(study, editing.understood(written))
    except QueryError as error:
        return _form(request, study, written, run_ids, error)
    messages.success(request, "The study was changed.")
    return redirect("web:study", slug=study.slug)


def _form(
    request: HttpRequest, study: Study, written: Written, run_ids: str, error: QueryError | None = None
) -> HttpResponse:
    context = {"study": study, "written": written, "run_ids": run_ids, "error": error}
    try:
        context["tried"] = editing.tried(editing.pattern_of(written), run_ids)
    except QueryError as wrong:
        context["error"] = wrong
    return render(request, "web/study_edit.html", context, status=400 if context["error"] else 200)
