"""Sequence of a file's lines, decoded in blocks of about 256 KB."""

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Protocol, overload

from importers.files.content import PART, Content

_HEAD_BLOCKS = 2  # Where lines are long, the hundred first ones reach into the second.


class Cut(Protocol):
    """Storage of lines in a block that ends with a line end."""

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
        """Yield texts of many lines, for fast searches of words."""
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
            self._block = self.cut(self.content[self.starts[at] : self.starts[at + 1]])
            self._at = at
            if at < _HEAD_BLOCKS:
                self._head[at] = self._block
        return self._block


def blocks(content: Content, start: int, ends: bytes) -> Iterator[bytes]:
    """Yield the content from ``start`` on in blocks of whole lines.

    ``ends`` are the bytes that end a line. A line longer than a block makes a block of its own.
    """
    rest: list[bytes] = []
    for at in range(start, len(content), PART):
        part = content[at : at + PART]
        behind = max(part.rfind(bytes((end,))) for end in ends) + 1
        if behind:
            yield b"".join((*rest, part[:behind]))
            rest = []
        rest.append(part[behind:])
    if last := b"".join(rest):
        yield last
