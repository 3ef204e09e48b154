"""Matching by time: the run that a snapshot or report belongs to.

Local times are compared as printed, since all evidence of a run comes from one place; where both sides print known
zones, these count. A snapshot taken before belongs to the run that starts next, one taken after to the run that
ended last.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import itemgetter

from importers.model import Fragment, Kind, Problem, RunDraft, Severity
from importers.time_zones import shifted, utc_offset

_REACH = timedelta(minutes=15)  # From a run's start back, or from its end on, to a snapshot.
_SLACK = timedelta(seconds=60)  # Commands take a while on several guests, and clocks differ.
_HOST_FACTS = frozenset({"host", "client", "server", "client_stack", "server_stack", "node"})
_GUEST = "guest"  # the role of a report's reading about a user, who is its subject


@dataclass(slots=True)
class OpenDraft:
    """A draft in the making and its fragments."""

    draft: RunDraft
    members: list[Fragment]

    def take(self, *fragments: Fragment) -> None:
        """Add fragments to the draft, perhaps as further client processes."""
        self.members += fragments
        for fragment in fragments:
            if fragment.is_client and self.draft.driver is not None:
                self.draft.parts.append(fragment)
            elif fragment.is_client:
                self.draft.driver = fragment
            elif fragment.is_peer:
                self.draft.peer = fragment
            elif fragment.kind is Kind.REPORT:
                self.draft.reports.append(fragment)

    def note(self, fragment: Fragment, code: str, message: str) -> None:
        """Add a note about a fragment to the draft."""
        self.draft.problems.append(about(fragment, Severity.NOTE, code, message))


def about(fragment: Fragment, severity: Severity, code: str, message: str, remedy: str = "") -> Problem:
    """Return a problem of one fragment."""
    return Problem(severity, code, message, remedy, fragment.file, fragment.first_line, fragment.run_id)


def hosts_of(fragments: Iterable[Fragment]) -> set[str]:
    """Return the hosts, nodes and guests that fragments name, in lower case."""
    fragments = list(fragments)
    hosts = {fragment.host for fragment in fragments if fragment.host}
    facts = {fact.text for fragment in fragments for fact in fragment.facts if fact.key in _HOST_FACTS}
    guests = {each.subject for fragment in fragments for each in fragment.readings if each.role == _GUEST}
    return {host.casefold() for host in hosts | facts | guests}


def choose_by_time(fragment: Fragment, drafts: Iterable[OpenDraft]) -> list[OpenDraft]:
    """Return the drafts that fit a fragment's time: none, one, or several simultaneous ones."""
    distances = [(distance, each) for each in drafts if (distance := _distance(fragment, each.draft)) is not None]
    if not distances:
        return []
    nearest, best = min(distances, key=itemgetter(0))
    return [each for distance, each in distances if distance == nearest or _overlap(each.draft, best.draft)]


def window(draft: RunDraft) -> tuple[datetime, datetime | None] | None:
    """Return start and end (None if cut off) by driver's or server's log."""
    log = _log(draft)
    if log is None or log.taken is None:
        return None
    seconds = next((each.text for each in log.readings if each.name == "driver_s" and each.unit in {"s", "sec"}), None)
    try:
        measured = log.taken + timedelta(seconds=float(seconds)) if seconds is not None else None
    except (ValueError, OverflowError):
        measured = None
    return log.taken, log.ended or measured


def _log(draft: RunDraft) -> Fragment | None:
    """Return the log with the time of the run."""
    return next((log for log in (draft.driver, draft.peer) if log is not None and log.taken is not None), None)


def clock_shift(draft: RunDraft, fragment: Fragment) -> timedelta:
    """Return the lead of the fragment's clock, zero unless both zones are known."""
    log = _log(draft)
    mine, theirs = utc_offset(fragment.zone), utc_offset(log.zone) if log else None
    return timedelta(0) if mine is None or theirs is None else mine - theirs


def is_within(draft: RunDraft, report: Fragment) -> bool:
    """Return whether a run lies within the time of a report."""
    times = window(draft)
    if times is None or times[1] is None or report.taken is None or report.ended is None:
        return False
    shift = clock_shift(draft, report)
    return report.taken <= shifted(times[0], shift) and shifted(times[1], shift) <= report.ended


def _distance(fragment: Fragment, draft: RunDraft) -> timedelta | None:
    """Return the time to the run, zero for overlap, None if impossible."""
    times = window(draft)
    if times is None or fragment.taken is None:
        return None
    shift = clock_shift(draft, fragment)
    # The run's times on the fragment's clock.
    start, end = shifted(times[0], shift), shifted(times[1], shift) if times[1] else None
    if fragment.kind is Kind.SNAPSHOT and fragment.phase == "before":
        return _within(start - fragment.taken)
    if fragment.kind is Kind.SNAPSHOT:
        return None if end is None else _within(fragment.taken - end)
    if fragment.ended is None or end is None:
        return None
    return timedelta(0) if fragment.taken < end and start < fragment.ended else None


def _within(gap: timedelta) -> timedelta | None:
    return abs(gap) if -_SLACK <= gap <= _REACH else None


def _overlap(one: RunDraft, other: RunDraft) -> bool:
    first, second = window(one), window(other)
    if first is None or second is None:
        return False
    return first[0] < (second[1] or second[0]) and second[0] < (first[1] or first[0])
