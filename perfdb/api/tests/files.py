"""Files to upload, and requests as curl and browsers send them: Django's own test client cuts folders off."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rest_framework.test import APIClient

LOGS = Path(__file__).parents[3] / "fixtures" / "logs"
BOUNDARY = "perfdb-test-boundary"


def case(name: str) -> dict[str, bytes]:
    """The files of a fixture by relative path, without what it expects."""
    folder = LOGS / name
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "expected.json")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def multipart(files: Iterable[tuple[str, bytes]], fields: Mapping[str, str | list[str]]) -> bytes:
    """The body of a form with ``files`` (file name, content) and other fields."""
    parts = [
        (f'name="files"; filename="{name}"\r\nContent-Type: application/octet-stream', data) for name, data in files
    ]
    for name, texts in fields.items():
        parts += [(f'name="{name}"', text.encode()) for text in ([texts] if isinstance(texts, str) else texts)]
    lines = (f"--{BOUNDARY}\r\nContent-Disposition: form-data; {head}\r\n\r\n".encode() + data for head, data in parts)
    return b"\r\n".join([*lines, f"--{BOUNDARY}--\r\n".encode()])


def post_files(
    client: APIClient,
    files: Mapping[str, bytes] | Iterable[tuple[str, bytes]],
    path: str = "/api/v1/uploads/",
    **fields: str | list[str],
) -> Any:
    """Send files as a browser does."""
    pairs = files.items() if isinstance(files, Mapping) else files
    return client.post(path, multipart(pairs, fields), content_type=f"multipart/form-data; boundary={BOUNDARY}")
