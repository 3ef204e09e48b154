"""The move of runs to another study, by rebuilding.

The aliases and the run id pattern of the new study apply. The id of a run, and all references to the run, stay. A run
that the new study has already, or that no file makes, stays and is named.
"""

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max, QuerySet
from django.http import QueryDict

from perfdb.analysis.query.parameters import QueryError
from perfdb.results.changes import history
from perfdb.results.changes.rebuild import NotFoundError, process_runs, rebuild_run, store_rebuilt
from perfdb.results.changes.reparse import note_left
from perfdb.results.ingest import jobs
from perfdb.results.models import Job, Run, RunSource, Study, Upload
from perfdb.results.queries.run_list.filters import filter_runs
from perfdb.results.runs.bulk_changes import lock_study, touch_study

KIND = "move"


def select_runs(study: Study, asked: str) -> QuerySet[Run]:
    """Return a study's runs that match a query string. Raise QueryError."""
    data = QueryDict(asked.strip().rpartition("?")[2], mutable=True)
    for name in ("sort", "cursor", "size", "study"):
        data.pop(name, None)
    return filter_runs(data).filter(study=study)


def enqueue_move(study: Study, target: Study, asked: str, person: User) -> Job:
    """Queue the move of the present runs. Raise QueryError without runs."""
    if study.pk == target.pk:
        raise QueryError("to", "the runs are in this study already")
    last = select_runs(study, asked).aggregate(last=Max("pk"))["last"]
    if last is None:
        raise QueryError("runs", "no run of this study is asked for")
    about = {"study": study.pk, "target": target.pk, "runs": asked, "last": last, "by": person.pk}
    return jobs.enqueue(KIND, study=study, about=about)


def run_move(job: Job) -> None:
    """Move the runs of a job, and the uploads of which all runs moved."""
    study, target = (Study.objects.get(pk=job.about[name]) for name in ("study", "target"))
    person = User.objects.filter(pk=job.about["by"]).first()
    job.outcome = {"runs": 0, "changed": 0, "left": []} | job.outcome
    process_runs(
        job,
        # Runs stored after the request are not meant.
        lambda: select_runs(study, job.about["runs"]).filter(pk__lte=job.about["last"]),
        lambda run: _move(job, run, target, person),
    )
    with transaction.atomic():
        # Uploads of which all runs moved go along, so that a repeated upload or an undo finds these.
        moved = Upload.objects.filter(study=study, runs__run__study=target)
        staying = Upload.objects.filter(study=study, runs__run__study=study)
        passed = list(moved.exclude(pk__in=staying).values_list("pk", flat=True).distinct())
        Upload.objects.filter(pk__in=passed).update(study=target)
        touch_study(target)
        jobs.finish(job, job.outcome)


def _move(job: Job, run: Run, target: Study, person: User | None) -> bool:
    lock_study(target)
    source = run.study
    if trouble := _rebuild_in(run, target):
        note_left(job, run, trouble)
        return False
    history.record_change([run.pk], history.Kind.REBUILT, f"moved from study {source.slug} to {target.slug}", person)
    return True


def _rebuild_in(run: Run, target: Study) -> str:
    """Rebuild a run in another study; return the reason of a failure, or ""."""
    files = RunSource.objects.filter(run=run).values("artifact")
    if not files.exists():
        return "It came from a document and not as files, and belongs to the study of that document."
    same = Run.objects.filter(study=target, run_id=run.run_id, sources__artifact__in=files)
    if same.exists():
        return f"{target.title} has a run {run.run_id} of the same files already."
    run.study = target
    try:
        again = rebuild_run(run)
    except NotFoundError as error:
        return str(error)
    if again.record.refused:
        return "Its files would be refused today."
    store_rebuilt(run, again)
    return ""
