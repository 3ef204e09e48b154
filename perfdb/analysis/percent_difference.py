"""Differences in per cent: the calculation, and the text of pages and tables."""

import math
from collections.abc import Iterable

from perfdb.analysis.units import MINUS, round_half_up

_ONE_PERCENT = 0.01


def percent_difference(base: float | None, new: float | None) -> float | None:
    """Return 100·(new/base − 1) of unrounded values; None unless both are positive."""
    if base is None or new is None or not (base > 0 and new > 0):
        return None
    # Subtracting first keeps halves exact: 100 → 100.5 is 0.5%, not 0.4999…
    percent = 100 * (new - base) / base
    return percent if math.isfinite(percent) else None


def printed_percent(percent: float | None, plus: bool = False) -> str:
    """Format without decimals, half away from zero, "n/a" for None; ``plus`` signs a rise."""
    if percent is None:
        return "n/a"
    text = round_half_up(percent, 0)
    return f"{'+' if plus and not text.startswith('-') and text != '0' else ''}{text}%"


def short_percent(share: float, plus: bool = False) -> str:
    """Format a share as per cent with two digits ("3.1%"); ``plus`` signs a rise."""
    percent = 100 * share
    if percent == 0 or not math.isfinite(percent):
        return f"{percent:g}%"
    # Rounding up to a power of ten adds a digit before the point.
    magnitude = math.floor(math.log10(float(f"{abs(percent):.1e}")))
    text = round_half_up(percent, max(0, 1 - magnitude))
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return f"{'+' if plus and percent > 0 else ''}{text}%"


def signed_percent(percent: float) -> str:
    """Format a difference in whole per cent with its sign: ``+12%``, ``−31%``, ``0%``."""
    text = round_half_up(percent, 0)
    return f"{'+' if percent > 0 else ''}{text}%".replace("-", MINUS)


def signed_share(share: float) -> str:
    """Format a difference given as a share, in whole per cent, with two digits below 1%: ``−31%``, ``+0.25%``."""
    if abs(share) >= _ONE_PERCENT:
        return signed_percent(100 * share)
    return short_percent(share, plus=True).replace("-", MINUS)


def share_range(shares: Iterable[float]) -> str:
    """Format differences given as shares: ``−48% to −28%``, or ``−28%`` for equal ones."""
    every = sorted(shares)
    low, high = signed_share(every[0]), signed_share(every[-1])
    return low if low == high else f"{low} to {high}"
