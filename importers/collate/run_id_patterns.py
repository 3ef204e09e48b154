"""Patterns of run IDs, with a bound on the matching time.

A regular expression can take forever to fail (``(a+)+b``). So a bound on the ways to try a pattern is computed from the
parts before the first use; a pattern above `MOST_WAYS` is refused, and texts longer than `LONGEST` are not tried.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from re import _parser as parser  # type: ignore[attr-defined] # what `re` itself reads patterns with
from typing import Any

LONGEST = 100
"""Characters that a text may have to be matched."""
MOST_WAYS = 1_000_000
"""Ways to try a pattern on one text that are allowed: some tenths of a second."""

_FIELD = re.compile(r"\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::(?P<width>[0-9]{1,2}))?\}")
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
_ONE_WAY = ("LITERAL", "NOT_LITERAL", "IN", "ANY", "AT", "RANGE", "CATEGORY", "NEGATE")


def compile_run_ids(regex: str) -> re.Pattern[str]:
    """Compile a pattern. Raise ValueError if invalid or too slow."""
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


def match_run_id(compiled: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return the match of a whole text, or None."""
    return compiled.fullmatch(text) if len(text) <= LONGEST else None


def is_template(text: str) -> bool:
    """Whether a pattern is written as a template, such as ``NM{device:2}{users:2}``."""
    return "(?" not in text and _FIELD.search(text) is not None


def template_to_regex(text: str) -> str:
    """Return a template's regular expression: ``{users:2}`` is two characters, ``{device}`` one or more.

    Other characters stand for themselves. Raise ValueError for a repeated field.
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
    """Return the ways of successive parts."""
    ways = 1
    for item in items:
        ways = min(ways * _ways(*item), MOST_WAYS + 1)
    return ways


def _ways(op: object, what: Any) -> int:
    """Return an upper bound of a part's ways to match."""
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
    """Return the ways of a repetition: the sum over each number of times."""
    ways, each = 0, _sequence(body)
    for times in range(int(least), min(int(most), LONGEST) + 1):
        ways += each ** min(times, LONGEST)
        if ways > MOST_WAYS:
            return MOST_WAYS + 1
    return max(ways, 1)


def _either(branches: Sequence[Sequence[Any]]) -> int:
    """Return the ways of alternatives, one for distinct texts."""
    texts = [_plain(branch) for branch in branches]
    known = sorted(text for text in texts if text)
    apart = all(not later.startswith(one) for one, later in pairwise(known))
    if len(known) == len(texts) and apart:
        return 1
    return min(sum(map(_sequence, branches)), MOST_WAYS + 1)


def _plain(branch: Sequence[Any]) -> str:
    return "".join(chr(what) for op, what in branch) if all(str(op) == "LITERAL" for op, _ in branch) else ""
