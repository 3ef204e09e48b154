"""Changes of many stored runs at once: permission, limit and history.

Each change is one transaction: lock the runs, change them, add a `RunChange` row for each and raise the version of
the studies, which invalidates caches.
"""

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import F, QuerySet

from perfdb.analysis.query.parameters import QueryError
from perfdb.results.database.sql import take_lock
from perfdb.results.models import Run, RunChange, Study
from perfdb.results.runs import access

# More runs than that are not changed in one act: a transaction that rewrites them holds up everybody else.
MOST_CHANGED = 20_000
_BATCH = 1000
_STUDY_LOCK = 0x5354_5544  # any number of our own: "STUD"


def lock_runs(user: User, runs: QuerySet[Run]) -> list[Run]:
    """Return the runs, locked until the transaction ends, with study, status and identity.

    Raise PermissionDenied if the user may not change one of the studies, and QueryError above MOST_CHANGED runs.
    """
    chosen = runs.order_by("pk").values("pk")[: MOST_CHANGED + 1]
    locked = Run.objects.filter(pk__in=chosen).order_by("pk").select_for_update()
    taken = list(locked.only("study", "status", "experiment", "run_id", "trial"))
    if len(taken) > MOST_CHANGED:
        raise QueryError("", f"more than {MOST_CHANGED} runs are chosen; narrow them down and change them in parts")
    for study in Study.objects.filter(pk__in={run.study_id for run in taken}):
        if not access.may_change(user, study):
            raise PermissionDenied(f"{study.slug} is somebody else's study; its owner and staff may change its runs")
    return taken


def record_changes(runs: Sequence[Run], kind: RunChange.Kind, detail: str, user: User) -> None:
    """Record a change of runs, which have the status before; raise the studies' versions."""
    withdrawn = kind == RunChange.Kind.WITHDRAWN
    rows = [
        RunChange(run=run, kind=kind, detail=detail, status_before=run.status if withdrawn else "", made_by=user)
        for run in runs
    ]
    RunChange.objects.bulk_create(rows, batch_size=_BATCH)
    Study.objects.filter(pk__in={run.study_id for run in runs}).update(version=F("version") + 1)


def lock_study(study: Study) -> None:
    """Lock the study against other imports until the transaction ends."""
    take_lock(_STUDY_LOCK, study.pk)


def touch_study(study: Study) -> None:
    """Raise the version of the study's data, which invalidates caches."""
    Study.objects.filter(pk=study.pk).update(version=F("version") + 1)
