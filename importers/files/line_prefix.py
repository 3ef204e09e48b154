"""Prefixes of lines: what containers, journals, mails and build servers put before each line of an output.

A prefix is taken off if nearly all lines of the head have it. Most prefixes are never a tool's own; some (a time of
day, an indentation, a repeated word) are only taken off a file that no format recognises as it is.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from posixpath import commonprefix

from importers.files.content import Cut, Lines
from importers.model import Fragment, Kind, Text

_SAMPLE = 300  # Lines at which a prefix is looked for.
_FOREIGN_LINES = 10  # One line in so many may lack the prefix: others may have written between.
_LAYERS = 6

_DATE = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?"
_ZONE = r" ?(?:Z|UTC|[+-]\d\d:?\d\d)"
_STAMP = rf"{_DATE}(?:{_ZONE})?"
_SYSLOG = r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?"
_END = r"(?:[ \t]|$)"
_PROCESS = r"[\w.-]+ [\w./@-]+(?:\[\d+\])?:"

_FOREIGN = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?:> ?)+",
        rf"(?:{_STAMP}|{_SYSLOG}) {_PROCESS}{_END}",
        rf"\[{_STAMP}\]{_END}",
        rf"{_STAMP}(?: \d\d[OE][ +]?)?{_END}",
        rf"{_SYSLOG}{_END}",
        rf"[\w./-]+ *\|{_END}",
        rf"\[pods?/[^\]\s]+\]{_END}",
    )
)
"""Prefixes that no tool prints on all of its lines."""
_PERHAPS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?{_END}",
        rf"\[? *\d{{1,10}}\.\d{{3,9}}\]?{_END}",
        rf"\[[^\]\s]+\]{_END}",
    )
)
"""Prefixes that a tool may print itself."""
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_SEPARATOR = re.compile(r"[:|>\]#] ")
_TIME = re.compile(rf"(?P<time>{_DATE})(?P<zone>{_ZONE})")


@dataclass(frozen=True, slots=True)
class Stripped:
    """A text without prefixes, and the patterns that were taken off, in order."""

    text: Text
    layers: tuple[re.Pattern[str], ...]


class _Cut:
    """A cut of blocks into lines that takes prefixes off."""

    def __init__(self, cut: Cut, layers: Sequence[re.Pattern[str]]) -> None:
        self.cut, self.layers = cut, layers

    def __call__(self, block: bytes, /) -> list[str]:
        return [_strip(line, self.layers) for line in self.cut(block)]

    def text(self, block: bytes, /) -> str:
        return "\n".join(self(block))


def strip_foreign(text: Text) -> Stripped | None:
    """Return the text without prefixes of other tools, or None without prefixes."""
    layers = list(_find_foreign(_sample(text)))
    return _strip_text(text, layers) if layers else None


def strip_possible(text: Text) -> Iterator[Stripped]:
    """Yield the text with ever more prefixes taken off, also such as a tool may print itself."""
    lines, layers = _sample(text), list[re.Pattern[str]]()
    while len(layers) < _LAYERS and (found := _find_possible(lines)) is not None:
        layers.append(found)
        lines = [_strip(line, [found]) for line in lines]
        more = list(_find_foreign(lines))
        lines = [_strip(line, more) for line in lines]
        layers += more
        yield _strip_text(text, layers)


def date_by_prefix(fragment: Fragment, original: Text, stripped: Stripped) -> None:
    """Set the start of a load tool's run that prints none, from the stamp of its first line.

    A stamp without zone or date is left: its instant is unknown.
    """
    if fragment.taken is not None or fragment.kind is not Kind.DRIVER:
        return
    for line in original.lines[fragment.first_line - 1 : fragment.last_line]:
        prefix = line.removesuffix(_strip(line, stripped.layers))
        if (match := _TIME.search(prefix)) is not None:
            printed = match["time"].replace(",", ".").replace(" ", "T")
            fragment.taken = datetime.fromisoformat(printed[:26])
            zone = match["zone"].strip()
            fragment.zone = "+00:00" if zone in {"Z", "UTC"} else zone
            return


def _sample(text: Text) -> list[str]:
    return [line for line in islice(text.lines, _SAMPLE) if line.strip()]


def _find_foreign(lines: Sequence[str]) -> Iterator[re.Pattern[str]]:
    """Yield the patterns of foreign prefixes, from the outermost on."""
    if any("\x1b[" in line for line in lines):
        yield _COLOURS
        lines = [_COLOURS.sub("", line) for line in lines]
    for _ in range(_LAYERS):
        found = next((pattern for pattern in _FOREIGN if _is_common(pattern, lines)), None)
        if found is None:
            return
        yield found
        lines = [_strip(line, [found]) for line in lines]


def _find_possible(lines: Sequence[str]) -> re.Pattern[str] | None:
    found = next((pattern for pattern in _PERHAPS if _is_common(pattern, lines)), None)
    if found is not None or not lines:
        return found
    common = commonprefix(lines)
    if common[:1] in " \t":
        return re.compile(re.escape(common[: len(common) - len(common.lstrip())]))
    ends = [match.end() for match in _SEPARATOR.finditer(common)]
    return re.compile(re.escape(common[: ends[-1]])) if ends and len(lines) > 1 else None


def _is_common(pattern: re.Pattern[str], lines: Sequence[str]) -> bool:
    # Most files have no prefix: the first lines decide.
    missing = 0
    for line in lines:
        missing += pattern.match(line) is None
        if missing * _FOREIGN_LINES > len(lines):
            return False
    return bool(lines)


def _strip(line: str, layers: Sequence[re.Pattern[str]]) -> str:
    for layer in layers:
        if layer is _COLOURS:
            line = _COLOURS.sub("", line)
        elif (match := layer.match(line)) is not None:
            line = line[match.end() :]
    return line


def _strip_text(text: Text, layers: Sequence[re.Pattern[str]]) -> Stripped:
    kept, lines = tuple(layers), text.lines
    if isinstance(lines, Lines):
        stripped: Sequence[str] = Lines(lines.content, _Cut(lines.cut, kept), lines.starts, lines.firsts)
    else:
        stripped = [_strip(line, kept) for line in lines]
    return Stripped(replace(text, lines=stripped, noted={}), kept)
