"""Marks of a test in its logs: cookie, ports of both ends, start."""

from datetime import timedelta

from importers.model import Fragment
from importers.time_zones import to_utc

COOKIE, PORTS = "cookie", "ports"
_CLOCKS = timedelta(seconds=60)
"""Difference of two machines' clocks."""
_STAMPS = timedelta(seconds=1)
"""Time between two stamps of one start on one machine."""


def has_marks(log: Fragment) -> bool:
    """Return whether a log prints a mark, which no other test repeats."""
    return log.taken is not None or any(fact.key in {COOKIE, PORTS} for fact in log.facts)


def is_same_test(one: Fragment, other: Fragment) -> bool | None:
    """Return whether two logs are of one test by their marks, None if no mark tells.

    A cookie decides alone; then ports that differ, starts that differ, and equal ports.
    """
    cookies = [log.fact_text(COOKIE) for log in (one, other)]
    if all(cookies):
        return cookies[0] == cookies[1]
    ports = [set((log.fact_text(PORTS) or "").split()) for log in (one, other)]
    if all(ports) and ports[0].isdisjoint(ports[1]):
        return False
    starts = _have_one_start(one, other)
    return starts if starts is False or not all(ports) else True


def may_be_ends(client: Fragment, server: Fragment) -> bool:
    """Return whether a server's log may be of a client's test: marks, else the number of streams."""
    same = is_same_test(client, server)
    users = {log.fact_text("users") for log in (client, server)} - {None}
    return len(users) < 2 if same is None else same


def _have_one_start(one: Fragment, other: Fragment) -> bool | None:
    """Return whether two starts agree; None if one is missing or their zones cannot be compared."""
    if one.taken is None or other.taken is None:
        return None
    first, second = to_utc(one.taken, one.zone), to_utc(other.taken, other.zone)
    if first is None or second is None:
        if one.zone != other.zone:
            return None
        first, second = one.taken, other.taken
    return abs(first - second) < (_STAMPS if one.is_client == other.is_client else _CLOCKS)
