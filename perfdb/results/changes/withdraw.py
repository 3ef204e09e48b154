"""Withdrawing runs and taking that back. A withdrawn run stays with all its files, and enters no table.

A run that another one replaced is withdrawn too; it returns when that upload is undone, and not from here.
"""

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

from perfdb.analysis.query.parameters import QueryError
from perfdb.results.models import Run, RunChange, Study, UploadRun
from perfdb.results.runs import bulk_changes, write
from perfdb.results.runs.experiments import Vocabulary
from perfdb.results.runs.lock import lock_study
from perfdb.results.runs.read import read_record
from perfdb.results.runs.trials import keep_trial, settle_trial

LONGEST_REASON = 500
_WITHDRAWN = Run.Status.WITHDRAWN
_VOCABULARY = ("study", "system", "level", "workload", "device")


@transaction.atomic
def withdraw(user: User, runs: QuerySet[Run], reason: str) -> int:
    """Take those of these runs that count out of all tables; answers how many.

    Raises QueryError without a reason and for too many runs, PermissionDenied as `bulk.take` does.
    """
    said = " ".join(reason.replace("\0", " ").split())
    if not said:
        raise QueryError("reason", "say why these runs are withdrawn; it stands in their history")
    if len(said) > LONGEST_REASON:
        raise QueryError("reason", f"the reason has {len(said)} characters, and at most {LONGEST_REASON} are kept")
    taken = _take(user, runs.exclude(status=_WITHDRAWN))
    Run.objects.filter(pk__in=[run.pk for run in taken]).update(status=_WITHDRAWN)
    bulk_changes.keep(taken, RunChange.Kind.WITHDRAWN, said, user)
    return len(taken)


@transaction.atomic
def restore(user: User, runs: QuerySet[Run]) -> int:
    """Let those of these runs that a person withdrew count again, with the status they had; answers how many.

    A run whose place was taken meanwhile, by one of the same run id and trial, returns as a further trial. Raises as
    `withdraw` does.
    """
    taken = _take(user, _restorable(runs))
    before = _statuses_before(taken)
    crowded = list(_crowded(taken))
    places = {run.pk for run in crowded}
    for status in set(before.values()):
        free = [pk for pk, each in before.items() if each == status and pk not in places]
        Run.objects.filter(pk__in=free).update(status=status)
    # One after the other: two of them may want the same place.
    for run in crowded:
        _return_where_free(run, before[run.pk])
    bulk_changes.keep(taken, RunChange.Kind.RESTORED, "", user)
    return len(taken)


def _take(user: User, runs: QuerySet[Run]) -> list[Run]:
    """As `bulk.take`, with the studies locked: an import must not place runs meanwhile."""
    for study in Study.objects.filter(pk__in=runs.order_by().values("study")).order_by("pk"):
        lock_study(study)
    return bulk_changes.take(user, runs)


def _restorable(runs: QuerySet[Run]) -> QuerySet[Run]:
    replaced = Exists(UploadRun.objects.filter(replaced=OuterRef("pk")))
    by_a_person = Exists(RunChange.objects.filter(run=OuterRef("pk"), kind=RunChange.Kind.WITHDRAWN))
    return runs.filter(~replaced, by_a_person, status=_WITHDRAWN)


def _statuses_before(runs: list[Run]) -> dict[int, str]:
    """The status of each run before it was last withdrawn."""
    last = RunChange.objects.filter(run=OuterRef("pk"), kind=RunChange.Kind.WITHDRAWN).order_by("-pk")
    found = Run.objects.filter(pk__in=[run.pk for run in runs])
    return dict(found.values_list("pk", Subquery(last.values("status_before")[:1])))


def _crowded(runs: list[Run]) -> QuerySet[Run]:
    """Those of these runs whose run id and trial another run of their experiment has, or is about to have again."""
    keys = [run.pk for run in runs]
    same = Run.objects.filter(experiment=OuterRef("experiment"), run_id=OuterRef("run_id"), trial=OuterRef("trial"))
    rivals = same.filter(~Q(status=_WITHDRAWN) | Q(pk__in=keys)).exclude(pk=OuterRef("pk"))
    found = Run.objects.filter(Exists(rivals), pk__in=keys).order_by("pk")
    return found.select_related("study", *(f"experiment__{name}" for name in _VOCABULARY))


def _return_where_free(run: Run, status: str) -> None:
    """Let a run count again as the trial that it was, or as a further one where that is taken."""
    record = read_record(run)
    record.status = status
    keep_trial(run, record)
    vocabulary = Vocabulary(run.study)
    settle_trial(vocabulary, run, record)
    write.put(vocabulary, run, record)
