"""JSON as tools print it: every value keeps its line, every number its characters, every repeated key its values.

The standard library's reader gives numbers without their text, nothing of a file that was cut off, and only the last
of two equal keys. This one reads a file that may hold several documents, one after another or one a line, with other
text before, between and after them. It never raises: a document that breaks off gives what was whole, and says where
it broke. Reading takes linear time and no recursion; strings and line numbers are worked out when they are asked for.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

from importers.model import Text

DEEPEST = 100
"""How many objects and arrays may stand inside each other; tools need about ten."""

HEAD = 16 * 1024
"""How many characters tell of which tool a file is."""

_STRINGS = r'"(?:[^"\\\x00-\x1f]++|\\[^\n])*+"'
_NUMBERS = r"-?\d++(?:\.\d++)?+(?:[eE][+-]?\d++)?+"
_WORDS = r"true|false|null|-?(?i:nan(?:\([a-z]*\))?|inf(?:inity)?)"  # C prints nan and -inf.
# One step of reading: blanks, then a value with its key, or the end of an object or array, or nothing that is known;
# then a comma, though not behind an opening bracket. A number counts only if something follows that shows its end.
# Nothing may be tried twice (hence ++ and *+), so that no text takes more than linear time.
_STEP = re.compile(
    rf"\s*+(?:(?:({_STRINGS})\s*+:\s*+)?+(?:({_STRINGS}|(?:{_NUMBERS}|{_WORDS})(?=\s*+[,\]}}]))|([\[{{]))|([\]}}])|)"
    r"(?:(?<=[^\[{])\s*+,)?+",
    re.ASCII,
)
_KEY, _SCALAR, _OPEN, _CLOSE = range(1, 5)
# Prompts and tables have brackets too ("[user@host ~]$", "[  5]"), so a document starts with an object.
_START = re.compile(r'\{\s*+"|\[\s*+\{\s*+"|^[ \t]*+(\{)\s*+\}', re.MULTILINE)
# Behind a break, an object inside the broken document must not pass for a new one.
_START_AT_MARGIN = re.compile(r'^(?=\{\s*+["}]|\[\s*+\{\s*+")', re.MULTILINE)
_NUMBER = re.compile(_NUMBERS, re.ASCII)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")

_Content = int | list["_Entry"]  # Where a scalar ends, or what an object or array holds.
_Entry = tuple[str, int, _Content]  # The key as printed (empty in arrays), where the value starts, its content.


class _Source:
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


@dataclass(frozen=True, slots=True)
class Node:
    """A value of a document: an object, an array, a string, a number or a word (true, false, null, NaN)."""

    _source: _Source = field(repr=False)
    _start: int
    _content: _Content

    @property
    def line(self) -> int:
        """Where the value begins, counted from 1."""
        return self._source.line(self._start)

    @property
    def _first(self) -> str:
        return self._source.characters[self._start]

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
        """Whether it is a finite number: NaN and Infinity are words."""
        return isinstance(self._content, int) and _NUMBER.fullmatch(self.text) is not None

    @property
    def text(self) -> str:
        """A number or word as printed, a string without quotes and escapes; empty for objects and arrays."""
        if isinstance(self._content, list):
            return ""
        printed = self._source.characters[self._start : self._content]
        return _plain(printed) if self.is_string else printed

    def as_str(self) -> str | None:
        """The text of a string, None for every other value."""
        return self.text if self.is_string else None

    def items(self) -> Iterator[tuple[str, "Node"]]:
        """What an object or array holds, in order; repeated keys come repeatedly, those of arrays are empty."""
        if isinstance(self._content, list):
            for key, start, content in self._content:
                yield _plain(key), Node(self._source, start, content)

    def values(self) -> Iterator["Node"]:
        """What an object or array holds, without keys."""
        return (value for _, value in self.items())

    def all(self, key: str) -> list["Node"]:
        """Every value of a key, in order: some tools write a key twice."""
        if isinstance(self._content, int) or not self.is_object:
            return []
        return [value for name, value in self.items() if name == key]

    def get(self, *path: str | int) -> "Node | None":
        """The value down a path of keys and places; of a repeated key the first. None when there is none."""
        node: Node | None = self
        for step in path:
            if node is None:
                return None
            node = node._member(step) if isinstance(step, str) else node._element(step)
        return node

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

    def _member(self, key: str) -> "Node | None":
        if isinstance(self._content, int) or not self.is_object:
            return None
        quoted = f'"{key}"'
        for name, start, content in self._content:
            if name == quoted or ("\\" in name and _plain(name) == key):
                return Node(self._source, start, content)
        return None

    def _element(self, place: int) -> "Node | None":
        if isinstance(self._content, int) or not -len(self._content) <= place < len(self._content):
            return None
        _, start, content = self._content[place]
        return Node(self._source, start, content)


def _plain(printed: str) -> str:
    """A string without quotes and escapes, as printed when one of them is wrong; NUL and half characters are marked."""
    if "\\" not in printed:
        return printed[1:-1]
    try:
        return _UNSTORABLE.sub("\ufffd", str(json.loads(printed, strict=False)))
    except ValueError:
        return printed[1:-1]


@dataclass(frozen=True, slots=True)
class Document:
    """One JSON document; ``problem`` says what broke it and ``problem_line`` where, if it is not ``whole``."""

    root: Node
    first_line: int
    last_line: int
    problem: str = ""
    problem_line: int | None = None

    @property
    def whole(self) -> bool:
        return not self.problem


def documents(text: Text) -> list[Document]:
    """All documents of a file, in order; an empty list when it holds none."""
    beginning = _beginning(text, HEAD)
    return beginning.documents if beginning.is_all else _read(_Source(text.lines, text.ends_whole))


def head(text: Text, size: int = HEAD) -> list[Document]:
    """The documents at the beginning of a file, to recognise it by: of a large file the last one is not whole."""
    return _beginning(text, size).documents


@dataclass(frozen=True, slots=True)
class _Beginning:
    """The documents of the first characters, and whether these are all."""

    documents: list[Document]
    is_all: bool


def _beginning(text: Text, size: int) -> _Beginning:
    """Read once a file, for every format that comes as JSON looks at it."""
    key = f"json {size}"
    if key not in text.noted:
        text.noted[key] = _read_beginning(text, size)
    found: _Beginning = text.noted[key]
    return found


def _read_beginning(text: Text, size: int) -> _Beginning:
    lines: list[str] = []
    for line in text.lines:
        lines.append(line[:size])
        size -= len(lines[-1]) + 1
        if size <= 0:
            return _Beginning(_read(_Source(lines, ends_whole=False)), is_all=False)
    return _Beginning(_read(_Source(lines, text.ends_whole)), is_all=True)


def outside(text: Text, found: Iterable[Document]) -> list[tuple[int, str]]:
    """The lines, with their numbers, that belong to none of these documents: prompts, warnings, error messages."""
    inside = {line for document in found for line in range(document.first_line, document.last_line + 1)}
    return [(number, line) for number, line in text.numbered() if line.strip() and number not in inside]


def _read(source: _Source) -> list[Document]:
    found: list[Document] = []
    start = _START.search(source.characters)
    while start is not None:
        at = start.start(1) if start.lastindex else start.start()
        reader = _Reader(source, at)
        reader.run()
        found.append(reader.document())
        pattern = _START_AT_MARGIN if reader.problem else _START
        start = pattern.search(source.characters, max(reader.end, at + 1))
    return found


class _Reader:
    """Reads one document from its opening bracket to the bracket that closes it, or to where it breaks."""

    def __init__(self, source: _Source, start: int) -> None:
        self._source, self._start = source, start
        self._root: list[_Entry] = []
        self.end = start + 1
        self.problem = ""

    def document(self) -> Document:
        """What was read."""
        line, last = self._source.line, len(self._source.characters) - 1
        broken = line(min(self.end, last)) if self.problem else None
        root = Node(self._source, self._start, self._root)
        return Document(root, line(self._start), line(self.end - 1), self.problem, broken)

    def run(self) -> None:
        """Step by step; ``comma`` is True behind a comma, False behind a value without one, None behind a bracket."""
        text = self._source.characters
        inside, is_object = self._root, text[self._start] == "{"
        outer: list[tuple[list[_Entry], bool]] = []
        comma: bool | None = None
        for step in _STEP.finditer(text, self.end):
            kind, end = step.lastindex, step.end()
            if kind == _CLOSE:
                if comma or (step[_CLOSE] == "}") is not is_object:
                    break
                if not outer:
                    self.end = step.end(_CLOSE)
                    return
                inside, is_object = outer.pop()
            elif comma is False or ((key := step[_KEY]) is not None) is not is_object:
                break
            elif kind == _SCALAR:
                inside.append((key or "", *step.span(_SCALAR)))
            elif kind != _OPEN:
                break
            elif len(outer) + 1 >= DEEPEST:
                self.problem = f"has more than {DEEPEST} levels of nesting"
                break
            else:
                inner: list[_Entry] = []
                inside.append((key or "", step.start(_OPEN), inner))
                outer.append((inside, is_object))
                inside, is_object = inner, step[_OPEN] == "{"
            comma = None if kind == _OPEN else text[end - 1] == ","
            self.end = end
        self._break()

    def _break(self) -> None:
        """The document is not whole: it is cut off where the file ends, or something else stands in it."""
        text = self._source.characters
        while self.end < len(text) and text[self.end].isspace():
            self.end += 1
        if not self.problem:
            cut = text.find("\n", self.end) < 0
            self.problem = "is cut off" if cut else "has something in it that is not JSON"
