"""JSON with lines, printed numbers, repeated keys, and broken documents.

A file may hold several documents, one after another or one a line, with other text before, between and after them.
Reading takes linear time and never raises: a document that breaks off keeps its values up to that place.
"""

import json
import re
import sys
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from importers.fragment_builder import Printed
from importers.model import Text

HEAD = 16 * 1024
"""Characters at the beginning of a file that are enough to recognise the tool."""

DEEPEST = 100
"""Levels of objects and arrays that a document may have; tools need about ten."""

_WRAPPED = 5  # Levels of objects and arrays around a result.
_WHOLE = 256 * 1024  # Characters of a file that is read once, both to recognise the file and for its results.
_INDEXES = 1000  # Objects whose keys are indexed at a time.
_EMPTY = ("", "null")

_STRINGS = r'"(?:[^"\\\x00-\x1f]++|\\[^\n])*+"'
_NUMBERS = r"-?\d++(?:\.\d++)?(?:[eE][+-]?\d++)?"
_WORDS = r"true|false|null|-?(?i:nan(?:\([a-z]*\))?|inf(?:inity)?)"  # C prints nan and -inf.
# One step of reading: blanks, then a value with its key, or the end of an object or array, or nothing that is known;
# then a comma, though not behind an opening bracket. A number counts only if its end is visible.
# Nothing may be tried twice (hence ++ and *+), so that every text takes linear time. Whole groups are not
# possessive: where the beginning of one fits alone, Python before 3.11.5 goes on behind it.
_STEP = re.compile(
    rf"\s*+(?:(?:({_STRINGS})\s*+:\s*+)?(?:({_STRINGS}|(?:{_NUMBERS}|{_WORDS})(?=\s*+[,\]}}]))|([\[{{]))|([\]}}])|)"
    r"(?:(?<=[^\[{])\s*+,)?",
    re.ASCII,
)
_KEY, _SCALAR, _OPEN, _CLOSE = range(1, 5)
# Prompts and tables have brackets too ("[user@host ~]$", "[  5]"), so a document starts with an object.
_START = re.compile(r'\{\s*+"|\[\s*+\{\s*+"|^[ \t]*+(\{)\s*+\}', re.MULTILINE)
# Behind a break, an object inside the broken document must not pass for a new one.
_START_AT_MARGIN = re.compile(r'^(?=\{\s*+["}]|\[\s*+\{\s*+")', re.MULTILINE)
_MAY_BEGIN = "[{ \t\r\n\f\v"
# A key, a colon, a value and the end of the value: the place where a document breaks takes so many lines at most.
_FOUR_LINES = re.compile(r"(?:\s*+\S[^\n]*+\n){4}")
_NOWHERE = (sys.maxsize, sys.maxsize)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_LINE_END = re.compile("\n")


class _Keys(dict[str | None, str]):
    """Keys without quotes and escapes, by printed text; "" for elements."""

    def __missing__(self, printed: str | None) -> str:
        plain = self[printed] = "" if printed is None else _unquote(printed)
        return plain


class _Source:
    """Whole lines of a file, as one text."""

    def __init__(self, characters: str, first_line: int = 1, keys: _Keys | None = None) -> None:
        self.characters, self.first_line = characters, first_line
        self.keys = _Keys() if keys is None else keys

    @cached_property
    def _line_starts(self) -> "array[int]":
        return array("Q", (end.end() for end in _LINE_END.finditer(self.characters)))

    def line(self, at: int) -> int:
        """Return the line of a character, counted from 1 in the file."""
        return bisect_right(self._line_starts, at) + self.first_line


class _Tape:
    """Values of a document in order, a few numbers each.

    ``ends`` has the end of a scalar, and minus the place of the value behind an object or array.
    """

    __slots__ = ("_indexes", "ends", "keys", "source", "starts")

    def __init__(self, source: _Source, start: int) -> None:
        self.source = source
        self.keys = [""]
        self.starts, self.ends = array("q", [start]), array("q", [start + 1])
        self._indexes: dict[int, dict[str | int, int]] = {}

    def members(self, place: int) -> Iterator[int]:
        """Yield the places of the values in an object or array."""
        ends = self.ends
        at, behind = place + 1, -ends[place]
        while at < behind:
            yield at
            end = ends[at]
            at = at + 1 if end > 0 else -end

    def index(self, place: int) -> dict[str | int, int]:
        """Return the places of first values by key, or of elements by position."""
        known = self._indexes.get(place)
        if known is None:
            if len(self._indexes) >= _INDEXES:
                self._indexes.clear()
            known = self._indexes[place] = {}
            is_array = self.source.characters[self.starts[place]] == "["
            for number, at in enumerate(self.members(place)):
                known.setdefault(number if is_array else self.keys[at], at)
        return known

    def find(self, place: int, path: Iterable[str | int]) -> int | None:
        """Return the place of the value at the end of a path."""
        found: int | None = place
        for step in path:
            found = None if found is None else self.index(found).get(step)
        return found


class Node:
    """A value of a document: object, array, string, number or word."""

    __slots__ = ("_place", "_tape")

    def __init__(self, tape: _Tape, place: int) -> None:
        self._tape, self._place = tape, place

    @property
    def line(self) -> int:
        """Return the line where the value begins, counted from 1."""
        return self._tape.source.line(self._tape.starts[self._place])

    @property
    def last_line(self) -> int:
        """Return the line of the last value inside."""
        tape = self._tape
        end = tape.ends[self._place]
        return self.line if end > 0 else tape.source.line(tape.starts[-end - 1])

    @property
    def is_open(self) -> bool:
        """Return whether an object or array reaches to where its document breaks off."""
        return -self._tape.ends[self._place] == len(self._tape.ends)

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
        """Return whether the value is a finite number."""
        end = self._tape.ends[self._place]
        return end > 0 and self._tape.source.characters[end - 1].isdigit()

    @property
    def text(self) -> str:
        """Return a value's text, without quotes and escapes; "" for containers."""
        tape, place = self._tape, self._place
        printed = tape.source.characters[tape.starts[place] : max(tape.ends[place], 0)]
        return _unquote(printed) if printed[:1] == '"' else printed

    def items(self) -> Iterator[tuple[str, "Node"]]:
        """Yield the members of an object or array in order."""
        tape = self._tape
        return ((tape.keys[at], Node(tape, at)) for at in tape.members(self._place))

    def keys(self) -> list[str]:
        """Return the keys of an object in order; repeated keys repeatedly."""
        return [key for key, _ in self.items()] if self.is_object else []

    def values(self) -> Iterator["Node"]:
        """Yield the values in an object or array."""
        return (value for _, value in self.items())

    def get(self, *path: str | int) -> "Node | None":
        """Return the value at a path; of a repeated key the first counts."""
        place = self._tape.find(self._place, path)
        return None if place is None else Node(self._tape, place)

    def get_all(self, key: str) -> list["Node"]:
        """Return every value of a key, in order: some tools print a key twice."""
        return [value for name, value in self.items() if name == key] if key in self._tape.index(self._place) else []

    def texts(self) -> dict[str, str]:
        """Return the texts of values by key; of a repeated key the last counts."""
        return {key: value.text for key, value in self.items()}

    def figures(self) -> dict[str, str]:
        """Return the finite numbers among an object's first values of each key."""
        found = ((str(key), Node(self._tape, at)) for key, at in self._tape.index(self._place).items())
        return {key: value.text for key, value in found if value.is_number} if self.is_object else {}

    def numbers(self) -> list[str | None]:
        """Return the values of a container as printed, None for each non-number."""
        return [value.text if value.is_number else None for value in self.values()]

    def string(self, *path: str | int) -> Printed | None:
        """Return a string that is not blank, without quotes and escapes; else None."""
        found = self.get(*path)
        return Printed(found.text, found.line) if found and found.is_string and found.text.strip() else None

    def figure(self, *path: str | int) -> Printed | None:
        """Return a finite number as printed; None for NaN, words and strings."""
        found = self.get(*path)
        return Printed(found.text, found.line) if found and found.is_number else None

    def printed(self, *path: str | int) -> Printed | None:
        """Return any scalar as printed, except null, "null" and empty strings."""
        found = self.get(*path)
        return Printed(found.text, found.line) if found and found.text not in _EMPTY else None

    def is_true(self, *path: str | int) -> bool:
        """Return whether a switch is on: the word true, or a nonzero number."""
        found = self.get(*path)
        return found is not None and (found.text == "true" or (found.is_number and float(found.text) != 0))


def _unquote(printed: str) -> str:
    """Return a string without quotes and escapes; mark NUL and surrogates."""
    if "\\" not in printed:
        return printed[1:-1]
    try:
        return _UNSTORABLE.sub("\ufffd", str(json.loads(printed, strict=False)))
    except ValueError:
        return printed[1:-1]


@dataclass(slots=True)
class Document:
    """One JSON document; one that is not ``whole`` has a ``problem`` in ``problem_line``."""

    root: Node
    first_line: int
    last_line: int
    problem: str = ""
    problem_line: int | None = None

    @property
    def whole(self) -> bool:
        return not self.problem

    @property
    def span(self) -> tuple[int, int]:
        """Return the first line and the last."""
        return self.first_line, self.last_line


def documents(text: Text) -> Iterator[Document]:
    """Yield the documents of a file in order, lazily."""
    beginning, is_all = _beginning(text, HEAD)
    return iter(beginning) if is_all else _read(_Window(text.pieces(), text.ends_whole))


def find_results(found: Iterable[Document], is_result: Callable[[Node], bool]) -> Iterator[Document]:
    """Yield each result of a tool: a document, or a part of one, as scripts put results into lists and objects."""
    for document in found:
        if is_result(document.root):
            yield document
        else:
            yield from _find_inside(document, document.root, is_result, _WRAPPED)


def _find_inside(document: Document, node: Node, is_result: Callable[[Node], bool], levels: int) -> Iterator[Document]:
    for each in node.values():
        if not (each.is_object or each.is_array):
            continue
        if each.is_object and is_result(each):
            problem = (document.problem, document.problem_line) if each.is_open else ("", None)
            yield Document(each, each.line, each.last_line, *problem)
        elif levels:
            yield from _find_inside(document, each, is_result, levels - 1)


def head(text: Text, size: int = HEAD) -> list[Document]:
    """Return the documents in the first ``size`` characters."""
    return _beginning(text, size)[0]


def outside(text: Text, spans: Iterable[tuple[int, int]]) -> list[tuple[int, str]]:
    """Return the numbered lines outside documents, given as line ``spans``."""
    found = []
    rest = iter(spans)
    first, last = next(rest, _NOWHERE)
    for number, line in text.numbered():
        while number > last:
            first, last = next(rest, _NOWHERE)
        if number < first and line.strip():
            found.append((number, line))
    return found


def _beginning(text: Text, size: int) -> tuple[list[Document], bool]:
    """Read the beginning once for all formats; tell whether this is all."""
    return text.once(f"json {size}", lambda: _read_beginning(text, size))


def _read_beginning(text: Text, size: int) -> tuple[list[Document], bool]:
    """Read the documents in the first ``size`` characters; all of a small file."""
    lines: list[str] = []
    left = max(size, _WHOLE)
    for line in text.lines:
        lines.append(line[:left])
        left -= len(lines[-1]) + 1
        if left <= 0:
            return list(_read(_Window(["\n".join(lines)[:size]], ends_whole=False))), False
    return list(_read(_Window(["\n".join(lines)], text.ends_whole))), True


class _Window:
    """Lines of a file in view, and an iterator of later ones."""

    def __init__(self, pieces: Iterable[str], ends_whole: bool) -> None:
        """Store ``pieces``: lines, or texts of many lines."""
        self._pieces = _with_ends(iter(pieces), ends_whole)
        self.source = _Source(next(self._pieces, ""))
        self._next = next(self._pieces, None)

    @property
    def is_last(self) -> bool:
        """Return whether the file has no further lines."""
        return self._next is None

    def grow(self, at: int) -> int:
        """Drop old lines, add characters, and return the place's new offset.

        Doubling keeps the time linear, although the characters are read again.
        """
        source = self.source
        begin = source.characters.rfind("\n", 0, at) + 1
        wanted, more = len(source.characters) - begin, [source.characters[begin:]]
        while self._next is not None and wanted >= 0:
            more.append(self._next)
            wanted -= len(self._next)
            self._next = next(self._pieces, None)
        line = source.first_line + source.characters.count("\n", 0, begin)
        self.source = _Source("".join(more), line, source.keys)
        return at - begin


def _with_ends(pieces: Iterator[str], ends_whole: bool) -> Iterator[str]:
    last = next(pieces, None)
    for piece in pieces:
        yield f"{last}\n"
        last = piece
    if last is not None:
        yield f"{last}\n" if ends_whole else last


def _read(window: _Window) -> Iterator[Document]:
    pattern, after = _START, 0
    while True:
        text = window.source.characters
        start = pattern.search(text, after)
        if start is None:
            if window.is_last:
                return
            # The end may be half of a beginning.
            after = window.grow(max(after, len(text.rstrip(_MAY_BEGIN))))
            continue
        at = start.start(1) if start.lastindex else start.start()
        document, end = _read_document(window.source, at)
        if not (document.whole or window.is_last or _FOUR_LINES.match(text, end)):
            after = window.grow(start.start())
            continue
        after, pattern = max(end, at + 1), _START_AT_MARGIN if document.problem else _START
        yield document
        del document


def _read_document(source: _Source, start: int) -> tuple[Document, int]:
    """Return the document that begins at ``start``, and the place where reading ends."""
    tape, text = _Tape(source, start), source.characters
    end, problem = _fill(tape, start + 1)
    line, problem_line = source.line, None
    if problem is not None:
        while end < len(text) and text[end].isspace():
            end += 1
        cut = text.find("\n", end) < 0
        problem = problem or ("is cut off" if cut else "has something in it that is not JSON")
        problem_line = line(min(end, len(text) - 1))
    return Document(Node(tape, 0), line(start), line(end - 1), problem or "", problem_line), end


def _fill(tape: _Tape, end: int) -> tuple[int, str | None]:
    """Add a document to its tape; return its end, and any problem.

    ``comma`` is True behind a comma, False behind a value without one, None behind an opening bracket.
    """
    text, plain_keys = tape.source.characters, tape.source.keys
    keys, starts, ends = tape.keys, tape.starts, tape.ends
    inside, is_object = 0, text[end - 1] == "{"
    outer: list[tuple[int, bool]] = []
    comma: bool | None = None
    problem = ""
    for step in _STEP.finditer(text, end):
        kind, behind = step.lastindex, step.end()
        if kind == _CLOSE:
            if comma or (step[_CLOSE] == "}") is not is_object:
                break
            ends[inside] = -len(ends)
            if not outer:
                return step.end(_CLOSE), None
            inside, is_object = outer.pop()
        elif kind is None or comma is False or ((key := step[_KEY]) is not None) is not is_object:
            break
        elif kind == _OPEN and len(outer) + 1 >= DEEPEST:
            problem = f"has more than {DEEPEST} levels of nesting"
            break
        else:
            start, stop = step.span(kind)
            keys.append(plain_keys[key])
            starts.append(start)
            ends.append(stop)
            if kind == _OPEN:
                outer.append((inside, is_object))
                inside, is_object = len(ends) - 1, step[_OPEN] == "{"
        comma = None if kind == _OPEN else text[behind - 1] == ","
        end = behind
    for place in (inside, *(place for place, _ in outer)):
        ends[place] = -len(ends)
    return end, problem
