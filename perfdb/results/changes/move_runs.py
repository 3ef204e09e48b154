"""Moving runs from one study to another: they are put together anew by the aliases and the pattern of their new study.

A run keeps its id and what people attached to it. A run that the other study has already, and one that no file makes,
stays where it is, and that is said.
"""

from typing import cast

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max, QuerySet
from django.http import QueryDict

from perfdb.analysis.query.parameters import QueryError
from perfdb.results.changes import history
from perfdb.results.changes.rebuild import NotFoundError, put, rebuild, work_through
from perfdb.results.changes.reparse import MOST_NAMED
from perfdb.results.ingest import jobs
from perfdb.results.models import Job, Run, RunSource, Study, Upload
from perfdb.results.queries.run_list.filters import filter_runs
from perfdb.results.runs.lock import lock_study, touch_study

KIND = "move"


def chosen(study: Study, asked: str) -> QuerySet[Run]:
    """The runs of a study that the parameters of the list of runs ask for. Raises QueryError."""
    data = QueryDict(asked.strip().rpartition("?")[2], mutable=True)
    for name in ("sort", "cursor", "size", "study"):
        data.pop(name, None)
    return filter_runs(data).filter(study=study)


def start(study: Study, target: Study, asked: str, person: User) -> Job:
    """Queue moving the runs that are there now. Raises QueryError where nothing is to be moved."""
    if study.pk == target.pk:
        raise QueryError("to", "the runs are in this study already")
    last = chosen(study, asked).aggregate(last=Max("pk"))["last"]
    if last is None:
        raise QueryError("runs", "no run of this study is asked for")
    about = {"study": study.pk, "target": target.pk, "runs": asked, "last": last, "by": person.pk}
    return jobs.enqueue(KIND, study=study, about=about)


def run_move(job: Job) -> None:
    """Do a job: move the runs, some at a time; uploads whose runs have all moved belong to the other study then."""
    study, target = (Study.objects.get(pk=job.about[name]) for name in ("study", "target"))
    person = User.objects.filter(pk=job.about["by"]).first()
    job.outcome = {"runs": 0, "changed": 0, "left": []} | job.outcome
    # Those that came after the person had looked at them were not meant.
    runs = lambda: chosen(study, job.about["runs"]).filter(pk__lte=job.about["last"])  # noqa: E731
    work_through(job, runs, lambda run: _move(job, run, target, person))
    with transaction.atomic():
        _pass_uploads(study, target)
        touch_study(target)
        jobs.finish(job, job.outcome)


def _move(job: Job, run: Run, target: Study, person: User | None) -> bool:
    lock_study(target)
    source = run.study
    trouble = _trouble(run, target) or _moved(run, target)
    if trouble:
        if len(job.outcome["left"]) < MOST_NAMED:
            job.outcome["left"].append([run.pk, run.run_id, trouble])
        return False
    history.record([run.pk], history.Kind.REBUILT, f"moved from study {source.slug} to {target.slug}", person)
    return True


def _trouble(run: Run, target: Study) -> str:
    """Why a run cannot be moved; empty where nothing speaks against it."""
    files = RunSource.objects.filter(run=run).values("artifact")
    if not files.exists():
        return "It came from a document and not as files, and belongs to the study of that document."
    same = Run.objects.filter(study=target, run_id=run.run_id, sources__artifact__in=files)
    return f"{target.title} has a run {run.run_id} of the same files already." if same.exists() else ""


def _moved(run: Run, target: Study) -> str:
    """Put a run into the other study; answers why that could not be done."""
    run.study = target
    try:
        again = rebuild(run)
    except NotFoundError as error:
        return str(error)
    if again.record.refused:
        return "Its files would be refused today."
    put(run, again)
    return ""


def _pass_uploads(study: Study, target: Study) -> None:
    """What is uploaded once more, or undone, is looked for where the runs are now."""
    moved = Upload.objects.filter(study=study, runs__run__study=target)
    staying = Upload.objects.filter(study=study, runs__run__study=study)
    passed = cast("list[int]", list(moved.exclude(pk__in=staying).values_list("pk", flat=True).distinct()))
    Upload.objects.filter(pk__in=passed).update(study=target)
