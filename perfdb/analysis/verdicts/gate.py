"""The gate: whether a change may pass, given how much worse a cell may get."""

import math
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from perfdb.analysis.metrics import Better
from perfdb.analysis.verdicts.cells import Cell, Scope
from perfdb.analysis.verdicts.distributions import LEVEL, false_discovery
from perfdb.analysis.verdicts.judge import judge


class Gate(StrEnum):
    """The answer on one cell or on all."""

    PASSES = "passes"
    REGRESSED = "regressed"
    CANNOT_TELL = "cannot_tell"


class GatedCell(NamedTuple):
    """The answer on a cell: ``worse`` is the change in the bad direction and ``limit`` the allowed one (logarithms).

    ``p`` and ``q`` are one-sided; ``worst`` is the end of the interval. All None for a cell that cannot be judged.
    """

    answer: Gate
    limit: float
    worse: float | None = None
    p: float | None = None
    q: float | None = None
    worst: float | None = None


class GateResult(NamedTuple):
    """The answer on all cells; None for metrics without direction, which are not judged."""

    answer: Gate
    cells: Sequence[GatedCell | None]


def gate(cells: Sequence[Cell], limit: float, *, accept_unknown_days: bool = False) -> GateResult:
    """Decide whether any cell is worse by more than ``limit`` (0.05 is 5%).

    Cells whose noise of days is not known pass or fail only if ``accept_unknown_days``, and then in these runs alone.
    Raise ValueError for a limit that is not between 0 and 1.
    """
    if not 0 < limit < 1:
        raise ValueError(f"a limit of {limit} is not between 0 and 1")
    judged = judge(cells).judged
    counted = {
        place: cell
        for place, cell in judged.items()
        if cell.p is not None
        and (accept_unknown_days or cell.scope is Scope.DAYS_KNOWN)
        and cells[place].better is not Better.NEUTRAL
    }
    worse = {
        place: -cell.difference if cells[place].better is Better.HIGHER else cell.difference
        for place, cell in counted.items()
    }
    ps = {place: (cell.p or 0.0) / 2 if worse[place] > 0 else 1.0 for place, cell in counted.items()}
    qs = dict(zip(ps, false_discovery(list(ps.values())), strict=True))
    found: list[GatedCell | None] = []
    for place, cell in enumerate(cells):
        allowed = -math.log1p(-limit) if cell.better is Better.HIGHER else math.log1p(limit)
        if cell.better is Better.NEUTRAL:
            found.append(None)
        elif place not in counted:
            found.append(GatedCell(Gate.CANNOT_TELL, allowed))
        else:
            answer, worst = Gate.CANNOT_TELL, worse[place] + judged[place].half_width(1 - LEVEL)
            if qs[place] < LEVEL and worse[place] > allowed:
                answer = Gate.REGRESSED
            elif worst < allowed:
                answer = Gate.PASSES
            found.append(GatedCell(answer, allowed, worse[place], ps[place], qs[place], worst))
    answers = {cell.answer for cell in found if cell}
    total = Gate.REGRESSED if Gate.REGRESSED in answers else Gate.CANNOT_TELL
    return GateResult(Gate.PASSES if answers == {Gate.PASSES} else total, found)
