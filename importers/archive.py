"""Zip archives to source files, safely: nothing is written to disk and every limit is checked while reading."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from importers.model import Problem, SourceFile


@dataclass(frozen=True, slots=True)
class Limits:
    """What an archive may hold: number of files, bytes unpacked, and bytes unpacked per byte packed."""

    files: int = 5_000
    total_bytes: int = 512 * 1024**2
    ratio: int = 200


@dataclass(slots=True)
class Unpacked:
    """The files of an archive, named by their path inside it, and what could not be taken."""

    files: list[SourceFile] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


DEFAULT_LIMITS = Limits()


def is_archive(data: bytes) -> bool:
    """Whether these bytes begin as a zip file does."""
    return data.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def expand(files: Iterable[SourceFile], limits: Limits = DEFAULT_LIMITS) -> Unpacked:
    """Replace the archives among ``files`` by what they hold; other files pass through."""
    raise NotImplementedError


def unpack(archive: SourceFile, limits: Limits = DEFAULT_LIMITS) -> Unpacked:
    """The files of one zip archive. A limit passed or a corrupt archive gives no file at all, and a problem."""
    raise NotImplementedError
