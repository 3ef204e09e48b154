"""Trends in words."""

import math
from collections.abc import Sequence
from datetime import datetime

from perfdb.analysis.metrics import Better
from perfdb.analysis.trends.changes import Change, Shape
from perfdb.analysis.trends.histories import History
from perfdb.analysis.trends.judge import FEWEST, Finding, Judged, State
from perfdb.analysis.units import round_half_up, significant_text

# The autocorrelation up to which the method is made.
_STRONG = 0.6


def size_text(difference: float, logarithmic: bool) -> str:
    """Return a size: ``−4.3%`` below 10 %, ``+12%`` above, or a difference in the unit."""
    if not logarithmic:
        return f"{'+' if difference > 0 else ''}{significant_text(difference, 3)}".replace("-", "\u2212")
    percent = 100 * math.expm1(difference)
    text = round_half_up(percent, 1 if abs(percent) < 10 else 0)
    return f"{'+' if percent > 0 else ''}{text}%".replace("-", "\u2212")


def day_text(began: str) -> str:
    """Return the day of a campaign: ``30 Aug 2026``; empty if unknown."""
    return f"{datetime.fromisoformat(began):%-d %b %Y}" if began else ""


def effect_text(history: History, change: Change) -> str:
    """Return ``improved`` or ``regressed``, else ``rose`` or ``fell``."""
    up, better = change.difference > 0, history.metric.better
    if better is Better.NEUTRAL:
        return "rose" if up else "fell"
    return "improved" if (better is Better.HIGHER) == up else "regressed"


def describe_finding(history: History, judged: Judged, finding: Finding) -> str:
    """Return a change in a sentence."""
    change, logarithmic = finding.change, judged.logarithmic
    size = size_text(change.difference, logarithmic)
    if change.shape is Shape.LEVELS:
        return f"Two levels, {size} apart, changed place {change.steps} times."
    if change.shape is Shape.DRIFT:
        return f"Drifts: {size} over {judged.points} campaigns, no single step."
    after = judged.points - change.k
    since = f"since {day_text(history.points[change.k].began) or f'campaign {change.k + 1}'}"
    if finding.state is State.CONFIRMED:
        ends = " to ".join(size_text(end, logarithmic) for end in (change.low, change.high))
        small = " It is real, but within 2%." if finding.small else ""
        return (
            f"{effect_text(history, change).capitalize()} by {size} ({ends}) {since}; {after} campaigns after.{small}"
        )
    return f"May have changed ({size}) {since}: too few campaigns to be sure."


def describe_history(history: History, judged: Judged) -> str:
    """Return what is said of a history without a change."""
    if not judged.judged:
        return f"Too short to judge: {len(history.points)} of {FEWEST} campaigns."
    if judged.tail.suspect:
        last = "The last point is" if judged.tail.points == 1 else "The last two points are"
        return f"{last} far off: run it again."
    if judged.smallest is None:
        return "No change seen."
    size = round_half_up(100 * judged.smallest, 1 if judged.smallest < 0.1 else 0)
    return f"No change seen; a step of {size}% would show after 5 campaigns."


def describe_autocorrelation(judged: Judged) -> str:
    """Return the warning on a history that follows itself more than the method is made for; else empty."""
    return "Follows itself strongly; read with care." if judged.rho is not None and judged.rho > _STRONG else ""


def describe_study(changed: Sequence[str], stable: int, short: int) -> str:
    """Return the verdict on all histories: ``3 series regressed and 2 improved. 21 are stable.``."""
    counts = {word: changed.count(word) for word in ("regressed", "improved", "rose", "fell")}
    said = [f"{number} {'series ' if not at else ''}{word}" for at, (word, number) in
            enumerate((word, number) for word, number in counts.items() if number)]  # fmt: skip
    first = f"{' and '.join(said)}." if said else f"Nothing changed in {stable} series."
    rest = [f"{stable} {'are' if stable != 1 else 'is'} stable"] if said and stable else []
    rest += [f"{short} {'are' if short != 1 else 'is'} too short to judge"] if short else []
    return " ".join(filter(None, [first, f"{', '.join(rest)}." if rest else ""]))
