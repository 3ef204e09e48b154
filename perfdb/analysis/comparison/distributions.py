"""Student's t and Fisher's F at the few points that comparing needs, with any positive real freedom; many p at once.

``scipy.special`` holds the same functions as ``scipy.stats`` without the machinery around them, forty times as fast:
a table asks for some of them in every cell. Its cells have few different degrees of freedom, so quantiles are kept.
"""

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]


@lru_cache(maxsize=1024)
def student_quantile(probability: float, freedom: float) -> float:
    """The point below which Student's t with ``freedom`` lies with this probability."""
    return float(special.stdtrit(freedom, probability))


def student_p(t: float, freedom: float) -> float:
    """The probability of a t at least this far from zero, on either side."""
    return float(2 * special.stdtr(freedom, -abs(t)))


def student_ps(ts: Floats, freedoms: Floats) -> Floats:
    """The same for many."""
    found: Floats = 2 * special.stdtr(freedoms, -np.abs(ts))
    return found


@lru_cache(maxsize=1024)
def fisher_quantile(probability: float, above: float, below: float) -> float:
    """The point below which F with ``above`` and ``below`` degrees of freedom lies with this probability."""
    return float(special.fdtri(above, below, probability))


def ratio(log_ratio: float) -> float:
    """The ratio whose logarithm this is; infinity beyond what a float holds."""
    try:
        return math.exp(log_ratio)
    except OverflowError:
        return math.inf


def ratio_interval(log_ratio: float, half_width: float) -> tuple[float, float]:
    """The ratios at both ends of an interval that is symmetric on the logarithmic scale."""
    return ratio(log_ratio - half_width), ratio(log_ratio + half_width)


def false_discovery(ps: Sequence[float], of: int = 0, smaller: int = 0) -> list[float]:
    """The q of each p (Benjamini and Hochberg 1995): what is below 5 % holds at most 5 % of false alarms.

    The k-th smallest of m has q = p·m/k, or that of a larger p where it is less. ``of``: how many were tested, where
    those that are not given have a p of 1, but for so many whose p is ``smaller`` than all that are.
    """
    tested = max(of, smaller + len(ps))
    largest_first = sorted(range(len(ps)), key=lambda place: ps[place], reverse=True)
    qs, least = [1.0] * len(ps), 1.0
    for rank, place in zip(range(smaller + len(ps), smaller, -1), largest_first, strict=True):
        least = min(least, ps[place] * tested / rank)
        qs[place] = least
    return qs
