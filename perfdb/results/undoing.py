"""Taking an upload back: its runs go, what it added to other runs goes, what it replaced returns."""

from django.db import transaction
from django.utils import timezone

from perfdb.results import jobs, load
from perfdb.results.experiments import Vocabulary
from perfdb.results.importing import lock_study, touch_study
from perfdb.results.models import Experiment, Job, Run, RunSource, Upload, UploadRun
from perfdb.results.reading import record_of, stored_evidence, together


def run_undo(job: Job) -> dict[str, object]:
    """Do an undo job, all in one transaction: other readers see the study before it or after it."""
    upload = jobs.upload_of(job)
    with transaction.atomic():
        jobs.hold(job)
        lock_study(upload.study)
        touched = list(Run.objects.filter(sources__upload=upload).distinct())
        removed = [run for run in touched if not _take_evidence(upload, run)]
        experiments = {run.experiment_id for run in removed}
        Run.objects.filter(pk__in=[run.pk for run in removed]).delete()
        Experiment.objects.filter(pk__in=experiments, run=None).delete()
        _bring_back(upload)
        touch_study(upload.study)
        Upload.objects.filter(pk=upload.pk).update(state=Upload.State.UNDONE, settled=timezone.now())
    return {"removed": len(removed), "touched": len(touched)}


def _take_evidence(upload: Upload, run: Run) -> bool:
    """Rebuild a run from what other uploads brought; False when nothing is left of it."""
    own = set(run.sources.filter(upload=upload).values_list("artifact_id", flat=True))
    others = run.sources.exclude(upload=upload)
    left = set(others.values_list("artifact_id", flat=True))
    if not left:
        return False
    RunSource.objects.filter(run=run, upload=upload).delete()
    if not own <= left:
        rebuild(run)
    return True


def rebuild(run: Run) -> None:
    """Read a run's files again and store what they say now."""
    evidence = stored_evidence(run)
    (draft,) = together(run.study, evidence.fragments).drafts
    record = record_of(draft, evidence.context)
    if run.workload_id is not None and record.has_driver:
        record.trial = run.trial
    load.rewrite(Vocabulary(run.study), run, record, evidence.sources)


def _bring_back(upload: Upload) -> None:
    """Runs that this upload replaced count again, with the status they had."""
    for row in UploadRun.objects.filter(upload=upload).exclude(replaced=None):
        Run.objects.filter(replaced_by=row).update(status=row.replaced_status)
