"""The undo of an upload: runs, evidence and replacements."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from django.db import transaction
from django.utils import timezone

from perfdb.results.changes import history
from perfdb.results.changes.rebuild import rebuild_run, store_rebuilt
from perfdb.results.ingest import jobs, upload_summary
from perfdb.results.ingest.make_records import single_draft
from perfdb.results.ingest.store import last_trial
from perfdb.results.ingest.stored_evidence import read_evidence
from perfdb.results.models import Experiment, Job, Note, Run, RunChange, RunSource, Upload, UploadRun
from perfdb.results.runs.bulk_changes import lock_study, touch_study


def run_undo(job: Job) -> None:
    """Undo the upload of a job, in one transaction."""
    upload = jobs.upload_of(job)
    with transaction.atomic():
        jobs.renew_lease(job)
        lock_study(upload.study)
        upload_summary.save_summaries(UploadRun.objects.filter(upload=upload))
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
    """The files of a run, of the upload (``own``) and others."""

    own: set[tuple[int, str]] = field(default_factory=set)
    left: set[tuple[int, str]] = field(default_factory=set)


def _brought(upload: Upload) -> dict[int, _Files]:
    """Return the files of each run that has evidence of the upload."""
    found: dict[int, _Files] = defaultdict(_Files)
    runs = RunSource.objects.filter(upload=upload).values("run")
    sources = RunSource.objects.filter(run__in=runs).order_by("run")
    for run, artifact, path, by in sources.values_list("run_id", "artifact_id", "path", "upload_id"):
        files = found[run]
        (files.own if by == upload.pk else files.left).add((artifact, path))
    return dict(found)


def _take_evidence(upload: Upload, brought: Mapping[int, _Files]) -> None:
    """Rebuild runs without the evidence of the upload; each has some of other uploads."""
    RunSource.objects.filter(upload=upload, run__pk__among=list(brought)).delete()
    said = bool(upload.facts or upload.corrections)
    changed = [run for run, files in brought.items() if said or not files.own <= files.left]
    for run in Run.objects.filter(pk__in=changed):
        store_rebuilt(run, rebuild_run(run))
    history.record_change(changed, history.Kind.REBUILT, f"without upload {upload.pk}, which was undone")


def _delete(runs: Collection[int]) -> None:
    experiments = Experiment.objects.filter(pk__in=Run.objects.filter(pk__among=list(runs)).values("experiment"))
    left = list(experiments.values_list("pk", flat=True))
    Run.objects.filter(pk__in=runs).delete()
    Experiment.objects.filter(pk__in=left, run=None).delete()


def _pass_on(row: UploadRun) -> bool:
    """Pass a replaced run on to a later replacement; return whether there is one."""
    later = UploadRun.objects.filter(replaced=row.run_id).exclude(replaced=None)
    return later.update(replaced=row.replaced_id, replaced_status=row.replaced_status) > 0


def _bring_back(row: UploadRun) -> None:
    """Restore a replaced run, with evidence that others added to the successor."""
    returning, successor = row.replaced, Run.objects.filter(upload_runs=row).first()
    assert returning is not None
    if successor is not None:
        # A successor that does not go together with the run stays, and needs a trial of its own.
        Run.objects.filter(pk=successor.pk).update(trial=last_trial(row.upload, successor.run_id) + 1)
    returning.status = row.replaced_status
    returning.save(update_fields=["status"])
    if successor is not None and _go_together(returning, successor):
        upload_summary.save_summaries(UploadRun.objects.filter(run=successor))
        for model in (RunSource, UploadRun, Note, RunChange):
            model.objects.filter(run=successor).update(run=returning)
        _delete([successor.pk])
        store_rebuilt(returning, rebuild_run(returning))
    history.record_change(
        [returning.pk], history.Kind.RESTORED, f"upload {row.upload_id}, which had replaced it, was undone"
    )


def _go_together(one: Run, other: Run) -> bool:
    mine = read_evidence(one)
    theirs = read_evidence(other, mine.context.artifacts)
    return single_draft(one.study, [*mine.fragments, *theirs.fragments]) is not None
