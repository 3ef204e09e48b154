"""Short names for values that a legend has no room for: a study's title, a system with all that it consists of."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping

# What a legend bears of one value, in characters; longer ones are shortened.
ROOM = 26
# Where a title ends and what explains it begins.
_EXPLAINED = re.compile(r"\s*(?::|\s[-–—]|[(;])\s")


def short_names(texts: Iterable[str]) -> Mapping[str, str]:
    """Each text by a name that fits and that no other has: what stands before a colon or dash, else its first words.

    A text that has no such name keeps itself.
    """
    every = list(dict.fromkeys(texts))
    wanted = {text: _short(text) for text in every}
    times = Counter(wanted.values())
    return {text: name if times[name] == 1 else text for text, name in wanted.items()}


def _short(text: str) -> str:
    if len(text) <= ROOM:
        return text
    head = _EXPLAINED.split(text, maxsplit=1)[0]
    if 0 < len(head) <= ROOM:
        return head
    words = text[: ROOM + 1].rsplit(None, 1)[0] if " " in text[: ROOM + 1] else text[:ROOM]
    return f"{words.rstrip(' ,.·-')}…"
