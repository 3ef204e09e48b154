"""Parsers of uploads, which keep the folders in file names, and of JSON records.

Browsers and curl send a file's relative path in ``filename``. Django drops the folders twice: when it reads the name
and when it creates the file. Folders tell runs and trials apart, so these parsers keep them.
"""

import posixpath
from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from django.core.exceptions import TooManyFilesSent
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler, MemoryFileUploadHandler, TemporaryFileUploadHandler
from django.http.multipartparser import MultiPartParser as DjangoMultiPartParser
from rest_framework.parsers import BaseParser, DataAndFiles, MultiPartParser

from perfdb.api.errors import TooLarge
from perfdb.results.ingest.json_runs import LARGEST


class _KeepsPath(FileUploadHandler):
    """Handler that keeps the path of each file."""

    def file_complete(self, file_size: int) -> "UploadedFile[bytes] | None":
        file = super().file_complete(file_size)
        if file is not None:
            file.relative_path = self.file_name  # type: ignore[attr-defined] # its name cannot hold a path
        return file


class _InMemory(_KeepsPath, MemoryFileUploadHandler):
    """Handler of small files."""


class _OnDisk(_KeepsPath, TemporaryFileUploadHandler):
    """Handler of large files."""


def relative_path(file: "UploadedFile[bytes]") -> str:
    """Return the path of a sent file, with ``/``; never absolute and never upwards."""
    return str(getattr(file, "relative_path", file.name))


def clean_path(text: str) -> str:
    """Return a client's path made relative, with ``/``; "" if nothing is left."""
    parts = (part.strip() for part in text.replace("\\", "/").split("/"))
    kept = ["".join(filter(str.isprintable, part)) for part in parts if part not in ("", ".", "..")]
    return posixpath.join(*kept) if kept else ""


class _WithFolders(DjangoMultiPartParser):
    def sanitize_file_name(self, file_name: str) -> str | None:
        """Return the cleaned path; Django's method keeps only the part after the last slash."""
        return clean_path(file_name) or None


class UploadParser(MultiPartParser):
    """Parser of multipart/form-data of at most UPLOAD_LIMIT_BYTES; files have a `relative_path`."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> "DataAndFiles[Any, Any]":
        """Read a request. Raise TooLarge, or MultiPartParserError for a damaged body."""
        request = (parser_context or {})["request"]
        size = int(request.META.get("CONTENT_LENGTH") or 0)
        if size > settings.UPLOAD_LIMIT_BYTES:
            raise TooLarge(
                f"the upload has {size} bytes, and at most {settings.UPLOAD_LIMIT_BYTES} are taken at once: "
                "send it in several uploads or raise UPLOAD_LIMIT_BYTES"
            )
        meta = request.META | {"CONTENT_TYPE": media_type}
        handlers = [_InMemory(request), _OnDisk(request)]
        parser = _WithFolders(meta, stream, handlers, "utf-8")  # type: ignore[arg-type] # has read()
        try:
            data, files = parser.parse()
        except TooManyFilesSent:
            most = settings.DATA_UPLOAD_MAX_NUMBER_FILES
            raise TooLarge(
                f"at most {most} files are taken at once: send them as a zip or in several uploads"
            ) from None
        return DataAndFiles(data, files)


class RecordsParser(BaseParser):
    """Parser that returns application/json as bytes, so that numbers keep their digits."""

    media_type = "application/json"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        """Read a request. Raise TooLarge for more than `run_records.LARGEST` bytes."""
        body: bytes = stream.read(LARGEST + 1)
        if len(body) > LARGEST:
            raise TooLarge(f"at most {LARGEST} bytes of records are taken at once: send a file to /api/v1/uploads/")
        return body


class RecordLinesParser(RecordsParser):
    """Parser of JSON records, one on each line."""

    media_type = "application/x-ndjson"
