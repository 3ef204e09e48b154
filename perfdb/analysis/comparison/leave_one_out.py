"""Leave-one-out statistics: cells without a trial, and priors with one spread exchanged.

A trial is judged by its group without that trial. Vectorised sums avoid a fit per trial.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import special

from perfdb.analysis.comparison.noise import FEWEST_CELLS, MOST_FREEDOM, NOISY, Pool, pool_terms, weighted_variance
from perfdb.analysis.comparison.spreads import Floats, Logs, Places, Spread, Spreads, Sums, rounding_variance, spread

# A relative difference below this has lost its digits.
_LOST = 1e-9


def leave_one_out(logs: Logs, steps: Sequence[float | None], trials: Places) -> tuple[Floats, Spreads]:
    """Return mean and spread of a cell's other trials, for each trial to leave out.

    ``steps`` are one in the last printed digit per cell; cells have at least three trials.
    """
    cells, sums, mean = logs.sample[trials], Sums.from_logs(logs), logs.means()[logs.sample[trials]]
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


class Priors(NamedTuple):
    """Columns of ``Prior``; NaN without spreads."""

    variances: Floats
    freedoms: Floats
    totals: Floats


def exchange_one(pool: Pool, old: Spreads, new: Spreads) -> Priors:
    """Return the group's prior with each ``old`` spread replaced by the ``new`` one."""
    sums = np.array(pool, np.float64)[:, None] - _alone(old) + _alone(new)
    with np.errstate(divide="ignore", invalid="ignore"):
        cells, freedom, squares, logs, log_squares, expected = np.where(sums[0] > 0, sums, np.nan)
        varied = (log_squares - logs**2 / cells) / (cells - 1) - expected / cells
        # Cells that vary by chance are taken as equal.
        differ = (cells >= FEWEST_CELLS) & (varied > 0)
        fitted = np.minimum(MOST_FREEDOM, 2 * inverse_trigammas(np.where(differ, varied, 1.0)))
        bias = special.digamma(fitted / 2) - np.log(fitted / 2)
        variances = np.where(differ, np.exp(logs / cells + bias), squares / freedom)
    return Priors(variances, np.where(differ, fitted, MOST_FREEDOM), np.round(freedom))


def _alone(spreads: Spreads) -> Floats:
    """Return the terms that each spread adds to a pool, as columns; 0 for unknown spreads."""
    known = np.flatnonzero((spreads.freedoms > 0) & (spreads.variances > 0))
    found = np.zeros((len(Pool._fields), len(spreads.freedoms)))
    found[:, known] = np.vstack([np.ones(len(known)), *pool_terms(spreads.select(known))])
    return found


def inverse_trigammas(values: Floats) -> Floats:
    """Apply ``noise.inverse_trigamma`` to an array."""
    # Below 1e-6, trigamma is 1/y to the last digit.
    wanted = np.maximum(values, 1e-6)
    y: Floats = 0.5 + 1 / wanted
    for _ in range(100):
        trigamma = special.zeta(2, y)
        change = trigamma * (1 - trigamma / wanted) / (-2 * special.zeta(3, y))
        y = y + change
        if (np.abs(change) < 1e-12 * y).all():
            break
    found: Floats = np.where(values < 1e-6, 1 / values, y)
    return found


def moderate_each(own: Spreads, priors: Priors) -> tuple[Floats, Floats]:
    """Moderate each spread by its prior, like ``noise.moderate``; NaN without a prior."""
    variances, freedoms = own.variances, own.freedoms.astype(np.float64)
    limits = special.fdtri(np.maximum(freedoms, 1), priors.freedoms, NOISY)
    noisy = (freedoms > 0) & (variances / priors.variances > limits)
    together = np.maximum(1.0, np.minimum(priors.freedoms + freedoms, priors.totals))
    found = np.where(noisy, variances, weighted_variance(variances, freedoms, priors.variances, priors.freedoms))
    return found, np.where(noisy, freedoms, together)
