"""Safe unpacking of zip archives and of files packed by gzip or bzip2.

Every limit is checked while reading, and no path is written to. Large files go to an unnamed temporary file.
"""

import re
import stat
import zlib
from bz2 import BZ2File
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from gzip import GzipFile
from io import BufferedIOBase
from lzma import LZMAError
from pathlib import PurePosixPath
from typing import IO
from zipfile import BadZipFile, LargeZipFile, ZipFile, ZipInfo

from importers.files.content import PART, Content, Spool, stream
from importers.model import Problem, Severity, SourceFile

_ENCRYPTED = 0x1
_DRIVE = re.compile(r"[A-Za-z]:")
_MAGIC = 4  # Bytes that tell an archive.
_PACKED: tuple[tuple[re.Pattern[bytes], Callable[[IO[bytes]], BufferedIOBase]], ...] = (
    (re.compile(rb"\x1f\x8b\x08"), lambda source: GzipFile(fileobj=source)),
    (re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"), BZ2File),
)
"""Signatures of packed files, and their readers.

Without xz: such a file decides how much memory its reader takes.
"""

_LONGEST_MAGIC = 10
_SMALL = 1024**2  # Files up to this size may be packed as tightly as they like.
# What zipfile and its decompressors raise for damaged or unusual archives.
_DAMAGE = (
    *(BadZipFile, LargeZipFile, zlib.error, LZMAError),
    *(EOFError, OSError, ValueError, NotImplementedError, RuntimeError),
)

LONGEST_PATH = 1000
"""Bytes of UTF-8 that the path of a file may have, inside an archive or not."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of an archive: files, bytes, and compression ratio."""

    files: int = 5_000
    total_bytes: int = 2 * 1024**3
    ratio: int = 200


@dataclass(slots=True)
class Unpacked:
    """Files of an archive by path, and problems of other members."""

    files: list[SourceFile] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


DEFAULT_LIMITS = Limits()


def is_archive(data: bytes) -> bool:
    """Return whether data begin as a zip file does."""
    return data.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def decompress(file: SourceFile, limits: Limits = DEFAULT_LIMITS) -> SourceFile | Problem:
    """Return a gzip or bzip2 file unpacked, or a problem; any other file unchanged."""
    head = bytes(file.data[:_LONGEST_MAGIC])
    opener = next((opens for magic, opens in _PACKED if magic.match(head)), None)
    if opener is None:
        return file
    allowed = min(limits.total_bytes, max(limits.ratio * len(file.data), _SMALL))
    try:
        with opener(stream(file.data)) as packed:
            data = Spool().keep(_pieces(packed), allowed)
    except _DAMAGE as error:
        return _damaged(file.name, error)
    if len(data) > allowed:
        message = f"{file.name} unpacks to more than {allowed} bytes."
        return Problem(Severity.ERROR, "archive.limit", message, "Upload what it holds in smaller files.", file.name)
    return SourceFile(file.name, data)


def _pieces(source: IO[bytes] | BufferedIOBase) -> Iterator[bytes]:
    return iter(lambda: source.read(PART), b"")


def _damaged(name: str, error: Exception) -> Problem:
    message = f"The archive {name} is damaged and was not unpacked ({error})."
    return Problem(Severity.ERROR, "archive.corrupt", message, "Make it again, or transfer it in binary.", name)


def unpack(archive: SourceFile, limits: Limits = DEFAULT_LIMITS) -> Unpacked:
    """Return a zip's files; none, with a problem, if corrupt or too large."""
    try:
        with ZipFile(stream(archive.data)) as container:
            return _unpack_members(archive.name, container, limits)
    except _Refused as refusal:
        return Unpacked(problems=[refusal.problem])
    except _DAMAGE as error:
        return Unpacked(problems=[_damaged(archive.name, error)])


class _Refused(Exception):  # noqa: N818 - a limit passed is no error of the program
    """Refusal of a whole archive, with its problem."""

    def __init__(self, archive: str, message: str) -> None:
        remedy = "Upload the logs in several smaller archives."
        self.problem = Problem(Severity.ERROR, "archive.limit", message, remedy, archive)
        super().__init__(message)


def _unpack_members(archive: str, container: ZipFile, limits: Limits) -> Unpacked:
    members = [each for each in container.infolist() if not (each.is_dir() or _is_clutter(each.filename))]
    if len(members) > limits.files:
        raise _Refused(archive, f"The archive {archive} holds {len(members)} files; {limits.files} are allowed.")
    unpacked, spool = Unpacked(), Spool()
    room = limits.total_bytes
    seen: set[str] = set()
    for member in members:
        # Older Windows tools write backslashes between folders.
        name = member.filename.replace("\\", "/")
        reason = _objection(member, name) or ("occurs twice" if name in seen else None)
        seen.add(name)
        data: Content = b""
        if reason is None:
            try:
                # Counted while reading: the sizes in an archive's directory may lie.
                with container.open(member) as packed:
                    data = spool.keep(_pieces(packed), min(room, _expected(member, limits)))
                _check_size(archive, member, len(data), room, limits)
            except _DAMAGE as error:
                reason = f"is damaged ({error})"
        room -= len(data)
        if is_archive(data[:_MAGIC]):
            reason = "is an archive inside the archive"
        if reason is None:
            unpacked.files.append(SourceFile(name, data))
            continue
        shown = name[:LONGEST_PATH]
        message, remedy = f"{shown} in {archive} {reason}; it was left out.", "Unpack it and upload what it holds."
        problem = Problem(Severity.ERROR, "archive.member", message, remedy, f"{archive}/{shown}")
        unpacked.problems.append(problem)
    return unpacked


def _is_clutter(name: str) -> bool:
    """Return whether a desktop added this member to the archive."""
    path = PurePosixPath(name)
    return "__MACOSX" in path.parts or path.name in {".DS_Store", "Thumbs.db", "desktop.ini"}


def _objection(member: ZipInfo, name: str) -> str | None:
    """Return the reason to refuse a member, or None."""
    if name.startswith("/") or _DRIVE.match(name) or ".." in PurePosixPath(name).parts:
        return "has a path that leads out of the archive"
    if len(name.encode()) > LONGEST_PATH:
        return f"has a path of more than {LONGEST_PATH} bytes"
    if stat.S_ISLNK(member.external_attr >> 16):
        return "is a symbolic link"
    if member.flag_bits & _ENCRYPTED:
        return "is encrypted"
    return None


def _check_size(archive: str, member: ZipInfo, size: int, room: int, limits: Limits) -> None:
    """Refuse an archive whose member exceeds room or ratio."""
    if size > room:
        raise _Refused(archive, f"The archive {archive} unpacks to more than {limits.total_bytes} bytes.")
    if size > _expected(member, limits):
        message = f"{member.filename} in {archive} unpacks to more than {limits.ratio} times its packed size."
        raise _Refused(archive, message)


def _expected(member: ZipInfo, limits: Limits) -> int:
    """Return the largest number of bytes that a member may unpack to."""
    return max(limits.ratio * max(member.compress_size, 1), _SMALL)
