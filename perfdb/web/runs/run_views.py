"""The page of a run, and its actions: notes, tags, withdrawing, restoring."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.text import capfirst

from perfdb.analysis.insights.bottleneck import Bottleneck
from perfdb.analysis.insights.run_vs_trials import RunVsTrials
from perfdb.analysis.query.parameters import QueryError
from perfdb.results.changes import history, provenance
from perfdb.results.changes import withdraw as withdrawing
from perfdb.results.models import Note, Run
from perfdb.results.queries.bottlenecks import judge_limit
from perfdb.results.queries.run_siblings import compute_standings, find_neighbours, list_trials
from perfdb.results.runs import access, notes
from perfdb.results.runs import tags as tagging
from perfdb.results.runs.read import ALONG, read_record
from perfdb.results.runs.record import Origin, RunRecord
from perfdb.web.runs import raw_evidence, run_answer, run_values
from perfdb.web.runs.run_values import find_printed_places, group_figures, list_roles
from perfdb.web.trends.event_lines import changes_from
from perfdb.web.uploads import problem_list
from perfdb.web.view_access import person_of, read_required, sign_in_required

SIBLINGS = 50


@read_required()
def run(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a run: circumstances, values with provenance, counters, intervals, trials, history."""
    related = Run.objects.select_related("study", "system", "level", "workload", "device", *ALONG)
    found = get_object_or_404(related, pk=pk)
    record = read_record(found)
    sources = list(found.sources.select_related("artifact", "upload", "upload__owner").order_by("path"))
    paths = {source.artifact_id: source.path for source in sources}
    listings = raw_evidence.read_listings(found)
    noticed = problem_list.gravest_first(found.problems.all())
    shown = problem_list.with_addresses(noticed, {path: pk for pk, path in paths.items()})
    limit = judge_limit([found], dict(zip(record.values, found.evidence.slots, strict=True)))
    trials = list_trials(found.experiment_id, SIBLINGS)
    before, after = find_neighbours(found)
    context = {
        "run": found,
        "subtitle": run_values.describe_run(found),
        "facts": run_values.list_facts(found, paths),
        "limit": limit,
        "counters": raw_evidence.read_counters(record, paths),
        "listings": listings,
        "has_chart": any(each["figure"] for each in listings),
        "causes": problem_list.list_causes(shown),
        "sources": sources,
        "circumstances": run_values.list_circumstances(found),
        "history": history.read_history(found),
        "first_after": changes_from(found),
        **_figures(found, record, paths, limit, compute_standings(found) if len(trials) > 1 else []),
        "siblings": run_answer.list_siblings(found, trials) if len(trials) > 1 else [],
        "before": before,
        "after": after,
        **_written(request, found),
    }
    return render(request, "web/run.html", context)


def _figures(
    run: Run, record: RunRecord, paths: Mapping[int, str], limit: Bottleneck, standings: Sequence[RunVsTrials]
) -> dict[str, Any]:
    """Return the answer, and values by role with places in logs or documents."""
    figures = provenance.record_figures(record, paths)
    published = any(value.origin is Origin.PUBLISHED for value in record.values.values())
    printed = find_printed_places(run) if published else {}
    answer = run_answer.answer_run(run, figures, standings, limit)
    explained = [(number, figure, printed.get(figure.measure, [])) for number, figure in enumerate(figures)]
    shown = {
        "roles": list_roles(figures),
        "groups": group_figures(figures),
        "figures": explained,
        "answer": answer,
        "main": None if answer["main"] is None else explained[answer["main"]],
        "published": bool(printed),
    }
    return shown | {"disagreements": list(run.disagreements.order_by("pk")) if published else []}


def _written(request: HttpRequest, run: Run) -> dict[str, Any]:
    """Return the notes on the run, and the changes that the visitor may make."""
    found = list(run.notes.select_related("author"))
    for note in found:
        note.run = run
    return {
        "notes": [(note, notes.may_edit(request.user, note)) for note in found],
        "may_note": request.user.is_authenticated,
        "may_change": access.may_change(request.user, run.study),
    }


@sign_in_required()
def note_add(request: HttpRequest, pk: int) -> HttpResponse:
    """Add a note to a run."""
    run = get_object_or_404(Run.objects.select_related("study"), pk=pk)
    author = person_of(request)
    return _done(request, pk, "notes", lambda: notes.add_note(author, run, request.POST.get("text", "")))


@sign_in_required()
def note_edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Change a note's text."""
    note = _own(request, pk)
    editor = person_of(request)
    return _done(request, note.run_id, "notes", lambda: notes.edit_note(editor, note, request.POST.get("text", "")))


@sign_in_required()
def note_remove(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a note; the run's history keeps the text."""
    note = _own(request, pk)
    editor = person_of(request)
    return _done(request, note.run_id, "notes", lambda: notes.remove_note(editor, note))


@sign_in_required()
def tag(request: HttpRequest, pk: int) -> HttpResponse:
    """Add the tag ``add`` to a run, or remove the tag ``remove``."""
    run, user = _one(pk), person_of(request)
    if name := request.POST.get("remove", ""):
        return _done(request, pk, "tags", lambda: tagging.remove_tag(user, run, name))
    return _done(request, pk, "tags", lambda: tagging.add_tag(user, run, request.POST.get("add", "")))


@sign_in_required()
def withdraw(request: HttpRequest, pk: int) -> HttpResponse:
    """Exclude a run from all tables, with a reason."""
    run, user = _one(pk), person_of(request)
    return _done(request, pk, "", lambda: withdrawing.withdraw_runs(user, run, request.POST.get("reason", "")))


@sign_in_required()
def restore(request: HttpRequest, pk: int) -> HttpResponse:
    """Let a withdrawn run count in tables again."""
    run, user = _one(pk), person_of(request)

    def again() -> None:
        if not withdrawing.restore_runs(user, run):
            raise QueryError("run", "another run took its place; it returns when that upload is undone")

    return _done(request, pk, "", again)


def _one(pk: int) -> QuerySet[Run]:
    get_object_or_404(Run, pk=pk)
    return Run.objects.filter(pk=pk)


def _own(request: HttpRequest, pk: int) -> Note:
    """Return a note that the person may edit."""
    note = get_object_or_404(Note.objects.select_related("run__study"), pk=pk)
    if not notes.may_edit(request.user, note):
        raise PermissionDenied
    return note


def _done(request: HttpRequest, run: int, part: str, act: Callable[[], object]) -> HttpResponse:
    """Run the action and return to the page; show a QueryError there."""
    try:
        act()
    except QueryError as error:
        messages.error(request, f"{capfirst(error.message)}.")
        part = ""
    return redirect(f"{reverse('web:run', args=[run])}{f'#{part}' if part else ''}")
