"""Joining by time: which of several runs a snapshot or report belongs to.

Local times are compared as printed, for all evidence of a run comes from one place. A snapshot taken before
belongs to the run that starts next, one taken after to the run that ended last.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from importers.model import Fragment, Kind, RunDraft

REACH = timedelta(minutes=15)
"""How long before its run's start or after its end a snapshot may be taken."""

_SLACK = timedelta(seconds=60)  # Commands take a while on several guests, and clocks differ.
_HOST_FACTS = frozenset({"host", "client", "server", "client_stack", "server_stack", "node"})
_GUEST = "guest"  # the role of a report's reading about a user, who is its subject


def hosts_of(fragments: Iterable[Fragment]) -> set[str]:
    """The hosts, nodes and guests that fragments name, without regard to capitals."""
    fragments = list(fragments)
    hosts = {fragment.host for fragment in fragments if fragment.host}
    facts = {fact.text for fragment in fragments for fact in fragment.facts if fact.key in _HOST_FACTS}
    guests = {each.subject for fragment in fragments for each in fragment.readings if each.role == _GUEST}
    return {host.casefold() for host in hosts | facts | guests}


def choose_by_time(fragment: Fragment, drafts: Sequence[RunDraft]) -> list[RunDraft]:
    """The drafts that a fragment's time fits: none, the one, or several that ran at the same time."""
    distances = [(distance, draft) for draft in drafts if (distance := _distance(fragment, draft)) is not None]
    if not distances:
        return []
    nearest, best = min(distances, key=lambda each: each[0])
    rivals = [draft for distance, draft in distances if distance == nearest or _overlap(draft, best)]
    return rivals if len(rivals) > 1 else [best]


def choose_by_time_and_host(
    fragment: Fragment, drafts: Sequence[RunDraft], members: Sequence[Sequence[Fragment]]
) -> list[RunDraft]:
    """As choose_by_time, among the drafts that share a host with the fragment; ``members`` are their fragments."""
    hosts = hosts_of([fragment])
    sharing = [draft for draft, own in zip(drafts, members, strict=True) if hosts & hosts_of(own)]
    return choose_by_time(fragment, sharing)


def window(draft: RunDraft) -> tuple[datetime, datetime | None] | None:
    """When the run ran, by its driver's log or else the server's; the end is None when it was cut off."""
    for log in (draft.driver, draft.peer):
        if log is not None and log.taken is not None:
            return log.taken, log.ended
    return None


def is_within(draft: RunDraft, report: Fragment) -> bool:
    """Whether a run lies within the time of a report."""
    times = window(draft)
    if times is None or times[1] is None or report.taken is None or report.ended is None:
        return False
    return report.taken <= times[0] and times[1] <= report.ended


def _distance(fragment: Fragment, draft: RunDraft) -> timedelta | None:
    """How far a fragment is from the edge of the run that it belongs to, None when it cannot belong to it."""
    times = window(draft)
    if times is None or fragment.taken is None:
        return None
    start, end = times
    if fragment.kind is Kind.SNAPSHOT and fragment.phase == "before":
        return _within(start - fragment.taken)
    if fragment.kind is Kind.SNAPSHOT:
        return None if end is None else _within(fragment.taken - end)
    if fragment.ended is None or end is None:
        return None
    return timedelta(0) if fragment.taken < end and start < fragment.ended else None


def _within(gap: timedelta) -> timedelta | None:
    return abs(gap) if -_SLACK <= gap <= REACH else None


def _overlap(one: RunDraft, other: RunDraft) -> bool:
    first, second = window(one), window(other)
    if first is None or second is None:
        return False
    return first[0] < (second[1] or second[0]) and second[0] < (first[1] or first[0])
