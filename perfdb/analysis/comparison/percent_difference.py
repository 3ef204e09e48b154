"""Differences in per cent: calculation, printing, and audit of published ones.

A positive difference means that the new value is *larger*.
"""

import math
from dataclasses import dataclass
from itertools import product

from perfdb.analysis.units import read_number, round_half_up, step

NOT_APPLICABLE = "n/a"
# Binary noise of percentages.
_NOISE = 1e-9


def percent_difference(base: float | None, new: float | None) -> float | None:
    """Return 100·(new/base − 1) of unrounded values; None unless the base is positive."""
    if base is None or new is None or not (base > 0 and math.isfinite(base) and math.isfinite(new)):
        return None
    # Subtracting first keeps halves exact: 100 → 100.5 is 0.5 %, not 0.4999…
    percent = 100 * (new - base) / base
    return percent if math.isfinite(percent) else None


def printed_percent(percent: float | None, plus: bool = False) -> str:
    """Format without decimals, half away from zero, never "-0%"; "n/a" for None.

    ``plus`` prints the sign of a rise.
    """
    if percent is None:
        return NOT_APPLICABLE
    text = round_half_up(percent, 0)
    return f"{'+' if plus and not text.startswith('-') and text != '0' else ''}{text}%"


def short_percent(share: float, plus: bool = False) -> str:
    """Format a share (0.0314) as per cent with two significant digits ("3.1%").

    ``plus`` prints the sign of a positive share.
    """
    percent = 100 * share
    if percent == 0 or not math.isfinite(percent):
        return f"{percent:g}%"
    # Rounding up to a power of ten adds a digit before the point.
    magnitude = math.floor(math.log10(float(f"{abs(percent):.1e}")))
    text = round_half_up(percent, max(0, 1 - magnitude))
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return f"{'+' if plus and percent > 0 else ''}{text}%"


@dataclass(frozen=True, slots=True)
class Audit:
    """A published percentage against its operands, all in per cent.

    ``interval`` contains the difference of the unrounded operands; ``own`` is that of the printed ones.
    """

    printed: str
    own: float
    interval: tuple[float, float]
    consistent: bool


def audit_percent(base: str, new: str, percent: str) -> Audit | None:
    """Check a printed percentage against its printed operands, each half a step off at most.

    None if the base is not positive. Raise ValueError for texts that are no numbers.
    """
    own = percent_difference(read_number(base), read_number(new))
    interval = _possible(base, new)
    text = percent.strip().removesuffix("%")
    claimed, half = read_number(text), step(text) / 2 + _NOISE
    if own is None or interval is None:
        return None
    return Audit(percent, own, interval, interval[0] - half <= claimed <= interval[1] + half)


def _possible(base: str, new: str) -> tuple[float, float] | None:
    """Return the range of differences of operands printed so; None if the base may be zero."""
    bases, news = ((read_number(text) - step(text) / 2, read_number(text) + step(text) / 2) for text in (base, new))
    if bases[0] <= 0:
        return None
    corners = [100 * (b / a - 1) for a, b in product(bases, news)]
    return min(corners), max(corners)
