"""What people do to many stored runs at once: who may, how many, and the record that is kept of it.

Every such act goes the same way, in one transaction: take the runs, change them, write a row of `RunChange` for each
and raise the version of their studies, so that nothing that was cached of them is shown again.
"""

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import F, QuerySet

from perfdb.analysis.query.parameters import QueryError
from perfdb.results.models import Run, RunChange, Study
from perfdb.results.runs import access

# More runs than that are not changed in one act: a transaction that rewrites them holds up everybody else.
MOST_CHANGED = 20_000
_BATCH = 1000


def take(user: User, runs: QuerySet[Run]) -> list[Run]:
    """These runs, locked until the transaction ends, with what tells how to change them: study, status, identity.

    Raises PermissionDenied when one belongs to a study that the user may not change, and QueryError when there are
    more than MOST_CHANGED.
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


def keep(runs: Sequence[Run], kind: RunChange.Kind, detail: str, user: User) -> None:
    """Write down what was done to these runs, and say that their studies' data have changed.

    ``status`` of a run is what it was when it was taken; a withdrawn one returns to it.
    """
    withdrawn = kind == RunChange.Kind.WITHDRAWN
    rows = [
        RunChange(run=run, kind=kind, detail=detail, status_before=run.status if withdrawn else "", made_by=user)
        for run in runs
    ]
    RunChange.objects.bulk_create(rows, batch_size=_BATCH)
    Study.objects.filter(pk__in={run.study_id for run in runs}).update(version=F("version") + 1)
