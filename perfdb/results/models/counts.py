"""Counts and names of runs, kept by triggers (migration ``0001_schema``)."""

from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models.functions import Upper

from perfdb.results.models.dimensions import Experiment, Study


class RunCount(models.Model):
    """The number of an experiment's runs with a status; may be 0."""

    experiment = models.ForeignKey(Experiment, models.CASCADE, db_constraint=False, db_index=False, related_name="+")
    status = models.CharField(max_length=10)
    runs = models.BigIntegerField()

    class Meta:
        db_table = "run_count"
        constraints = [models.UniqueConstraint(fields=["experiment", "status"], name="run_count_once")]

    def __str__(self) -> str:
        return f"{self.runs} {self.status}"


class DimensionCount(models.Model):
    """Number of a study's runs by dimension, value and status.

    The number may be 0. ``name`` is a dimension, ``factor.NAME`` for a factor, or "" for all runs. ``value`` is "" for
    a missing value; a missing factor has no row.
    """

    study = models.ForeignKey(Study, models.CASCADE, db_constraint=False, db_index=False, related_name="+")
    status = models.CharField(max_length=10)
    name = models.TextField()
    value = models.TextField()
    runs = models.BigIntegerField()

    class Meta:
        db_table = "dimension_count"
        constraints = [
            models.UniqueConstraint(fields=["study", "status", "name", "value"], name="dimension_count_once")
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.value}: {self.runs} {self.status}".strip()


class StudyActivity(models.Model):
    """The number of a study's runs without withdrawn ones, and the last change's time."""

    study = models.OneToOneField(Study, models.CASCADE, primary_key=True, db_constraint=False, related_name="activity")
    runs = models.BigIntegerField(default=0)
    changed = models.DateTimeField()

    class Meta:
        db_table = "study_activity"

    def __str__(self) -> str:
        return f"{self.runs} runs"


class SearchName(models.Model):
    """A run id or tag for the search, stored once for all runs.

    The row stays when the last run goes, so the search checks for runs.
    """

    class Kind(models.TextChoices):
        RUN = "run"
        TAG = "tag"

    kind = models.CharField(max_length=3, choices=Kind)
    text = models.TextField()

    class Meta:
        db_table = "search_name"
        constraints = [models.UniqueConstraint(fields=["kind", "text"], name="search_name_once")]
        indexes = [
            # For prefixes, and for substrings and similar texts; both in capitals.
            models.Index("kind", OpClass(Upper("text"), name="text_pattern_ops"), name="search_name_begins"),
            GinIndex(OpClass(Upper("text"), name="gin_trgm_ops"), name="search_name_like"),
        ]

    def __str__(self) -> str:
        return self.text
