"""Facts and readings in a few bytes: a file of very many small results is hardly anything else.

A result's texts are kept as one, its lines as numbers; what stands beside them - keys, names, units and roles - is the
same in one result after another, and is there once. ``Fact`` and ``Reading`` are made when they are asked for.
"""

from abc import abstractmethod
from array import array
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from itertools import repeat
from operator import itemgetter
from typing import TypeVar, overload

from importers.model import Fact, Reading

T = TypeVar("T", Fact, Reading)
S = TypeVar("S")
Head = tuple[str, str, str]
"""A reading's name, unit and role."""

# Making a named tuple by its own name takes twice as long.
_fact, _reading = partial(tuple.__new__, Fact), partial(tuple.__new__, Reading)
_SHAPES = 4096  # As many different results are there in a file, or in files one after another, at most.


class _Packed(Sequence[T]):
    """A sequence that is made anew whenever it is gone through."""

    __slots__ = ("_lines", "_texts")

    def __init__(self, texts: Sequence[str], lines: Sequence[int]) -> None:
        # No text of a file has a NUL in it.
        self._texts = "\0".join(texts)
        # The results of many tools are a line each.
        of_one_line = bool(lines) and lines.count(lines[0]) == len(lines)
        self._lines: int | array[int] = lines[0] if of_one_line else array("Q", lines)

    @property
    def texts(self) -> list[str]:
        """The texts, in order."""
        return self._texts.split("\0") if len(self) else []

    @property
    def lines(self) -> "Iterator[int]":
        """The line of each, in order."""
        return repeat(self._lines, len(self)) if isinstance(self._lines, int) else iter(self._lines)

    @abstractmethod
    def __iter__(self) -> Iterator[T]: ...

    @overload
    def __getitem__(self, place: int) -> T: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[T, ...]: ...

    def __getitem__(self, place: int | slice) -> T | tuple[T, ...]:
        return tuple(self)[place]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, tuple | _Packed) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment] # compared by what it holds, as a list is

    def __repr__(self) -> str:
        return repr(tuple(self))


class Facts(_Packed[Fact]):
    """The facts of a result, none of them of its host."""

    __slots__ = ("keys",)

    def __init__(self, keys: Sequence[str], texts: Sequence[str], lines: Sequence[int]) -> None:
        super().__init__(texts, lines)
        self.keys = _shared(tuple(keys))

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[Fact]:
        return map(_fact, zip(self.keys, self.texts, self.lines, repeat(False), strict=False))


class Readings(_Packed[Reading]):
    """The readings of a result, each of a role and none of anything within it."""

    __slots__ = ("_heads",)

    def __init__(self, heads: Sequence[Head], texts: Sequence[str], lines: Sequence[int]) -> None:
        super().__init__(texts, lines)
        self._heads = _shared(tuple(heads))

    def __len__(self) -> int:
        return len(self._heads)

    def __iter__(self) -> Iterator[Reading]:
        names, units, roles = (map(itemgetter(at), self._heads) for at in range(3))
        return map(_reading, zip(names, self.texts, units, self.lines, roles, repeat(""), strict=False))


@lru_cache(_SHAPES)
def _shared(heads: tuple[S, ...]) -> tuple[S, ...]:
    """The same, as it was the first time."""
    return heads
