"""JSON documents in a line by themselves: the standard library's reader, and one line for all values."""

from collections.abc import Iterable, Iterator
from itertools import repeat

from importers.fragment_builder import Printed
from importers.json_node import SAYS_NOTHING, Node, Part, Told
from importers.json_values import NOTHING, SAID, Repeated, Value, inner_of, is_true, pairs_of, text_of

_new = tuple.__new__  # Making a named tuple by its own name takes three times as long.


class Flat(Value):
    """A value of a document that stands in one line."""

    __slots__ = ("_line",)

    def __init__(self, value: object, line: int) -> None:
        self._value, self._line = value, line

    @property
    def line(self) -> int:
        return self._line

    def items(self) -> Iterator[tuple[str, Node]]:
        value, line = self._value, self._line
        if isinstance(value, dict):
            return ((key, Flat(inner, line)) for key, inner in pairs_of(value))
        return (("", Flat(inner, line)) for inner in value) if isinstance(value, list) else iter(())

    def lines(self) -> list[int]:
        return [self._line for _ in inner_of(self._value)]

    def values(self) -> Iterator[Node]:
        line = self._line
        return (Flat(inner, line) for inner in inner_of(self._value))

    def all(self, key: str) -> list[Node]:
        value, line = self._value, self._line
        if not isinstance(value, dict) or key not in value:
            return []
        if type(value) is Repeated:
            return [Flat(inner, line) for name, inner in value.pairs if name == key]
        return [Flat(value[key], line)]

    def get(self, *path: str | int) -> Node | None:
        found = _at(self._value, path)
        return None if found is NOTHING else Flat(found, self._line)

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
                texts += SAID[only](map(inner.get, keys))
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
        if found is NOTHING:
            return None
        text = text_of(found)
        return _new(Printed, (text, self._line)) if text not in SAYS_NOTHING else None

    def all_printed(self, keys: Iterable[str]) -> list[Printed | None]:
        value, line = self._value, self._line
        found = map(value.get, keys) if isinstance(value, dict) else [None for _ in keys]
        # What is missing says as little as null does.
        texts = [text_of(each) for each in found]
        return [_new(Printed, (text, line)) if text not in SAYS_NOTHING else None for text in texts]

    def all_figures(self, keys: Iterable[str]) -> list[Printed | None]:
        value, line = self._value, self._line
        found = map(value.get, keys) if isinstance(value, dict) else [None for _ in keys]
        return [_new(Printed, (each.decode(), line)) if type(each) is bytes else None for each in found]

    def column(self, key: str) -> tuple[list[str | None], Iterable[int]]:
        found = [inner.get(key) if isinstance(inner, dict) else None for inner in inner_of(self._value)]
        return [each.decode() if type(each) is bytes else None for each in found], repeat(self._line)

    def is_true(self, *path: str | int) -> bool:
        return is_true(_at(self._value, path))

    def said(self) -> Iterator[tuple[str, Printed]]:
        value, line = self._value, self._line
        texts = ((key, text_of(each)) for key, each in pairs_of(value)) if isinstance(value, dict) else ()
        return ((key, _new(Printed, (text, line))) for key, text in texts if text not in SAYS_NOTHING)


def _at(value: object, path: tuple[str | int, ...]) -> object:
    for step in path:
        if isinstance(value, dict):
            value = value.get(step, NOTHING)
        elif isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
            value = value[step]
        else:
            return NOTHING
    return value
