"""What was printed where: every figure and difference of an uploaded table as it stands there, and its audit.

They are kept as those of the published studies are, so that the same pages show both.
"""

from collections.abc import Mapping, Sequence

from perfdb.results import models
from perfdb.results.models import PublishedFigure, PublishedPercent, Run
from perfdb.results.published.paste_preview import Preview
from perfdb.results.published.published_audit import audit_of_figures, audit_of_percents
from perfdb.results.published.published_records import PrintedFigure
from perfdb.results.runs.write import disagreement_row


def _table(place: str) -> str:
    """The number of a table, else what it is called: ``Table 6`` is 6."""
    return place.removeprefix("Table ")


def keep_printed(preview: Preview, new: Mapping[int, int], all_runs: Mapping[int, int]) -> None:
    """Store what the tables print of their runs: place in the preview -> id, of new runs and of all that are stored."""
    runs = preview.records.runs
    PublishedFigure.objects.bulk_create(_figure(each, pk) for at, pk in new.items() for each in runs[at].figures)
    numbers = {id(run): at for at, run in enumerate(runs)}
    ends = [
        (percent, numbers[id(percent.compared)], numbers[id(percent.baseline)]) for percent in preview.records.percents
    ]
    PublishedPercent.objects.bulk_create(
        PublishedPercent(
            run_id=new[compared],
            baseline_id=all_runs[baseline],
            table=_table(each.table),
            line=each.percent.line,
            metric=each.percent.metric,
            role=each.percent.role,
            printed=each.percent.printed,
        )
        for each, compared, baseline in ends
        if compared in new and baseline in all_runs
    )
    _keep_audit(preview, new, numbers)


def _keep_audit(preview: Preview, new: Mapping[int, int], numbers: Mapping[int, int]) -> None:
    records = preview.records
    found = [(at, each) for at, of_run in enumerate(audit_of_figures(records.runs)) for each in of_run]
    found += [(numbers[id(percent.compared)], each) for percent, each in audit_of_percents(records.percents)]
    models.Disagreement.objects.bulk_create(disagreement_row(each, new[at]) for at, each in found if at in new)


def _figure(each: PrintedFigure, run: int) -> PublishedFigure:
    figure = each.figure
    return PublishedFigure(
        run_id=run,
        table=_table(each.table),
        line=figure.line,
        metric=figure.metric,
        role=figure.role,
        printed=figure.printed,
        unit=figure.unit,
        read_as=figure.read_as,
        row_label=figure.row_label,
        column_label=figure.column_label,
    )


def copy_printed(pairs: Sequence[tuple[Run, int]]) -> None:
    """Let runs that replace others also keep what was printed of those: (replaced, id of the new one)."""
    for old, pk in pairs:
        kept = list(PublishedFigure.objects.filter(run=old))
        for row in kept:
            row.pk, row.run_id = None, pk
        PublishedFigure.objects.bulk_create(kept)
