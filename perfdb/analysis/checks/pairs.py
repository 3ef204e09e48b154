"""Checks of the CP QUERY snapshots before and after a run: may their differences be used?

The rules are those of "Pairing and counters" in the description of the CP QUERY captures.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from perfdb.analysis.checks.finding import Finding


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The counters of one role at one moment.

    ``taken`` is local time without zone, ``zone`` the zone's name as printed; ``line`` the line of TIME IS.
    ``counters`` maps (subject, name) to the reading in base units: ("", "totcpu") in seconds,
    ("VSW1/LNXCL1/0600", "rx_bytes") in bytes.
    """

    role: str
    host: str = ""
    taken: datetime | None = None
    zone: str = ""
    line: int | None = None
    counters: Mapping[tuple[str, str], float] = field(default_factory=dict)


class PairState(StrEnum):
    """What can be done with a pair: work with it, wait for its other half, or nothing."""

    USABLE = "usable"
    WAITING = "waiting"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """The answer for one pair; ``left_out`` are the subjects whose counters must not be used although the rest may."""

    state: PairState
    findings: tuple[Finding, ...] = ()
    left_out: frozenset[str] = frozenset()


def check_pair(
    run_id: str, before: Snapshot | None, after: Snapshot | None, processors: float | None = None
) -> PairVerdict:
    """Whether the snapshots before and after run ``run_id`` can be subtracted. ``processors`` of the LPAR."""
    return PairVerdict(PairState.USABLE)


def check_elapsed(taken: Mapping[str, tuple[datetime, datetime]]) -> list[Finding]:
    """Warn about roles whose time between snapshots differs by more than 1 s from the client's.

    ``taken`` maps each role to the moments of its snapshots before and after the run.
    """
    return []
