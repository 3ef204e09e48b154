"""How many runs each experiment has, and each value in a study: counting a million takes too long.

A trigger keeps both (migration ``0001_schema``).
"""

from typing import ClassVar

from django.db import models

from perfdb.results.models.dimensions import Experiment, Study


class RunCount(models.Model):
    """The number of runs of an experiment that ended in one way; may be 0."""

    experiment = models.ForeignKey(Experiment, models.CASCADE, db_constraint=False, db_index=False, related_name="+")
    status = models.CharField(max_length=10)
    runs = models.BigIntegerField()

    class Meta:
        db_table = "run_count"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["experiment", "status"], name="run_count_once"),
        ]

    def __str__(self) -> str:
        return f"{self.runs} {self.status}"


class DimensionCount(models.Model):
    """The number of a study's runs that have a value of a dimension and ended in one way; may be 0.

    ``name`` is the dimension's, a factor's as ``factor.NAME``, and empty for all runs; ``value`` is empty where it is
    missing, but factors have only those that there are.
    """

    study = models.ForeignKey(Study, models.CASCADE, db_constraint=False, db_index=False, related_name="+")
    status = models.CharField(max_length=10)
    name = models.TextField()
    value = models.TextField()
    runs = models.BigIntegerField()

    class Meta:
        db_table = "dimension_count"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["study", "status", "name", "value"], name="dimension_count_once"),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.value}: {self.runs} {self.status}".strip()
