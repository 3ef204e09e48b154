"""Records of an AWM log (a type word and key=value pairs), grouped by run, and the status of a run."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache

from importers.fragment_builder import Column
from importers.key_values import Record, is_count, is_number
from importers.model import Listing, ProblemLog, Status, Text

RECORD_TYPES = frozenset({"AWMLOG", "RUN", "PARM", "INT", "CONN", "SUM", "END"})
_END_REASONS = frozenset({"complete", "errors", "aborted"})

_COMMENT = ("*", "#")
# The format knows about a dozen. Every row has a cell for every column, so their number must not grow with the rows.
_MOST_COLUMNS = 64
_SUFFIX = re.compile(r"(?P<name>.+?)_(?P<unit>ms|us|s|bytes|per_sec)")
_SECONDS = frozenset({"seconds", "warmup", "t0", "t1"})
_UNITS = {
    **dict.fromkeys(("id", "host", "phase", "msg"), ""),
    **dict.fromkeys(_SECONDS, "s"),
    **dict.fromkeys(("bytes_sent", "bytes_recv"), "bytes"),
}
_NAMELESS = "without an id"
_MESSAGE_ID = re.compile(r"[A-Z]{3,}\d{3,}[A-Z]\s+")
_COUNTS = frozenset({"n", "trans", "errors", "connects"})


def content_lines(text: Text) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines that are neither blank nor comments."""
    for number, line in text.numbered():
        if line.strip() and not line.startswith(_COMMENT):
            yield number, line


def read_records(text: Text) -> Iterator[tuple[Record, bool]]:
    """Yield the records, each with whether the file breaks off inside."""
    record: Record | None = None
    for number, line in content_lines(text):
        body = line.strip()
        if record is not None and body[0] == "+":
            record.extend(body[1:], number)
            continue
        if record is not None:
            yield record, False
        word, _, rest = body.partition(" ")
        record = Record(word.upper(), number, number, texts=[word])
        record.extend(rest, number)
    if record is not None:
        yield record, _is_cut(record, text)


def _is_cut(last: Record, text: Text) -> bool:
    """Return whether the file breaks off in the last record.

    That is a known one with a token other than key=value, or one without line end other than a whole END.
    """
    if text.ends_whole or last.last_line < len(text.lines):
        return bool(last.strays) and last.type in RECORD_TYPES and last.type != "AWMLOG"
    if last.type != "END" or last.strays or last.value("reason") not in _END_REASONS:
        return True
    return not is_count(last.value("rc")) or len(last.value("end")) != len("yyyy-mm-dd hh:mm:ss")


@dataclass(slots=True)
class Block:
    """Records of a run; without ``end`` cut off by ``next_run``, or in ``cut``, the file's last."""

    head: Record
    run: Record
    extras: list[Record] = field(default_factory=list)
    body: list[Record] = field(default_factory=list)
    end: Record | None = None
    next_run: Record | None = None
    cut: Record | None = None

    def records(self, kind: str) -> Sequence[Record]:
        """Return the records of a type between RUN and END."""
        return [record for record in self.body if record.type == kind]

    @property
    def last_line(self) -> int:
        return (self.end or [self.run, *self.body][-1]).last_line


def make_listing(
    name: str, records: Sequence[Record], required: tuple[str, ...], identity: str, found: ProblemLog
) -> tuple[Listing, ...]:
    """Return a listing of any records; report lacking ``required`` and repeated ``identity`` keys."""
    if not records:
        return ()
    every = tuple(dict.fromkeys(_column(pair.key)[0] for record in records for pair in record.pairs))
    columns = every[:_MOST_COLUMNS]
    if len(every) > _MOST_COLUMNS:
        message = f"{records[0].type} records have {len(every)} different keys; the first {_MOST_COLUMNS} were read."
        found.warn("awm.many-keys", message, "Check that the log is whole.", records[0].line)
    rows = [_row(record, columns, found) for record in records]
    _report_faults(records, required, identity, found)
    return (Listing(name, columns, rows, [record.line for record in records]),)


@lru_cache(1024)
def _column(key: str) -> tuple[Column, bool]:
    """Split a key, and return whether the format defines a number.

    ``resp_avg_ms`` is (resp_avg, ms), ``trans`` (trans, count), ``id`` (id, "").
    """
    match = _SUFFIX.fullmatch(key)
    if key in _UNITS or match is None:
        unit = _UNITS.get(key, "count")
        return (key, unit), bool(unit) and (key in _SECONDS or key in _COUNTS or match is not None)
    return (match["name"], "1/s" if match["unit"] == "per_sec" else match["unit"]), True


def _row(record: Record, columns: tuple[Column, ...], found: ProblemLog) -> tuple[str | None, ...]:
    """Return one record's cells; report texts in place of numbers."""
    cells: dict[Column, str] = {}
    for key, text, line in record.pairs:
        place, is_numeric = _column(key)
        if is_numeric and not is_number(text):
            message = f"{record.type} has {key}={text}, which is not a number."
            found.warn("awm.not-a-number", message, "Correct the record, or transfer the file again.", line)
        elif cells.setdefault(place, text) != text:
            message = f"{record.type} has {key} twice; {text} was left out."
            found.warn("awm.contradiction", message, "Correct the record.", line)
    return tuple(cells.get(place) for place in columns)


def _report_faults(records: Sequence[Record], required: tuple[str, ...], identity: str, found: ProblemLog) -> None:
    """Report required keys that records lack, words that are not key=value, and repeated rows."""
    kind = records[0].type
    for key in required:
        lacking = [record.line for record in records if not record.value(key)]
        if lacking:
            message = f"{len(lacking)} {kind} records lack {key}, the first in line {lacking[0]}."
            found.warn("awm.missing-key", message, f"Add {key}= to each {kind} record.", lacking[0])
    report_strays(records, found.warn)
    seen = set[str]()
    for record in records:
        value = record.value(identity)
        if value and value in seen:
            message = f"{record.type} {identity}={value} occurs twice: two logs may be mixed."
            found.warn("awm.repeated-row", message, "Import the logs as separate files.", record.line)
        seen.add(value)


def report_strays(records: Sequence[Record], report: Callable[[str, str, str, int], None]) -> None:
    """Report words that are not key=value."""
    for record in records:
        if record.strays:
            message = f"{record.type} has words that are not key=value: {' '.join(record.strays)}."
            report("awm.bad-record", message, "Put values with blanks in double quotes.", record.line)


def judge(block: Block, taken: datetime | None, ended: datetime | None, found: ProblemLog) -> Status:
    """Return the run's status by rule 5; report anything but complete."""
    if block.end is None:
        return _report_cut(block, found)
    summaries, end = block.records("SUM"), block.end
    if summaries and is_count(summaries[0].value("trans")) and not summaries[0].value("trans").strip("0"):
        return _report_nothing_done(block, summaries[0], found)
    rc, reason = end.value("rc"), end.value("reason").lower()
    if reason == "aborted" or (rc and rc.strip("0")):
        # By the run's own clock.
        after = f" after {(ended - taken).total_seconds():.0f} seconds" if taken and ended else ""
        return _report_failure(block, end, after, found)
    if not summaries:
        message = f"Run {found.run_id or _NAMELESS} has no SUM record: there is no throughput."
        return found.cut("awm.no-summary", message, "Transfer the log again.", end.line)
    return Status.COMPLETE if rc and reason else Status.INCOMPLETE


def _report_cut(block: Block, found: ProblemLog) -> Status:
    lacks = "no END" if block.records("SUM") else "no SUM and no END"
    remedy = "Transfer the file again and import it."
    if block.next_run is not None:
        message = (
            f"The log of run {found.run_id or _NAMELESS} has {lacks} before the next {block.next_run.type} "
            f"in line {block.next_run.line}: it was cut off."
        )
        return found.cut("awm.cut-off", message, remedy, block.next_run.line)
    where = f"ends inside a record, with {lacks}" if block.cut is not None else f"has {lacks}"
    line = block.cut.line if block.cut else block.run.line
    message = f"The log of run {found.run_id or _NAMELESS} {where}: the file was cut off, transfer it again."
    return found.cut("awm.cut-off", message, remedy, line)


def _report_nothing_done(block: Block, summary: Record, found: ProblemLog) -> Status:
    causes = _messages([*block.records("CONN"), *([block.end] if block.end else [])])
    details = ", ".join([f"{summary.value('errors') or 'no'} errors", *causes])
    seconds = re.sub(r"\.0*$", "", summary.value("seconds"))
    message = (
        f"Run {found.run_id or _NAMELESS} made no transaction in {seconds} seconds ({details}): "
        "it is kept as failed, with no response time and no CPU per transaction."
    )
    return found.fail("awm.no-transactions", message, "Check the server, then measure again.", summary.line)


def _report_failure(block: Block, end: Record, after: str, found: ProblemLog) -> Status:
    aborted = end.value("reason").lower() == "aborted"
    what = "was aborted" if aborted else f"ended with rc={end.value('rc')}"
    causes = _messages([end]) or [end.value("reason") or "no reason given"]
    outlook = "enters no average" if block.records("SUM") else "has no summary and enters no average"
    run = f"Run {found.run_id or _NAMELESS}"
    message = f"{run} {what}{after} ({', '.join(causes)}): its intervals are shown but it {outlook}."
    return found.fail("awm.aborted" if aborted else "awm.failed", message, "Measure again.", end.line)


def _messages(records: Sequence[Record]) -> list[str]:
    """Return the distinct ``msg`` texts of records, without message numbers."""
    texts = (_MESSAGE_ID.sub("", text, count=1) for record in records if (text := record.value("msg")))
    return list(dict.fromkeys(text for text in texts if text))
