"""Views that create, edit, publish and delete a study, move its runs, and make and undo its aliases."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from perfdb.analysis import dimensions
from perfdb.analysis.query.parameters import QueryError
from perfdb.results.changes import alias_changes, move_runs, reparse, spellings
from perfdb.results.changes.reparse import Scope
from perfdb.results.changes.spellings import ALIASED, read_spellings
from perfdb.results.models import Job, Study
from perfdb.results.runs import access
from perfdb.results.runs.access import ChangedMeanwhileError
from perfdb.results.studies import run_id_patterns, study_details
from perfdb.web.links import to_alias
from perfdb.web.studies import study_forms
from perfdb.web.studies.study_forms import Pattern, PlanPart, Texts
from perfdb.web.view_access import (
    changeable_studies,
    get_own_study,
    get_study,
    person_of,
    read_required,
    sign_in_required,
)

_TEXTS = ("purpose", "method", "source")
# So many runs to be moved are listed.
MOST_SHOWN = 50


@sign_in_required("GET", "POST")
def new(request: HttpRequest) -> HttpResponse:
    """Show the form of a new study; redirect to its page once created."""
    if request.method == "GET":
        return render(request, "web/study_new.html", {"written": {}})
    written = {name: value.replace("\r\n", "\n").strip() for name, value in request.POST.dict().items()}
    texts = {name: written.get(name, "").replace("\0", "") for name in _TEXTS}
    try:
        study = study_details.create_study(
            person_of(request), written.get("title", ""), written.get("slug", ""), **texts
        )
    except QueryError as error:
        return render(request, "web/study_new.html", {"written": written, "error": error}, status=400)
    messages.success(request, f"The study {study.title} was made.")
    return redirect("web:study", slug=study.slug)


@sign_in_required()
def delete(request: HttpRequest, slug: str) -> HttpResponse:
    """Delete an empty study; refuse otherwise with a message."""
    study = get_own_study(request, slug)
    try:
        study_details.delete_study(study)
    except QueryError as error:
        messages.error(request, error.message)
        return redirect("web:study-edit", slug=slug)
    messages.success(request, f"The study {study.title} was deleted.")
    return redirect("web:studies")


@sign_in_required("GET", "POST")
def share(request: HttpRequest, slug: str) -> HttpResponse:
    """Show, publish, replace or withdraw the read-only address of a report."""
    study = get_own_study(request, slug)
    if request.method == "POST":
        if request.POST.get("do") == "withdraw":
            study_details.unpublish_study(study)
            messages.success(request, "The published address is withdrawn: it shows nothing any more.")
        else:
            study_details.publish_study(study)
            messages.success(request, "The report is published at the address below.")
        return redirect("web:study-share", slug=slug)
    path = reverse("web:shared", args=[study.share_token]) if study.share_token else ""
    address = request.build_absolute_uri(path) if path else ""
    return render(request, "web/study_share.html", {"study": study, "address": address})


@sign_in_required("GET", "POST")
def move(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the runs to move to another study; POST starts moving the runs."""
    study = get_own_study(request, slug)
    given = request.POST if request.method == "POST" else request.GET
    asked, to = str(given.get("runs", "")), str(given.get("to", ""))
    targets = changeable_studies(request).exclude(pk=study.pk)
    context = {
        "study": study,
        "asked": asked,
        "to": to,
        "targets": targets,
        "job": _last_job(move_runs.KIND, study=study),
    }
    try:
        runs = move_runs.select_runs(study, asked)
        context |= {"runs": list(runs.order_by("run_id", "trial")[:MOST_SHOWN]), "total": runs.count()}
        if request.method == "POST":
            move_runs.enqueue_move(study, get_object_or_404(targets, slug=to), asked, person_of(request))
            return redirect("web:study-move", slug=slug)
    except QueryError as error:
        return render(request, "web/study_move.html", context | {"error": error}, status=400)
    return render(request, "web/study_move.html", context)


def _last_job(kind: str, **of: Any) -> Job | None:
    return Job.objects.filter(kind=kind, **of).order_by("-pk").first()


# So many runs are read again for the preview of what a pattern would change.
_REVIEWED = 20


@sign_in_required("GET", "POST")
def edit(request: HttpRequest, slug: str) -> HttpResponse:
    """Show or store a study's texts; after a conflict, show the changes of others."""
    study = get_own_study(request, slug)
    if request.method == "GET":
        return _texts(request, study, Texts.from_study(study))
    written = Texts.sent(request.POST)
    again = _change(request, study, written.columns, partial(_texts, request, study, written), written.differing)
    return again or _changed(request, "The study was changed.", "web:study", study)


def _change(
    request: HttpRequest,
    study: Study,
    columns: Callable[[], dict[str, Any]],
    form: Callable[..., HttpResponse],
    stored: Callable[[Study], object],
) -> HttpResponse | None:
    """Store columns; return the form for refused or conflicting input, else None."""
    try:
        study_details.change_details(study, columns(), str(request.POST.get("state", "")))
    except QueryError as error:
        return form(status=400, error=error)
    except ChangedMeanwhileError:
        study.refresh_from_db()
        return form(status=409, theirs=stored(study))
    return None


def _changed(request: HttpRequest, message: str, page: str, study: Study) -> HttpResponse:
    messages.success(request, message)
    return redirect(page, slug=study.slug)


def _texts(request: HttpRequest, study: Study, written: Texts, status: int = 200, **more: Any) -> HttpResponse:
    context = {
        "study": study,
        "written": written,
        "why_kept": study_details.reason_to_keep(study),
        **_state(request, study, more),
    }
    return render(request, "web/study_edit.html", context, status=status)


def _state(request: HttpRequest, study: Study, more: dict[str, Any]) -> dict[str, Any]:
    """Return ``more`` with the state of the form's reading, else the present."""
    sent = "" if "theirs" in more else str(request.POST.get("state", ""))
    return more | {"state": sent or study_details.details_digest(study)}


@sign_in_required("GET", "POST")
def run_ids(request: HttpRequest, slug: str) -> HttpResponse:
    """Show or store the run ID pattern; the button "try" stores nothing."""
    study = get_own_study(request, slug)
    if request.method == "GET":
        return _pattern(request, study, Pattern.from_study(study), "\n".join(study_details.example_run_ids(study)))
    written, tried = Pattern.sent(request.POST), str(request.POST.get("run_ids", ""))
    if "try" in request.POST:
        return _pattern(request, study, written, tried)
    again = _change(
        request, study, written.columns, partial(_pattern, request, study, written, tried), Pattern.from_study
    )
    done = "The pattern of run ids was changed. It is used for what comes in from now on."
    return again or _changed(request, done, "web:study-apply", study)


def _pattern(
    request: HttpRequest, study: Study, written: Pattern, run_ids: str, *, status: int = 200, **more: Any
) -> HttpResponse:
    context = {"study": study, "written": written, "run_ids": run_ids, **_state(request, study, more)}
    try:
        pattern = run_id_patterns.parse_pattern(written.pattern, written.values())
        tried = run_id_patterns.decode_run_ids(study, pattern, run_ids.splitlines())
        context |= {"pattern": pattern, "tried": tried, "codes": study_forms.offered_codes(written, tried)}
        context["groups"] = study_forms.groups_of(pattern)
    except QueryError as error:
        status = 400
        context |= {"error": error, "codes": study_forms.offered_codes(written, [])}
    return render(request, "web/study_run_ids.html", context, status=status)


@sign_in_required("GET", "POST")
def apply(request: HttpRequest, slug: str) -> HttpResponse:
    """Preview reading the study's stored runs again; POST starts this."""
    study = get_own_study(request, slug)
    scope = Scope(study=study.pk, every=True)
    if request.method == "POST":
        if reparse.enqueue_reparse(scope, person_of(request)) is None:
            messages.error(request, "Runs are being read again already; try when that is done.")
        return redirect("web:study-apply", slug=slug)
    job = _last_job(reparse.KIND, about__study=study.pk)
    working = job is not None and job.finished is None
    reviews = [] if working else list(reparse.review_runs(scope.runs[:_REVIEWED]))
    context = {"study": study, "job": job, "working": working, "reviews": reviews, "total": scope.runs.count()}
    return render(request, "web/study_apply.html", context)


@sign_in_required("GET", "POST")
def plan(request: HttpRequest, slug: str) -> HttpResponse:
    """Show or store the test plan; "more" and "present" add rows and store nothing."""
    study = get_own_study(request, slug)
    if request.method == "GET":
        return _plan(request, study, study_forms.plan_of(study))
    written = study_forms.plan_sent(request.POST)
    if "present" in request.POST:
        return _plan(request, study, [*written, study_forms.of_present(study_forms.present(study))])
    if "more" in request.POST:
        return _plan(request, study, written)
    form = partial(_plan, request, study, written)
    again = _change(request, study, lambda: {"plan": [part.stored() for part in written]}, form, study_forms.plan_of)
    return again or _changed(request, "The plan was changed.", "web:study", study)


def _plan(request: HttpRequest, study: Study, written: list[PlanPart], status: int = 200, **more: Any) -> HttpResponse:
    context = {
        "study": study,
        "parts": list(enumerate([*written, PlanPart()], 1)),
        "dimensions": study_forms.dimensions(written),
        "present": study_forms.present(study),
        **_state(request, study, more),
    }
    return render(request, "web/study_plan.html", context, status=status)


_OF_ALIAS = ("dimension", "printed", "meaning")


@require_http_methods(["GET", "POST"])
def aliases(request: HttpRequest, slug: str) -> HttpResponse:
    """Show aliases, and the effect of one in the address; POST creates that alias."""
    return _make_alias(request, slug) if request.method == "POST" else _show_aliases(request, slug)


@read_required()
def _show_aliases(request: HttpRequest, slug: str) -> HttpResponse:
    study = get_study(request, slug)
    asked = {name: request.GET.get(name, "") for name in _OF_ALIAS}
    found = read_spellings(study)
    suggestions = [each for dimension in found for each in dimension.suggestions]
    # Values that other studies spell differently.
    elsewhere = spellings.find_in_other_studies(
        {each.dimension: [value.value for value in each.values if value.value] for each in found}
    )
    # The study's own factors come last.
    names = dict.fromkeys((*ALIASED, *(each.dimension for each in found)))
    context = {
        "study": study,
        "told": found,
        "suggestions": [(each, to_alias(slug, each.dimension, each.printed, each.meaning)) for each in suggestions],
        "elsewhere": [(*each, to_alias(slug, *each)) for each in elsewhere],
        "dimensions": [(name, dimensions.dimension(name).title) for name in names],
        "asked": asked,
        "working": alias_changes.is_applying(study),
        "may_change": access.may_change(request.user, study),
    }
    if not any(asked.values()):
        return render(request, "web/aliases.html", context)
    try:
        context["effect"] = alias_changes.find_effect(alias_changes.propose_alias(study, *asked.values()))
    except QueryError as error:
        return render(request, "web/aliases.html", context | {"error": error}, status=400)
    return render(request, "web/aliases.html", context)


@sign_in_required()
def _make_alias(request: HttpRequest, slug: str) -> HttpResponse:
    study = get_own_study(request, slug)
    dimension, printed, meaning = (request.POST.get(name, "") for name in _OF_ALIAS)
    try:
        alias = alias_changes.add_alias(study, dimension, printed, meaning, person_of(request))
    except QueryError:
        # The preview says why; it may have become wrong only after it was shown.
        return redirect(to_alias(slug, dimension, printed, meaning))
    messages.success(request, f"{alias.printed} is now an alias of {alias.meaning}.")
    return redirect("web:aliases", slug=slug)


@sign_in_required()
def undo_alias(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Undo an alias: its runs get their printed value back."""
    study = get_own_study(request, slug)
    alias = get_object_or_404(study.aliases, pk=pk)
    alias_changes.remove_alias(alias)
    messages.success(request, f"{alias.printed} is no longer an alias.")
    return redirect("web:aliases", slug=slug)
