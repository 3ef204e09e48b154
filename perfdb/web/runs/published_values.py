"""Where the document of a study prints the figures of a run: table, line and labels, for the run's page."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.urls import reverse
from django.utils.text import slugify

from perfdb.analysis.metrics import Measure
from perfdb.results.models import Run


@dataclass(frozen=True, slots=True)
class PrintedAt:
    """One place of a document that prints a figure; ``address`` is the table in the study's report."""

    table: str
    line: int | None
    printed: str
    unit: str
    labels: str
    address: str


def printed_at(run: Run) -> Mapping[Measure, list[PrintedAt]]:
    """All places of the document that print figures of a run, in its order; empty for a run that was measured."""
    report = reverse("web:study", args=[run.study.slug])
    found: dict[Measure, list[PrintedAt]] = {}
    for each in run.published_figures.order_by("line", "pk"):
        labels = ", ".join(text for text in (each.row_label, each.column_label) if text)
        address = f"{report}#table-{slugify(each.table)}" if each.table else report
        place = PrintedAt(each.table, each.line, each.printed, each.unit, labels, address)
        found.setdefault(Measure(each.metric, each.role), []).append(place)
    return found
