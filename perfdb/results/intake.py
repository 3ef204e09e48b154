"""Bringing files in: receive an upload, accept its preview, undo it. The work itself is done by jobs."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib.auth.models import User
from django.core.files.base import File

from perfdb.results.models import Study, Upload

DECISIONS = ("keep", "replace", "trial")


class IntakeError(Exception):
    """A request that cannot be carried out; the text says why and what to do."""


def receive(
    owner: User,
    files: Iterable[tuple[str, File[bytes]]],
    *,
    study: Study | None = None,
    facts: Mapping[str, Any] | None = None,
    preview: bool = False,
) -> Upload:
    """Store files (relative path, content) as received and queue their import.

    Without a study the runs go to the owner's inbox. ``facts`` is what the files lack, such as
    ``{"processors": 2, "mtu": 1500}``. With ``preview`` nothing is stored of the runs until ``accept``.
    Raises IntakeError for no files, an unknown fact, or more bytes than ``UPLOAD_LIMIT_BYTES``.
    """
    raise NotImplementedError


def accept(upload: Upload, decisions: Mapping[str, str] | None = None) -> None:
    """Load what the preview showed. ``decisions``: ``run_id/trial`` -> keep, replace or trial, for conflicts.

    Raises IntakeError when the upload is not in preview or a decision is not one of the three.
    """
    raise NotImplementedError


def undo(upload: Upload) -> None:
    """Take an upload back: runs it brought go, runs it extended lose that evidence, runs it replaced return.

    Files stay downloadable. Raises IntakeError when the upload is not done or in preview.
    """
    raise NotImplementedError


def choose_format(upload: Upload, path: str, format_name: str) -> None:
    """Read a file as the format the person says, where recognition found none or two; parses again."""
    raise NotImplementedError
