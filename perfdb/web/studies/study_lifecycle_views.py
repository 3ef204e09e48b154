"""Making a study, taking an empty one away, and publishing its report at a read-only address."""

from collections.abc import Mapping

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from perfdb.analysis.query.parameters import QueryError
from perfdb.results.changes import move_runs
from perfdb.results.models import Job, Study
from perfdb.results.runs import access
from perfdb.results.studies import study_lifecycle

_TEXTS = ("purpose", "method", "source")
# So many runs to be moved are listed.
MOST_SHOWN = 50


def study_to_change(request: HttpRequest, slug: str) -> Study:
    """The study of an address, for its owner and staff; others get 403."""
    study = get_object_or_404(access.visible_studies(request.user), slug=slug)
    if not access.may_change(request.user, study):
        raise PermissionDenied
    return study


@require_http_methods(["GET", "POST"])
@login_required
def new(request: HttpRequest) -> HttpResponse:
    """The form of a new study; once made, its page."""
    if request.method == "GET":
        return render(request, "web/study_new.html", {"written": {}})
    written = {name: value.replace("\r\n", "\n").strip() for name, value in request.POST.dict().items()}
    try:
        study = study_lifecycle.create_study(
            access.signed_in_user(request.user), written.get("title", ""), written.get("slug", ""), **_of(written)
        )
    except QueryError as error:
        return render(request, "web/study_new.html", {"written": written, "error": error}, status=400)
    messages.success(request, f"The study {study.title} was made.")
    return redirect("web:study", slug=study.slug)


def _of(written: Mapping[str, str]) -> dict[str, str]:
    return {name: written.get(name, "").replace("\0", "") for name in _TEXTS}


@require_POST
@login_required
def delete(request: HttpRequest, slug: str) -> HttpResponse:
    """Take an empty study away; one that is not stays, and the page says why."""
    study = study_to_change(request, slug)
    try:
        study_lifecycle.delete_study(study)
    except QueryError as error:
        messages.error(request, error.message)
        return redirect("web:study-edit", slug=slug)
    messages.success(request, f"The study {study.title} was deleted.")
    return redirect("web:studies")


@require_http_methods(["GET", "POST"])
@login_required
def share(request: HttpRequest, slug: str) -> HttpResponse:
    """The read-only address of a report: publish it, give it another, or take it back."""
    study = study_to_change(request, slug)
    if request.method == "POST":
        if request.POST.get("do") == "withdraw":
            study_lifecycle.unpublish_study(study)
            messages.success(request, "The published address is withdrawn: it shows nothing any more.")
        else:
            study_lifecycle.publish_study(study)
            messages.success(request, "The report is published at the address below.")
        return redirect("web:study-share", slug=slug)
    path = reverse("web:shared", args=[study.share_token]) if study.share_token else ""
    address = request.build_absolute_uri(path) if path else ""
    return render(request, "web/study_share.html", {"study": study, "address": address})


@require_http_methods(["GET", "POST"])
@login_required
def move(request: HttpRequest, slug: str) -> HttpResponse:
    """Runs of a study to be moved to another; what is asked for is shown before it is done."""
    study = study_to_change(request, slug)
    given = request.POST if request.method == "POST" else request.GET
    asked, to = str(given.get("runs", "")), str(given.get("to", ""))
    targets = _targets(request, study)
    context = {"study": study, "asked": asked, "to": to, "targets": targets, "job": _last_move(study)}
    try:
        runs = move_runs.select_runs(study, asked)
        context |= {"runs": list(runs.order_by("run_id", "trial")[:MOST_SHOWN]), "total": runs.count()}
        if request.method == "POST":
            move_runs.enqueue_move(
                study, get_object_or_404(targets, slug=to), asked, access.signed_in_user(request.user)
            )
            return redirect("web:study-move", slug=slug)
    except QueryError as error:
        return render(request, "web/study_move.html", context | {"error": error}, status=400)
    return render(request, "web/study_move.html", context)


def _targets(request: HttpRequest, study: Study) -> QuerySet[Study]:
    """The other studies that this person may change."""
    person = access.signed_in_user(request.user)
    found = access.visible_studies(person).exclude(pk=study.pk).order_by("title")
    return found if person.is_staff else found.filter(owner=person)


def _last_move(study: Study) -> Job | None:
    return Job.objects.filter(kind=move_runs.KIND, study=study).order_by("-pk").first()
