"""The records of an AWM log: a type word and key=value pairs, perhaps over several lines.

This is the lexical half of log format 1; what the records mean is in ``awm.py``.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from importers.model import Text

_TOKEN = re.compile(r"""(?P<key>[A-Za-z_][\w.-]*)=(?:"(?P<quoted>[^"]*)"|(?P<plain>[^\s"]*))(?=\s|$)|(?P<stray>\S+)""")
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_COUNT = re.compile(r"[0-9]+")
_COMMENT = ("*", "#")
END_REASONS = frozenset({"complete", "errors", "aborted"})


def is_number(text: str) -> bool:
    """A decimal number without sign or exponent, as the tool prints all its numbers."""
    return _NUMBER.fullmatch(text) is not None


def is_count(text: str) -> bool:
    """Digits only."""
    return _COUNT.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class Pair:
    """One ``key=value``: the key in lower case, the value without quotes, the line it stands in."""

    key: str
    text: str
    line: int


@dataclass(slots=True)
class Record:
    """A record: its type in capitals, its pairs, and the tokens that are no pairs."""

    type: str
    line: int
    last_line: int
    pairs: list[Pair] = field(default_factory=list)
    strays: list[str] = field(default_factory=list)
    text: str = ""

    def get(self, key: str) -> Pair | None:
        """The first pair of this key."""
        return next((pair for pair in self.pairs if pair.key == key), None)

    def value(self, key: str) -> str:
        """The text of a key, empty when there is none."""
        pair = self.get(key)
        return pair.text if pair else ""

    def extend(self, text: str, line: int) -> None:
        """Take the tokens of one more line."""
        for match in _TOKEN.finditer(text):
            if match["stray"] is not None:
                self.strays.append(match["stray"])
            else:
                value = match["plain"] if match["quoted"] is None else match["quoted"]
                self.pairs.append(Pair(match["key"].lower(), value, line))
        self.text = f"{self.text} {text.strip()}" if self.text else text.strip()
        self.last_line = line


def content_lines(text: Text) -> Iterator[tuple[int, str]]:
    """The numbered lines that are neither blank nor comments."""
    for number, line in text.numbered():
        if line.strip() and not line.startswith(_COMMENT):
            yield number, line


def read_records(text: Text, known: frozenset[str]) -> tuple[list[Record], Record | None]:
    """All whole records, and the record that the file breaks off in, if it does.

    A file is cut inside its last record when that has a token other than key=value, or no line end and is not a
    whole END record. Free words in a last record of a type not in ``known`` are no sign of a cut.
    """
    records: list[Record] = []
    for number, line in content_lines(text):
        body = line.strip()
        if body.startswith("+") and records:
            records[-1].extend(body[1:], number)
            continue
        word, _, rest = body.partition(" ")
        record = Record(word.upper(), number, number, text=word)
        record.extend(rest, number)
        records.append(record)
    if records and _is_cut(records[-1], text, known):
        return records[:-1], records[-1]
    return records, None


def _is_cut(last: Record, text: Text, known: frozenset[str]) -> bool:
    has_no_end = not text.ends_whole and last.last_line == len(text.lines)
    if has_no_end:
        return not _is_whole_end(last)
    return bool(last.strays) and last.type in known and last.type != "AWMLOG"


def _is_whole_end(record: Record) -> bool:
    """Whether an END record without line end has all it should: its time comes with a closing quote."""
    return (
        record.type == "END"
        and not record.strays
        and is_count(record.value("rc"))
        and record.value("reason") in END_REASONS
        and len(record.value("end")) == len("yyyy-mm-dd hh:mm:ss")
    )
