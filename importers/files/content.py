"""Bytes, lines and lists in memory, on disk, or of a part.

A file may be larger than memory: ``Content`` has a length and slices, as ``bytes`` have; ``parts`` and ``stream`` read
piece by piece. ``Lines`` decodes blocks of about 256 KB on demand.
"""

import io
import pickle
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import chain, pairwise
from tempfile import TemporaryFile
from typing import BinaryIO, Generic, Protocol, TypeVar, overload

PART = 256 * 1024  # Bytes that are read at once.


class Content(Protocol):
    """The common part of ``bytes`` and ``FileContent``."""

    def __len__(self) -> int: ...

    def __getitem__(self, part: slice, /) -> bytes: ...


def bytes_digest(content: Content) -> str:
    """Return a digest of all bytes."""
    digest = blake2b(digest_size=16)
    for part in parts(content):
        digest.update(part)
    return digest.hexdigest()


class FileContent:
    """``size`` bytes, by default all from ``start`` on, of an open file."""

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
    """Storage of streamed data, from ``room`` bytes on in a nameless file on disk."""

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
                # It is closed with the last content in it.
                self._file = self._file or TemporaryFile()  # noqa: SIM115
                start = self._file.seek(0, io.SEEK_END)
                return FileContent(self._file, start, sum(map(self._file.write, chain(taken, pieces))))
        return b"".join(taken)


def _up_to(pieces: Iterable[bytes], most: int | None) -> Iterator[bytes]:
    taken = 0
    for piece in pieces:
        yield piece
        taken += len(piece)
        if most is not None and taken > most:
            return


_HEAD_BLOCKS = 2  # Where lines are long, the hundred first ones reach into the second.


class Cut(Protocol):
    """Function that cuts blocks of whole lines, but perhaps the last one."""

    def __call__(self, block: bytes, /) -> list[str]:
        """Return the lines of a block, without line ends."""

    def text(self, block: bytes, /) -> str:
        """Return a block as one text with LF line ends."""


class Lines(Sequence[str]):
    """Lines of some content, fast to iterate, slower at random.

    The last used block and the first two, at which every format looks, are kept decoded.
    """

    def __init__(self, content: Content, cut: Cut, starts: "array[int]", firsts: "array[int]") -> None:
        """Store ``starts``, the offsets of blocks, and ``firsts``, the lines before each."""
        self.content, self.cut = content, cut
        self.starts, self.firsts = starts, firsts
        self._at, self._block = -1, list[str]()
        self._head: dict[int, list[str]] = {}

    def __len__(self) -> int:
        return self.firsts[-1]

    def __iter__(self) -> Iterator[str]:
        for at in range(len(self.starts) - 1):
            yield from self._lines(at)

    def __reversed__(self) -> Iterator[str]:
        for at in reversed(range(len(self.starts) - 1)):
            yield from reversed(self._lines(at))

    def pieces(self) -> Iterator[str]:
        """Yield all lines, many in one text, with LF between them."""
        return ("\n".join(self._lines(at)) for at in range(len(self.starts) - 1))

    def blocks(self) -> Iterator[str]:
        """Yield texts of many lines, perhaps with CR before LF, for fast searches."""
        bounds = pairwise(self.starts)
        return (self.cut.text(self.content[start:end]) for start, end in bounds)

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> list[str]: ...

    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            first, behind, step = place.indices(len(self))
            return self._between(first, behind) if step == 1 else [self[at] for at in range(first, behind, step)]
        at = place + len(self) if place < 0 else place
        if not 0 <= at < len(self):
            raise IndexError(place)
        block = bisect_right(self.firsts, at) - 1
        return self._lines(block)[at - self.firsts[block]]

    def _between(self, first: int, behind: int) -> list[str]:
        """Return the lines from ``first`` to before ``behind``."""
        found: list[str] = []
        while first < behind:
            block = bisect_right(self.firsts, first) - 1
            before = self.firsts[block]
            found += self._lines(block)[first - before : behind - before]
            first = self.firsts[block + 1]
        return found

    def _lines(self, at: int) -> list[str]:
        """Return the lines of a block."""
        if at in self._head:
            return self._head[at]
        if at != self._at:
            self._at, self._block = at, self.cut(self.content[self.starts[at] : self.starts[at + 1]])
            if at < _HEAD_BLOCKS:
                self._head[at] = self._block
        return self._block


def blocks(content: Content, start: int, ends: bytes) -> Iterator[bytes]:
    """Yield the content in blocks of whole lines, ended by one of ``ends``."""
    rest: list[bytes] = []
    for part in parts(content, start):
        behind = max(part.rfind(bytes((end,))) for end in ends) + 1
        if behind:
            yield b"".join((*rest, part[:behind]))
            rest = []
        rest.append(part[behind:])
    if last := b"".join(rest):
        yield last


T = TypeVar("T")

_BLOCK = 100  # Items that are pickled together: they share most of their strings.
_BLOCKS_IN_MEMORY = 8


class SpooledList(Generic[T]):
    """A list with all but the first items on disk, read as copies."""

    def __init__(self, in_memory: int) -> None:
        self._in_memory = in_memory
        self._first: list[T] = []
        self._newest: list[T] = []
        self._file = TemporaryFile()  # noqa: SIM115 - open as long as the list exists
        self._offsets: list[int] = []
        self._read: dict[int, list[T]] = {}

    def __len__(self) -> int:
        return len(self._first) + len(self._offsets) * _BLOCK + len(self._newest)

    def append(self, item: T) -> None:
        """Add an item at the end."""
        if len(self._first) < self._in_memory:
            self._first.append(item)
            return
        self._newest.append(item)
        if len(self._newest) == _BLOCK:
            self._offsets.append(self._file.seek(0, 2))
            pickle.dump(self._newest, self._file, pickle.HIGHEST_PROTOCOL)
            self._newest = []

    def __getitem__(self, index: int) -> T:
        if index < len(self._first):
            return self._first[index]
        block, within = divmod(index - len(self._first), _BLOCK)
        return (self._block(block) if block < len(self._offsets) else self._newest)[within]

    def __iter__(self) -> Iterator[T]:
        return (self[index] for index in range(len(self)))

    def _block(self, number: int) -> list[T]:
        block = self._read.get(number)
        if block is None:
            if len(self._read) >= _BLOCKS_IN_MEMORY:
                del self._read[next(iter(self._read))]
            self._file.seek(self._offsets[number])
            block = self._read[number] = pickle.load(self._file)
        return block
