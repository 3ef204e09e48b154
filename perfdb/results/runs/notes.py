"""Notes on runs: writing, changing and removing them, and reading those of many runs at once.

A note belongs to its run as it is stored: it stays when the run is read again, extended or moved by an alias. A run
that another one replaces keeps its notes; they are not copied, since they were written about other numbers.
"""

from collections.abc import Mapping

import numpy as np
from django.contrib.auth.models import AnonymousUser, User
from django.contrib.postgres.expressions import ArraySubquery
from django.db import transaction
from django.db.models import OuterRef
from django.utils import timezone
from numpy.typing import NDArray

from perfdb.analysis.query.parameters import QueryError
from perfdb.results.models import Note, Run, RunChange
from perfdb.results.runs import bulk_changes
from perfdb.results.runs.access import may_change

LONGEST = 2000
# The texts of a run's notes as a column of its row, oldest first.
TEXTS = ArraySubquery(Note.objects.filter(run=OuterRef("pk")).values("text"))


def may_edit(user: User | AnonymousUser, note: Note) -> bool:
    """Whether this visitor may change or remove a note: who wrote it, and who may change the study."""
    return bool(user.is_authenticated and (note.author_id == user.pk or may_change(user, note.run.study)))


def add(author: User, run: Run, text: str) -> Note:
    """Write a note on a run; raises QueryError for a text that cannot be one."""
    with transaction.atomic():
        note = Note.objects.create(run=run, text=_checked(text), author=author)
        _changed(note, RunChange.Kind.NOTED, note.text, author)
    return note


def edit(editor: User, note: Note, text: str) -> None:
    """Put another text in a note's place; the former one stays in the run's history. Raises as `add` does."""
    wanted = _checked(text)
    with transaction.atomic():
        held = Note.objects.select_for_update(of=["self"]).select_related("run__study").get(pk=note.pk)
        if held.text == wanted:
            return
        former = held.text
        held.text, held.edited = wanted, timezone.now()
        held.save(update_fields=["text", "edited"])
        _changed(held, RunChange.Kind.NOTE_EDITED, former, editor)


def remove(editor: User, note: Note) -> None:
    """Take a note away; its text stays in the run's history. Removing it twice is removing it once."""
    with transaction.atomic():
        held = Note.objects.select_for_update(of=["self"]).select_related("run__study").filter(pk=note.pk).first()
        if held is None:
            return
        held.delete()
        _changed(held, RunChange.Kind.NOTE_REMOVED, held.text, editor)


def _changed(note: Note, kind: RunChange.Kind, detail: str, by: User) -> None:
    """What was done; every table with this run prints its notes, so the study's data have changed."""
    bulk_changes.keep([note.run], kind, detail, by)


def _checked(text: str) -> str:
    clean = "\n".join(line.rstrip() for line in text.splitlines()).strip()
    if not clean:
        raise QueryError("text", "a note needs a text")
    if len(clean) > LONGEST:
        raise QueryError("text", f"the note has {len(clean)} characters, and at most {LONGEST} are kept; shorten it")
    if "\0" in clean or any("\ud800" <= character <= "\udfff" for character in clean):
        raise QueryError("text", "the note has a character that cannot be stored")
    return clean


def of_runs(runs: NDArray[np.int64]) -> Mapping[int, tuple[str, ...]]:
    """Return the texts of all notes on these runs, oldest first, by the run's id."""
    # Runs that are read together were mostly written together: most notes between the first and the last are theirs.
    between = Note.objects.filter(run__gte=int(runs.min()), run__lte=int(runs.max())).order_by("created", "pk")
    wanted, texts = set(runs.tolist()), dict[int, tuple[str, ...]]()
    for run, text in between.values_list("run_id", "text"):
        if run in wanted:
            texts[run] = (*texts.get(run, ()), text)
    return texts
