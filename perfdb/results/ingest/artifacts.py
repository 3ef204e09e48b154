"""The store of received files: one copy of each content, never altered."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import BinaryIO

from django.core.files.base import ContentFile, File
from django.core.files.storage import default_storage

from importers.files.archive import decompress
from importers.files.content import Content, FileContent, stream
from importers.files.text import Decoded, decode, make_outline, open_outline
from importers.model import Problem, SourceFile
from perfdb.results.models import Artifact

_CHUNK = 1024 * 1024
# Line offsets of larger files are stored.
_LARGE = 4 * 1024 * 1024


def store(content: "File[bytes]") -> Artifact:
    """Store a file, unless its SHA-256 is stored already."""
    (artifact,) = store_all([content])
    return artifact


def store_all(contents: "Sequence[File[bytes]]") -> list[Artifact]:
    """Store several files with few statements."""
    digests = list(map(_sha256, contents))
    distinct = dict(zip(digests, contents, strict=True))
    known = _rows({digest: content.size for digest, content in distinct.items()})
    for digest, content in distinct.items():
        if not default_storage.exists(known[digest].path):
            content.seek(0)
            default_storage.save(known[digest].path, content)
    return [known[digest] for digest in digests]


def store_contents(contents: Iterable[Content]) -> list[Artifact]:
    """Store the contents of members of an archive."""
    return store_all([File(stream(content)) for content in contents])


def _sha256(content: "File[bytes]") -> str:
    digest = hashlib.sha256()
    for chunk in content.chunks(_CHUNK):
        digest.update(chunk)
    return digest.hexdigest()


def _rows(sizes: Mapping[str, int]) -> dict[str, Artifact]:
    """Return the rows of files by digest, and create missing ones."""
    known = _stored(sizes)
    # One order for all transactions avoids deadlocks.
    missing = sorted(sizes.keys() - known.keys())
    if missing:
        new = [Artifact(sha256=digest, size=sizes[digest]) for digest in missing]
        Artifact.objects.bulk_create(new, ignore_conflicts=True)
        known |= _stored(missing)
    return known


def _stored(digests: Iterable[str]) -> dict[str, Artifact]:
    return {each.sha256: each for each in Artifact.objects.filter(sha256__among=list(digests))}


def content(artifact: Artifact) -> Content:
    """Return the file's bytes, which are read on demand."""
    return FileContent(open_artifact(artifact))


def open_artifact(artifact: Artifact) -> BinaryIO:
    """Open the file as a stream."""
    stream: BinaryIO = default_storage.open(artifact.path)  # type: ignore[assignment] # a File is a binary stream
    return stream


def read_pieces(artifact: Artifact) -> Iterator[bytes]:
    """Yield the bytes of the file in pieces."""
    with open_artifact(artifact) as file:
        while piece := file.read(_CHUNK):
            yield piece


def decoded(artifact: Artifact, name: str) -> Decoded:
    """Return the decompressed text of a file, to whose lines runs refer.

    The line offsets of a large file are stored: further calls read only the lines shown.
    """
    data = content(artifact)
    if artifact.size < _LARGE:
        return _decode(name, data)
    outlined = f"{artifact.path}.lines"
    if default_storage.exists(outlined):
        with default_storage.open(outlined) as kept, suppress(ValueError):
            return Decoded(open_outline(name, data, kept.read()))
    found = _decode(name, data)
    if found.text is not None and (written := make_outline(found.text, data)) is not None:
        default_storage.save(outlined, ContentFile(written))
    return found


def _decode(name: str, data: Content) -> Decoded:
    plain = decompress(SourceFile(name, data))
    return Decoded(problems=[plain]) if isinstance(plain, Problem) else decode(plain.name, plain.data)
