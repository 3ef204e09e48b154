"""Withdrawing and restoring runs: withdrawn runs are in no table.

A replaced run is withdrawn too, but returns only by the undo of the replacing upload.
"""

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

from perfdb.analysis.query.parameters import QueryError
from perfdb.results.models import Run, RunChange, Study, UploadRun
from perfdb.results.runs import bulk_changes, write
from perfdb.results.runs.bulk_changes import lock_study
from perfdb.results.runs.experiments import Vocabulary, keep_trial, settle_trial
from perfdb.results.runs.read import EXPERIMENT_ALONG, read_record

MAX_REASON_LENGTH = 500
_WITHDRAWN = Run.Status.WITHDRAWN


@transaction.atomic
def withdraw_runs(user: User, runs: QuerySet[Run], reason: str) -> int:
    """Withdraw runs; return the number. Raise QueryError, and PermissionDenied as `bulk_changes.lock_runs`."""
    said = " ".join(reason.replace("\0", " ").split())
    if not said:
        raise QueryError("reason", "give the reason; the history shows it")
    if len(said) > MAX_REASON_LENGTH:
        raise QueryError("reason", f"the reason has {len(said)} characters, and at most {MAX_REASON_LENGTH} are kept")
    taken = _take(user, runs.exclude(status=_WITHDRAWN))
    Run.objects.filter(pk__in=[run.pk for run in taken]).update(status=_WITHDRAWN)
    bulk_changes.record_changes(taken, RunChange.Kind.WITHDRAWN, said, user)
    return len(taken)


@transaction.atomic
def restore_runs(user: User, runs: QuerySet[Run]) -> int:
    """Restore runs that a person withdrew, with the former status; return the number.

    A run whose run id and trial are taken returns as a further trial. Raise as `withdraw_runs` does.
    """
    replaced = Exists(UploadRun.objects.filter(replaced=OuterRef("pk")))
    by_a_person = Exists(RunChange.objects.filter(run=OuterRef("pk"), kind=RunChange.Kind.WITHDRAWN))
    taken = _take(user, runs.filter(~replaced, by_a_person, status=_WITHDRAWN))
    last = RunChange.objects.filter(run=OuterRef("pk"), kind=RunChange.Kind.WITHDRAWN).order_by("-pk")
    found = Run.objects.filter(pk__in=[run.pk for run in taken])
    before = dict(found.values_list("pk", Subquery(last.values("status_before")[:1])))
    crowded = list(_crowded(taken))
    places = {run.pk for run in crowded}
    for status in set(before.values()):
        free = [pk for pk, each in before.items() if each == status and pk not in places]
        Run.objects.filter(pk__in=free).update(status=status)
    # One by one, since two of them may need the same trial.
    for run in crowded:
        _return_where_free(run, before[run.pk])
    bulk_changes.record_changes(taken, RunChange.Kind.RESTORED, "", user)
    return len(taken)


def _take(user: User, runs: QuerySet[Run]) -> list[Run]:
    """Lock runs as `bulk_changes.lock_runs` does, and the studies against imports."""
    for study in Study.objects.filter(pk__in=runs.order_by().values("study")).order_by("pk"):
        lock_study(study)
    return bulk_changes.lock_runs(user, runs)


def _crowded(runs: list[Run]) -> QuerySet[Run]:
    """Return the runs whose run id and trial are taken or wanted twice."""
    keys = [run.pk for run in runs]
    same = Run.objects.filter(experiment=OuterRef("experiment"), run_id=OuterRef("run_id"), trial=OuterRef("trial"))
    rivals = same.filter(~Q(status=_WITHDRAWN) | Q(pk__in=keys)).exclude(pk=OuterRef("pk"))
    found = Run.objects.filter(Exists(rivals), pk__in=keys).order_by("pk")
    return found.select_related("study", "experiment__study", *EXPERIMENT_ALONG)


def _return_where_free(run: Run, status: str) -> None:
    """Restore a run as the former trial, or as a further one."""
    record = read_record(run)
    record.status = status
    keep_trial(run, record)
    vocabulary = Vocabulary(run.study)
    settle_trial(vocabulary, run, record)
    write.replace_values(vocabulary, run, record)
