"""Facts and readings in a few bytes: a file of very many small results is hardly anything else.

A result's texts are kept as one, its lines as numbers; what stands beside them - keys, names, units and roles - is the
same in one result after another, and is there once. ``Fact`` and ``Reading`` are made when they are asked for.
"""

from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import repeat
from operator import itemgetter
from typing import Any, Generic, Self, TypeVar, overload

from importers.compact import Numbers, compact, shared, spread
from importers.model import Fact, Reading

T = TypeVar("T", Fact, Reading)
S = TypeVar("S")
Head = tuple[str, str, str]
"""A reading's name, unit and role."""

# Making a named tuple by its own name takes twice as long.
_fact, _reading = partial(tuple.__new__, Fact), partial(tuple.__new__, Reading)


class _Packed(Sequence[T], Generic[T, S]):
    """A sequence that is made anew whenever it is gone through."""

    __slots__ = ("_heads", "_lines", "_texts")

    def __init__(self, heads: Iterable[S], texts: Iterable[str], lines: Sequence[int] | int) -> None:
        """``heads`` in a tuple are a constant, there once already; ``lines`` those of each, or the one line of all."""
        self._heads = heads if isinstance(heads, tuple) else shared(tuple(heads))
        # No text of a file has a NUL in it.
        self._texts = "\0".join(texts)
        self._lines = lines if isinstance(lines, int) else compact(lines)

    @classmethod
    def joined(cls, heads: tuple[S, ...], texts: str, lines: Sequence[int] | int) -> Self:
        """The same of texts that are one already, with a NUL between each and the next."""
        made = cls.__new__(cls)
        made._heads, made._texts = heads, texts
        made._lines = lines if isinstance(lines, int) else compact(lines)
        return made

    def __reduce__(self) -> tuple[object, ...]:
        """As of a fragment."""
        return _kept, (type(self), self._heads, self._texts, self._lines)

    @property
    def texts(self) -> list[str]:
        """The texts, in order."""
        return self._texts.split("\0") if self._heads else []

    @property
    def text(self) -> str:
        """All texts as one, with a NUL between each and the next."""
        return self._texts

    @property
    def lines(self) -> Iterator[int]:
        """The line of each, in order."""
        return spread(self._lines, len(self))

    @property
    def compact_lines(self) -> Numbers:
        """The same, or the one line of all."""
        return self._lines

    def __len__(self) -> int:
        return len(self._heads)

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


def _kept(kind: type[_Packed[T, S]], *parts: Any) -> _Packed[T, S]:
    made = kind.__new__(kind)
    made._heads, made._texts, made._lines = parts
    return made


class Facts(_Packed[Fact, str]):
    """The facts of a result by their keys, none of them of the host that the file was made on."""

    __slots__ = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys, in order."""
        return self._heads

    def __iter__(self) -> Iterator[Fact]:
        return map(_fact, zip(self._heads, self.texts, self.lines, self._are_of_host(), strict=False))

    def _are_of_host(self) -> Iterable[bool]:
        """Of each whether it is of the host."""
        return repeat(False)

    def and_another(self, key: str, text: str, line: int) -> "Facts":
        """The same facts and one behind them."""
        return Facts([*self.keys, key], [*self.texts, text], [*self.lines, line])


class HostFacts(Facts):
    """The same, those of some keys of its host."""

    __slots__ = ("_of_host",)

    def __init__(
        self, keys: Iterable[str], texts: Iterable[str], lines: Sequence[int] | int, of_host: Collection[str]
    ) -> None:
        super().__init__(keys, texts, lines)
        self._of_host = of_host

    def __reduce__(self) -> tuple[object, ...]:
        return HostFacts, (self._heads, self.texts, [*self.lines], self._of_host)

    def _are_of_host(self) -> Iterable[bool]:
        return map(self._of_host.__contains__, self._heads)

    def and_another(self, key: str, text: str, line: int) -> "HostFacts":
        return HostFacts([*self.keys, key], [*self.texts, text], [*self.lines, line], self._of_host)


class Readings(_Packed[Reading, Head]):
    """The readings of a result by what is measured, of roles and of nothing within these."""

    __slots__ = ()

    @property
    def heads(self) -> tuple[Head, ...]:
        """What is measured, in order."""
        return self._heads

    def __iter__(self) -> Iterator[Reading]:
        names, units, roles = (map(itemgetter(at), self._heads) for at in range(3))
        return map(_reading, zip(names, self.texts, units, self.lines, roles, repeat(""), strict=False))
