"""Taking an upload back: its runs go, what it added to other runs goes, what it replaced returns."""

from django.db import transaction
from django.utils import timezone

from perfdb.results import changes, jobs, summary
from perfdb.results.conflicts import last_trial
from perfdb.results.holding import lock_study, touch_study
from perfdb.results.models import Experiment, Job, Note, Run, RunChange, RunSource, Upload, UploadRun
from perfdb.results.reading import as_one, stored_evidence
from perfdb.results.rebuilding import put, rebuild


def run_undo(job: Job) -> None:
    """Do an undo job, all in one transaction: other readers see the study before it or after it."""
    upload = jobs.upload_of(job)
    with transaction.atomic():
        jobs.hold(job)
        lock_study(upload.study)
        summary.keep(UploadRun.objects.filter(upload=upload))
        replacements = list(upload.runs.exclude(replaced=None).select_related("run", "replaced"))
        touched = list(Run.objects.filter(sources__upload=upload).distinct())
        removed = [run for run in touched if not _take_evidence(upload, run)]
        gone = {run.pk for run in removed}
        returning = [row for row in replacements if row.replaced_id not in gone and not _pass_on(row)]
        _delete(removed)
        for row in returning:
            _bring_back(row)
        touch_study(upload.study)
        Upload.objects.filter(pk=upload.pk).update(state=Upload.State.UNDONE, settled=timezone.now())
        jobs.finish(job, {"removed": len(removed), "touched": len(touched)})


def _delete(runs: list[Run]) -> None:
    Run.objects.filter(pk__in=[run.pk for run in runs]).delete()
    Experiment.objects.filter(pk__in={run.experiment_id for run in runs}, run=None).delete()


def _take_evidence(upload: Upload, run: Run) -> bool:
    """Rebuild a run from what other uploads brought; False when nothing is left of it."""
    own = set(run.sources.filter(upload=upload).values_list("artifact_id", "path"))
    left = set(run.sources.exclude(upload=upload).values_list("artifact_id", "path"))
    if not left:
        return False
    RunSource.objects.filter(run=run, upload=upload).delete()
    if not own <= left or upload.facts or upload.corrections:
        put(run, rebuild(run))
        changes.record([run.pk], changes.Kind.REBUILT, f"without upload {upload.pk}, which was undone")
    return True


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
        summary.keep(UploadRun.objects.filter(run=successor))
        RunSource.objects.filter(run=successor).update(run=returning)
        UploadRun.objects.filter(run=successor).update(run=returning)
        Note.objects.filter(run=successor).update(run=returning)
        RunChange.objects.filter(run=successor).update(run=returning)
        _delete([successor])
        put(returning, rebuild(returning))
    changes.record([returning.pk], changes.Kind.RESTORED, f"upload {row.upload_id}, which had replaced it, was undone")


def _go_together(one: Run, other: Run) -> bool:
    mine = stored_evidence(one)
    theirs = stored_evidence(other, mine.artifacts)
    return as_one(one.study, [*mine.fragments, *theirs.fragments]) is not None
