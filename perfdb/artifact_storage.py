"""Storage of artifacts: a folder, or an S3-compatible bucket, as ``ARTIFACTS_URL`` chooses."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from uuid import uuid4

from django.core.exceptions import ImproperlyConfigured
from django.core.files.base import File
from django.core.files.storage import FileSystemStorage

# Beyond so many bytes a file of the bucket is read by way of a temporary file, and not held in memory.
_MOST_IN_MEMORY = 8 * 1024 * 1024
_S3_OPTIONS = frozenset({"endpoint_url", "region_name", "addressing_style", "signature_version"})


def storage(url: str) -> Mapping[str, Any]:
    """Return Django's STORAGES entry for ``ARTIFACTS_URL``; by default the artifacts' folder.

    ``s3://bucket/prefix?endpoint_url=https://s3.example.org&region_name=eu-1``; the keys come from the environment or
    from the machine's role, as boto3 looks for them. Raise ImproperlyConfigured for any other address.
    """
    if not url:
        return {"BACKEND": "perfdb.artifact_storage.WholeFiles"}
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query))
    if parts.scheme != "s3" or not parts.netloc or not options.keys() <= _S3_OPTIONS:
        known = ", ".join(sorted(_S3_OPTIONS))
        raise ImproperlyConfigured(f"ARTIFACTS_URL={url} is not s3://BUCKET/PREFIX with any of: {known}")
    about = {"bucket_name": parts.netloc, "location": parts.path.strip("/"), "max_memory_size": _MOST_IN_MEMORY}
    return {"BACKEND": "storages.backends.s3.S3Storage", "OPTIONS": options | about}


class WholeFiles(FileSystemStorage):
    """Storage in a folder in which every file is complete, as in a bucket."""

    def get_available_name(self, name: str, max_length: int | None = None) -> str:
        """Return the name unchanged: equal names have equal bytes."""
        return name

    def _save(self, name: str, content: "File[bytes]") -> str:
        """Write beside and move into place; remove an incomplete file."""
        partial = f"{name}.{uuid4().hex}.part"
        try:
            super()._save(partial, content)  # type: ignore[misc] # the stubs lack this hook
            Path(self.path(partial)).replace(self.path(name))
        except BaseException:
            self.delete(partial)
            raise
        return name
