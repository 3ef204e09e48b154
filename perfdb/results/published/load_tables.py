"""Loading a paste: its text and mapping as the files of an upload, its runs through the ordinary load path.

All of it happens in one transaction. The upload is settled at once, and can be undone like any other.
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
from perfdb.results.models import Study, Upload, UploadFile, UploadRun
from perfdb.results.published.map_tables import Reading, remember
from perfdb.results.published.match_published import with_both
from perfdb.results.published.paste_preview import Kept, Preview, file_name, prepared
from perfdb.results.published.printed_figures import copy_printed, keep_printed
from perfdb.results.published.published_records import FORMAT
from perfdb.results.runs import write
from perfdb.results.runs.lock import lock_study

_MAPPING = "published-mapping"


class NotLoadedError(Exception):
    """The tables cannot be loaded as they are; the text says why. ``preview`` has what must be decided, if anything."""

    def __init__(self, message: str, preview: Preview | None = None) -> None:
        super().__init__(message)
        self.preview = preview


def load_tables(
    owner: User, study: Study | None, reading: Reading, decisions: Mapping[str, str] | None = None
) -> Upload:
    """Store the runs of these tables, and remember their mappings for the study; without a study in the inbox.

    ``decisions``: ``run_id/trial``, or ``run_id/trial#number`` where several runs have these, -> keep, replace or
    trial, for runs in conflict. Raises NotLoadedError when there is no run, a decision is missing or is none.
    """
    chosen = dict(decisions or {})
    wrong = [choice for choice in chosen.values() if choice not in DECISIONS]
    if wrong:
        raise NotLoadedError(f"{wrong[0][:40]!r} is no decision. Known are: {', '.join(DECISIONS)}.")
    files = _files(reading)
    with transaction.atomic():
        into = study or inbox_of(owner)
        lock_study(into)
        upload = _upload(owner, into, chosen, files)
        source = upload.files.get(format=FORMAT)
        preview = prepared(into, reading, Kept(source.path, source.artifact_id, upload.pk, upload.created))
        _check(preview, chosen)
        for placement in preview.conflicts:
            if placement.decision(chosen) == "replace":
                with_both(placement)
        write.copy_problems((each, None, upload.pk) for each in [*reading.problems, *preview.records.problems])
        store(upload, preview.placements)
        _keep_printed(upload, preview)
        remember(into, owner, reading)
    upload.refresh_from_db()
    return upload


def _keep_printed(upload: Upload, preview: Preview) -> None:
    """What was printed of the runs that were stored now, also of those that they replace with their figures."""
    rows = list(upload.runs.exclude(run=None).values_list("number", "run_id", "outcome"))
    stored = {number: pk for number, pk, _ in rows}
    new = {number: pk for number, pk, outcome in rows if outcome == UploadRun.Outcome.NEW}
    keep_printed(preview, new, stored)
    ours = [(preview.placements[number].run, pk) for number, pk in new.items()]
    copy_printed([(old, pk) for old, pk in ours if old is not None])


def _files(reading: Reading) -> dict[str, tuple[str, bytes]]:
    """The text as pasted and what was said of it: format -> path and content."""
    mappings = [{"table": each.grid.title, **each.mapping.to_json()} for each in reading.tables]
    path = file_name(reading)
    return {
        FORMAT: (path, reading.text.encode("utf-8", "replace")),
        _MAPPING: (f"{path}.mapping.json", json.dumps(mappings, indent=1, ensure_ascii=False).encode()),
    }


def _upload(owner: User, study: Study, decisions: dict[str, str], files: dict[str, tuple[str, bytes]]) -> Upload:
    upload = Upload.objects.create(
        owner=owner,
        study=study,
        state=Upload.State.DONE,
        settled=timezone.now(),
        decisions=decisions,
        files_read=len(files),
    )
    for format_name, (path, content) in files.items():
        kept = artifacts.store(ContentFile(content))
        UploadFile.objects.create(upload=upload, artifact=kept, path=path, format=format_name, encoding="utf-8")
    return upload


def _check(preview: Preview, decisions: Mapping[str, str]) -> None:
    if not preview.placements:
        raise NotLoadedError("There is no run in these tables. Say what their headings mean.", preview)
    undecided = [each.record.identity for each in preview.conflicts if each.decision(decisions) is None]
    if undecided:
        raise NotLoadedError(f"Decide what becomes of {', '.join(undecided[:5])}.", preview)
