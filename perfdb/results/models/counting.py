"""How many runs each experiment has: counting a million takes too long.

A trigger keeps it (migration ``counts_in_one_place``).
"""

from typing import ClassVar

from django.db import models

from perfdb.results.models.vocabulary import Experiment


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
