"""States of changes over looks: what was shown stays, moves until it is frozen, and never returns once closed.

A look judges all series of a study again, after new data, and matches what it finds with the known changes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from perfdb.analysis.trends.changes import Change, Shape
from perfdb.analysis.trends.judge import Finding, Judged, Series, State, judge_series

# Two changes are one if so many points apart, or so many if one of them is closed.
_NEAR, _NEAR_CLOSED = 2, 5
_MISSES = 3
# Points after a change: it is frozen with so many, and found late with more than so many.
_FROZEN_AFTER, _LATE_AFTER = 10, 20


class Phase(StrEnum):
    """How far a change has come."""

    SUSPECT = "suspect"
    CONFIRMED = "confirmed"
    ACKNOWLEDGED = "acknowledged"
    CLOSED = "closed"
    GONE = "gone"


OPEN = frozenset({Phase.SUSPECT, Phase.CONFIRMED, Phase.ACKNOWLEDGED})


class Reason(StrEnum):
    """Why a change was closed; only noise leaves the level before it in use."""

    EXPECTED = "expected"
    FIXED = "fixed"
    WONTFIX = "wontfix"
    NOISE = "noise"


@dataclass(slots=True)
class KnownChange:
    """A change found by some look; points are numbered over the whole series.

    ``sure``: was confirmed once. ``frozen``: never moves again, and earlier points are no longer judged. ``misses``:
    looks in a row without this change. ``moves``: number of moves. ``late``: found with many points after it.
    """

    found: Finding
    phase: Phase = Phase.SUSPECT
    reason: Reason | None = None
    sure: bool = False
    frozen: bool = False
    misses: int = 0
    moves: int = 0
    late: bool = False

    @property
    def change(self) -> Change:
        """Return the change as found last."""
        return self.found.change

    @property
    def settled(self) -> bool:
        """Return whether a finding at this place is no news: closed, or gone after it was confirmed."""
        return self.phase is Phase.CLOSED or (self.phase is Phase.GONE and self.sure)

    def close(self, reason: Reason) -> None:
        """Close the change; a person decides so."""
        self.phase, self.reason = Phase.CLOSED, reason
        self.frozen = self.frozen or reason is not Reason.NOISE

    def reopen(self) -> None:
        """Take a closed change up again."""
        self.phase, self.reason = (Phase.CONFIRMED if self.sure else Phase.SUSPECT), None

    def acknowledge(self) -> None:
        """Note that somebody looks after the change."""
        if self.phase in OPEN:
            self.phase = Phase.ACKNOWLEDGED


def judge_stretches(series: Sequence[Series], known: Sequence[Sequence[KnownChange]]) -> list[Judged]:
    """Return what changed in each series after its last frozen change; points are numbered over the whole series."""
    starts = [max((each.change.k for each in rows if each.frozen), default=0) for rows in known]
    closed = [[each for each in rows if each.phase is Phase.CLOSED] for rows in known]

    def is_closed(at: int, change: Change) -> bool:
        return any(_is_same(each, _moved(change, starts[at])) for each in closed[at])

    stretches = [each._replace(means=each.means[start:]) for each, start in zip(series, starts, strict=True)]
    return [
        replace(each, findings=tuple(replace(found, change=_moved(found.change, start)) for found in each.findings))
        for each, start in zip(judge_series(stretches, is_known=is_closed), starts, strict=True)
    ]


def look(series: Sequence[Series], known: Sequence[list[KnownChange]]) -> list[Judged]:
    """Judge all series, bring known changes up to date, and append new ones."""
    judged = judge_stretches(series, known)
    for one, rows, each in zip(series, known, judged, strict=True):
        _match(rows, each.findings, len(one.means))
    return judged


def _match(rows: list[KnownChange], findings: Sequence[Finding], points: int) -> None:
    """Match the findings of a look with the known changes of a series."""
    taken = set[int]()
    for found in findings:
        row = _nearest(rows, found.change, taken)
        if row is not None:
            taken.add(id(row))
            _update(row, found)
        elif found.state is not State.NOT_SHOWN:
            row = KnownChange(found, late=points - found.change.k > _LATE_AFTER)
            rows.append(row)
            taken.add(id(row))
            _confirm(row, found)
    for row in rows:
        if id(row) not in taken and row.phase in (Phase.SUSPECT, Phase.CONFIRMED) and not row.frozen:
            row.misses += 1
            if row.misses >= _MISSES:
                row.phase = Phase.GONE
        is_step = row.change.shape is Shape.STEP
        if is_step and row.sure and row.phase in OPEN and points - row.change.k >= _FROZEN_AFTER:
            row.frozen = True


def _nearest(rows: Sequence[KnownChange], change: Change, taken: set[int]) -> KnownChange | None:
    """Return the known change that a finding is, of several the closed, then the nearest one."""
    same = [row for row in rows if (row.settled or id(row) not in taken) and _is_same(row, change)]
    return min(same, key=lambda row: (row.phase is not Phase.CLOSED, abs(row.change.k - change.k)), default=None)


def _is_same(row: KnownChange, change: Change) -> bool:
    if change.shape is not Shape.STEP and not row.frozen and (row.phase in OPEN or row.reason is Reason.NOISE):
        return True
    own = row.change
    if (own.difference > 0) is not (change.difference > 0):
        return False
    near = _NEAR_CLOSED if row.phase is Phase.CLOSED else _NEAR
    overlap = own.place[0] <= change.place[1] and change.place[0] <= own.place[1]
    return overlap or abs(own.k - change.k) <= near


def _update(row: KnownChange, found: Finding) -> None:
    """Let a known change follow a finding, if it still may."""
    if row.phase is Phase.GONE and (row.sure or found.state is State.NOT_SHOWN):
        return
    row.misses = 0
    if row.frozen:
        return
    if row.phase is Phase.GONE:
        row.phase = Phase.SUSPECT
    if row.phase in OPEN:
        row.moves += row.change.k != found.change.k
    row.found = found
    _confirm(row, found)


def _confirm(row: KnownChange, found: Finding) -> None:
    if found.state is State.CONFIRMED and row.phase in OPEN:
        row.sure = True
        row.phase = Phase.CONFIRMED if row.phase is Phase.SUSPECT else row.phase


def _moved(change: Change, by: int) -> Change:
    """Return a change with its points numbered from ``by``."""
    return replace(change, k=change.k + by, place=(change.place[0] + by, change.place[1] + by)) if by else change
