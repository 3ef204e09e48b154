"""Tags: short words that people put on runs to find them again. They stay when a run is read again or replaced."""

import re
from typing import Any

from django.contrib.auth.models import User
from django.contrib.postgres.fields import ArrayField
from django.db import transaction
from django.db.models import Func, QuerySet, TextField, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import NullIf

from perfdb.analysis.query.parameters import QueryError
from perfdb.results.models import Run, RunChange
from perfdb.results.runs import bulk_changes

LONGEST = 40
_WORD = re.compile(r"[a-z0-9][a-z0-9._-]*")
_ARRAY: Any = ArrayField(TextField())


def read(name: str) -> str:
    """A tag as it is kept, in small letters; raises QueryError for what is not one short word."""
    word = name.strip().lower()
    if not _WORD.fullmatch(word) or len(word) > LONGEST:
        raise QueryError(
            "tag", f"{name.strip()!r} is not a tag: a word of up to {LONGEST} letters, digits, dots and hyphens"
        )
    return word


@transaction.atomic
def add(user: User, runs: QuerySet[Run], name: str) -> int:
    """Put a tag on those of these runs that lack it; answers how many.

    Raises QueryError for a name that is no tag and for too many runs, PermissionDenied as `bulk.take` does.
    """
    tag = read(name)
    longer = Func("tags", Value(tag, TextField()), function="array_append", output_field=_ARRAY)
    return _change(user, runs.exclude(tags__contains=[tag]), RunChange.Kind.TAGGED, tag, longer)


@transaction.atomic
def remove(user: User, runs: QuerySet[Run], name: str) -> int:
    """Take a tag off those of these runs that have it; answers how many. Raises as `add` does."""
    tag = read(name)
    shorter = Func("tags", Value(tag, TextField()), function="array_remove", output_field=_ARRAY)
    none_left = NullIf(shorter, Value([], _ARRAY))
    return _change(user, runs.filter(tags__contains=[tag]), RunChange.Kind.UNTAGGED, tag, none_left)


def _change(user: User, runs: QuerySet[Run], kind: RunChange.Kind, tag: str, tags: Combinable) -> int:
    taken = bulk_changes.take(user, runs)
    Run.objects.filter(pk__in=[run.pk for run in taken]).update(tags=tags)
    bulk_changes.keep(taken, kind, tag, user)
    return len(taken)


def inherit(replaced: Run, pk: int) -> None:
    """Give the run with this id the tags of the one that it replaces."""
    Run.objects.filter(pk=pk).update(tags=Run.objects.filter(pk=replaced.pk).values("tags"))
