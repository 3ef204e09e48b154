"""The values of a JSON document as the standard library's reader gives them, with hooks, wherever they stand."""

import json
import re
from collections.abc import Callable, Iterable

from importers.json_node import SAYS_NOTHING, Node, Only

DEEPEST = 100
"""How many objects and arrays may stand inside each other; tools need about ten."""

STRING = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\[^\n])*+"')
"""A string with its quotes."""

NOTHING = object()
"""What is where a path leads nowhere."""

_ALIKE = bytes.maketrans(b"[]", b"{}")
_NO_BRACKETS = bytes(set(range(256)) - set(b'[]{}"'))


class _Word(str):
    """NaN or Infinity."""

    __slots__ = ()


class Repeated(dict[str, object]):
    """An object in which a key is repeated: the first value of each, and all pairs."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        super().__init__(reversed(pairs))
        self.pairs = pairs


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    return members if len(members) == len(pairs) else Repeated(pairs)


# Numbers become bytes: that keeps them apart from strings, takes little time and little room.
_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_float=str.encode, parse_int=str.encode, parse_constant=_Word
)
scan: Callable[[str, int], tuple[object, int]] = _DECODER.scan_once  # type: ignore[attr-defined] # as raw_decode does
"""The value at a place in a text, and where it ends. Raises ValueError, StopIteration or RecursionError."""


def is_too_deep(document: str) -> bool:
    """Whether there are more than ``DEEPEST`` levels: each round takes away the innermost."""
    if document.count("{") + document.count("[") <= DEEPEST:
        return False
    unquoted = STRING.sub("", document) if "\\" in document else document
    kept = unquoted.encode(errors="surrogatepass").translate(_ALIKE, _NO_BRACKETS)
    if kept.count(b"{") <= DEEPEST:
        return False
    # Of quotes that follow each other two change nothing: what is within a string has an odd number before it.
    kept = kept.replace(b'""', b"")
    brackets, innermost = b"".join(kept.split(b'"')[::2]), b"{}"
    for _ in range(DEEPEST):
        if innermost not in brackets:
            return False
        brackets = brackets.replace(innermost, b"")
    return innermost in brackets


class Value(Node):
    """What a value says, whichever line it stands in."""

    __slots__ = ("_value",)

    _value: object

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
        return text_of(self._value)

    def keys(self) -> list[str]:
        return [key for key, _ in pairs_of(self._value)] if isinstance(self._value, dict) else []

    def texts(self) -> dict[str, str]:
        value = self._value
        if not isinstance(value, dict):
            return {}
        return {key: each.decode() if type(each) is bytes else text_of(each) for key, each in pairs_of(value)}

    def figures(self) -> dict[str, str]:
        value = self._value
        if not isinstance(value, dict):
            return {}
        return {key: each.decode() for key, each in value.items() if type(each) is bytes}

    def figures_of(self, keys: Iterable[str]) -> list[str | None]:
        found = map(self._value.get, keys) if isinstance(self._value, dict) else [None for _ in keys]
        return [each.decode() if type(each) is bytes else None for each in found]

    def numbers(self) -> list[str | None]:
        return [each.decode() if type(each) is bytes else None for each in inner_of(self._value)]

    def has_numbers(self) -> bool:
        return any(type(each) is bytes for each in inner_of(self._value))


def pairs_of(members: dict[str, object]) -> Iterable[tuple[str, object]]:
    """The keys and values of an object, in order; repeated keys come repeatedly."""
    return members.pairs if type(members) is Repeated else members.items()


def inner_of(value: object) -> Iterable[object]:
    """What an object or array holds, in order."""
    if isinstance(value, dict):
        return (inner for _, inner in value.pairs) if type(value) is Repeated else value.values()
    return value if isinstance(value, list) else ()


def _said(values: Iterable[object]) -> list[str | None]:
    return [
        each.decode() if type(each) is bytes else each if type(each) is str and each.strip() else None
        for each in values
    ]


def _said_but_zero(values: Iterable[object]) -> list[str | None]:
    return _said(None if type(each) is bytes and not float(each) else each for each in values)


def _strings(values: Iterable[object]) -> list[str | None]:
    return [each if type(each) is str and each.strip() else None for each in values]


def _printed(values: Iterable[object]) -> list[str | None]:
    texts = map(text_of, values)
    return [None if text in SAYS_NOTHING else text.strip() or None for text in texts]


SAID = {None: _said, Only.BUT_ZERO: _said_but_zero, Only.STRINGS: _strings, Only.PRINTED: _printed}
"""The texts of those values that count, None for the others."""


def text_of(value: object) -> str:
    """A number or word as printed, a string without quotes and escapes; empty for objects and arrays."""
    if value is None:
        return "null"
    if type(value) is str:
        return value
    if type(value) is bytes:
        return value.decode()
    if value is True or value is False:
        return "true" if value else "false"
    return str(value) if type(value) is _Word else ""


def is_true(value: object) -> bool:
    """Whether it is the word true, or a number other than zero."""
    return float(value) != 0 if type(value) is bytes else value is True or value == "true"
