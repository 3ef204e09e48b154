"""Upload of large files in pieces.

Bytes are appended to a file on disk until an upload takes the whole file. Each block is written under the lock of the
file's row and only at the row's offset. A hanging request therefore blocks no other, and a late one changes nothing.
At most one block is in memory.
"""

import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from secrets import token_urlsafe
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.base import File
from django.db import transaction
from django.db.models import QuerySet, Sum
from django.utils import timezone

from perfdb.results.ingest import uploads
from perfdb.results.ingest.uploads import IntakeError
from perfdb.results.models import PartialFile, Upload

BLOCK = 1024 * 1024


class WrongOffsetError(Exception):
    """The bytes do not begin at the end of the file, which is ``received``."""

    def __init__(self, received: int) -> None:
        super().__init__(f"{received} bytes are there: go on from offset {received}")
        self.received = received


def begin(owner: User, path: str, size: int, fingerprint: str = "", sha256: str = "") -> tuple[PartialFile, bool]:
    """Return the unfinished file of this description, and whether the row is new.

    Raise IntakeError for an invalid path, and for more bytes than the limit or the disk allow.
    """
    uploads.check_path(path)
    with transaction.atomic():
        # The second of two pages that begin the same file must find the row of the first.
        User.objects.select_for_update().get(pk=owner.pk)
        about: dict[str, Any] = {"path": path, "size": size, "fingerprint": fingerprint, "sha256": sha256}
        known = _open(owner).filter(**about).first()
        if known is not None:
            return known, False
        _check_room(owner, size)
        return PartialFile.objects.create(token=token_urlsafe(16), owner=owner, **about), True


def _open(owner: User) -> QuerySet[PartialFile]:
    return PartialFile.objects.filter(owner=owner, upload=None).order_by("-touched")


def unfinished(owner: User) -> list[PartialFile]:
    """Return a person's files that no upload has taken, the latest first."""
    return list(_open(owner))


def _check_room(owner: User, size: int) -> None:
    limit = settings.UPLOAD_LIMIT_BYTES
    if size > limit:
        raise IntakeError(f"The file has {size:,} bytes, and at most {limit:,} are taken.")
    waiting = _open(owner).aggregate(sum=Sum("size"))["sum"] or 0
    if waiting + size > limit:
        raise IntakeError(
            f"With this file {waiting + size:,} bytes would be on their way, and at most {limit:,} are taken. "
            "Finish or discard what was begun before."
        )
    _folder().mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(_folder()).free
    # The import needs as much again.
    if free < 2 * size:
        raise IntakeError(f"The server has no room for {size:,} more bytes. Tell whoever runs it.")


def append(part: PartialFile, offset: int, blocks: Iterable[bytes], sha256: str = "") -> PartialFile:
    """Write bytes at ``offset`` and return the file.

    Bytes before a broken connection are kept. ``sha256`` is the expected digest of the bytes, in hexadecimal. Raise
    WrongOffsetError if the file ends elsewhere, and IntakeError for too many bytes or a wrong digest.
    """
    digest, at = hashlib.sha256(), offset
    with transaction.atomic():
        received = _locked(part).received
    if received != offset:
        raise WrongOffsetError(received)
    try:
        for block in blocks:
            digest.update(block)
            at = _write(part, at, block)
    finally:
        if (path := path_of(part)).exists():
            # The received bytes survive a crash of the machine.
            with path.open("rb") as stream:
                os.fsync(stream.fileno())
    if sha256 and digest.hexdigest() != sha256.lower():
        _cut(part, at, offset)
        raise IntakeError("The bytes arrived damaged and were not kept. Send them again.")
    part.refresh_from_db()
    _check_whole(part)
    return part


def _locked(part: PartialFile) -> PartialFile:
    """Return the locked row; after a crash the received bytes are those on disk."""
    held = PartialFile.objects.select_for_update().get(pk=part.pk)
    path = path_of(held)
    if held.upload_id is None and (there := path.stat().st_size if path.exists() else 0) < held.received:
        _set_received(held, there)
    return held


def _set_received(held: PartialFile, size: int) -> None:
    held.received = size
    held.save(update_fields=["received", "touched"])


def _write(part: PartialFile, at: int, block: bytes) -> int:
    with transaction.atomic():
        held = _locked(part)
        if held.received != at or held.upload_id is not None:
            raise WrongOffsetError(held.received)
        if at + len(block) > held.size:
            raise IntakeError(f"{held.path} was to have {held.size:,} bytes, and more came. Begin it anew.")
        with os.fdopen(os.open(path_of(held), os.O_RDWR | os.O_CREAT, 0o600), "r+b") as stream:
            stream.seek(at)
            stream.write(block)
        _set_received(held, at + len(block))
    return held.received


def _cut(part: PartialFile, at: int, offset: int) -> None:
    """Remove the bytes of a request, unless another request has continued."""
    with transaction.atomic():
        held = _locked(part)
        if held.received == at:
            _set_received(held, offset)


def _check_whole(part: PartialFile) -> None:
    """Discard a complete file of another digest than expected, and raise IntakeError."""
    if not part.sha256 or part.received < part.size:
        return
    with _whole(part).open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != part.sha256.lower():
        discard(part)
        raise IntakeError(
            f"{part.path} arrived with SHA-256 {found}, not {part.sha256}; it was discarded. Send it again."
        )


def _whole(part: PartialFile) -> Path:
    """Return the path of the file, cut to the declared size."""
    path = path_of(part)
    path.touch()
    os.truncate(path, part.size)
    return path


def discard(part: PartialFile) -> None:
    """Delete a file and its row."""
    path_of(part).unlink(missing_ok=True)
    part.delete()


def expire() -> None:
    """Delete files that have not been continued for PREVIEW_DAYS."""
    oldest = timezone.now() - timedelta(days=settings.PREVIEW_DAYS)
    for part in PartialFile.objects.filter(touched__lt=oldest):
        discard(part)


def path_of(part: PartialFile) -> Path:
    """Return the path of the file's bytes."""
    return _folder() / part.token


def _folder() -> Path:
    return Path(settings.MEDIA_ROOT) / "partial"


class _Arrived(File):  # type: ignore[type-arg] # generic for the type checker alone
    """A complete file, open only during reading, because an upload may have many."""

    def __init__(self, part: PartialFile) -> None:
        super().__init__(None, part.path)
        self._path = _whole(part)
        self.size = part.size

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]:
        """Yield the bytes in chunks."""
        with self._path.open("rb") as stream:
            while chunk := stream.read(chunk_size or BLOCK):
                yield chunk

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Do nothing: each reading begins at the first byte."""
        return offset

    def temporary_file_path(self) -> str:
        """Return a hard link, which the store moves into place without copying."""
        link = self._path.with_name(f"{self._path.name}.{uuid4().hex}")
        os.link(self._path, link)
        return str(link)


def receive(owner: User, files: Iterable[tuple[str, "File[bytes]"]], tokens: Sequence[str], **more: Any) -> Upload:
    """Receive an upload of files and of files in pieces.

    The same tokens again return the same upload. Raise IntakeError as `uploads.receive`, and for a file that is
    unknown, incomplete, or part of another upload.
    """
    if not tokens:
        return uploads.receive(owner, files, **more)
    with transaction.atomic():
        parts = _parts(owner, tokens)
        earlier = {part.upload for part in parts}
        if len(earlier) == 1 and (known := earlier.pop()) is not None:
            return known
        for part in parts:
            if part.upload is not None:
                raise IntakeError(f"{part.path} is in upload {part.upload.pk} already. Send it again for another one.")
            if part.received < part.size:
                raise IntakeError(f"{part.path} is not whole: {part.received:,} of {part.size:,} bytes are there.")
        upload = uploads.receive(owner, [*files, *((part.path, _Arrived(part)) for part in parts)], **more)
        PartialFile.objects.filter(pk__in=[part.pk for part in parts]).update(upload=upload, touched=timezone.now())
        for part in parts:
            transaction.on_commit(partial(path_of(part).unlink, missing_ok=True))
    return upload


def _parts(owner: User, tokens: Sequence[str]) -> list[PartialFile]:
    wanted = list(dict.fromkeys(tokens))
    rows = PartialFile.objects.select_for_update(of=("self",)).filter(owner=owner, token__in=wanted)
    found = {part.token: part for part in rows.select_related("upload").order_by("pk")}
    missing = [token for token in wanted if token not in found]
    if missing:
        raise IntakeError(f"There is no file {missing[0]!r} of yours on its way; it may have expired. Send it again.")
    return [found[token] for token in wanted]
