"""The records of an AWM log: a type word and key=value pairs, perhaps over several lines.

This is the lexical half of log format 1; what the records mean is in ``log.py``."""

from collections.abc import Iterator, Sequence

from importers.awm.uniform_rows import Forms, Rows
from importers.key_values import Record, is_count
from importers.model import Text

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

    def __iter__(self) -> Iterator[Record | Rows]:
        """Rows come together, as many as stand one after the other."""
        forms = Forms()
        record: Record | Rows | None = None
        before = ""
        for number, line in self._text.numbered():
            if isinstance(record, Rows) and record.take(number, line):
                before = line
                continue
            body = line.strip()
            if not body or line.startswith(_COMMENT):
                continue
            if record is not None and body[0] == "+":
                rows, record = _apart(record, before)
                record.extend(body[1:], number)
                yield from rows
                continue
            if record is not None:
                yield record
            before = line
            record = forms.rows(body, number) or _spelled(body, number)
        if record is not None:
            yield from self._whole(record, before)

    def _whole(self, last: Record | Rows, text: str) -> Sequence[Record | Rows]:
        """The last record, unless the file breaks off in it; with the rows before it. ``text``: its first line."""
        if not _is_cut(last, self._text, self._known):
            return [last]
        rows, self.cut = _apart(last, text)
        return rows


def _apart(last: Record | Rows, text: str) -> tuple[Sequence[Rows], Record]:
    """The last record pair by pair, and the rows before it if it is one; ``text``: its first line."""
    if isinstance(last, Record):
        return (), last
    record = _spelled(text.strip(), last.drop())
    return ((last,) if last.lines else ()), record


def _spelled(body: str, number: int) -> Record:
    """The record that begins in a line, pair by pair."""
    word, _, rest = body.partition(" ")
    record = Record(word.upper(), number, number, texts=[word])
    record.extend(rest, number)
    return record


def _is_cut(last: Record | Rows, text: Text, known: frozenset[str]) -> bool:
    has_no_end = not text.ends_whole and last.last_line == len(text.lines)
    if has_no_end or isinstance(last, Rows):
        return has_no_end and not (isinstance(last, Record) and _is_whole_end(last))
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
