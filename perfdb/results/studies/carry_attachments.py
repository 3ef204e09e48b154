"""What people attached to runs, carried over where a changed document writes its runs anew, under other numbers."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from perfdb.results.models import Note, Run, RunChange, Study

# What tells a run from the others of its study, whatever its number is.
_IDENTITY = ("experiment__key", "run_id", "trial")


@dataclass(frozen=True, slots=True)
class Attached:
    """The tags, notes and record of one run, which goes by ``identity``."""

    identity: tuple[Any, ...]
    tags: list[str] | None
    notes: list[dict[str, Any]]
    changes: list[dict[str, Any]]


def attached(runs: QuerySet[Run]) -> list[Attached]:
    """What is attached to those of these runs that have anything."""
    noted, changed = (Exists(model.objects.filter(run=OuterRef("pk"))) for model in (Note, RunChange))
    having = runs.filter(Q(tags__isnull=False) | noted | changed)
    return [
        Attached(tuple(identity), tags, _rows(Note, pk), _rows(RunChange, pk))
        for pk, tags, *identity in having.values_list("pk", "tags", *_IDENTITY)
    ]


def _rows(model: Any, run: int) -> list[dict[str, Any]]:
    return list(model.objects.filter(run=run).values())


def attach(study: Study, carried: Iterable[Attached]) -> None:
    """Attach it to the runs of the same identity; what belongs to none of them is gone with its run."""
    for each in carried:
        run = Run.objects.filter(study=study, **dict(zip(_IDENTITY, each.identity, strict=True))).first()
        if run is not None:
            Run.objects.filter(pk=run.pk).update(tags=each.tags)
            _write(Note, run, each.notes, "created")
            _write(RunChange, run, each.changes, "made")


def _write(model: Any, run: Run, rows: Iterable[dict[str, Any]], moment: str) -> None:
    """Rows as they were, with the moment at which they were first written."""
    for row in rows:
        model.objects.create(**row | {"run_id": run.pk})
        model.objects.filter(pk=row["id"]).update(**{moment: row[moment]})
