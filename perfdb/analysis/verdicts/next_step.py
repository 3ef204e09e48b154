"""What to measure next: about how many trials or campaigns a side would decide a cell.

A number decides four in five such cells if nothing changed, nearly all that differ by twice ``delta``, and half of
those that differ by half of it.
"""

import math
from typing import NamedTuple

from perfdb.analysis.verdicts.distributions import student_quantile

# More than this is no advice.
MOST_ADVISED = 200
_QUANTILE = 0.95
_SHIFT_QUANTILE = 0.9875


class CampaignNoise(NamedTuple):
    """Noise of a cell with known days.

    ``factor`` λ, ``usual`` τ², ``parts`` the variance that trials give to one campaign of each side, ``freedom`` of
    the cell, ``omega`` and ``days_freedom`` of whole days, ``campaigns`` compared on each side.
    """

    factor: float
    usual: float
    parts: tuple[float, float]
    freedom: float
    omega: float
    days_freedom: int
    campaigns: tuple[int, int]
    paired: bool = False
    rounding: float = 0.0


def trials_needed(used: tuple[float, float], prior_freedom: float, rounding: float, delta: float) -> int | None:
    """Return the trials a side; ``used`` are the variances of one trial. None for more than 200."""

    def is_enough(count: int) -> bool:
        return _decides(rounding, math.sqrt(sum(used) / count), prior_freedom + 2 * (count - 1), delta)

    return next(filter(is_enough, range(2, MOST_ADVISED + 1)), None)


def campaigns_needed(noise: CampaignNoise, delta: float) -> int | None:
    """Return the campaigns a side in all. None for more than 200."""
    most = max(noise.campaigns)

    def is_enough(count: int) -> bool:
        more = count - most if noise.paired else 2 * count - sum(noise.campaigns)
        weight = (1 if noise.paired else 2) / count
        error = math.sqrt(noise.factor * (noise.usual * weight + sum(noise.parts) / count))
        shift = student_quantile(_SHIFT_QUANTILE, noise.days_freedom + more) * noise.omega * math.sqrt(weight)
        return _decides(math.hypot(shift, noise.rounding), error, noise.freedom + more, delta)

    return next(filter(is_enough, range(max(2, most), MOST_ADVISED + 1)), None)


def _decides(allowance: float, error: float, freedom: float, delta: float) -> bool:
    half = student_quantile(_QUANTILE, freedom) * error
    return math.hypot(allowance, half) + half <= math.log1p(delta)
