"""Which lines above a table can be its title."""

import re

_LONGEST = 160
_NUMBERED = re.compile(r"(?:table|tab\.)\s*\d+\s*[.:)]?", re.IGNORECASE)
_SENTENCE = re.compile(r"[.;,!?]$")


def is_numbered_title(line: str) -> bool:
    """Whether a line begins as ``Table 4.`` does."""
    return _NUMBERED.match(line.strip()) is not None and len(line) <= _LONGEST


def is_title(line: str) -> bool:
    """Whether a line above a table can be its title: short, and no sentence."""
    text = line.strip().lstrip("#").strip()
    return bool(text) and (is_numbered_title(text) or (len(text) <= _LONGEST and not _SENTENCE.search(text)))


def title_text(line: str) -> str:
    """The title without a heading's marks."""
    return line.strip().lstrip("#").strip(" *_")
