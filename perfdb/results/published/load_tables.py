"""Loading pasted tables as a settled upload, in one transaction.

Text and mapping become files of the upload. Printed figures and differences are stored as for published studies, with
the audit.
"""

import json
from collections.abc import Mapping

from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.db import transaction
from django.utils import timezone

from perfdb.results.ingest import artifacts
from perfdb.results.ingest.store import store
from perfdb.results.ingest.uploads import DECISIONS, inbox_of
from perfdb.results.models import (
    Disagreement,
    PublishedFigure,
    PublishedPercent,
    Run,
    Study,
    Upload,
    UploadFile,
    UploadRun,
)
from perfdb.results.published.map_tables import Reading, save_mappings
from perfdb.results.published.paste_preview import Preview, add_stored_values, file_name, preview_tables
from perfdb.results.published.published_audit import audit_differences, audit_figures
from perfdb.results.published.published_records import FORMAT
from perfdb.results.runs import write
from perfdb.results.runs.bulk_changes import lock_study
from perfdb.results.runs.write import disagreement_row

_MAPPING = "published-mapping"
# The columns that a figure has under the same names.
_FIGURE = ("line", "metric", "role", "printed", "unit", "read_as", "row_label", "column_label")


class NotLoadedError(Exception):
    """The tables cannot be loaded; ``preview`` has the missing decisions, if any."""

    def __init__(self, message: str, preview: Preview | None = None) -> None:
        super().__init__(message)
        self.preview = preview


def load_tables(
    owner: User, study: Study | None, reading: Reading, decisions: Mapping[str, str] | None = None
) -> Upload:
    """Store the runs and mappings of tables in a study, by default the inbox.

    ``decisions`` on conflicts: ``run_id/trial``, or ``run_id/trial#number`` if several runs share both, -> keep,
    replace or trial. Raise NotLoadedError without a run, and for a missing or unknown decision.
    """
    chosen = dict(decisions or {})
    wrong = [choice for choice in chosen.values() if choice not in DECISIONS]
    if wrong:
        raise NotLoadedError(f"{wrong[0][:40]!r} is no decision. Known are: {', '.join(DECISIONS)}.")
    with transaction.atomic():
        into = study or inbox_of(owner)
        lock_study(into)
        upload = _upload(owner, into, chosen, reading)
        preview = preview_tables(into, reading, upload.files.get(format=FORMAT))
        _check(preview, chosen)
        for match in preview.conflicts:
            if match.decision(chosen) == "replace":
                add_stored_values(match)
        write.copy_problems((each, None, upload.pk) for each in [*reading.problems, *preview.records.problems])
        store(upload, preview.matches)
        _store_printed(upload, preview)
        save_mappings(into, owner, reading)
    upload.refresh_from_db()
    return upload


def _store_printed(upload: Upload, preview: Preview) -> None:
    """Store the printed figures of new and replaced runs."""
    rows = list(upload.runs.exclude(run=None).values_list("number", "run_id", "outcome"))
    stored = {number: pk for number, pk, _ in rows}
    new = {number: pk for number, pk, outcome in rows if outcome == UploadRun.Outcome.NEW}
    store_printed(preview, new, stored)
    for number, pk in new.items():
        if (old := preview.matches[number].run) is not None:
            _copy_printed(old, pk)


def _upload(owner: User, study: Study, decisions: dict[str, str], reading: Reading) -> Upload:
    """Store an upload of two files: the pasted text, and the mappings."""
    upload = Upload.objects.create(
        owner=owner, study=study, state=Upload.State.DONE, settled=timezone.now(), decisions=decisions, files_read=2
    )
    mappings = [{"table": each.grid.title, **each.mapping.to_json()} for each in reading.tables]
    path = file_name(reading)
    for format_name, name, content in (
        (FORMAT, path, reading.text.encode("utf-8", "replace")),
        (_MAPPING, f"{path}.mapping.json", json.dumps(mappings, indent=1, ensure_ascii=False).encode()),
    ):
        kept = artifacts.store(ContentFile(content))
        UploadFile.objects.create(upload=upload, artifact=kept, path=name, format=format_name, encoding="utf-8")
    return upload


def _check(preview: Preview, decisions: Mapping[str, str]) -> None:
    if not preview.matches:
        raise NotLoadedError("There is no run in these tables. Say what their headings mean.", preview)
    undecided = [each.record.identity for each in preview.conflicts if each.decision(decisions) is None]
    if undecided:
        raise NotLoadedError(f"Decide what becomes of {', '.join(undecided[:5])}.", preview)


def _table(place: str) -> str:
    """Return the number of a table, or the name: ``Table 6`` is 6."""
    return place.removeprefix("Table ")


def store_printed(preview: Preview, new: Mapping[int, int], all_runs: Mapping[int, int]) -> None:
    """Store printed figures and differences; both mappings: index in the preview -> run."""
    records = preview.records
    PublishedFigure.objects.bulk_create(
        PublishedFigure(run_id=pk, table=_table(each.table), **{name: getattr(each.figure, name) for name in _FIGURE})
        for at, pk in new.items()
        for each in records.runs[at].figures
    )
    numbers = {id(run): at for at, run in enumerate(records.runs)}
    ends = [(each, numbers[id(each.compared)], numbers[id(each.baseline)]) for each in records.percents]
    PublishedPercent.objects.bulk_create(
        PublishedPercent(
            run_id=new[compared],
            baseline_id=all_runs[baseline],
            table=_table(each.table),
            **{name: getattr(each.percent, name) for name in ("line", "metric", "role", "printed")},
        )
        for each, compared, baseline in ends
        if compared in new and baseline in all_runs
    )
    found = [(at, each) for at, of_run in enumerate(audit_figures(records)) for each in of_run]
    found += [(numbers[id(percent.compared)], each) for percent, each in audit_differences(records.percents)]
    Disagreement.objects.bulk_create(disagreement_row(each, new[at]) for at, each in found if at in new)


def _copy_printed(old: Run, new: int) -> None:
    """Copy the printed figures of a replaced run."""
    kept = list(PublishedFigure.objects.filter(run=old))
    for row in kept:
        row.pk, row.run_id = None, new
    PublishedFigure.objects.bulk_create(kept)
