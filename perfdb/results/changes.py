"""The record of what jobs do to runs after they were stored; people's own acts go through `bulk`."""

from collections.abc import Iterable

from django.contrib.auth.models import User

from perfdb.results.models import RunChange


def record(runs: Iterable[int], kind: RunChange.Kind, detail: str = "", by: User | None = None) -> None:
    """Keep that this was done to these runs (their numbers), in the caller's transaction."""
    RunChange.objects.bulk_create(RunChange(run_id=run, kind=kind, detail=detail, made_by=by) for run in runs)
