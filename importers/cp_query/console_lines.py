"""CP console output as plain lines, and the commands that captures echo.

Removes stamps, prefixes and screen leftovers in the order of ``docs/importers/cp_query.md``; later code matches labels,
never columns.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

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
    """A line after clean-up: number in the file, text, and completeness."""

    number: int
    text: str
    whole: bool = True
    width: int = 0


def clean(printed: Sequence[str], first: int = 1, cut_line: int | None = None) -> list[Line]:
    """Return the lines of a capture without stamps, prefixes and screen leftovers.

    Wrapped lines are joined. ``first`` is the first line's number, ``cut_line`` that of a last line without line end,
    which may have lost characters.
    """
    texts = [text.replace("\r", "").rstrip() for text in printed]
    widths = [*map(len, texts)]
    texts = _without(_STAMP, texts)
    texts = [text[_CPU_WIDTH:] if text[2:4] == ": " and _CPU.match(text) else text for text in texts]
    # Management tools print the node before each line.
    nodes = Counter(match[0] for text in texts if ": " in text and (match := _NODE.match(text)))
    if _are_most(nodes.total(), texts):
        texts = _without(re.compile("^" + re.escape(nodes.most_common(1)[0][0])), texts)
    numbers = range(first, first + len(texts))
    whole = [number != cut_line for number in numbers] if cut_line else [True] * len(texts)
    lines = map(Line, numbers, texts, whole, widths)
    return _joined([line for line in lines if not line.text[:1].isspace() or not _SCREEN_STATUS.fullmatch(line.text)])


def _without(prefix: re.Pattern[str], texts: list[str]) -> list[str]:
    """Drop a prefix if most lines have it; later lines may lack it."""
    found = [*map(prefix.match, texts)]
    having = len(found) - found.count(None)
    if not _are_most(having, texts):
        return texts
    return [text if match is None else text[match.end() :] for text, match in zip(texts, found, strict=True)]


def _are_most(having: int, texts: list[str]) -> bool:
    """Return whether most lines have a prefix; empty lines and comments do not count."""
    return having > 0 and having * 2 > len([text for text in texts if text and text[0] != "*"])


def _joined(lines: list[Line]) -> list[Line]:
    """Join lines wrapped at the screen's width, under the first one's number."""
    joined: list[Line] = []
    for line in lines:
        if joined and (glue := _glue(joined[-1], line)) is not None:
            before = joined[-1]
            joined[-1] = Line(before.number, before.text + glue + line.text, line.whole, line.width)
        else:
            joined.append(line)
    return joined


def _glue(before: Line, line: Line) -> str | None:
    """Return the text between a line and the continuation, None for separate lines."""
    has_open_end = before.text[-1:] in _OPEN_ENDS
    counters = "CONNECT=" in before.text and _LATER_COUNTERS.match(line.text)
    may_go_on = line.text and (counters or before.width == _SCREEN_WIDTH or has_open_end)
    if not may_go_on or command_of(line.text) is not None or is_ready(line.text):
        return None
    if counters:
        return " "
    if _OWN_KEYWORD.match(line.text) or not before.text:
        return None
    if before.width == _SCREEN_WIDTH and not before.text.startswith("*") and len(before.text) < _LONGEST_LINE:
        return ""
    if has_open_end and len(line.text.split()) == 1:
        return " "
    return None


_ECHO = re.compile(
    r"""(?P<prompt>\S.*?[#$>%]\s*)?
        (?:sudo\s+)? (?:(?:\#?CP|VMCP|HCP)\s+)? (?:--?\S+\s+)* ["']?
        (?P<verb>Q|QU|QUE|QUER|QUERY|IND|INDI|INDIC|INDICA|INDICAT|INDICATE)
        (?:\s+(?P<rest>\S.*?))? ["']? \s*""",
    re.IGNORECASE | re.VERBOSE,
)
_READY = re.compile(r"Ready(?:\((?P<code>[0-9]+)\))?;.*", re.IGNORECASE)
# A console line has up to 240 characters, and a prompt may stand before it.
_LONGEST = 500
# Operands and the length of the shortest abbreviation, in capitals as in CP's manual.
_OPERANDS = {
    word.lower(): sum(map(str.isupper, word))
    for word in (
        *("Time", "USERId", "User", "Load", "CPLevel", "PROCessors", "STOrage", "XStore", "FRAmes", "Virtual"),
        *("CHPID", "SET", "MONitor", "LAN", "VSWitch", "NIC", "OSA", "CTCa", "DETails"),
    )
}
# What a response begins with, for captures that hold responses alone.
_LABELS = (
    (r"TIME IS |CONNECT=", "query time"),
    (r"USERID=.*MACH=", "indicate user"),
    (r"AVGPROC-", "indicate load"),
    (r"PROCESSOR [0-9A-F]+ ", "query processors"),
    (r"z/VM\s+Version ", "query cplevel"),
    (r"STORAGE\s*=", "query storage"),
    (r"XSTORE=.*online", "query xstore"),
    (r"SYSGEN |All Frames:", "query frames"),
    (r"\S+\s+AT\s+\S+$", "query userid"),
    (r"VSWITCH \S+ \S+\s.*Type:", "query vswitch"),
    (r"LAN \S+ \S+\s.*Type:", "query lan"),
    (r"Adapter [0-9A-F]{4}\S*\s+Type:", "query nic"),
    (r"OSA  ?[0-9A-F]{4} ", "query virtual osa"),
    (r"CTCA [0-9A-F]{4} ", "query virtual ctca"),
    (r"Path [0-9A-F]{2} ", "query chpid"),
    (r"MONITOR ", "query monitor"),
    (r"MSG O(?:N|FF)\b", "query set"),
)
_LABEL = re.compile("|".join(f"({pattern})" for pattern, _ in _LABELS))


class Echo(NamedTuple):
    """A command echo: the full command in lower case, and the prompt."""

    command: str
    prompt: str


def command_of(text: str) -> Echo | None:
    """Return the QUERY or INDICATE command that a line echoes, or None; echoes are not indented."""
    lowered = text.lower()
    return _echo(text) if ("q" in lowered or "nd" in lowered) and not text[:1].isspace() else None


@lru_cache(1024)
def _echo(text: str) -> Echo | None:
    """Return the command of a line that may be an echo."""
    match = _ECHO.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        return None
    query = match["verb"].upper().startswith("Q")
    words = (match["rest"] or "").lower().split() or ([] if query else ["load"])
    if not words:
        return None
    first = _in_full(words[0])
    rest = [_in_full(word) for word in words[1:]] if first in {"virtual", "lan", "vswitch", "nic"} else words[1:]
    return Echo(" ".join(["query" if query else "indicate", first, *rest]), match["prompt"] or "")


@lru_cache(1024)
def _in_full(word: str) -> str:
    fitting = [full for full, shortest in _OPERANDS.items() if len(word) >= shortest and full.startswith(word)]
    return word if word in _OPERANDS or not fitting else fitting[0]


def is_ready(text: str) -> bool:
    """Return whether CMS reports here that a command has ended."""
    return text[:1] in "Rr" and _READY.fullmatch(text) is not None


def failure_code(text: str) -> str | None:
    """Return the return code in ``Ready(00045);``, None for success and for other lines."""
    match = _READY.fullmatch(text) if text[:1] in "Rr" else None
    return match["code"] if match else None


def label_command(text: str) -> str | None:
    """Return the command whose response begins with such a line."""
    label = _LABEL.match(text)
    return _LABELS[label.lastindex - 1][1] if label and label.lastindex else None
