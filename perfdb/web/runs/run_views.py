"""One run with everything that is known of it."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.decorators import user_passes_test
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from perfdb.results.changes import history, provenance
from perfdb.results.models import Note, Run
from perfdb.results.queries.limits import judge_limit
from perfdb.results.queries.run_siblings import compute_standings, find_neighbours, list_trials
from perfdb.results.runs import access, notes
from perfdb.results.runs.read import ALONG, read_record
from perfdb.results.runs.record import Origin, RunRecord
from perfdb.web.runs import raw_evidence, run_circumstances, run_trials
from perfdb.web.runs.published_values import printed_at
from perfdb.web.runs.run_values import groups, roles
from perfdb.web.shared import problem_list
from perfdb.web.shared.problem_list import ShownProblem

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
        "subtitle": run_circumstances.subtitle(found),
        "facts": run_circumstances.facts(found, paths),
        "limit": judge_limit([found], dict(zip(record.values, found.evidence.slots, strict=True))),
        "counters": raw_evidence.counters(record, paths),
        "listings": listings,
        "has_chart": any(each.figure for each in listings),
        "problems": _problems(found, paths),
        "sources": sources,
        "circumstances": run_circumstances.of(found),
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
        "strips": run_trials.strips(compute_standings(run), run) if len(rows) > 1 else [],
        "siblings": run_trials.siblings(run, rows) if len(rows) > 1 else [],
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
