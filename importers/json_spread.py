"""JSON documents that spread over lines: read step by step, so that every value knows where in the file it stands."""

import json
import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property

from importers.fragment_builder import Printed
from importers.json_node import SAYS_NOTHING, Node, Only, Part, Told

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_LINE_END = re.compile("\n")
_new = tuple.__new__  # As in ``importers.fragment_builder``.
_INDEXES = 1000  # So many objects of a document are looked into by key at a time.


class _Keys(dict[str | None, str]):
    """Keys by their text as printed, without quotes and escapes: a file has few different ones. Elements have none."""

    def __missing__(self, printed: str | None) -> str:
        plain = self[printed] = "" if printed is None else _plain(printed)
        return plain


class Source:
    """Lines of a file: their characters, and where they end."""

    def __init__(self, characters: str, first_line: int = 1, keys: _Keys | None = None) -> None:
        self.characters, self.first_line = characters, first_line
        self.keys = _Keys() if keys is None else keys

    @cached_property
    def _line_starts(self) -> "array[int]":
        return array("Q", (end.end() for end in _LINE_END.finditer(self.characters)))

    def line(self, at: int) -> int:
        """The line of a character, counted from 1 in the file."""
        return bisect_right(self._line_starts, at) + self.first_line

    def moved(self, at: int, more: str) -> "Source":
        """The lines from a place on, and more behind them."""
        line = self.first_line + self.characters.count("\n", 0, at)
        return Source(self.characters[at:] + more, line, self.keys)


class Tape:
    """A document's values in the order in which they begin, each by a few numbers.

    For each its key, where it starts, and ``ends``: where a scalar ends, and minus the place of the first value behind
    an object or array with all that it holds.
    """

    __slots__ = ("_indexes", "ends", "keys", "source", "starts")

    def __init__(self, source: Source) -> None:
        self.source = source
        self.keys: list[str] = []
        self.starts, self.ends = array("q"), array("q")
        self._indexes: dict[int, dict[str | int, int]] = {}

    def members(self, place: int) -> Iterator[tuple[str, int]]:
        """The keys and places of what a value holds."""
        ends, keys = self.ends, self.keys
        at, behind = place + 1, -ends[place]
        while at < behind:
            yield keys[at], at
            end = ends[at]
            at = at + 1 if end > 0 else -end

    def index(self, place: int) -> dict[str | int, int]:
        """The places of an object's members by key, the first of each, or of an array's elements by their numbers."""
        known = self._indexes.get(place)
        if known is None:
            if len(self._indexes) >= _INDEXES:
                self._indexes.clear()
            known = self._indexes[place] = self._index(place)
        return known

    def _index(self, place: int) -> dict[str | int, int]:
        if self.source.characters[self.starts[place]] == "[":
            return {number: at for number, (_, at) in enumerate(self.members(place))}
        index: dict[str | int, int] = {}
        ends, keys = self.ends, self.keys
        at, behind = place + 1, -ends[place]
        while at < behind:
            if (key := keys[at]) not in index:
                index[key] = at
            end = ends[at]
            at = at + 1 if end > 0 else -end
        return index

    def find(self, place: int, path: Iterable[str | int]) -> int | None:
        """The place of the value down a path from another."""
        indexes = self._indexes
        for step in path:
            index = indexes.get(place)
            found = (self.index(place) if index is None else index).get(step)
            if found is None:
                return None
            place = found
        return place

    def is_number(self, place: int) -> bool:
        """Whether a finite number stands there."""
        return _is_number(self.source.characters, self.ends[place])

    def text(self, place: int) -> str:
        """What stands there, a string without quotes and escapes; empty for objects and arrays."""
        end = self.ends[place]
        if end <= 0:
            return ""
        printed = self.source.characters[self.starts[place] : end]
        return _plain(printed) if printed[0] == '"' else printed

    def said(self, place: int, only: Only | None) -> str | None:
        """The finite number there, or the string if it says something; with ``only`` what that says."""
        text = self.text(place)
        if only is Only.PRINTED:
            return None if text in SAYS_NOTHING else text.strip() or None
        if self.is_number(place):
            return text if only is None or (only is Only.BUT_ZERO and float(text)) else None
        is_string = self.source.characters[self.starts[place]] == '"'
        return text if is_string and text.strip() else None

    def figure(self, place: int) -> Printed | None:
        """The finite number there, with its line."""
        start, end, source = self.starts[place], self.ends[place], self.source
        if not _is_number(source.characters, end):
            return None
        return _new(Printed, (source.characters[start:end], source.line(start)))

    def printed(self, place: int) -> Printed | None:
        """What stands there and says something, with its line."""
        text = self.text(place)
        return None if text in SAYS_NOTHING else _new(Printed, (text, self.source.line(self.starts[place])))


class Spread(Node):
    """A value that knows where in the file it stands; strings and lines are worked out when they are asked for."""

    __slots__ = ("_place", "_tape")

    def __init__(self, tape: Tape, place: int) -> None:
        self._tape, self._place = tape, place

    @property
    def line(self) -> int:
        return self._tape.source.line(self._tape.starts[self._place])

    @property
    def _first(self) -> str:
        return self._tape.source.characters[self._tape.starts[self._place]]

    @property
    def is_object(self) -> bool:
        return self._first == "{"

    @property
    def is_array(self) -> bool:
        return self._first == "["

    @property
    def is_string(self) -> bool:
        return self._first == '"'

    @property
    def is_number(self) -> bool:
        return self._tape.is_number(self._place)

    @property
    def text(self) -> str:
        return self._tape.text(self._place)

    def items(self) -> Iterator[tuple[str, Node]]:
        tape = self._tape
        return ((key, Spread(tape, at)) for key, at in tape.members(self._place))

    def get(self, *path: str | int) -> Node | None:
        place = self._tape.find(self._place, path)
        return None if place is None else Spread(self._tape, place)

    def figure(self, *path: str | int) -> Printed | None:
        place = self._tape.find(self._place, path)
        return None if place is None else self._tape.figure(place)

    def printed(self, *path: str | int) -> Printed | None:
        place = self._tape.find(self._place, path)
        return None if place is None else self._tape.printed(place)

    def all_figures(self, keys: Iterable[str]) -> list[Printed | None]:
        tape = self._tape
        places = map(tape.index(self._place).get, keys)
        return [None if at is None else tape.figure(at) for at in places]

    def all_printed(self, keys: Iterable[str]) -> list[Printed | None]:
        tape = self._tape
        places = map(tape.index(self._place).get, keys)
        return [None if at is None else tape.printed(at) for at in places]

    def several(self, keys: Iterable[str]) -> list[Node | None]:
        tape = self._tape
        places = map(tape.index(self._place).get, keys)
        return [None if at is None else Spread(tape, at) for at in places]

    def column(self, key: str) -> tuple[list[str | None], Iterable[int]]:
        tape = self._tape
        found = [tape.index(place).get(key) for _, place in tape.members(self._place)]
        texts = [tape.text(at) if at is not None and tape.is_number(at) else None for at in found]
        return texts, (0 if at is None else tape.source.line(tape.starts[at]) for at in found)

    def told(self, parts: Iterable[Part]) -> Told:
        tape = self._tape
        texts: list[str | None] = []
        lines: list[int] = []
        for path, keys, only in parts:
            inner = tape.find(self._place, path)
            for at in [None for _ in keys] if inner is None else map(tape.index(inner).get, keys):
                text = None if at is None else tape.said(at, only)
                texts.append(text)
                lines.append(0 if at is None or text is None else tape.source.line(tape.starts[at]))
        return texts, lines

    def all(self, key: str) -> list[Node]:
        tape, place = self._tape, self._place
        if key not in tape.index(place):
            return []
        return [Spread(tape, at) for name, at in tape.members(place) if name == key]

    def figures(self) -> dict[str, str]:
        if not self.is_object:
            return {}
        tape = self._tape
        text, starts, ends = tape.source.characters, tape.starts, tape.ends
        index = tape.index(self._place).items()
        return {str(key): text[starts[at] : ends[at]] for key, at in index if _is_number(text, ends[at])}

    def numbers(self) -> list[str | None]:
        tape = self._tape
        text, starts, ends = tape.source.characters, tape.starts, tape.ends
        places = (at for _, at in tape.members(self._place))
        return [text[starts[at] : ends[at]] if _is_number(text, ends[at]) else None for at in places]

    def values(self) -> Iterator[Node]:
        tape = self._tape
        return (Spread(tape, at) for _, at in tape.members(self._place))


def _is_number(characters: str, end: int) -> bool:
    """Whether what ends there is a finite number: of all that may stand there, numbers alone end with a digit."""
    return end > 0 and characters[end - 1].isdigit()


def _plain(printed: str) -> str:
    """A string without quotes and escapes, as printed when one of them is wrong; NUL and half characters are marked."""
    if "\\" not in printed:
        return printed[1:-1]
    try:
        return _UNSTORABLE.sub("\ufffd", str(json.loads(printed, strict=False)))
    except ValueError:
        return printed[1:-1]
