"""Editing what a study says about itself: its texts, how its run ids are read, and its test plan."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from perfdb.analysis.query.parameters import QueryError
from perfdb.results.changes import reparse
from perfdb.results.changes.reparse import Scope
from perfdb.results.models import Job, Study
from perfdb.results.runs import access
from perfdb.results.studies import run_id_patterns, study_lifecycle
from perfdb.results.studies import study_details as stored
from perfdb.results.studies.study_details import ChangedMeanwhileError
from perfdb.results.studies.study_plan import check_plan
from perfdb.web.studies import study_forms
from perfdb.web.studies.study_forms import Pattern, PlanPart, Texts
from perfdb.web.studies.study_lifecycle_views import study_to_change

# So many runs are read again for the preview of what a pattern would change.
_REVIEWED = 20


@require_http_methods(["GET", "POST"])
@login_required
def edit(request: HttpRequest, slug: str) -> HttpResponse:
    """The texts of a study; what somebody else has changed meanwhile is shown beside what was written here."""
    study = study_to_change(request, slug)
    if request.method == "GET":
        return _texts(request, study, Texts.of(study))
    written = Texts.sent(request.POST)
    try:
        stored.change_details(study, written.columns(), str(request.POST.get("state", "")))
    except QueryError as error:
        return _texts(request, study, written, 400, error=error)
    except ChangedMeanwhileError:
        study.refresh_from_db()
        return _texts(request, study, written, 409, theirs=written.differing(study))
    messages.success(request, "The study was changed.")
    return redirect("web:study", slug=study.slug)


def _texts(request: HttpRequest, study: Study, written: Texts, status: int = 200, **more: Any) -> HttpResponse:
    context = {
        "study": study,
        "written": written,
        "why_kept": study_lifecycle.reason_to_keep(study),
        **_state(request, study, more),
    }
    return render(request, "web/study_edit.html", context, status=status)


def _state(request: HttpRequest, study: Study, more: dict[str, Any]) -> dict[str, Any]:
    """The state that a form was read in: that of the form as it came, but after a conflict that of now."""
    sent = "" if "theirs" in more else str(request.POST.get("state", ""))
    return more | {"state": sent or stored.details_digest(study)}


@require_http_methods(["GET", "POST"])
@login_required
def run_ids(request: HttpRequest, slug: str) -> HttpResponse:
    """How the study's run ids are read; "try" shows what run ids say and keeps nothing."""
    study = study_to_change(request, slug)
    if request.method == "GET":
        return _pattern(request, study, Pattern.of(study), "\n".join(stored.example_run_ids(study)))
    written, tried = Pattern.sent(request.POST), str(request.POST.get("run_ids", ""))
    if "try" in request.POST:
        return _pattern(request, study, written, tried)
    try:
        pattern = run_id_patterns.parse_pattern(written.pattern, written.values())
        stored.change_details(study, stored.pattern_columns(pattern), str(request.POST.get("state", "")))
    except QueryError:
        return _pattern(request, study, written, tried)
    except ChangedMeanwhileError:
        study.refresh_from_db()
        return _pattern(request, study, written, tried, theirs=Pattern.of(study))
    messages.success(request, "The pattern of run ids was changed. It is used for what comes in from now on.")
    return redirect("web:study-apply", slug=study.slug)


def _pattern(request: HttpRequest, study: Study, written: Pattern, run_ids: str, **more: Any) -> HttpResponse:
    context = {"study": study, "written": written, "run_ids": run_ids, **_state(request, study, more)}
    status = 409 if "theirs" in more else 200
    try:
        pattern = run_id_patterns.parse_pattern(written.pattern, written.values())
        tried = run_id_patterns.decode_run_ids(study, pattern, run_ids.splitlines())
        context |= {"pattern": pattern, "tried": tried, "codes": study_forms.offered_codes(written, tried)}
        context["groups"] = study_forms.groups_of(pattern)
    except QueryError as error:
        status = 400
        context |= {"error": error, "codes": study_forms.offered_codes(written, [])}
    return render(request, "web/study_run_ids.html", context, status=status)


@require_http_methods(["GET", "POST"])
@login_required
def apply(request: HttpRequest, slug: str) -> HttpResponse:
    """What reading the stored runs again would change, the first of them; a POST has all of them read again."""
    study = study_to_change(request, slug)
    scope = Scope(study=study.pk, every=True)
    if request.method == "POST":
        if reparse.enqueue_reparse(scope, access.signed_in_user(request.user)) is None:
            messages.error(request, "Runs are being read again already; try when that is done.")
        return redirect("web:study-apply", slug=slug)
    job = study_job(study, reparse.KIND)
    working = job is not None and job.finished is None
    reviews = [] if working else list(reparse.review_runs(scope.runs[:_REVIEWED]))
    context = {"study": study, "job": job, "working": working, "reviews": reviews, "total": scope.runs.count()}
    return render(request, "web/study_apply.html", context)


def study_job(study: Study, kind: str) -> Job | None:
    """The last job of a kind that is about a study; None where there was none."""
    return Job.objects.filter(kind=kind, about__study=study.pk).order_by("-pk").first()


@require_http_methods(["GET", "POST"])
@login_required
def plan(request: HttpRequest, slug: str) -> HttpResponse:
    """The test plan; "more" offers further rows and keeps nothing, "present" begins a part of what is there."""
    study = study_to_change(request, slug)
    if request.method == "GET":
        return _plan(request, study, study_forms.plan_of(study))
    written = study_forms.plan_sent(request.POST)
    if "present" in request.POST:
        return _plan(request, study, [*written, study_forms.of_present(study_forms.present(study))])
    if "more" in request.POST:
        return _plan(request, study, written)
    try:
        parts = check_plan([part.stored() for part in written])
        stored.change_details(study, {"plan": parts}, str(request.POST.get("state", "")))
    except QueryError as error:
        return _plan(request, study, written, 400, error=error)
    except ChangedMeanwhileError:
        study.refresh_from_db()
        return _plan(request, study, written, 409, theirs=study_forms.plan_of(study))
    messages.success(request, "The plan was changed.")
    return redirect("web:study", slug=study.slug)


def _plan(request: HttpRequest, study: Study, written: list[PlanPart], status: int = 200, **more: Any) -> HttpResponse:
    context = {
        "study": study,
        "parts": list(enumerate([*written, PlanPart()], 1)),
        "dimensions": study_forms.dimensions(written),
        "present": study_forms.present(study),
        **_state(request, study, more),
    }
    return render(request, "web/study_plan.html", context, status=status)
