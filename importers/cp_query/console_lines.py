"""CP console output to plain lines: undoes what consoles, tools and screens put around the responses.

The steps and their order are those of ``docs/importers/cp_query.md``; labels are matched afterwards, never columns.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from importers.cp_query.cp_commands import command_of, is_ready

_STAMP = re.compile(r"^ ?[0-9]{2}:[0-9]{2}:[0-9]{2}(?: |$)")
_CPU = re.compile(r"^[0-9A-F]{2}: ")
_CPU_WIDTH = 4
_NODE = re.compile(r"^[A-Za-z][\w.-]*: ")
_SCREEN_STATUS = re.compile(r"\s++(?:RUNNING|MORE\.\.\.|HOLDING|VM READ|CP READ)(?:\s+\S+)?")
_SCREEN_WIDTH = 80
# No response of CP is a longer line; other text of 80 columns must not grow into one line.
_LONGEST_LINE = 20 * _SCREEN_WIDTH
# How a line begins that is no continuation of the one before: a label, a message, a comment, a name AT a node.
_OWN_KEYWORD = re.compile(
    r"\s*(?:[A-Z][\w /.-]*[:=]|[A-Z]+\d*-\d|[*#]|HCP|TIME IS|PROC(?:ESSOR)? |LAN |VSWITCH |z/VM|Generated |IPL "
    r"|OSA |CTCA |CONS |DASD |NIC |Adapter |Path |XSTORE|STORAGE|MONITOR|MSG |Ready|\S+ +AT \S+$|\s{2,})"
)
_OPEN_ENDS = frozenset({":", "="})
_LATER_COUNTERS = re.compile(r"\s*(?:VIRTCPU|TOTCPU)\s*=")


class Line(NamedTuple):
    """A line after clean-up: its number in the file, its text, and whether the file has all of it."""

    number: int
    text: str
    whole: bool = True
    width: int = 0


_line = partial(tuple.__new__, Line)  # A named tuple is made by its own name in twice the time.


def clean(printed: Sequence[str], first: int = 1, cut_line: int | None = None) -> list[Line]:
    """The lines of one capture without stamps, prefixes and screen leftovers, wrapped lines joined.

    ``first`` is the first line's number, ``cut_line`` that of a last line without line end, which may have lost
    characters.
    """
    texts = [text.replace("\r", "").rstrip() for text in printed]
    widths = [*map(len, texts)]
    texts = _without(_STAMP, texts)
    texts = [text[_CPU_WIDTH:] if text[2:4] == ": " and _CPU.match(text) else text for text in texts]
    texts = _without_node(texts)
    numbers = range(first, first + len(texts))
    whole = [number != cut_line for number in numbers] if cut_line else [True] * len(texts)
    lines = map(_line, zip(numbers, texts, whole, widths, strict=True))
    return _joined([line for line in lines if not line[1][:1].isspace() or not _SCREEN_STATUS.fullmatch(line[1])])


def _without(prefix: re.Pattern[str], texts: list[str]) -> list[str]:
    """Drop a prefix when most lines have it; multi-line responses may lack it in some lines."""
    found = [*map(prefix.match, texts)]
    having = len(found) - found.count(None)
    if not _are_most(having, texts):
        return texts
    return [text if match is None else text[match.end() :] for text, match in zip(texts, found, strict=True)]


def _are_most(having: int, texts: list[str]) -> bool:
    """Whether most lines have a prefix. Neither empty lines nor comments have one, and they do not count."""
    return having > 0 and having * 2 > len([text for text in texts if text and text[0] != "*"])


def _without_node(texts: list[str]) -> list[str]:
    """Drop ``node: `` when most lines start with the same one, as management tools print it."""
    prefixes = [match[0] for text in texts if ": " in text and (match := _NODE.match(text))]
    if not _are_most(len(prefixes), texts):
        return texts
    return _without(_beginning(Counter(prefixes).most_common(1)[0][0]), texts)


@lru_cache(64)
def _beginning(words: str) -> re.Pattern[str]:
    return re.compile("^" + re.escape(words))


def _joined(lines: list[Line]) -> list[Line]:
    """Join what was wrapped at the screen's width; the joined line has the first one's number."""
    # Few lines can have a continuation, and to look at the next one takes longer.
    may_go_on = [
        at
        for at, (_, text, _, width) in enumerate(lines)
        if width == _SCREEN_WIDTH or text[-1:] in _OPEN_ENDS or "CONNECT=" in text
    ]
    joined: list[Line] = []
    done = 0
    for at in may_go_on:
        if at >= done:
            joined += lines[done:at]
            line, done = _with_the_rest(lines, at)
            joined.append(line)
    return joined + lines[done:]


def _with_the_rest(lines: list[Line], at: int) -> tuple[Line, int]:
    """A line with its continuations, and where those behind them begin."""
    whole = lines[at]
    behind = at + 1
    while behind < len(lines) and (glue := _glue(whole, lines[behind])) is not None:
        line = lines[behind]
        whole = Line(whole.number, whole.text + glue + line.text, line.whole, line.width)
        behind += 1
    return whole, behind


def _glue(before: Line, line: Line) -> str | None:
    """What to put between a line that may go on and its continuation, None when the second is a line of its own."""
    counters = "CONNECT=" in before.text and _LATER_COUNTERS.match(line.text)
    if not (counters or before.width == _SCREEN_WIDTH or before.text.endswith((":", "="))) or _is_alone(line.text):
        return None
    if counters:
        return " "
    if _OWN_KEYWORD.match(line.text) or not before.text:
        return None
    if before.width == _SCREEN_WIDTH and not before.text.startswith("*") and len(before.text) < _LONGEST_LINE:
        return ""
    if before.text.endswith((":", "=")) and len(line.text.split()) == 1:
        return " "
    return None


def _is_alone(text: str) -> bool:
    """Whether this is no continuation of anything: blank, a command, or CMS saying that one has ended."""
    return not text or command_of(text) is not None or is_ready(text)
