"""Runs that are stored already with other numbers: what becomes of them, as a person decided."""

from collections.abc import Sequence
from dataclasses import replace

from django.db.models import Max

from importers.model import Problem as Found
from importers.model import Severity
from perfdb.results.ingest.match_runs import Placement
from perfdb.results.models import Run, Upload, UploadRun

Outcome = UploadRun.Outcome


def decide(upload: Upload, placement: Placement, chunk: Sequence[Placement]) -> None:
    """Make of a conflict what the person decided; undecided it stays one, and nothing is stored."""
    decision = placement.decision(upload.decisions)
    if placement.outcome != Outcome.CONFLICT or decision is None:
        return
    placement.problems = [_as_decided(placement, decision)]
    if decision == "keep":
        placement.outcome = Outcome.ALREADY_THERE
        return
    placement.outcome = Outcome.NEW
    placement.sources = placement.brought.sources
    if decision == "trial":
        run_id = placement.record.run_id
        others = [other.record.trial for other in chunk if other.record.run_id == run_id]
        placement.record = replace(placement.record, trial=max(last_trial(upload, run_id), *others) + 1)
        placement.run = None


def _as_decided(placement: Placement, decision: str) -> Found:
    """The conflict, no longer an error: what was done about it by the person's choice."""
    done = {
        "keep": "the stored one was kept",
        "replace": "this one replaced it, and the stored one was withdrawn",
        "trial": "this one was stored as another trial",
    }
    record = placement.record
    message = f"Run {record.run_id}, trial {record.trial}, was stored already with other numbers; {done[decision]}."
    file = record.fragments[0].file
    return Found(Severity.NOTE, "run.conflict-decided", message, "", file, run_id=record.run_id)


def last_trial(upload: Upload, run_id: str) -> int:
    """The highest trial of a run id that is stored, or that this upload is yet to store."""
    stored = Run.objects.filter(study=upload.study, run_id=run_id).aggregate(last=Max("trial"))["last"]
    shown = upload.runs.filter(run_label=run_id).aggregate(last=Max("trial"))["last"]
    return max(stored or 0, shown or 0)
