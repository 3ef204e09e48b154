"""Bytes of a file: in memory, on disk, or a part.

A file may be larger than memory: ``Content`` has a length and slices, as ``bytes`` have; ``parts`` and ``stream`` read
piece by piece.
"""

import io
from collections.abc import Iterable, Iterator
from itertools import chain
from tempfile import TemporaryFile
from typing import BinaryIO, Protocol

PART = 256 * 1024
"""Bytes that are read at once."""


class Content(Protocol):
    """The common part of ``bytes`` and ``FileContent``."""

    def __len__(self) -> int: ...

    def __getitem__(self, part: slice, /) -> bytes: ...


class FileContent:
    """Bytes of an open file from ``start``, read by slices.

    The file is closed when the last reference is gone.
    """

    def __init__(self, file: BinaryIO, start: int = 0, size: int | None = None) -> None:
        self._file, self._start = file, start
        self._size = file.seek(0, io.SEEK_END) - start if size is None else size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, part: slice, /) -> bytes:
        first, end, step = part.indices(self._size)
        self._file.seek(self._start + first)
        return self._file.read(max(end - first, 0))[::step]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, bytes | FileContent) and len(other) == len(self) and other[:] == self[:]

    __hash__ = None  # type: ignore[assignment] # compared by what it holds, as a list is


def parts(content: Content, start: int = 0, size: int = PART) -> Iterator[bytes]:
    """Yield the content from ``start`` on, ``size`` bytes at a time."""
    for at in range(start, len(content), size):
        yield content[at : at + size]


def stream(content: Content) -> BinaryIO:
    """Return the content as a seekable file."""
    return io.BytesIO(content) if isinstance(content, bytes) else io.BufferedReader(_Stream(content), PART)


class _Stream(io.RawIOBase):
    def __init__(self, content: Content) -> None:
        self._content, self._at = content, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = max(offset + (0, self._at, len(self._content))[whence], 0)
        return self._at

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override] # any buffer is given as a memoryview
        data = self._content[self._at : self._at + len(buffer)]
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


class Spool:
    """Storage of streamed data, above ``room`` bytes in a temporary file."""

    def __init__(self, room: int = 4 * 1024**2) -> None:
        self._room = room
        self._file: BinaryIO | None = None

    def keep(self, source: Iterable[bytes], most: int | None = None) -> Content:
        """Return the joined pieces; stop after more than ``most`` bytes."""
        taken: list[bytes] = []
        pieces = _up_to(source, most)
        for piece in pieces:
            taken.append(piece)
            self._room -= len(piece)
            if self._room < 0:
                return self._on_disk(chain(taken, pieces))
        return b"".join(taken)

    def _on_disk(self, pieces: Iterable[bytes]) -> Content:
        if self._file is None:
            self._file = TemporaryFile()  # noqa: SIM115 - it is closed with the last content in it
        start = self._file.seek(0, io.SEEK_END)
        written = sum(map(self._file.write, pieces))
        return FileContent(self._file, start, written)


def _up_to(pieces: Iterable[bytes], most: int | None) -> Iterator[bytes]:
    taken = 0
    for piece in pieces:
        yield piece
        taken += len(piece)
        if most is not None and taken > most:
            return
