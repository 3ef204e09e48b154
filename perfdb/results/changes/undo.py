"""Taking an upload back: its runs go, what it added to other runs goes, what it replaced returns."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from django.db import transaction
from django.utils import timezone

from perfdb.results.changes import history
from perfdb.results.changes.rebuild import put, rebuild
from perfdb.results.ingest import jobs, upload_summary
from perfdb.results.ingest.conflicts import last_trial
from perfdb.results.ingest.make_records import as_one, stored_evidence
from perfdb.results.models import Experiment, Job, Note, Run, RunChange, RunSource, Upload, UploadRun
from perfdb.results.runs.lock import lock_study, touch_study


def run_undo(job: Job) -> None:
    """Do an undo job, all in one transaction: other readers see the study before it or after it."""
    upload = jobs.upload_of(job)
    with transaction.atomic():
        jobs.hold(job)
        lock_study(upload.study)
        upload_summary.keep(UploadRun.objects.filter(upload=upload))
        replacements = list(upload.runs.exclude(replaced=None).select_related("run", "replaced"))
        brought = _brought(upload)
        gone = {run for run, files in brought.items() if not files.left}
        _take_evidence(upload, {run: files for run, files in brought.items() if run not in gone})
        returning = [row for row in replacements if row.replaced_id not in gone and not _pass_on(row)]
        _delete(gone)
        for row in returning:
            _bring_back(row)
        touch_study(upload.study)
        Upload.objects.filter(pk=upload.pk).update(state=Upload.State.UNDONE, settled=timezone.now())
        jobs.finish(job, {"removed": len(gone), "touched": len(brought)})


@dataclass(slots=True)
class _Files:
    """The files of a run, as artifact and path: those that the upload brought, and those that others did."""

    own: set[tuple[int, str]] = field(default_factory=set)
    left: set[tuple[int, str]] = field(default_factory=set)


def _brought(upload: Upload) -> dict[int, _Files]:
    """The runs to which the upload has brought anything, by their ids."""
    found: dict[int, _Files] = defaultdict(_Files)
    runs = RunSource.objects.filter(upload=upload).values("run")
    sources = RunSource.objects.filter(run__in=runs).order_by("run")
    for run, artifact, path, by in sources.values_list("run_id", "artifact_id", "path", "upload_id"):
        files = found[run]
        (files.own if by == upload.pk else files.left).add((artifact, path))
    return dict(found)


def _take_evidence(upload: Upload, brought: Mapping[int, _Files]) -> None:
    """Rebuild runs from what other uploads brought, which is something for each of them."""
    RunSource.objects.filter(upload=upload, run__pk__among=list(brought)).delete()
    said = bool(upload.facts or upload.corrections)
    changed = [run for run, files in brought.items() if said or not files.own <= files.left]
    for run in Run.objects.filter(pk__in=changed):
        put(run, rebuild(run))
    history.record(changed, history.Kind.REBUILT, f"without upload {upload.pk}, which was undone")


def _delete(runs: Collection[int]) -> None:
    experiments = Experiment.objects.filter(pk__in=Run.objects.filter(pk__among=list(runs)).values("experiment"))
    left = list(experiments.values_list("pk", flat=True))
    Run.objects.filter(pk__in=runs).delete()
    Experiment.objects.filter(pk__in=left, run=None).delete()


def _pass_on(row: UploadRun) -> bool:
    """Whether the run that this one replaced stays away, because a later upload has replaced this one in turn."""
    later = UploadRun.objects.filter(replaced=row.run_id).exclude(replaced=None)
    return later.update(replaced=row.replaced_id, replaced_status=row.replaced_status) > 0


def _bring_back(row: UploadRun) -> None:
    """The replaced run counts again, with the status it had; what others added to its successor is now its own."""
    returning, successor = row.replaced, Run.objects.filter(upload_runs=row).first()
    assert returning is not None
    if successor is not None:
        # What does not go together with it stays a run of its own, and two active runs may not share a trial.
        Run.objects.filter(pk=successor.pk).update(trial=last_trial(row.upload, successor.run_id) + 1)
    returning.status = row.replaced_status
    returning.save(update_fields=["status"])
    if successor is not None and _go_together(returning, successor):
        upload_summary.keep(UploadRun.objects.filter(run=successor))
        RunSource.objects.filter(run=successor).update(run=returning)
        UploadRun.objects.filter(run=successor).update(run=returning)
        Note.objects.filter(run=successor).update(run=returning)
        RunChange.objects.filter(run=successor).update(run=returning)
        _delete([successor.pk])
        put(returning, rebuild(returning))
    history.record([returning.pk], history.Kind.RESTORED, f"upload {row.upload_id}, which had replaced it, was undone")


def _go_together(one: Run, other: Run) -> bool:
    mine = stored_evidence(one)
    theirs = stored_evidence(other, mine.artifacts)
    return as_one(one.study, [*mine.fragments, *theirs.fragments]) is not None
