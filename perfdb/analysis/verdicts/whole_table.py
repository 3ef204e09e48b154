"""Answers on all cells together: the summary of a metric's cells, and the gate that a change may pass or not."""

import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from perfdb.analysis.metrics import Better
from perfdb.analysis.verdicts.cells import Cell, Comparison, Scope, Verdict
from perfdb.analysis.verdicts.distributions import exponential, false_discovery, fisher_quantile, student_quantile
from perfdb.analysis.verdicts.judge import judge, level_at

FEWEST_CELLS = 3


@dataclass(frozen=True, slots=True)
class Summary:
    """The cells of one metric that have a ratio, each with equal weight.

    ``ratio`` is their geometric mean with its 95% ``interval``, both None for fewer than three cells. ``smallest``
    and ``largest`` are ratios, ``counts`` the cells by verdict. ``uniform`` is False if the ratios differ by more
    than noise. ``scope`` says whether the interval covers whole days.
    """

    cells: int
    ratio: float | None
    interval: tuple[float, float] | None
    smallest: float | None
    largest: float | None
    counts: Mapping[Verdict, int]
    uniform: bool
    scope: Scope


def summarise(comparisons: Sequence[Comparison], shift_allowance: float | None) -> Summary:
    """Return the summary of cells; ``shift_allowance``: common move by days alone (logarithm)."""
    logs = [math.log(cell.ratio) for cell in comparisons if cell.ratio is not None and 0 < cell.ratio < math.inf]
    ratio, interval = None, None
    if len(logs) >= FEWEST_CELLS:
        middle, error = statistics.fmean(logs), statistics.stdev(logs) / math.sqrt(len(logs))
        half = math.hypot(shift_allowance or 0.0, student_quantile(0.975, len(logs) - 1) * error)
        ratio, interval = exponential(middle), (exponential(middle - half), exponential(middle + half))
    return Summary(
        cells=len(logs),
        ratio=ratio,
        interval=interval,
        smallest=exponential(min(logs)) if logs else None,
        largest=exponential(max(logs)) if logs else None,
        counts=Counter(cell.verdict for cell in comparisons),
        uniform=is_uniform(comparisons),
        scope=Scope.THESE_RUNS if shift_allowance is None else Scope.DAYS_KNOWN,
    )


def is_uniform(comparisons: Sequence[Comparison]) -> bool:
    """Test by Cochran's Q (1954) whether ratios differ by no more than noise."""
    known = [work for cell in comparisons if (work := cell.workings) is not None and work.error > 0]
    if len(known) < FEWEST_CELLS:
        return True
    differences, weights = [work.difference for work in known], [1 / work.error**2 for work in known]
    middle = statistics.fmean(differences, weights)
    cochran = math.fsum(w * (d - middle) ** 2 for w, d in zip(weights, differences, strict=True))
    between = len(known) - 1
    # F instead of chi-squared, since the standard errors are estimates.
    return cochran / between <= fisher_quantile(0.95, between, min(work.freedom for work in known))


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

    @property
    def exit_code(self) -> int:
        """Return the exit code of a command: 0 passes, 1 regressed, 2 cannot tell."""
        return {Gate.PASSES: 0, Gate.REGRESSED: 1, Gate.CANNOT_TELL: 2}[self.answer]


def gate(cells: Sequence[Cell], limit: float, *, accept_unknown_days: bool = False, look: int = 0) -> GateResult:
    """Decide whether any cell is worse by more than ``limit`` (0.05 is 5%).

    Cells whose noise of days is not known pass or fail only if ``accept_unknown_days``, and then in these runs alone.
    ``look`` is as in ``judge``. Raise ValueError for a limit that is not between 0 and 1.
    """
    if not 0 < limit < 1:
        raise ValueError(f"a limit of {limit} is not between 0 and 1")
    judged, level = judge(cells, look=look).judged, level_at(look)
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
            answer, worst = Gate.CANNOT_TELL, worse[place] + judged[place].half_width(1 - level)
            if qs[place] < level and worse[place] > allowed:
                answer = Gate.REGRESSED
            elif worst < allowed:
                answer = Gate.PASSES
            found.append(GatedCell(answer, allowed, worse[place], ps[place], qs[place], worst))
    answers = {cell.answer for cell in found if cell}
    total = Gate.REGRESSED if Gate.REGRESSED in answers else Gate.CANNOT_TELL
    return GateResult(Gate.PASSES if answers == {Gate.PASSES} else total, found)
