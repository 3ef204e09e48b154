"""JSON documents in a line by themselves: the standard library's reader, with hooks, and its values as nodes."""

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import repeat

from importers.gathering import Printed
from importers.json_node import SAYS_NOTHING, Node, Only, Part, Told

_WORDS = {None: "null", True: "true", False: "false"}
_NOTHING = object()
_new = tuple.__new__  # Making a named tuple by its own name takes three times as long.


class _Word(str):
    """NaN or Infinity."""

    __slots__ = ()


class _Repeated(dict[str, object]):
    """An object in which a key is repeated: the first value of each, and all pairs."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        super().__init__(reversed(pairs))
        self.pairs = pairs


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    return members if len(members) == len(pairs) else _Repeated(pairs)


# Numbers become bytes: that keeps them apart from strings, takes little time and little room.
_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_float=str.encode, parse_int=str.encode, parse_constant=_Word
)
_scan: Callable[[str, int], tuple[object, int]] = _DECODER.scan_once  # type: ignore[attr-defined] # as raw_decode does


def read_flat(line: str) -> tuple[object, int]:
    """The value at the beginning of a line and where it ends. Raises ValueError, StopIteration or RecursionError."""
    return _scan(line, 0)


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
        return isinstance(self._value, dict)

    @property
    def is_array(self) -> bool:
        return isinstance(self._value, list)

    @property
    def is_string(self) -> bool:
        return type(self._value) is str

    @property
    def is_number(self) -> bool:
        return type(self._value) is bytes

    @property
    def text(self) -> str:
        return _text(self._value)

    def items(self) -> Iterator[tuple[str, Node]]:
        value, line = self._value, self._line
        if isinstance(value, dict):
            return ((key, Flat(inner, line)) for key, inner in _pairs(value))
        return (("", Flat(inner, line)) for inner in value) if isinstance(value, list) else iter(())

    def texts(self) -> dict[str, str]:
        value = self._value
        if not isinstance(value, dict):
            return {}
        members = value.pairs if type(value) is _Repeated else value.items()
        return {key: each.decode() if type(each) is bytes else _text(each) for key, each in members}

    def figures(self) -> dict[str, str]:
        value = self._value
        if not isinstance(value, dict):
            return {}
        return {key: each.decode() for key, each in value.items() if type(each) is bytes}

    def _inner(self) -> Iterable[object]:
        value = self._value
        if isinstance(value, dict):
            return (inner for _, inner in _pairs(value))
        return value if isinstance(value, list) else ()

    def numbers(self) -> list[str | None]:
        return [value.decode() if type(value) is bytes else None for value in self._inner()]

    def has_numbers(self) -> bool:
        return any(type(value) is bytes for value in self._inner())

    def lines(self) -> list[int]:
        return [self._line for _ in self._inner()]

    def values(self) -> Iterator[Node]:
        line = self._line
        return (Flat(inner, line) for inner in self._inner())

    def all(self, key: str) -> list[Node]:
        value, line = self._value, self._line
        if not isinstance(value, dict) or key not in value:
            return []
        if type(value) is _Repeated:
            return [Flat(inner, line) for name, inner in value.pairs if name == key]
        return [Flat(value[key], line)]

    def get(self, *path: str | int) -> Node | None:
        found = _at(self._value, path)
        return None if found is _NOTHING else Flat(found, self._line)

    def several(self, keys: Iterable[str]) -> list[Node | None]:
        value, line = self._value, self._line
        if not isinstance(value, dict):
            return [None for _ in keys]
        return [Flat(value[key], line) if key in value else None for key in keys]

    def told(self, parts: Iterable[Part]) -> Told:
        texts: list[str | None] = []
        for path, keys, only in parts:
            inner = _at(self._value, path)
            if isinstance(inner, dict):
                texts += _SAID[only](map(inner.get, keys))
            else:
                texts += [None for _ in keys]
        return texts, [self._line] * len(texts)

    def string(self, *path: str | int) -> Printed | None:
        found = _at(self._value, path)
        return _new(Printed, (found, self._line)) if type(found) is str and found.strip() else None

    def figure(self, *path: str | int) -> Printed | None:
        found = _at(self._value, path)
        return _new(Printed, (found.decode(), self._line)) if type(found) is bytes else None

    def printed(self, *path: str | int) -> Printed | None:
        found = _at(self._value, path)
        if found is _NOTHING:
            return None
        text = _text(found)
        return _new(Printed, (text, self._line)) if text not in SAYS_NOTHING else None

    def all_printed(self, keys: Iterable[str]) -> list[Printed | None]:
        value, line = self._value, self._line
        found = map(value.get, keys) if isinstance(value, dict) else [None for _ in keys]
        # What is missing says as little as null does.
        texts = [_text(each) for each in found]
        return [_new(Printed, (text, line)) if text not in SAYS_NOTHING else None for text in texts]

    def all_figures(self, keys: Iterable[str]) -> list[Printed | None]:
        return _figures(self._value, keys, self._line)

    def column(self, key: str) -> tuple[list[str | None], Iterable[int]]:
        found = [inner.get(key) if isinstance(inner, dict) else None for inner in self._inner()]
        return [each.decode() if type(each) is bytes else None for each in found], repeat(self._line)

    def is_true(self, *path: str | int) -> bool:
        found = _at(self._value, path)
        return float(found) != 0 if type(found) is bytes else found is True or found == "true"

    def said(self) -> Iterator[tuple[str, Printed]]:
        value, line = self._value, self._line
        texts = ((key, _text(each)) for key, each in _pairs(value)) if isinstance(value, dict) else ()
        return ((key, _new(Printed, (text, line))) for key, text in texts if text not in SAYS_NOTHING)


def _pairs(members: dict[str, object]) -> Iterable[tuple[str, object]]:
    return members.pairs if type(members) is _Repeated else members.items()


def _figures(value: object, keys: Iterable[str], line: int) -> list[Printed | None]:
    found = map(value.get, keys) if isinstance(value, dict) else [None for _ in keys]
    return [_new(Printed, (each.decode(), line)) if type(each) is bytes else None for each in found]


def _at(value: object, path: tuple[str | int, ...]) -> object:
    for step in path:
        if isinstance(value, dict):
            value = value.get(step, _NOTHING)
        elif isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
            value = value[step]
        else:
            return _NOTHING
    return value


def _said(values: Iterable[object]) -> list[str | None]:
    return [
        each.decode() if type(each) is bytes else each if type(each) is str and each.strip() else None
        for each in values
    ]


def _said_but_zero(values: Iterable[object]) -> list[str | None]:
    return _said(None if type(each) is bytes and not float(each) else each for each in values)


def _strings(values: Iterable[object]) -> list[str | None]:
    return [each if type(each) is str and each.strip() else None for each in values]


_SAID = {None: _said, Only.BUT_ZERO: _said_but_zero, Only.STRINGS: _strings}


def _text(value: object) -> str:
    if type(value) is bytes:
        return value.decode()
    if isinstance(value, str):
        return str(value)
    return "" if isinstance(value, dict | list) else _WORDS[value]  # type: ignore[index] # all that is left
