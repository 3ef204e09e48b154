"""Tags: short words on runs, kept when a run is read again or replaced."""

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


def parse_tag(name: str) -> str:
    """Return a tag in small letters. Raise QueryError unless one short word."""
    word = name.strip().lower()
    if not _WORD.fullmatch(word) or len(word) > LONGEST:
        raise QueryError(
            "tag", f"{name.strip()!r} is not a tag: a word of up to {LONGEST} letters, digits, dots and hyphens"
        )
    return word


@transaction.atomic
def add_tag(user: User, runs: QuerySet[Run], name: str) -> int:
    """Add a tag to runs; return the number of runs that lacked the tag.

    Raise QueryError for an invalid tag or too many runs, PermissionDenied as `lock_runs`.
    """
    tag = parse_tag(name)
    longer = Func("tags", Value(tag, TextField()), function="array_append", output_field=_ARRAY)
    return _change(user, runs.exclude(tags__contains=[tag]), RunChange.Kind.TAGGED, tag, longer)


@transaction.atomic
def remove_tag(user: User, runs: QuerySet[Run], name: str) -> int:
    """Remove a tag from runs; return the number of changed ones. Raise as `add_tag`."""
    tag = parse_tag(name)
    shorter = Func("tags", Value(tag, TextField()), function="array_remove", output_field=_ARRAY)
    none_left = NullIf(shorter, Value([], _ARRAY))
    return _change(user, runs.filter(tags__contains=[tag]), RunChange.Kind.UNTAGGED, tag, none_left)


def _change(user: User, runs: QuerySet[Run], kind: RunChange.Kind, tag: str, tags: Combinable) -> int:
    taken = bulk_changes.lock_runs(user, runs)
    Run.objects.filter(pk__in=[run.pk for run in taken]).update(tags=tags)
    bulk_changes.record_changes(taken, kind, tag, user)
    return len(taken)


def inherit_tags(replaced: Run, pk: int) -> None:
    """Copy the tags of a replaced run to the run with this id."""
    Run.objects.filter(pk=pk).update(tags=Run.objects.filter(pk=replaced.pk).values("tags"))
