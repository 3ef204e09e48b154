"""Reports of studies, published figures, and mismatches."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from perfdb.results.models.dimensions import Row


class ReportItem(Row):
    """A table, figure, finding or piece of prose of a study's report.

    ``queries`` are query strings without the study, one for each part of a table; ``frozen=TOKEN`` refers to a frozen
    link instead. ``half``: drawn in half the width. ``asks`` is the question in the title
    of a maximum table; it is set only if the document printed other runs than the answer to that question.
    """

    class Kind(models.TextChoices):
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
    half = models.BooleanField(default=False)
    # Rises with each change, so that saving an older state is refused.
    version = models.IntegerField(default=1)
    # Complete runs of the study when the prose was last written; NULL for an item of a document.
    written_with = models.IntegerField(null=True)

    class Meta:
        db_table = "report_item"
        ordering = ["kind", "position"]
        constraints = [
            models.UniqueConstraint(fields=["study", "kind", "position"], name="report_item_place"),
            models.UniqueConstraint(
                fields=["study", "kind", "number"], condition=~Q(number=""), name="report_item_number"
            ),
        ]


class RemovedItem(Row):
    """An item removed from a report; ``columns`` are its values, for restoring it."""

    study = models.ForeignKey("results.Study", models.CASCADE, related_name="removed_items")
    columns = models.JSONField()
    removed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    removed = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "removed_item"
        ordering = ["-removed", "-pk"]


class PublishedFigure(Row):
    """A number as printed in a document's table; the run has the value."""

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


class PublishedPercent(Row):
    """A printed difference in per cent of ``run`` from ``baseline``."""

    run = models.ForeignKey("results.Run", models.CASCADE, related_name="published_percents")
    baseline = models.ForeignKey("results.Run", models.CASCADE, related_name="+")
    table = models.TextField()
    line = models.IntegerField(null=True)
    metric = models.TextField()
    role = models.TextField()
    printed = models.TextField()

    class Meta:
        db_table = "published_percent"


class Disagreement(Row):
    """A printed number of a document or log that contradicts other printed numbers."""

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


class Claim(Row):
    """A number in a study's prose, to be checked against runs.

    ``compared`` and ``baseline`` are filters as in a query string. The values of ``compared``, or the differences
    from ``baseline`` in ``unit``, have the ``relation`` (is, up to, at least, ...) to ``value``.
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


class TableMapping(Row):
    """Meaning of a study's table headings, for tables of the same shape.

    ``shape`` is a digest of the headings that do not change from table to table; ``mapping`` is the plain data of
    ``importers.published.mapping``.
    """

    study = models.ForeignKey("results.Study", models.CASCADE, related_name="table_mappings")
    shape = models.CharField(max_length=64)
    title = models.TextField(blank=True)
    mapping = models.JSONField()
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    changed = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "table_mapping"
        constraints = [models.UniqueConstraint(fields=["study", "shape"], name="table_mapping_shape")]
