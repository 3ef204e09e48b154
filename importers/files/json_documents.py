"""JSON as tools print it: every value keeps its line, every number its characters, every repeated key its values.

The standard library's reader gives numbers without their text, nothing of a file that was cut off, and only the last
of two equal keys. This one reads a file that may hold several documents, one after another or one a line, with other
text before, between and after them. It never raises: a document that breaks off gives what was whole, and says where
it broke. Reading takes linear time. A document that is whole is left to the standard library's reader, with hooks that
keep number texts and repeated keys (``importers.json_values``); every other one is read here, step by step.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from json import JSONDecodeError

from importers.json_flat import Flat
from importers.json_laid import LONGEST, laid
from importers.json_node import Node, Only, Part
from importers.json_spread import Source, Spread, Tape
from importers.json_values import DEEPEST, STRING, is_too_deep, scan
from importers.json_window import Window
from importers.model import Text

__all__ = ["DEEPEST", "HEAD", "Document", "Node", "Only", "Part", "documents", "head", "outside"]

HEAD = 16 * 1024
"""How many characters tell of which tool a file is."""

_WHOLE = 256 * 1024  # A file of no more characters is read once, to recognise it and for its results.

_NUMBERS = r"-?\d++(?:\.\d++)?(?:[eE][+-]?\d++)?"
_STRINGS = STRING.pattern
_WORDS = r"true|false|null|-?(?i:nan(?:\([a-z]*\))?|inf(?:inity)?)"  # C prints nan and -inf.
# One step of reading: blanks, then a value with its key, or the end of an object or array, or nothing that is known;
# then a comma, though not behind an opening bracket. A number counts only if something follows that shows its end.
# Nothing may be tried twice (hence ++ and *+), so that no text takes more than linear time. Whole groups are not
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
# What a document breaks at stands in so many lines at most: a key, a colon, a value, and what shows its end.
_FOUR_LINES = re.compile(r"(?:\s*+\S[^\n]*+\n){4}")
_NOWHERE = (sys.maxsize, sys.maxsize)


@dataclass(slots=True)
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

    @property
    def span(self) -> tuple[int, int]:
        """The first line and the last."""
        return self.first_line, self.last_line


def documents(text: Text) -> Iterator[Document]:
    """All documents of a file, in order; each is read when it is asked for, and whoever keeps none holds but one."""
    beginning = _beginning(text, HEAD)
    return iter(beginning.documents) if beginning.is_all else _read(Window(text.pieces(), text.ends_whole))


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
    return text.once(f"json {size}", lambda: _read_beginning(text, size))


def _read_beginning(text: Text, size: int) -> _Beginning:
    """A file that is not large is read as a whole, and need not be read again."""
    if text.lacks("{", size):
        return _Beginning([], is_all=False)
    lines: list[str] = []
    left = max(size, _WHOLE)
    for line in text.lines:
        lines.append(line[:left])
        left -= len(lines[-1]) + 1
        if left <= 0:
            characters = "\n".join(lines)[:size]
            return _Beginning(_read_all(characters.split("\n"), ends_whole=False), is_all=False)
    return _Beginning(_read_all(lines, text.ends_whole), is_all=True)


def _read_all(lines: list[str], ends_whole: bool) -> list[Document]:
    """The documents of these lines. Most files are no JSON: nothing need be looked for where nothing begins one."""
    return [*_read(Window(["\n".join(lines)], ends_whole))] if any("{" in line for line in lines) else []


def outside(text: Text, spans: Iterable[tuple[int, int]]) -> list[tuple[int, str]]:
    """The lines, with their numbers, that belong to none of the documents: prompts, warnings, error messages.

    ``spans`` are the first and last lines of the documents, in order.
    """
    found = []
    rest = iter(spans)
    first, last = next(rest, _NOWHERE)
    for number, line in text.numbered():
        while number > last:
            first, last = next(rest, _NOWHERE)
        if number < first and line.strip():
            found.append((number, line))
    return found


def _read(window: Window) -> Iterator[Document]:
    pattern, after = _START, 0
    while True:
        text = window.source.characters
        start = pattern.search(text, after)
        if start is None:
            if window.ends:
                return
            # What is at the end may be half a beginning.
            after = window.grow(max(after, len(text.rstrip(_MAY_BEGIN))))
            continue
        at = start.start(1) if start.lastindex else start.start()
        found = _read_at(window, at)
        if found is None:
            after = window.grow(start.start())
            continue
        document, end = found
        after, pattern = max(end, at + 1), _START_AT_MARGIN if document.problem else _START
        yield document
        del document, found


def _read_at(window: Window, at: int) -> tuple[Document, int] | None:
    """The document that begins there, and where it ends or breaks; None where that takes more lines to tell."""
    source = window.source
    text, line = source.characters, window.line(at)
    if len(text) - at <= LONGEST or not _is_long(text, at):
        try:
            value, end = scan(text, at)
        except (JSONDecodeError, StopIteration) as error:
            broken = error.pos if isinstance(error, JSONDecodeError) else error.value
            if not window.ends and not _FOUR_LINES.match(text, broken):
                return None
        except RecursionError:
            pass
        else:
            if (document := _whole(value, text[at:end], line)) is not None:
                return document, end
    document, end = _read_stepwise(source, at)
    return (document, end) if document.whole or window.ends or _FOUR_LINES.match(text, end) else None


def _is_long(text: str, at: int) -> bool:
    """Whether a document may be longer than ``LONGEST``: one in its line is not, nor one that is indented and ends."""
    end = text.find("\n", at)
    if end < 0 or text[end - 1] in "}]":
        return False
    return text.find("\n}" if text[at] == "{" else "\n]", at, at + LONGEST) < 0


def _whole(value: object, text: str, line: int) -> Document | None:
    """A whole document that begins in this line; None for what no tool prints."""
    # NUL and halves of characters, which may be written so, cannot be stored.
    if "\\u" in text or is_too_deep(text):
        return None
    if "\n" not in text:
        return Document(Flat(value, line), line, line)
    root = laid(value, text, line)
    return Document(root, line, line + text.count("\n")) if root is not None else None


def _read_stepwise(source: Source, at: int) -> tuple[Document, int]:
    """Any other document, and where it ends or breaks."""
    reader = _Reader(source, at)
    reader.run()
    return reader.document(), reader.end


class _Reader:
    """Reads one document from its opening bracket to the bracket that closes it, or to where it breaks."""

    def __init__(self, source: Source, start: int) -> None:
        self._source, self._start = source, start
        self._tape = Tape(source)
        self.end = start + 1
        self.problem = ""

    def document(self) -> Document:
        """What was read."""
        line, last = self._source.line, len(self._source.characters) - 1
        broken = line(min(self.end, last)) if self.problem else None
        return Document(Spread(self._tape, 0), line(self._start), line(self.end - 1), self.problem, broken)

    def run(self) -> None:
        """Step by step; ``comma`` is True behind a comma, False behind a value without one, None behind a bracket."""
        text, plain_keys = self._source.characters, self._source.keys
        keys, starts, ends = self._tape.keys, self._tape.starts, self._tape.ends
        keys.append("")
        starts.append(self._start)
        ends.append(self.end)
        inside, is_object = 0, text[self._start] == "{"
        outer: list[tuple[int, bool]] = []
        comma: bool | None = None
        for step in _STEP.finditer(text, self.end):
            kind, end = step.lastindex, step.end()
            if kind == _CLOSE:
                if comma or (step[_CLOSE] == "}") is not is_object:
                    break
                ends[inside] = -len(ends)
                if not outer:
                    self.end = step.end(_CLOSE)
                    return
                inside, is_object = outer.pop()
            elif kind is None or comma is False or ((key := step[_KEY]) is not None) is not is_object:
                break
            elif kind == _OPEN and len(outer) + 1 >= DEEPEST:
                self.problem = f"has more than {DEEPEST} levels of nesting"
                break
            else:
                start, behind = step.span(kind)
                keys.append(plain_keys[key])
                starts.append(start)
                ends.append(behind)
                if kind == _OPEN:
                    outer.append((inside, is_object))
                    inside, is_object = len(ends) - 1, text[start] == "{"
            comma = None if kind == _OPEN else text[end - 1] == ","
            self.end = end
        for place in (inside, *(place for place, _ in outer)):
            ends[place] = -len(ends)
        self._break()

    def _break(self) -> None:
        """The document is not whole: it is cut off where the file ends, or something else stands in it."""
        text = self._source.characters
        while self.end < len(text) and text[self.end].isspace():
            self.end += 1
        if not self.problem:
            cut = text.find("\n", self.end) < 0
            self.problem = "is cut off" if cut else "has something in it that is not JSON"
