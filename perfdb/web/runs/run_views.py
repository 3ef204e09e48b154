"""One run with everything that is known of it."""

from collections.abc import Callable, Mapping
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required, user_passes_test
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from perfdb.analysis.query.parameters import QueryError
from perfdb.results.changes import history, provenance
from perfdb.results.changes import withdraw as withdrawing
from perfdb.results.models import Note, Run
from perfdb.results.queries.limits import judge_limit
from perfdb.results.queries.run_siblings import compute_standings, find_neighbours, list_trials
from perfdb.results.runs import access, notes, tags
from perfdb.results.runs.read import ALONG, read_record
from perfdb.results.runs.record import Origin, RunRecord
from perfdb.web.runs import raw_evidence, run_values
from perfdb.web.runs.run_values import groups, printed_at, roles
from perfdb.web.uploads import problem_list
from perfdb.web.uploads.problem_list import ShownProblem

SIBLINGS = 50


@require_GET
@user_passes_test(access.may_read)
def run(request: HttpRequest, pk: int) -> HttpResponse:
    """One run: circumstances, figures by role with their provenance, counters, intervals, problems, trials, history."""
    related = Run.objects.select_related("study", "system", "level", "workload", "device", *ALONG)
    found = get_object_or_404(related, pk=pk)
    record = read_record(found)
    sources = list(found.sources.select_related("artifact", "upload", "upload__owner").order_by("path"))
    paths = {source.artifact_id: source.path for source in sources}
    listings = raw_evidence.listings(found)
    context = {
        "run": found,
        "subtitle": run_values.subtitle(found),
        "facts": run_values.facts(found, paths),
        "limit": judge_limit([found], dict(zip(record.values, found.evidence.slots, strict=True))),
        "counters": raw_evidence.counters(record, paths),
        "listings": listings,
        "has_chart": any(each.figure for each in listings),
        "problems": _problems(found, paths),
        "sources": sources,
        "circumstances": run_values.list_circumstances(found),
        "history": history.read_history(found),
        **_figures(found, record, paths),
        **_around(found),
        **_written(request, found),
    }
    return render(request, "web/run.html", context)


def _problems(run: Run, paths: Mapping[int, str]) -> list[list[ShownProblem]]:
    """The problems, of each kind together that ask for the same."""
    noticed = problem_list.gravest_first(run.problems.all())
    return problem_list.kinds(problem_list.with_addresses(noticed, {path: pk for pk, path in paths.items()}))


def _figures(run: Run, record: RunRecord, paths: Mapping[int, str]) -> dict[str, Any]:
    """The figures by role, and where each comes from; of a published run also where else its document prints them."""
    figures = provenance.record_figures(record, paths)
    published = any(value.origin is Origin.PUBLISHED for value in record.values.values())
    printed = printed_at(run) if published else {}
    explained = [(number, figure, printed.get(figure.measure, [])) for number, figure in enumerate(figures)]
    shown = {"roles": roles(figures), "groups": groups(figures), "figures": explained, "published": bool(printed)}
    return shown | {"disagreements": list(run.disagreements.order_by("pk")) if published else []}


def _around(run: Run) -> dict[str, Any]:
    """The run among its trials, and the runs before and after it."""
    rows = list_trials(run.experiment_id, SIBLINGS)
    before, after = find_neighbours(run)
    return {
        "strips": run_values.strips(compute_standings(run), run) if len(rows) > 1 else [],
        "siblings": run_values.siblings(run, rows) if len(rows) > 1 else [],
        "before": before,
        "after": after,
    }


def _written(request: HttpRequest, run: Run) -> dict[str, Any]:
    """What people wrote about the run, and what this visitor may do to it."""
    found = list(run.notes.select_related("author"))
    return {
        "notes": [(note, notes.may_edit(request.user, _of(note, run))) for note in found],
        "may_note": request.user.is_authenticated,
        "may_change": access.may_change(request.user, run.study),
    }


def _of(note: Note, run: Run) -> Note:
    """The note with its run, which is there already."""
    note.run = run
    return note


@require_POST
@login_required
def note_add(request: HttpRequest, pk: int) -> HttpResponse:
    """Write a note on a run."""
    run = get_object_or_404(Run.objects.select_related("study"), pk=pk)
    author = access.signed_in_user(request.user)
    return _done(request, pk, "notes", lambda: notes.add_note(author, run, request.POST.get("text", "")))


@require_POST
@login_required
def note_edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Put another text in a note's place."""
    note = _own(request, pk)
    editor = access.signed_in_user(request.user)
    return _done(request, note.run_id, "notes", lambda: notes.edit_note(editor, note, request.POST.get("text", "")))


@require_POST
@login_required
def note_remove(request: HttpRequest, pk: int) -> HttpResponse:
    """Remove a note; the run's history keeps its text."""
    note = _own(request, pk)
    editor = access.signed_in_user(request.user)
    return _done(request, note.run_id, "notes", lambda: notes.remove_note(editor, note))


@require_POST
@login_required
def tag(request: HttpRequest, pk: int) -> HttpResponse:
    """Put a tag on a run (``add``), or take one off (``remove``)."""
    run, user = _one(pk), access.signed_in_user(request.user)
    if name := request.POST.get("remove", ""):
        return _done(request, pk, "tags", lambda: tags.remove_tag(user, run, name))
    return _done(request, pk, "tags", lambda: tags.add_tag(user, run, request.POST.get("add", "")))


@require_POST
@login_required
def withdraw(request: HttpRequest, pk: int) -> HttpResponse:
    """Take a run out of all tables, for a reason."""
    run, user = _one(pk), access.signed_in_user(request.user)
    return _done(request, pk, "", lambda: withdrawing.withdraw_runs(user, run, request.POST.get("reason", "")))


@require_POST
@login_required
def restore(request: HttpRequest, pk: int) -> HttpResponse:
    """Let a withdrawn run count again."""
    run, user = _one(pk), access.signed_in_user(request.user)

    def again() -> None:
        if not withdrawing.restore_runs(user, run):
            raise QueryError("run", "another run took its place; it returns when that upload is undone")

    return _done(request, pk, "", again)


def _one(pk: int) -> QuerySet[Run]:
    get_object_or_404(Run, pk=pk)
    return Run.objects.filter(pk=pk)


def _own(request: HttpRequest, pk: int) -> Note:
    """The note, for those who may change it."""
    note = get_object_or_404(Note.objects.select_related("run__study"), pk=pk)
    if not notes.may_edit(request.user, note):
        raise PermissionDenied
    return note


def _done(request: HttpRequest, run: int, part: str, act: Callable[[], object]) -> HttpResponse:
    """Do it, and go back to where it was asked; what cannot be done is said there."""
    try:
        act()
    except QueryError as error:
        messages.error(request, f"{error.message[:1].upper()}{error.message[1:]}.")
        part = ""
    return redirect(f"{reverse('web:run', args=[run])}{f'#{part}' if part else ''}")
