"""The values of a JSON document as nodes, whichever way the document was read.

A document that spreads over lines is read step by step, so that every value knows where it stands (``Spread``). One
that stands in a line by itself has the same line for all, and the standard library's reader does (``Flat``).
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import accumulate

NUMBERS = r"-?\d++(?:\.\d++)?+(?:[eE][+-]?\d++)?+"
_NUMBER = re.compile(NUMBERS, re.ASCII)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_WORDS = {None: "null", True: "true", False: "false"}


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

    def as_str(self) -> str | None:
        """The text of a string, None for every other value."""
        return self.text if self.is_string else None

    def values(self) -> Iterator["Node"]:
        """What an object or array holds, without keys."""
        return (value for _, value in self.items())

    def texts(self) -> dict[str, str]:
        """The texts of what an object holds; of a repeated key the last."""
        return {key: value.text for key, value in self.items()}

    def all(self, key: str) -> list["Node"]:
        """Every value of a key, in order: some tools write a key twice."""
        return [value for name, value in self.items() if name == key] if self.is_object else []

    def get(self, *path: str | int) -> "Node | None":
        """The value down a path of keys and places; of a repeated key the first. None when there is none."""
        raise NotImplementedError

    def number(self, *path: str | int) -> "Node | None":
        """The same when it is a finite number; NaN, words and strings are None."""
        found = self.get(*path)
        return found if found is not None and found.is_number else None

    def string(self, *path: str | int) -> "Node | None":
        """The same when it is a string that says something."""
        found = self.get(*path)
        return found if found is not None and found.is_string and found.text.strip() else None

    def is_true(self, *path: str | int) -> bool:
        """Whether there is the word true or a number other than zero, the two ways of writing a switch."""
        found = self.get(*path)
        return found is not None and (found.text == "true" or (found.is_number and float(found.text) != 0))


class Source:
    """The characters of a file and where its lines start."""

    def __init__(self, lines: Iterable[str], ends_whole: bool) -> None:
        self.characters = "\n".join(lines) + ("\n" if ends_whole else "")

    @cached_property
    def _line_starts(self) -> list[int]:
        lengths = map(len, self.characters.split("\n"))
        return list(accumulate((length + 1 for length in lengths), initial=0))

    def line(self, at: int) -> int:
        """The line of a character, counted from 1."""
        return bisect_right(self._line_starts, at)


Content = int | list["Entry"]  # Where a scalar ends, or what an object or array holds.
Entry = tuple[str, int, Content]  # The key as printed (empty in arrays), where the value starts, its content.


class Spread(Node):
    """A value that knows where in the file it stands; strings and lines are worked out when they are asked for."""

    __slots__ = ("_content", "_source", "_start")

    def __init__(self, source: Source, start: int, content: Content) -> None:
        self._source, self._start, self._content = source, start, content

    @property
    def line(self) -> int:
        return self._source.line(self._start)

    @property
    def is_object(self) -> bool:
        return self._source.characters[self._start] == "{"

    @property
    def is_array(self) -> bool:
        return self._source.characters[self._start] == "["

    @property
    def is_string(self) -> bool:
        return self._source.characters[self._start] == '"'

    @property
    def is_number(self) -> bool:
        return isinstance(self._content, int) and (
            _NUMBER.fullmatch(self._source.characters, self._start, self._content) is not None
        )

    @property
    def text(self) -> str:
        if isinstance(self._content, list):
            return ""
        printed = self._source.characters[self._start : self._content]
        return _plain(printed) if printed[0] == '"' else printed

    def items(self) -> Iterator[tuple[str, Node]]:
        if isinstance(self._content, list):
            for key, start, content in self._content:
                yield _plain(key), Spread(self._source, start, content)

    def get(self, *path: str | int) -> Node | None:
        start, content = self._start, self._content
        for step in path:
            found = None if isinstance(content, int) else _member(content, step)
            if found is None:
                return None
            _, start, content = found
        return Spread(self._source, start, content)


def _member(content: list[Entry], step: str | int) -> Entry | None:
    """The first member of this key, or the element of this place."""
    if isinstance(step, int):
        return content[step] if -len(content) <= step < len(content) else None
    quoted = f'"{step}"'
    for entry in content:
        if entry[0] == quoted or ("\\" in entry[0] and _plain(entry[0]) == step):
            return entry
    return None


def _plain(printed: str) -> str:
    """A string without quotes and escapes, as printed when one of them is wrong; NUL and half characters are marked."""
    if "\\" not in printed:
        return printed[1:-1]
    try:
        return _UNSTORABLE.sub("\ufffd", str(json.loads(printed, strict=False)))
    except ValueError:
        return printed[1:-1]


class _Number(str):
    """A number as printed."""

    __slots__ = ()


class _Word(str):
    """NaN or Infinity."""

    __slots__ = ()


class _Object(list[tuple[str, object]]):
    """The pairs of an object, and the first value of each key once one was asked for."""

    __slots__ = ("by_key",)
    by_key: dict[str, object]


_DECODER = json.JSONDecoder(object_pairs_hook=_Object, parse_float=_Number, parse_int=_Number, parse_constant=_Word)


def read_flat(line: str) -> tuple[object, int]:
    """The value at the beginning of a line and where it ends. Raises ValueError or RecursionError."""
    return _DECODER.raw_decode(line)


class Flat(Node):
    """A value of a document that stands in one line."""

    __slots__ = ("_line", "_value")

    def __init__(self, value: object, line: int) -> None:
        self._value, self._line = value, line

    @property
    def line(self) -> int:
        return self._line

    @property
    def is_object(self) -> bool:
        return type(self._value) is _Object

    @property
    def is_array(self) -> bool:
        return type(self._value) is list

    @property
    def is_string(self) -> bool:
        return type(self._value) is str

    @property
    def is_number(self) -> bool:
        return type(self._value) is _Number

    @property
    def text(self) -> str:
        return _text(self._value)

    def items(self) -> Iterator[tuple[str, Node]]:
        value, line = self._value, self._line
        if type(value) is _Object:
            return ((key, Flat(inner, line)) for key, inner in value)
        return (("", Flat(inner, line)) for inner in value) if isinstance(value, list) else iter(())

    def texts(self) -> dict[str, str]:
        value = self._value
        return {key: _text(inner) for key, inner in value} if type(value) is _Object else {}

    def get(self, *path: str | int) -> Node | None:
        value = self._value
        for step in path:
            if type(value) is _Object and isinstance(step, str):
                try:
                    index = value.by_key
                except AttributeError:
                    index = value.by_key = dict(reversed(value))
                if step not in index:
                    return None
                value = index[step]
            elif not isinstance(value, list) or isinstance(step, str) or not -len(value) <= step < len(value):
                return None
            else:
                value = value[step][1] if type(value) is _Object else value[step]
        return Flat(value, self._line)


def _text(value: object) -> str:
    if isinstance(value, str):
        return str(value)
    return "" if isinstance(value, list) else _WORDS[value]  # type: ignore[index] # all that is left
