"""The lines of a file, decoded when they are asked for: a sequence that holds few blocks of them at a time.

``Lines`` knows where each block of about 256 KB begins and how many lines stand before it. It holds the block asked
for last and the first two, at which every format looks; of the others that is all it keeps.
"""

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Protocol, overload

from importers.files.content import PART, Content

_HEAD_BLOCKS = 2  # Where lines are long, the hundred first ones reach into the second.


class Cut(Protocol):
    """How lines are stored in a block, which ends with the end of a line, but for the last one of a file."""

    def __call__(self, block: bytes, /) -> list[str]:
        """The block's lines, without their ends."""

    def text(self, block: bytes, /) -> str:
        """The same as one text, every line ended by LF, with CR before it where there is one."""


class Lines(Sequence[str]):
    """The lines of some content. Iterating and going up or down are fast; jumping about decodes a block each time."""

    def __init__(self, content: Content, cut: Cut, starts: "array[int]", firsts: "array[int]") -> None:
        """``starts`` are the offsets of the blocks and of the end; ``firsts`` the lines before each, and of all."""
        self._content, self._cut = content, cut
        self._starts, self._firsts = starts, firsts
        self._at, self._block = -1, list[str]()
        self._head: dict[int, list[str]] = {}

    @property
    def starts(self) -> "array[int]":
        """The offsets of the blocks and of the end."""
        return self._starts

    @property
    def firsts(self) -> "array[int]":
        """The lines before each block, and of all."""
        return self._firsts

    @property
    def cut(self) -> Cut:
        """What finds the lines of a block."""
        return self._cut

    def are_of(self, content: Content) -> bool:
        """Whether these are the lines of this very content, and not of what was made of it."""
        return self._content is content

    def __len__(self) -> int:
        return self._firsts[-1]

    def __iter__(self) -> Iterator[str]:
        for at in range(len(self._starts) - 1):
            yield from self._lines(at)

    def __reversed__(self) -> Iterator[str]:
        for at in reversed(range(len(self._starts) - 1)):
            yield from reversed(self._lines(at))

    def pieces(self) -> Iterator[str]:
        """All lines, many in one text, with LF between them."""
        return ("\n".join(self._lines(at)) for at in range(len(self._starts) - 1))

    def blocks(self) -> Iterator[str]:
        """The same without cutting any lines, so that CR and LF may stand behind each: to look for words."""
        bounds = pairwise(self._starts)
        return (self._cut.text(self._content[start:end]) for start, end in bounds)

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
        block = bisect_right(self._firsts, at) - 1
        return self._lines(block)[at - self._firsts[block]]

    def _between(self, first: int, behind: int) -> list[str]:
        """The lines from one on to before another."""
        found: list[str] = []
        while first < behind:
            block = bisect_right(self._firsts, first) - 1
            before = self._firsts[block]
            found += self._lines(block)[first - before : behind - before]
            first = self._firsts[block + 1]
        return found

    def _lines(self, at: int) -> list[str]:
        """A block's lines; the last one asked for is kept, and the first ones: each format looks at the head."""
        if at in self._head:
            return self._head[at]
        if at != self._at:
            self._block = self._cut(self._content[self._starts[at] : self._starts[at + 1]])
            self._at = at
            if at < _HEAD_BLOCKS:
                self._head[at] = self._block
        return self._block


def blocks(content: Content, start: int, ends: bytes) -> Iterator[bytes]:
    """The content from ``start`` on in blocks that end with a line end, the last one perhaps without.

    ``ends`` are the bytes that end a line. A line that is longer than a block is one of its own.
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
