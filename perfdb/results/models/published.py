"""What people said that the headings of published tables mean, kept for the next table of the study."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from perfdb.results.models.dimensions import Study


class TableMapping(models.Model):
    """How the tables of one shape are read in a study; a table of the same shape replaces it.

    ``shape`` is a digest of the headings that do not change from table to table; ``mapping`` is the plain data of
    ``importers.published.mapping``.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="table_mappings")
    shape = models.CharField(max_length=64)
    title = models.TextField(blank=True)
    mapping = models.JSONField()
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    changed = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "table_mapping"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["study", "shape"], name="table_mapping_shape"),
        ]

    def __str__(self) -> str:
        return self.title or self.shape[:12]
