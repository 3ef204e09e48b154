"""CP commands as they stand in captures: recognises an echo in any disguise and spells the command out."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

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
# Operands and the shortest abbreviation read as them.
_OPERANDS = {
    "time": 1,
    "userid": 5,
    "user": 1,
    "load": 1,
    "cplevel": 3,
    "processors": 4,
    "storage": 3,
    "xstore": 2,
    "frames": 3,
    "virtual": 1,
    "chpid": 5,
    "set": 3,
    "monitor": 3,
    "lan": 3,
    "vswitch": 3,
    "nic": 3,
    "osa": 3,
    "ctca": 3,
    "details": 3,
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


@dataclass(frozen=True, slots=True)
class Echo:
    """A command echo: the command in full words and lower case, and the prompt in front of it."""

    command: str
    prompt: str


def command_of(text: str) -> Echo | None:
    """The QUERY or INDICATE command that a line echoes, None when it echoes none."""
    return commands_of([text])[0]


def commands_of(texts: Sequence[str]) -> list[Echo | None]:
    """The same of many lines. No echo is indented, and all have a letter or two that most responses do not."""
    return [
        _echo(text) if ("q" in lowered or "nd" in lowered) and not text[:1].isspace() else None
        for text, lowered in zip(texts, map(str.lower, texts), strict=True)
    ]


@lru_cache(1024)
def _echo(text: str) -> Echo | None:
    """The same of a line that may echo one: each capture of a file has the same commands."""
    match = _ECHO.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        return None
    query = match["verb"].upper().startswith("Q")
    words = (match["rest"] or "").lower().split()
    if query and not words:
        return None
    if not query and not words:
        words = ["load"]
    first = _in_full(words[0])
    rest = [_in_full(word) for word in words[1:]] if first in {"virtual", "lan", "vswitch", "nic"} else words[1:]
    return Echo(" ".join(["query" if query else "indicate", first, *rest]), match["prompt"] or "")


@lru_cache(1024)
def _in_full(word: str) -> str:
    fitting = [full for full, shortest in _OPERANDS.items() if len(word) >= shortest and full.startswith(word)]
    return word if word in _OPERANDS or not fitting else fitting[0]


def is_ready(text: str) -> bool:
    """Whether CMS says here that a command has ended."""
    return text[:1] in "Rr" and _READY.fullmatch(text) is not None


def failure_code(text: str) -> str | None:
    """The return code in ``Ready(00045);``, None when the command went well or this is no such line."""
    match = _READY.fullmatch(text) if text[:1] in "Rr" else None
    return match["code"] if match else None


def label_command(text: str) -> str | None:
    """The command whose response begins with such a line."""
    label = _LABEL.match(text)
    return _LABELS[label.lastindex - 1][1] if label and label.lastindex else None
