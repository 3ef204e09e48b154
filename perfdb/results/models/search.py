"""What the start page and the search read instead of all runs.

Triggers keep these tables (migration ``0001_schema``).
"""

from typing import ClassVar

from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models.functions import Upper

from perfdb.results.models.dimensions import Study


class StudyActivity(models.Model):
    """How many runs a study has, without withdrawn ones, and when that last changed."""

    study = models.OneToOneField(Study, models.CASCADE, primary_key=True, db_constraint=False, related_name="activity")
    runs = models.BigIntegerField(default=0)
    changed = models.DateTimeField()

    class Meta:
        db_table = "study_activity"

    def __str__(self) -> str:
        return f"{self.runs} runs"


class SearchName(models.Model):
    """A name that runs go by, once however many runs have it: millions of runs share few of them.

    It stays when the last of its runs goes; who searches looks whether any is there.
    """

    class Kind(models.TextChoices):
        """What it is on a run."""

        RUN = "run"
        TAG = "tag"

    kind = models.CharField(max_length=3, choices=Kind)
    text = models.TextField()

    class Meta:
        db_table = "search_name"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["kind", "text"], name="search_name_once"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            # For what begins with a text, and for what contains it or is like it; both in capitals.
            models.Index("kind", OpClass(Upper("text"), name="text_pattern_ops"), name="search_name_begins"),
            GinIndex(OpClass(Upper("text"), name="gin_trgm_ops"), name="search_name_like"),
        ]

    def __str__(self) -> str:
        return self.text
