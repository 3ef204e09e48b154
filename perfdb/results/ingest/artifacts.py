"""The store of files as received: one copy a digest, written once, never altered."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
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
# From so many bytes on it takes a while to go through a file.
_LARGE = 4 * 1024 * 1024


def store(content: "File[bytes]") -> Artifact:
    """Keep a file; one that is known already by its SHA-256 is not written again."""
    (artifact,) = store_all([content])
    return artifact


def store_all(contents: "Sequence[File[bytes]]") -> list[Artifact]:
    """The same of several; what the database is asked and told of them is asked and told at once."""
    digests = list(map(_sha256, contents))
    distinct = dict(zip(digests, contents, strict=True))
    known = _rows({digest: content.size for digest, content in distinct.items()})
    for digest, content in distinct.items():
        if not default_storage.exists(known[digest].path):
            content.seek(0)
            default_storage.save(known[digest].path, content)
    return [known[digest] for digest in digests]


def store_contents(contents: Iterable[Content]) -> list[Artifact]:
    """Keep the bytes of files that came inside another, such as members of a zip."""
    return store_all([File(stream(content)) for content in contents])


def _sha256(content: "File[bytes]") -> str:
    digest = hashlib.sha256()
    for chunk in content.chunks(_CHUNK):
        digest.update(chunk)
    return digest.hexdigest()


def _rows(sizes: Mapping[str, int]) -> dict[str, Artifact]:
    """The rows of files by their digests, those that are not there yet made."""
    known = _stored(sizes)
    # In one order whoever comes: of two that each wait for the other's rows one would have to give up.
    missing = sorted(sizes.keys() - known.keys())
    if missing:
        new = [Artifact(sha256=digest, size=sizes[digest]) for digest in missing]
        Artifact.objects.bulk_create(new, ignore_conflicts=True)
        known |= _stored(missing)
    return known


def _stored(digests: Iterable[str]) -> dict[str, Artifact]:
    return {each.sha256: each for each in Artifact.objects.filter(sha256__among=list(digests))}


def content(artifact: Artifact) -> Content:
    """The file's bytes, read when they are asked for: it may be larger than memory."""
    return FileContent(open_artifact(artifact))


def open_artifact(artifact: Artifact) -> BinaryIO:
    """The file as a stream."""
    stream: BinaryIO = default_storage.open(artifact.path)  # type: ignore[assignment] # a File is a binary stream
    return stream


def decoded(artifact: Artifact, name: str) -> Decoded:
    """The file's text; of a packed file that of the file inside, whose lines are those that runs refer to.

    Of a large file it is kept where its lines begin: the second who asks reads only what is shown.
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
