"""Notes on runs: add, edit, remove, and read for many runs.

A note stays when the run is read again, extended or changed by an alias. A replaced run keeps the notes, which are
about other numbers than the new run's.
"""

from collections.abc import Mapping

import numpy as np
from django.contrib.auth.models import AnonymousUser, User
from django.contrib.postgres.expressions import ArraySubquery
from django.db import transaction
from django.db.models import OuterRef, QuerySet
from django.utils import timezone
from numpy.typing import NDArray

from perfdb.analysis.query.parameters import QueryError
from perfdb.results.database.sql import is_storable
from perfdb.results.models import Note, Run, RunChange
from perfdb.results.runs.access import may_change
from perfdb.results.runs.bulk_changes import record_changes

LONGEST = 2000
# The texts of a run's notes as a column of its row, oldest first.
TEXTS = ArraySubquery(Note.objects.filter(run=OuterRef("pk")).values("text"))


def may_edit(user: User | AnonymousUser, note: Note) -> bool:
    """Return whether a visitor may change a note: its author, the study's owner, staff."""
    return bool(user.is_authenticated and (note.author_id == user.pk or may_change(user, note.run.study)))


def add_note(author: User, run: Run, text: str) -> Note:
    """Add a note to a run. Raise QueryError for an invalid text."""
    with transaction.atomic():
        note = Note.objects.create(run=run, text=_checked(text), author=author)
        # This raises the study's version, since tables print notes.
        record_changes([run], RunChange.Kind.NOTED, note.text, author)
    return note


def edit_note(editor: User, note: Note, text: str) -> None:
    """Replace a note's text; the history keeps the old one. Raise QueryError if invalid."""
    wanted = _checked(text)
    with transaction.atomic():
        held = _locked(note).get()
        if held.text == wanted:
            return
        former = held.text
        held.text, held.edited = wanted, timezone.now()
        held.save(update_fields=["text", "edited"])
        record_changes([held.run], RunChange.Kind.NOTE_EDITED, former, editor)


def remove_note(editor: User, note: Note) -> None:
    """Remove a note, if still there; the text stays in the run's history."""
    with transaction.atomic():
        held = _locked(note).first()
        if held is not None:
            held.delete()
            record_changes([held.run], RunChange.Kind.NOTE_REMOVED, held.text, editor)


def _locked(note: Note) -> QuerySet[Note]:
    return Note.objects.select_for_update(of=["self"]).select_related("run__study").filter(pk=note.pk)


def _checked(text: str) -> str:
    clean = "\n".join(line.rstrip() for line in text.splitlines()).strip()
    if not clean:
        raise QueryError("text", "a note needs a text")
    if len(clean) > LONGEST:
        raise QueryError("text", f"the note has {len(clean)} characters, and at most {LONGEST} are kept; shorten it")
    if not is_storable(clean):
        raise QueryError("text", "the note has a character that cannot be stored")
    return clean


def read_notes(runs: NDArray[np.int64]) -> Mapping[int, tuple[str, ...]]:
    """Return the notes on runs, oldest first, by run id."""
    # Runs that are read together were mostly written together: most notes between the first and the last are theirs.
    between = Note.objects.filter(run__gte=int(runs.min()), run__lte=int(runs.max())).order_by("created", "pk")
    wanted, texts = set(runs.tolist()), dict[int, tuple[str, ...]]()
    for run, text in between.values_list("run_id", "text"):
        if run in wanted:
            texts[run] = (*texts.get(run, ()), text)
    return texts
