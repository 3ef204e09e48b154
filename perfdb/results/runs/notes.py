"""Notes on runs: add, edit, remove, and read for many runs.

A note stays when the run is read again, extended or changed by an alias. A replaced run keeps the notes, which are
about other numbers than the new run's.
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
    """Return whether a visitor may change a note: its author, the study's owner, staff."""
    return bool(user.is_authenticated and (note.author_id == user.pk or may_change(user, note.run.study)))


def add_note(author: User, run: Run, text: str) -> Note:
    """Add a note to a run. Raise QueryError for an invalid text."""
    with transaction.atomic():
        note = Note.objects.create(run=run, text=_checked(text), author=author)
        _changed(note, RunChange.Kind.NOTED, note.text, author)
    return note


def edit_note(editor: User, note: Note, text: str) -> None:
    """Replace a note's text; the run's history keeps the old one.

    Raise QueryError for an invalid text.
    """
    wanted = _checked(text)
    with transaction.atomic():
        held = Note.objects.select_for_update(of=["self"]).select_related("run__study").get(pk=note.pk)
        if held.text == wanted:
            return
        former = held.text
        held.text, held.edited = wanted, timezone.now()
        held.save(update_fields=["text", "edited"])
        _changed(held, RunChange.Kind.NOTE_EDITED, former, editor)


def remove_note(editor: User, note: Note) -> None:
    """Remove a note, if still there; the text stays in the run's history."""
    with transaction.atomic():
        held = Note.objects.select_for_update(of=["self"]).select_related("run__study").filter(pk=note.pk).first()
        if held is None:
            return
        held.delete()
        _changed(held, RunChange.Kind.NOTE_REMOVED, held.text, editor)


def _changed(note: Note, kind: RunChange.Kind, detail: str, by: User) -> None:
    """Record the change and raise the study's version, since tables print notes."""
    bulk_changes.record_changes([note.run], kind, detail, by)


def _checked(text: str) -> str:
    clean = "\n".join(line.rstrip() for line in text.splitlines()).strip()
    if not clean:
        raise QueryError("text", "a note needs a text")
    if len(clean) > LONGEST:
        raise QueryError("text", f"the note has {len(clean)} characters, and at most {LONGEST} are kept; shorten it")
    if "\0" in clean or any("\ud800" <= character <= "\udfff" for character in clean):
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
