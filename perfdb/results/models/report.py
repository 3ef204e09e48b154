"""What a study publishes: its report, the figures as its document printed them, and where they do not follow."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q


class ReportItem(models.Model):
    """A table, a figure, a finding or a piece of prose of a study's report, in their order.

    ``queries`` are query strings without the study: a table of several parts has several. ``asks`` is the question
    that a maximum table's title puts, where the document printed other runs than answer it.
    """

    class Kind(models.TextChoices):
        """What is shown."""

        TABLE = "table"
        FIGURE = "figure"
        FINDING = "finding"
        PROSE = "prose"

    study = models.ForeignKey("results.Study", models.CASCADE, related_name="report_items")
    kind = models.CharField(max_length=7, choices=Kind)
    position = models.IntegerField()
    number = models.TextField(blank=True)
    title = models.TextField()
    queries = models.JSONField(default=list)
    asks = models.TextField(blank=True)
    prose = models.TextField(blank=True)
    # Rises with each change: who saves an older state is told.
    version = models.IntegerField(default=1)
    # Complete runs of the study when the prose was last written; NULL for what a document brought.
    written_with = models.IntegerField(null=True)

    class Meta:
        db_table = "report_item"
        ordering: ClassVar[list[str]] = ["kind", "position"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["study", "kind", "position"], name="report_item_place"),
            models.UniqueConstraint(
                fields=["study", "kind", "number"], condition=~Q(number=""), name="report_item_number"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.number}: {self.title}".replace(" : ", ": ")


class RemovedItem(models.Model):
    """What was taken out of a report, so that it can be put back: the columns of the item."""

    study = models.ForeignKey("results.Study", models.CASCADE, related_name="removed_items")
    columns = models.JSONField()
    removed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    removed = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "removed_item"
        ordering: ClassVar[list[str]] = ["-removed", "-pk"]

    def __str__(self) -> str:
        return str(self.columns["title"])


class PublishedFigure(models.Model):
    """A figure as a document prints it in one of its tables; the run holds its value once."""

    run = models.ForeignKey("results.Run", models.CASCADE, related_name="published_figures")
    table = models.TextField()
    line = models.IntegerField(null=True)
    metric = models.TextField()
    role = models.TextField()
    printed = models.TextField()
    unit = models.TextField(blank=True)
    read_as = models.TextField()
    row_label = models.TextField(blank=True)
    column_label = models.TextField(blank=True)

    class Meta:
        db_table = "published_figure"

    def __str__(self) -> str:
        return f"table {self.table}: {self.metric}@{self.role} {self.printed}"


class PublishedPercent(models.Model):
    """A difference in per cent as a document prints it: how much larger ``run`` is than ``baseline``."""

    run = models.ForeignKey("results.Run", models.CASCADE, related_name="published_percents")
    baseline = models.ForeignKey("results.Run", models.CASCADE, related_name="+")
    table = models.TextField()
    line = models.IntegerField(null=True)
    metric = models.TextField()
    role = models.TextField()
    printed = models.TextField()

    class Meta:
        db_table = "published_percent"

    def __str__(self) -> str:
        return f"table {self.table}: {self.metric}@{self.role} {self.printed}"


class Disagreement(models.Model):
    """A published figure that does not follow from the others it should follow from."""

    run = models.ForeignKey("results.Run", models.CASCADE, related_name="disagreements")
    kind = models.TextField()
    severity = models.TextField()
    table = models.TextField(blank=True)
    line = models.IntegerField(null=True)
    metric = models.TextField()
    role = models.TextField()
    printed = models.TextField()
    recomputed = models.FloatField()
    low = models.FloatField()
    high = models.FloatField()
    unit = models.TextField()
    formula = models.TextField()
    message = models.TextField()

    class Meta:
        db_table = "disagreement"

    def __str__(self) -> str:
        return self.message


class Claim(models.Model):
    """A number in a study's prose, to be held against runs: ``compared`` is ``value`` times ``baseline``, or is it.

    ``compared`` and ``baseline`` are filters as in a query string.
    """

    study = models.ForeignKey("results.Study", models.CASCADE, related_name="claims")
    name = models.TextField()
    line = models.IntegerField(null=True)
    printed = models.TextField()
    relation = models.TextField()
    value = models.FloatField()
    unit = models.TextField()
    metric = models.TextField(blank=True)
    role = models.TextField(blank=True)
    compared = models.TextField(blank=True)
    baseline = models.TextField(blank=True)

    class Meta:
        db_table = "claim"

    def __str__(self) -> str:
        return self.printed
