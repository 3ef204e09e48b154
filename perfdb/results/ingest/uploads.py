"""Uploads: receive files, accept a preview, undo. Jobs do the work."""

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from pathlib import PurePosixPath
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.base import File
from django.db import transaction
from django.utils import timezone

from importers.files.archive import LONGEST_PATH
from perfdb.analysis.dimensions import FACTOR
from perfdb.results.database.sql import is_storable
from perfdb.results.ingest import artifacts, jobs
from perfdb.results.models import RunSource, Study, Upload, UploadFile, UploadRun
from perfdb.results.models.dimensions import INBOX
from perfdb.results.runs.normalize.configuration import GIVEN_FACTS

DECISIONS = ("keep", "replace", "trial")
State = Upload.State


class IntakeError(Exception):
    """A refused request; the text has the reason and a remedy."""


def receive(
    owner: User,
    files: Iterable[tuple[str, "File[bytes]"]],
    *,
    study: Study | None = None,
    facts: Mapping[str, Any] | None = None,
    corrections: Sequence[Mapping[str, Any]] = (),
    preview: bool = False,
) -> Upload:
    """Store files (relative path, content), and queue the import.

    Without a study the runs go to the owner's inbox. ``facts`` are missing from the files, such as ``{"processors":
    2, "mtu": 1500}``; ``corrections`` are those of an earlier upload of these files. With ``preview`` no run is stored
    before ``accept``. Raise IntakeError for no files, an invalid name, an unknown fact or one that is no text or
    number, or more bytes than ``UPLOAD_LIMIT_BYTES``.
    """
    content = list(files)
    _check_files(content)
    given = checked_facts(facts or {})
    names = _distinct(path for path, _ in content)
    kept = artifacts.store_all([file for _, file in content])
    with transaction.atomic():
        about = {"preview_asked": preview, "facts": given, "corrections": list(corrections)}
        upload = Upload.objects.create(owner=owner, study=study or inbox_of(owner), **about)
        UploadFile.objects.bulk_create(
            UploadFile(upload=upload, artifact=artifact, path=name) for name, artifact in zip(names, kept, strict=True)
        )
        jobs.enqueue("import", upload)
    return upload


def study_called(owner: User, slug: str, title: str = "") -> Study:
    """Return the study with this slug, or create one."""
    return Study.objects.get_or_create(slug=slug, defaults={"title": title or slug, "owner": owner})[0]


def inbox_of(owner: User) -> Study:
    """Return the owner's inbox, the study of runs without another study."""
    return Study.objects.get_or_create(owner=owner, slug=INBOX, defaults={"title": f"Inbox of {owner.username}"})[0]


def _check_files(files: list[tuple[str, "File[bytes]"]]) -> None:
    if not files:
        raise IntakeError("No file was sent. Choose at least one log, or a zip of a folder.")
    size = sum(file.size for _, file in files)
    limit = settings.UPLOAD_LIMIT_BYTES
    if size > limit:
        raise IntakeError(
            f"The files have {size:,} bytes together, and at most {limit:,} are taken. Send fewer at once."
        )


def checked_facts(facts: Mapping[str, Any], keys: Sequence[str] = GIVEN_FACTS) -> dict[str, Any]:
    """Return the facts that are not blank.

    Raise IntakeError for a key that is not one of ``keys``, and for a value that is no text or number.
    """
    unknown = [key for key in facts if key not in keys and not _is_factor(key)]
    if unknown:
        known = ", ".join(keys)
        raise IntakeError(f"Unknown fact {unknown[0]!r}. Known are: {known}, and {FACTOR}NAME for a factor.")
    wrong = [key for key, value in facts.items() if not _is_plain(value)]
    if wrong:
        raise IntakeError(f"The fact {wrong[0]!r} must be a text or a number.")
    foreign = [key for key, value in facts.items() if not is_storable(str(value))]
    if foreign:
        raise IntakeError(f"The fact {foreign[0]!r} has a character that cannot be stored.")
    # Dimensions are compared as text: 2.0 is 2.
    whole = {key: int(value) for key, value in facts.items() if isinstance(value, float) and value.is_integer()}
    return {key: whole.get(key, value) for key, value in facts.items() if value != ""}


def _is_factor(key: str) -> bool:
    return key.startswith(FACTOR) and len(key) > len(FACTOR) and is_storable(key)


def _is_plain(value: object) -> bool:
    if isinstance(value, float):
        return isfinite(value)
    return isinstance(value, str | int) and not isinstance(value, bool)


def check_path(path: str) -> None:
    """Raise IntakeError for an invalid path."""
    if not is_storable(path) or len(path.encode()) > LONGEST_PATH:
        raise IntakeError(f"The file name {path[:40]!a} is no text or longer than {LONGEST_PATH} bytes. Rename it.")


def _distinct(paths: Iterable[str]) -> list[str]:
    """Return clean relative paths, numbered before the ending if equal."""
    taken: set[str] = set()
    names = []
    for path in paths:
        check_path(path)
        parts = [part for part in PurePosixPath(path).parts if part not in ("/", "//", "..", ".")]
        clean = PurePosixPath(*parts or ["unnamed"])
        name, n = str(clean), 1
        while name in taken:
            n += 1
            name = str(clean.with_stem(f"{clean.stem} ({n})"))
        taken.add(name)
        names.append(name)
    return names


def accept(upload: Upload, decisions: Mapping[str, str] | None = None) -> None:
    """Queue the import of a preview, with decisions on conflicts.

    ``decisions`` map ``run_id/trial``, or ``run_id/trial#number`` if several runs have these, to keep, replace or
    trial. Raise IntakeError if the upload is not in preview, or for another decision.
    """
    wrong = [choice for choice in (decisions or {}).values() if choice not in DECISIONS]
    if wrong:
        raise IntakeError(f"{wrong[0]!r} is no decision. Known are: {', '.join(DECISIONS)}.")
    with transaction.atomic():
        held = locked(upload, {State.PREVIEW}, "accept")
        held.decisions = dict(decisions or {})
        held.state, held.settled, held.files_read = State.LOADING, None, 0
        held.save(update_fields=["decisions", "state", "settled", "files_read"])
        jobs.enqueue("import", held)


def undo(upload: Upload) -> None:
    """Undo an upload: remove new runs and added evidence, restore replaced runs.

    Files stay downloadable. Raise IntakeError unless the upload is done, failed or in preview, and for runs of a
    published document.
    """
    with transaction.atomic():
        held = locked(upload, {State.DONE, State.PREVIEW, State.FAILED}, "undo")
        if RunSource.objects.filter(upload=held).exists():
            held.state, held.settled = State.LOADING, None
            jobs.enqueue("undo", held)
        elif held.runs.filter(loaded=True, outcome=UploadRun.Outcome.NEW, run__isnull=False).exists():
            raise IntakeError("Its runs are those of a published document, which are of no files: they stay.")
        else:
            held.state, held.settled = State.UNDONE, timezone.now()
        held.save(update_fields=["state", "settled"])


def locked(upload: Upload, allowed: set[str], verb: str) -> Upload:
    """Return the locked upload. Raise IntakeError for another state."""
    held = Upload.objects.select_for_update().get(pk=upload.pk)
    if held.state not in allowed:
        raise IntakeError(f"Cannot {verb} upload {held.pk}: it is {held.state}, not {' or '.join(sorted(allowed))}.")
    return held
