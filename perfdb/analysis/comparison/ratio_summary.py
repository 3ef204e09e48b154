"""The matched cells of one metric in one figure, and whether one figure can stand for them."""

import math
import statistics
from collections.abc import Sequence

from perfdb.analysis.comparison.comparison import Comparison, Summary, Verdict
from perfdb.analysis.comparison.distributions import fisher_quantile, ratio, ratio_interval, student_quantile

FEWEST_CELLS = 3
# What a test has shown of a cell; every other verdict is a hint at the most.
DECIDED = (Verdict.HIGHER, Verdict.LOWER, Verdict.SAME)


def summarise(comparisons: Sequence[Comparison]) -> Summary:
    """The geometric mean of the ratios of all cells that have one; give it a single metric's cells only.

    Every cell counts the same, whatever its noise: the summary speaks of the table, not of its best-known cells.
    """
    matched = [(cell, log) for cell in comparisons if (log := _log(cell)) is not None]
    logs = [log for _, log in matched]
    verdicts = [cell.verdict for cell, _ in matched]
    up, down, same = (verdicts.count(verdict) for verdict in DECIDED)
    centre, interval = _centre(logs)
    return Summary(
        cells=len(matched),
        ratio=centre,
        interval=interval,
        smallest=ratio(min(logs)) if logs else None,
        largest=ratio(max(logs)) if logs else None,
        up=up,
        down=down,
        same=same,
        undecided=len(matched) - up - down - same,
        uniform=is_uniform(comparisons),
        others={each: verdicts.count(each) for each in Verdict if each in verdicts and each not in DECIDED},
    )


def _log(cell: Comparison) -> float | None:
    """The logarithm of a cell's ratio; None where it has none that a float can hold."""
    return math.log(cell.ratio) if cell.ratio is not None and 0 < cell.ratio < math.inf else None


def _centre(logs: Sequence[float]) -> tuple[float | None, tuple[float, float] | None]:
    count = len(logs)
    if count < FEWEST_CELLS:
        return None, None
    mean = statistics.fmean(logs)
    half_width = student_quantile(0.975, count - 1) * _deviation(logs) / math.sqrt(count)
    return ratio(mean), ratio_interval(mean, half_width)


def _deviation(logs: Sequence[float]) -> float:
    """The standard deviation, rounded once; of whole numbers, which Python adds up several times as fast."""
    parts = [log.as_integer_ratio() for log in logs]
    # A power of two, as all denominators are.
    scale = max([denominator for _, denominator in parts])
    return statistics.stdev([numerator * (scale // denominator) for numerator, denominator in parts]) / scale


def is_uniform(comparisons: Sequence[Comparison]) -> bool:
    """Whether the ratios differ by no more than their noise explains, at 5 %.

    Cochran's Q is the sum of squared distances of the log ratios from their weighted mean, each in its own standard
    errors. With errors known exactly, Q follows chi-squared with K − 1 degrees of freedom. Here they are estimates,
    so Q / (K − 1) is held against F with K − 1 and f degrees, f the smallest freedom of any cell; that errs on
    the side of uniform. Cells without noise estimate say nothing here.
    """
    known = [
        (log, 1 / cell.error**2, cell.noise.freedom)
        for cell in comparisons
        if (log := _log(cell)) is not None and cell.error is not None and cell.noise.freedom is not None
    ]
    if len(known) < FEWEST_CELLS - 1:
        return True
    mean = statistics.fmean([log for log, _, _ in known], [weight for _, weight, _ in known])
    cochran = sum(weight * (log - mean) ** 2 for log, weight, _ in known)
    between = len(known) - 1
    return cochran / between <= fisher_quantile(0.95, between, min(freedom for _, _, freedom in known))
