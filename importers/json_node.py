"""The values of a JSON document as nodes, whichever way the document was read.

One that stands in a line by itself has the same line for all values (``importers/json_flat.py``). Of one that spreads
over lines these are counted (``importers/json_laid.py``); one that is not whole, or unusual, is read step by step, so
that every value knows where it stands (``importers/json_spread.py``).
"""

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple

from importers.fragment_builder import Printed

SAYS_NOTHING = ("", "null")


class Only(Enum):
    """Where something else counts than every finite number, and every string that says something.

    PRINTED: words, too; without blanks about them.
    """

    STRINGS = 1
    BUT_ZERO = 2
    PRINTED = 3


class Part(NamedTuple):
    """What is wanted of one object in a document: the path to it, and the keys."""

    path: tuple[str | int, ...]
    keys: tuple[str, ...]
    only: Only | None = None


Told = tuple[list[str | None], list[int]]
"""Texts, None for each that is missing, and the lines of those that are there."""


class Node:
    """A value of a document: an object, an array, a string, a number or a word (true, false, null, NaN)."""

    __slots__ = ()

    @property
    def line(self) -> int:
        """Where the value begins, counted from 1."""
        raise NotImplementedError

    @property
    def is_object(self) -> bool:
        raise NotImplementedError

    @property
    def is_array(self) -> bool:
        raise NotImplementedError

    @property
    def is_string(self) -> bool:
        raise NotImplementedError

    @property
    def is_number(self) -> bool:
        """Whether it is a finite number: NaN and Infinity are words."""
        raise NotImplementedError

    @property
    def text(self) -> str:
        """A number or word as printed, a string without quotes and escapes; empty for objects and arrays."""
        raise NotImplementedError

    def items(self) -> Iterator[tuple[str, "Node"]]:
        """What an object or array holds, in order; repeated keys come repeatedly, those of arrays are empty."""
        raise NotImplementedError

    def keys(self) -> list[str]:
        """The keys of an object, in order; repeated keys come repeatedly."""
        return [key for key, _ in self.items()] if self.is_object else []

    def get(self, *path: str | int) -> "Node | None":
        """The value down a path of keys and places from 0; of a repeated key the first. None when there is none."""
        raise NotImplementedError

    def several(self, keys: Iterable[str]) -> "list[Node | None]":
        """The same of each of some keys."""
        return [self.get(key) for key in keys]

    def texts(self) -> dict[str, str]:
        """The texts of what an object holds; of a repeated key the last."""
        return {key: value.text for key, value in self.items()}

    def figures(self) -> dict[str, str]:
        """What an object holds, of a repeated key the first, where that is a finite number."""
        raise NotImplementedError

    def figures_of(self, keys: Iterable[str]) -> list[str | None]:
        """The same of some keys, None for each that has none."""
        return [None if (found := self.figure(key)) is None else found.text for key in keys]

    def numbers(self) -> list[str | None]:
        """The values of an array or object, None for each that is no finite number."""
        raise NotImplementedError

    def has_numbers(self) -> bool:
        """Whether one of them is a finite number."""
        return any(self.numbers())

    def lines(self) -> list[int]:
        """The line of each of them."""
        return [value.line for value in self.values()]

    def as_str(self) -> str | None:
        """The text of a string, None for every other value."""
        return self.text if self.is_string else None

    def values(self) -> Iterator["Node"]:
        """What an object or array holds, without keys."""
        raise NotImplementedError

    def all(self, key: str) -> list["Node"]:
        """Every value of a key, in order: some tools write a key twice."""
        raise NotImplementedError

    def string(self, *path: str | int) -> Printed | None:
        """A string that says something, without quotes and escapes, with its line."""
        found = self.get(*path)
        if found is None or not found.is_string:
            return None
        text = found.text
        return Printed(text, found.line) if text.strip() else None

    def told(self, parts: Iterable[Part]) -> Told:
        """The finite numbers and the strings that say something of several objects at once, one key after the other."""
        raise NotImplementedError

    def figure(self, *path: str | int) -> Printed | None:
        """A finite number as printed, with its line; NaN, words and strings are None."""
        raise NotImplementedError

    def printed(self, *path: str | int) -> Printed | None:
        """Whatever stands there as printed, with its line; null (a string, too), objects and arrays say nothing."""
        found = self.get(*path)
        return Printed(found.text, found.line) if found is not None and found.text not in SAYS_NOTHING else None

    def all_printed(self, keys: Iterable[str]) -> "list[Printed | None]":
        """The same of several keys."""
        return [self.printed(key) for key in keys]

    def all_figures(self, keys: Iterable[str]) -> "list[Printed | None]":
        """The finite numbers of several keys."""
        return [self.figure(key) for key in keys]

    def column(self, key: str) -> tuple[list[str | None], Iterable[int]]:
        """The finite number of a key in each object that an array or object holds, and the lines of these."""
        raise NotImplementedError

    def said(self) -> Iterator[tuple[str, Printed]]:
        """What an object holds and says something, as printed; repeated keys come repeatedly."""
        return ((key, printed) for key, value in self.items() if (printed := value.printed()) is not None)

    def is_true(self, *path: str | int) -> bool:
        """Whether there is the word true or a number other than zero, the two ways of writing a switch."""
        found = self.get(*path)
        return found is not None and (found.text == "true" or (found.is_number and float(found.text) != 0))
