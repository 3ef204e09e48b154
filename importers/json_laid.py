"""JSON documents that are whole and spread over lines: the standard library's reader, and lines by counting.

Every value but the outermost comes behind a comma or behind the opening of what holds it. Values are numbered in the
order in which they begin, and how many of these signs there were by the end of each line tells which stand in it.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, count

from importers.fragment_builder import Printed
from importers.json_node import SAYS_NOTHING, Node, Part, Told
from importers.json_values import (
    NOTHING,
    SAID,
    STRING,
    Repeated,
    Value,
    inner_of,
    is_true,
    pairs_of,
    text_of,
)

LONGEST = 8_000_000
"""So many characters at most: values take several times the room of their text."""

_BLANKS = b" \t\r"
_EMPTY = ((b"{}", b"e"), (b"[]", b"e"), (b"{\n}", b"e\n"), (b"[\n]", b"e\n"))
# A sign at the end of a line counts where the value is.
_AT_ENDS = ((b",\n", b"\n;"), (b"{\n", b"v\n;"), (b"[\n", b"v\n;"))
_UNUSUAL = (b"\n\n", b":\n", b"\n:")
_NO_SIGNS = bytes(set(range(256)) - set(b",;{[\n"))
_HOLDERS = frozenset({dict, list, Repeated})
_new = tuple.__new__  # As in ``importers.fragment_builder``.


def laid(root: object, document: str, first: int) -> "Laid | None":
    """The value of a document that begins in this line; None where lines cannot be told by counting."""
    begun = _begun(document)
    if begun is None:
        return None
    layout = Layout(root, first, begun)
    return Laid(layout, root, 0) if layout.size(root) == begun[-1] else None


def _begun(document: str) -> list[int] | None:
    """How many values have begun by the end of each line, without the outermost; None where that cannot be told."""
    signs = _outside_strings(document).encode("ascii").translate(None, _BLANKS)
    if any(unusual in signs for unusual in _UNUSUAL):
        return None
    for old, new in (*_EMPTY, *_AT_ENDS):
        signs = signs.replace(old, new)
    return list(accumulate(map(len, signs.translate(None, _NO_SIGNS).split(b"\n"))))


def _outside_strings(document: str) -> str:
    """The document with nothing but the first quote of each string."""
    return STRING.sub('"', document) if "\\" in document else '"'.join(document.split('"')[::2])


class Layout:
    """Which line each value of a document stands in, by its number."""

    __slots__ = ("_begun", "_first", "_keys", "_places", "_plain", "_sizes", "root")

    def __init__(self, root: object, first: int, begun: Sequence[int]) -> None:
        """``begun``: how many values have begun by the end of each line, without the outermost."""
        # Objects and arrays are known by their ids, which hold as long as the document is there.
        self.root, self._first, self._begun = root, first, begun
        self._plain: dict[tuple[str, ...], dict[str | int, int]] = {}
        self._keys: dict[int, dict[str | int, int]] = {}
        self._places: dict[int, Sequence[int]] = {}
        self._sizes: dict[int, int] = {}

    def line(self, number: int) -> int:
        """The line of a value, counted from 1."""
        return self._first + bisect_left(self._begun, number)

    def size(self, value: object) -> int:
        """How many values there are within another."""
        inner = list(inner_of(value))
        if _HOLDERS.isdisjoint(map(type, inner)):
            return len(inner)
        known = self._sizes.get(id(value))
        if known is None:
            within = (self.size(each) for each in inner if type(each) in _HOLDERS)
            known = self._sizes[id(value)] = sum(within, len(inner))
        return known

    def keys(self, members: dict[str, object]) -> dict[str | int, int]:
        """How far behind an object the first value of each key is."""
        known = self._keys.get(id(members))
        if known is None:
            known = self._keys[id(members)] = self._keys_of(members)
        return known

    def _keys_of(self, members: dict[str, object]) -> dict[str | int, int]:
        if type(members) is Repeated:
            found: dict[str | int, int] = {}
            for (key, _), at in zip(members.pairs, self._each(inner_of(members)), strict=True):
                found.setdefault(key, at)
            return found
        if not _HOLDERS.isdisjoint(map(type, members.values())):
            return dict(zip(members, self._each(members.values()), strict=True))
        # Of objects without others in them, many have the same keys.
        names = tuple(members)
        plain = self._plain.get(names)
        if plain is None:
            plain = self._plain[names] = dict(zip(names, count(1), strict=False))
        return plain

    def places(self, holder: object) -> Sequence[int]:
        """How far behind an object or array each value in it is."""
        known = self._places.get(id(holder))
        if known is None:
            inner = list(inner_of(holder))
            is_plain = _HOLDERS.isdisjoint(map(type, inner))
            known = self._places[id(holder)] = range(1, len(inner) + 1) if is_plain else self._each(inner)
        return known

    def _each(self, values: Iterable[object]) -> list[int]:
        found, at = [], 1
        for value in values:
            found.append(at)
            at += self.size(value) + 1 if type(value) in _HOLDERS else 1
        return found


class Laid(Value):
    """A value of a document that spreads over lines."""

    __slots__ = ("_layout", "_number")

    def __init__(self, layout: Layout, value: object, number: int) -> None:
        self._layout, self._value, self._number = layout, value, number

    @property
    def line(self) -> int:
        return self._layout.line(self._number)

    def _at(self, path: Iterable[str | int]) -> tuple[object, int]:
        """What is down a path, and its number."""
        layout, value, number = self._layout, self._value, self._number
        for step in path:
            if isinstance(value, dict) and step in value:
                number, value = number + layout.keys(value)[step], value[step]
            elif isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
                number, value = number + layout.places(value)[step], value[step]
            else:
                return NOTHING, 0
        return value, number

    def _inner(self) -> Iterator[tuple[object, int]]:
        """What an object or array holds, with the numbers."""
        first = self._number
        for value, at in zip(inner_of(self._value), self._layout.places(self._value), strict=True):
            yield value, first + at

    def items(self) -> Iterator[tuple[str, Node]]:
        keys = (key for key, _ in pairs_of(self._value)) if isinstance(self._value, dict) else ("" for _ in count())
        return zip(keys, self.values(), strict=False)

    def values(self) -> Iterator[Node]:
        layout = self._layout
        return (Laid(layout, value, number) for value, number in self._inner())

    def lines(self) -> list[int]:
        line, first = self._layout.line, self._number
        return [line(first + at) for at in self._layout.places(self._value)]

    def all(self, key: str) -> list[Node]:
        if type(self._value) is Repeated:
            return [value for name, value in self.items() if name == key]
        found = self.get(key)
        return [] if found is None else [found]

    def get(self, *path: str | int) -> Node | None:
        found, number = self._at(path)
        return None if found is NOTHING else Laid(self._layout, found, number)

    def told(self, parts: Iterable[Part]) -> Told:
        texts: list[str | None] = []
        lines: list[int] = []
        for path, keys, only in parts:
            inner, number = self._at(path)
            members = inner if isinstance(inner, dict) else {}
            said = SAID[only](map(members.get, keys))
            texts += said
            lines += self._lines_of(members, keys, said, number)
        return texts, lines

    def _lines_of(
        self, members: dict[str, object], keys: Iterable[str], said: Iterable[str | None], number: int
    ) -> list[int]:
        line, places = self._layout.line, self._layout.keys(members)
        return [0 if text is None else line(number + places[key]) for key, text in zip(keys, said, strict=True)]

    def string(self, *path: str | int) -> Printed | None:
        found, number = self._at(path)
        if type(found) is not str or not found.strip():
            return None
        return _new(Printed, (found, self._layout.line(number)))

    def figure(self, *path: str | int) -> Printed | None:
        found, number = self._at(path)
        return _new(Printed, (found.decode(), self._layout.line(number))) if type(found) is bytes else None

    def printed(self, *path: str | int) -> Printed | None:
        found, number = self._at(path)
        text = "" if found is NOTHING else text_of(found)
        return _new(Printed, (text, self._layout.line(number))) if text not in SAYS_NOTHING else None

    def all_printed(self, keys: Iterable[str]) -> list[Printed | None]:
        return self._all(keys, text_of)

    def all_figures(self, keys: Iterable[str]) -> list[Printed | None]:
        return self._all(keys, lambda value: value.decode() if type(value) is bytes else "")

    def _all(self, keys: Iterable[str], text_of: Callable[[object], str]) -> list[Printed | None]:
        """What each key says, as text; nothing where that is empty or null."""
        members = self._value if isinstance(self._value, dict) else {}
        line, places, number = self._layout.line, self._layout.keys(members), self._number
        texts = [text_of(members[key]) if key in members else "" for key in keys]
        return [
            _new(Printed, (text, line(number + places[key]))) if text not in SAYS_NOTHING else None
            for key, text in zip(keys, texts, strict=True)
        ]

    def column(self, key: str) -> tuple[list[str | None], Iterable[int]]:
        texts: list[str | None] = []
        lines: list[int] = []
        for holder, number in self._inner():
            members = holder if isinstance(holder, dict) else {}
            found = members.get(key)
            texts.append(found.decode() if type(found) is bytes else None)
            lines.append(self._layout.line(number + self._layout.keys(members)[key]) if key in members else 0)
        return texts, lines

    def is_true(self, *path: str | int) -> bool:
        return is_true(self._at(path)[0])
