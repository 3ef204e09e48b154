"""The records of an AWM log: a type word and key=value pairs, perhaps over several lines.

This is the lexical half of log format 1; what the records mean is in ``log.py``."""

from collections.abc import Iterator

from importers.awm.forms import Forms, Row
from importers.model import Text
from importers.records import Record, is_count

_COMMENT = ("*", "#")
END_REASONS = frozenset({"complete", "errors", "aborted"})


def content_lines(text: Text) -> Iterator[tuple[int, str]]:
    """The numbered lines that are neither blank nor comments."""
    for number, line in text.numbered():
        if line.strip() and not line.startswith(_COMMENT):
            yield number, line


class Records:
    """The whole records of a file, one at a time; ``cut`` is the one that the file breaks off in, known at the end.

    A file is cut inside its last record when that has a token other than key=value, or no line end and is not a
    whole END record. Free words in a last record of a type not in ``known`` are no sign of a cut.
    """

    def __init__(self, text: Text, known: frozenset[str]) -> None:
        self._text, self._known = text, known
        self.cut: Record | None = None

    def __iter__(self) -> Iterator[Record | Row]:
        forms = Forms()
        record: Record | Row | None = None
        before = ""
        for number, line in content_lines(self._text):
            body = line.strip()
            if record is not None:
                if body[0] == "+":
                    record = record if isinstance(record, Record) else _spelled(before, record.line)
                    record.extend(body[1:], number)
                    continue
                yield record
            before = body
            record = forms.row(body, number) or _spelled(body, number)
        if record is not None and _is_cut(record, self._text, self._known):
            self.cut = record if isinstance(record, Record) else _spelled(before, record.line)
        elif record is not None:
            yield record


def _spelled(body: str, number: int) -> Record:
    """The record that begins in a line, pair by pair."""
    word, _, rest = body.partition(" ")
    record = Record(word.upper(), number, number, texts=[word])
    record.extend(rest, number)
    return record


def _is_cut(last: Record | Row, text: Text, known: frozenset[str]) -> bool:
    has_no_end = not text.ends_whole and last.last_line == len(text.lines)
    if has_no_end:
        return not _is_whole_end(last)
    return bool(last.strays) and last.type in known and last.type != "AWMLOG"


def _is_whole_end(record: Record | Row) -> bool:
    """Whether an END record without line end has all it should: its time comes with a closing quote."""
    return (
        record.type == "END"
        and not record.strays
        and is_count(record.value("rc"))
        and record.value("reason") in END_REASONS
        and len(record.value("end")) == len("yyyy-mm-dd hh:mm:ss")
    )
