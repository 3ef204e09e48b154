"""Cells without one of their trials: the mean and spread of the others, from sums that are made once for each cell.

Added up anew for each of its trials, a cell of five thousand would take the square of that.
"""

import math
from collections.abc import Sequence

import numpy as np

from perfdb.analysis.comparison.distributions import Floats
from perfdb.analysis.comparison.spreads import Logs, Places, Spread, Spreads, Sums, rounding_variance, spread

# A difference that is so much smaller than what it is of has lost its digits.
_LOST = 1e-9


def without(logs: Logs, steps: Sequence[float | None], trials: Places) -> tuple[Floats, Spreads]:
    """For each of some trials, of cells of at least three, what the others of its cell have.

    Args:
        logs: The logarithms of the trials of all cells.
        steps: One in the last printed digit of each cell, as in ``spread``.
        trials: The places of the trials to leave out, one at a time.

    Returns:
        The mean of the other logarithms, and the spread of the others as ``spread`` has it.
    """
    cells, sums, mean = logs.sample[trials], Sums.of(logs), logs.means()[logs.sample[trials]]
    others = sums.counts[cells] - 1
    away = logs.logs[trials] - mean
    squares = sums.squares[cells] - away**2 * (others + 1) / others
    totals = sums.totals[cells] - logs.values[trials]
    known = np.array([step or 0.0 for step in steps])[cells]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        variances = np.maximum(squares / (others - 1), rounding_variance(others, totals, known))
    means = mean - away / others
    lost = (squares <= _LOST * sums.squares[cells]) | (totals <= _LOST * sums.totals[cells])
    for place in np.flatnonzero(lost).tolist():
        means[place], (variances[place], _) = _anew(logs, steps, int(trials[place]))
    return means, Spreads(variances, (others - 1).astype(np.intp))


def _anew(logs: Logs, steps: Sequence[float | None], trial: int) -> tuple[float, Spread]:
    cell = int(logs.sample[trial])
    others = np.flatnonzero(logs.sample == cell)
    others = others[others != trial]
    return math.fsum(logs.logs[others].tolist()) / len(others), spread((logs.values[others].tolist(),), steps[cell])
