"""What a web process has read of a file, left at the broker for the worker that imports it.

It spares reading the same again. Nothing depends on it: where it is not there any more, or a worker was cut off, the
file is read.
"""

import logging
from datetime import timedelta

import redis

from importers import run_records
from perfdb.results import broker
from perfdb.results.models import Artifact, Upload

LARGEST = 16 * 1024 * 1024
"""More than that is read again instead: the broker keeps it in memory."""

_KEPT = timedelta(minutes=2)
_logger = logging.getLogger(__name__)


def leave(upload: Upload, said: bytes) -> None:
    """Leave what the only file of an upload, of run records, says."""
    if len(said) > LARGEST:
        return
    try:
        broker.connected().set(_key(Artifact.objects.get(uploadfile__upload=upload)), said, ex=_KEPT)
    except redis.RedisError as error:
        _logger.warning("upload %s will be read again, for the broker is away: %s", upload.pk, error)


def taken(artifact: Artifact) -> bytes | None:
    """What was left of a file, and is not any more."""
    try:
        said = broker.connected().getdel(_key(artifact))
    except redis.RedisError:
        return None
    return said if isinstance(said, bytes) else None


def _key(artifact: Artifact) -> str:
    """By what the file holds, and by what reads it."""
    return f"perfdb:read:{run_records.NAME}:{run_records.VERSION}.{run_records.LAYOUT}:{artifact.sha256}"
