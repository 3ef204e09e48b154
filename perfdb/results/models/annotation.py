"""Notes on runs, and the history of changes to runs."""

from typing import ClassVar

from django.conf import settings
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models import Q
from django.db.models.functions import Upper


class Note(models.Model):
    """A person's remark on a run, shown with every number of the run."""

    run = models.ForeignKey("results.Run", models.CASCADE, related_name="notes")
    text = models.TextField()
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    created = models.DateTimeField(auto_now_add=True)
    edited = models.DateTimeField(null=True)

    class Meta:
        db_table = "note"
        ordering: ClassVar[list[str]] = ["created", "pk"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(condition=~Q(text=""), name="note_not_empty"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            GinIndex(OpClass(Upper("text"), name="gin_trgm_ops"), name="note_like"),
        ]

    def __str__(self) -> str:
        return self.text


class RunChange(models.Model):
    """A change of a stored run by a person or a job."""

    class Kind(models.TextChoices):
        """The kind of change."""

        EXTENDED = "extended"
        REBUILT = "rebuilt"
        WITHDRAWN = "withdrawn"
        RESTORED = "restored"
        TAGGED = "tagged"
        UNTAGGED = "untagged"
        NOTED = "noted"
        NOTE_EDITED = "note-edited"
        NOTE_REMOVED = "note-removed"

    run = models.ForeignKey("results.Run", models.CASCADE, related_name="changes")
    kind = models.CharField(max_length=12, choices=Kind)
    # For people: the tag, the note's former text, the reason of a withdrawal.
    detail = models.TextField(blank=True)
    # The status to which a withdrawn run returns.
    status_before = models.CharField(max_length=10, blank=True)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    made = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "run_change"
        ordering: ClassVar[list[str]] = ["made", "pk"]

    def __str__(self) -> str:
        return f"{self.kind} {self.detail}".strip()
