"""Final status of an AWM run (rule 5) with its problem."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from importers.key_values import Record, is_count
from importers.model import ProblemLog, Status

_MESSAGE_ID = re.compile(r"[A-Z]{3,}\d{3,}[A-Z]\s+")


class Ending(Protocol):
    """The records of a run that decide its status."""

    run: Record
    end: Record | None
    next_run: Record | None
    cut: Record | None

    def records(self, kind: str) -> Sequence[Record]:
        """Return the records of a type between RUN and END."""


def judge(block: Ending, taken: datetime | None, ended: datetime | None, found: ProblemLog) -> Status:
    """Return the run's status; report anything but complete."""
    if block.end is None:
        _report_cut(block, found)
        return Status.INCOMPLETE
    summaries, end = block.records("SUM"), block.end
    if summaries and is_count(summaries[0].value("trans")) and not summaries[0].value("trans").strip("0"):
        _report_nothing_done(block, summaries[0], found)
        return Status.FAILED
    rc, reason = end.value("rc"), end.value("reason").lower()
    if reason == "aborted" or (rc and rc.strip("0")):
        _report_failure(block, end, _ran_for(taken, ended), found)
        return Status.FAILED
    if not summaries:
        message = f"Run {_name(found)} has no SUM record: there is no throughput."
        return found.cut("awm.no-summary", message, "Transfer the log again.", end.line)
    return Status.COMPLETE if rc and reason else Status.INCOMPLETE


def _name(found: ProblemLog) -> str:
    return found.run_id or "without an id"


def _report_cut(block: Ending, found: ProblemLog) -> None:
    lacks = "no END" if block.records("SUM") else "no SUM and no END"
    remedy = "Transfer the file again and import it."
    if block.next_run is not None:
        message = (
            f"The log of run {_name(found)} has {lacks} before the next {block.next_run.type} "
            f"in line {block.next_run.line}: it was cut off."
        )
        found.warn("awm.cut-off", message, remedy, block.next_run.line)
        return
    where = f"ends inside a record, with {lacks}" if block.cut is not None else f"has {lacks}"
    line = block.cut.line if block.cut else block.run.line
    message = f"The log of run {_name(found)} {where}: the file was cut off, transfer it again."
    found.warn("awm.cut-off", message, remedy, line)


def _report_nothing_done(block: Ending, summary: Record, found: ProblemLog) -> None:
    causes = _messages([*block.records("CONN"), *([block.end] if block.end else [])])
    details = ", ".join([f"{summary.value('errors') or 'no'} errors", *causes])
    message = (
        f"Run {_name(found)} made no transaction in {_whole(summary.value('seconds'))} seconds ({details}): "
        "it is kept as failed, with no response time and no CPU per transaction."
    )
    found.warn("awm.no-transactions", message, "Check the server, then measure again.", summary.line)


def _report_failure(block: Ending, end: Record, after: str, found: ProblemLog) -> None:
    aborted = end.value("reason").lower() == "aborted"
    what = "was aborted" if aborted else f"ended with rc={end.value('rc')}"
    causes = _messages([end]) or [end.value("reason") or "no reason given"]
    outlook = "enters no average" if block.records("SUM") else "has no summary and enters no average"
    message = f"Run {_name(found)} {what}{after} ({', '.join(causes)}): its intervals are shown but it {outlook}."
    found.warn("awm.aborted" if aborted else "awm.failed", message, "Measure again.", end.line)


def _ran_for(taken: datetime | None, ended: datetime | None) -> str:
    """Return the duration by the run's own clock, END.end - RUN.start, as words."""
    if taken is None or ended is None:
        return ""
    return f" after {(ended - taken).total_seconds():.0f} seconds"


def _messages(records: Sequence[Record]) -> list[str]:
    """Return the distinct ``msg`` texts of records, without message numbers."""
    texts = (_MESSAGE_ID.sub("", text, count=1) for record in records if (text := record.value("msg")))
    return list(dict.fromkeys(text for text in texts if text))


def _whole(seconds: str) -> str:
    """Return seconds without zero decimals: 600.00 as 600."""
    return re.sub(r"\.0*$", "", seconds)
