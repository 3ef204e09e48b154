"""Patterns of run ids that people write: as a regular expression or as a template, and how much work one may make.

A regular expression can take longer than the age of the universe to say that it does not fit (``(a+)+b``). So a bound
on the ways in which a pattern can be tried is computed from its parts before it is ever used, and one above
`MOST_WAYS` is refused; texts longer than `LONGEST` are no run ids and are not tried.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from re import _parser as parser  # type: ignore[attr-defined] # what `re` itself reads patterns with
from typing import Any

LONGEST = 100
"""The most characters that a text may have to be held against a pattern."""
MOST_WAYS = 1_000_000
"""The most ways in which a pattern may have to be tried on one text: some tenths of a second."""

_FIELD = re.compile(r"\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::(?P<width>[0-9]{1,2}))?\}")
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
_ONE_WAY = ("LITERAL", "NOT_LITERAL", "IN", "ANY", "AT", "RANGE", "CATEGORY", "NEGATE")


def compile_run_ids(regex: str) -> re.Pattern[str]:
    """A pattern ready for use. Raises ValueError for what is no regular expression, or could take too long."""
    try:
        compiled = re.compile(regex)
        ways = _sequence(parser.parse(regex))
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"{regex!r} is no regular expression: {error}") from None
    if ways > MOST_WAYS:
        raise ValueError(
            f"{regex!r} could take too long on a text that it does not fit: "
            "say how many characters there are ({2}) in place of * and +, and repeat no group that repeats something"
        )
    return compiled


def fitting(compiled: re.Pattern[str], text: str) -> re.Match[str] | None:
    """How a pattern fits the whole of a text; None for one too long to be a run id."""
    return compiled.fullmatch(text) if len(text) <= LONGEST else None


def is_template(text: str) -> bool:
    """Whether a pattern is written as a template, such as ``NM{device:2}{users:2}``."""
    return "(?" not in text and _FIELD.search(text) is not None


def from_template(text: str) -> str:
    """The regular expression of a template: ``{users:2}`` is a field of two characters, ``{device}`` of one or more.

    All else stands for itself. Raises ValueError for a field that is there twice.
    """
    parts, end, names = [], 0, set[str]()
    for field in _FIELD.finditer(text):
        name, width = field["name"], field["width"]
        if name in names:
            raise ValueError(f"the template has {name} twice")
        names.add(name)
        count = ".+" if width is None else "." if width == "1" else f".{{{int(width)}}}"
        parts += [re.escape(text[end : field.start()]), f"(?P<{name}>{count})"]
        end = field.end()
    return "".join([*parts, re.escape(text[end:])])


def _sequence(items: Sequence[Any]) -> int:
    """The ways of one part after the other."""
    ways = 1
    for item in items:
        ways = min(ways * _ways(*item), MOST_WAYS + 1)
    return ways


def _ways(op: object, what: Any) -> int:
    """In how many ways a part can be tried on a text of the greatest length, at most."""
    kind = str(op)
    if kind in _ONE_WAY:
        return 1
    if kind in _REPEATS:
        return _repeated(*what)
    if kind == "SUBPATTERN":
        return _sequence(what[-1])
    if kind == "BRANCH":
        return _either(what[1])
    # What looks around, refers back or asks conditions is not needed to read a run id, and hard to bound.
    return MOST_WAYS + 1


def _repeated(least: int, most: Any, body: Sequence[Any]) -> int:
    """So often, then once more, and so on: each number of times is a way of its own."""
    ways, each = 0, _sequence(body)
    for times in range(int(least), min(int(most), LONGEST) + 1):
        ways += each ** min(times, LONGEST)
        if ways > MOST_WAYS:
            return MOST_WAYS + 1
    return max(ways, 1)


def _either(branches: Sequence[Sequence[Any]]) -> int:
    """Of plain texts of which none begins another only one can fit; others may fit one after the other."""
    texts = [_plain(branch) for branch in branches]
    known = sorted(text for text in texts if text)
    apart = all(not later.startswith(one) for one, later in pairwise(known))
    if len(known) == len(texts) and apart:
        return 1
    return min(sum(map(_sequence, branches)), MOST_WAYS + 1)


def _plain(branch: Sequence[Any]) -> str:
    return "".join(chr(what) for op, what in branch) if all(str(op) == "LITERAL" for op, _ in branch) else ""
