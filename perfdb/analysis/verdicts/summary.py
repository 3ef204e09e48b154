"""The summary of one metric's cells: their common ratio, and whether they differ from each other by more than noise."""

import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from perfdb.analysis.verdicts.cells import Comparison, Scope, Verdict
from perfdb.analysis.verdicts.distributions import exponential, fisher_quantile, student_quantile

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
    """Return the summary of cells; ``shift_allowance`` is how far days alone move them all (logarithm)."""
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
