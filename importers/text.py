"""Bytes to text: recognises ASCII, UTF-8, UTF-16 and EBCDIC, and refuses what is no text.

The rules are those for monitor listings, which come from mainframes by many ways: see
``docs/importers/cp_query.md``. Line ends are dropped, everything else stays as it is.
"""

from dataclasses import dataclass, field

from importers.model import Problem, Severity, Text


@dataclass(slots=True)
class Decoded:
    """A file's text, None when it has none; problems may come with a text (a stray byte) or instead of it."""

    text: Text | None = None
    problems: list[Problem] = field(default_factory=list)


def decode(name: str, data: bytes) -> Decoded:
    """Recognise the encoding of ``data`` and cut it into lines."""
    raise NotImplementedError
