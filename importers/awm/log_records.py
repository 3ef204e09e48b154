"""Records of an AWM log: a type word and key=value pairs."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from importers.key_values import Record, is_count, is_number
from importers.model import Listing, ProblemLog, Text

Column = tuple[str, str]
"""A quantity and its unit."""

END_REASONS = frozenset({"complete", "errors", "aborted"})

_COMMENT = ("*", "#")
# The format knows about a dozen. Every row has a cell for every column, so their number must not grow with the rows.
_MOST_COLUMNS = 64
_SUFFIX = re.compile(r"(?P<name>.+?)_(?P<unit>ms|us|s|bytes|per_sec)")
_SECONDS = frozenset({"seconds", "warmup", "t0", "t1"})
_BYTES = frozenset({"bytes_sent", "bytes_recv"})
_WORDS = frozenset({"id", "host", "phase", "msg"})
_COUNTS = frozenset({"n", "trans", "errors", "connects"})


def content_lines(text: Text) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines that are neither blank nor comments."""
    for number, line in text.numbered():
        if line.strip() and not line.startswith(_COMMENT):
            yield number, line


class Records:
    """The whole records of a file, one at a time.

    ``cut`` is the record in which the file breaks off, known at the end: a last record of a type in ``known`` with a
    token other than key=value, or a last record without line end other than a whole END.
    """

    def __init__(self, text: Text, known: frozenset[str]) -> None:
        self._text, self._known = text, known
        self.cut: Record | None = None

    def __iter__(self) -> Iterator[Record]:
        record: Record | None = None
        for number, line in content_lines(self._text):
            body = line.strip()
            if record is not None and body[0] == "+":
                record.extend(body[1:], number)
                continue
            if record is not None:
                yield record
            word, _, rest = body.partition(" ")
            record = Record(word.upper(), number, number, texts=[word])
            record.extend(rest, number)
        if record is not None and self._is_cut(record):
            self.cut = record
        elif record is not None:
            yield record

    def _is_cut(self, last: Record) -> bool:
        if not self._text.ends_whole and last.last_line == len(self._text.lines):
            return not _is_whole_end(last)
        return bool(last.strays) and last.type in self._known and last.type != "AWMLOG"


def _is_whole_end(record: Record) -> bool:
    """Return whether an END record without line end is complete."""
    return (
        record.type == "END"
        and not record.strays
        and is_count(record.value("rc"))
        and record.value("reason") in END_REASONS
        and len(record.value("end")) == len("yyyy-mm-dd hh:mm:ss")
    )


def make_listing(
    name: str, records: Sequence[Record], required: tuple[str, ...], identity: str, found: ProblemLog
) -> Listing | None:
    """Return a listing, None without records; report lacking ``required`` and repeated ``identity`` keys."""
    if not records:
        return None
    every = tuple(dict.fromkeys(_column(pair.key) for record in records for pair in record.pairs))
    columns = every[:_MOST_COLUMNS]
    if len(every) > _MOST_COLUMNS:
        message = f"{records[0].type} records have {len(every)} different keys; the first {_MOST_COLUMNS} were read."
        found.warn("awm.many-keys", message, "Check that the log is whole.", records[0].line)
    rows = [_row(record, columns, found) for record in records]
    _report_lacking(records, required, found)
    _report_repeated(records, identity, found)
    return Listing(name, columns, rows, [record.line for record in records])


@lru_cache(1024)
def _column(key: str) -> Column:
    """Split a key: ``resp_avg_ms`` is (resp_avg, ms), ``trans`` (trans, count), ``id`` (id, "")."""
    if key in _WORDS:
        return key, ""
    if key in _SECONDS:
        return key, "s"
    if key in _BYTES:
        return key, "bytes"
    match = _SUFFIX.fullmatch(key)
    if match is None:
        return key, "count"
    return match["name"], "1/s" if match["unit"] == "per_sec" else match["unit"]


@lru_cache(1024)
def _is_number_key(key: str) -> bool:
    """Return whether the log format defines the value of a key as a number."""
    known = key in _SECONDS or key in _COUNTS or _SUFFIX.fullmatch(key) is not None
    return known and bool(_column(key)[1])


def _row(record: Record, columns: tuple[Column, ...], found: ProblemLog) -> tuple[str | None, ...]:
    """Return one record's cells; report texts in place of numbers."""
    cells: dict[Column, str] = {}
    for key, text, line in record.pairs:
        place = _column(key)
        if _is_number_key(key) and not is_number(text):
            message = f"{record.type} has {key}={text}, which is not a number."
            found.warn("awm.not-a-number", message, "Correct the record, or transfer the file again.", line)
        elif cells.setdefault(place, text) != text:
            message = f"{record.type} has {key} twice; {text} was left out."
            found.warn("awm.contradiction", message, "Correct the record.", line)
    return tuple(cells.get(place) for place in columns)


def _report_lacking(records: Sequence[Record], required: tuple[str, ...], found: ProblemLog) -> None:
    """Report required keys that records lack, and words that are not key=value."""
    kind = records[0].type
    for key in required:
        lacking = [record.line for record in records if not record.value(key)]
        if lacking:
            message = f"{len(lacking)} {kind} records lack {key}, the first in line {lacking[0]}."
            found.warn("awm.missing-key", message, f"Add {key}= to each {kind} record.", lacking[0])
    for record in records:
        if record.strays:
            message = f"{kind} has words that are not key=value: {' '.join(record.strays)}."
            found.warn("awm.bad-record", message, "Put values with blanks in double quotes.", record.line)


def _report_repeated(records: Sequence[Record], identity: str, found: ProblemLog) -> None:
    seen: set[str] = set()
    for record in records:
        value = record.value(identity)
        if value in seen:
            message = f"{record.type} {identity}={value} occurs twice: two logs may be mixed."
            found.warn("awm.repeated-row", message, "Import the logs as separate files.", record.line)
        elif value:
            seen.add(value)
