"""Student's t, F, and the adjustment of many p; ``scipy.special`` is forty times as fast as ``scipy.stats``."""

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]

# Cells are called changed below this q.
LEVEL = 0.05


@lru_cache(maxsize=4096)
def student_quantile(probability: float, freedom: float) -> float:
    """Return the quantile of Student's t."""
    return float(special.stdtrit(freedom, probability))


def student_p(t: float, freedom: float) -> float:
    """Return the two-sided p of a t."""
    return float(2 * special.stdtr(freedom, -abs(t)))


def normal_p(z: float) -> float:
    """Return the two-sided p of a standard normal value."""
    return float(2 * special.ndtr(-abs(z)))


@lru_cache(maxsize=1024)
def fisher_quantile(probability: float, above: float, below: float) -> float:
    """Return the quantile of F with ``above`` and ``below`` degrees of freedom."""
    return float(special.fdtri(above, below, probability))


def exponential(log_ratio: float) -> float:
    """Return exp, infinity on overflow."""
    try:
        return math.exp(log_ratio)
    except OverflowError:
        return math.inf


def false_discovery(ps: Sequence[float]) -> list[float]:
    """Return the q of each p (Benjamini and Hochberg 1995)."""
    if not ps:
        return []
    given = np.asarray(ps, np.float64)
    order = np.argsort(-given)
    raised = given[order] * len(given) / np.arange(len(given), 0, -1)
    found = np.empty(len(given))
    found[order] = np.minimum(np.minimum.accumulate(raised), 1.0)
    result: list[float] = found.tolist()
    return result
