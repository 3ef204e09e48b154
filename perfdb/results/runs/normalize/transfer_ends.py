"""Check of both ends of a transfer: all bytes must arrive.

If the sender was interrupted, the receiver prints an ordinary result: only both logs together show the interruption.
"""

from collections.abc import Sequence
from itertools import permutations

from importers.model import Fragment, Problem, RunDraft, Severity
from perfdb.analysis.dimensions import parse_bytes, parse_integer
from perfdb.analysis.units import convert


def check_ends(draft: RunDraft) -> list[Problem]:
    """Return a warning if fewer or more bytes arrived than were to be sent."""
    logs = [log for log in (draft.driver, draft.peer) if log is not None]
    for sender, receiver in permutations(logs, 2):
        asked, arrived = _asked(sender), _arrived(receiver)
        if asked is not None and arrived is not None and asked != arrived:
            return [_differ(draft, receiver, asked, arrived)]
    return []


def _asked(log: Fragment) -> int | None:
    """Return the bytes to be sent, buffers × size; None if unknown or UDP."""
    texts: Sequence[str | None] = [log.fact_text(key) for key in ("message_bytes", "buffers")]
    if None in texts or log.fact_text("factor.protocol") == "UDP":
        return None
    try:
        return parse_bytes(texts[0] or "") * parse_integer(texts[1] or "")
    except ValueError:
        return None


def _arrived(log: Fragment) -> int | None:
    reading = next((each for each in log.readings if each.name == "bytes_received"), None)
    try:
        return None if reading is None else round(convert(reading.text, reading.unit, reading.name))
    except ValueError:
        return None


def _differ(draft: RunDraft, receiver: Fragment, asked: int, arrived: int) -> Problem:
    message = f"Run {draft.run_id} was to send {asked:,} bytes, but {arrived:,} arrived: it was interrupted."
    about = (receiver.file, receiver.first_line, draft.run_id)
    return Problem(Severity.WARNING, "run.ends-differ", message, "Measure again.", *about)
