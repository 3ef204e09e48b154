"""Trends in words."""

from collections.abc import Sequence
from datetime import datetime

from perfdb.analysis.metrics import Better, Metric
from perfdb.analysis.trends.changes import Shape, in_percent
from perfdb.analysis.trends.events import Rule, describe_rule
from perfdb.analysis.trends.histories import History
from perfdb.analysis.trends.judge import FEWEST, Judged
from perfdb.analysis.trends.states import KnownChange, Phase, Reason
from perfdb.analysis.units import round_half_up, significant_text

# Why a change is closed, in the words of pages.
REASON_WORDS = {
    Reason.EXPECTED: "expected",
    Reason.FIXED: "fixed",
    Reason.WONTFIX: "won't fix",
    Reason.NOISE: "not a change",
}
# Which effects are good, as style sheets name them.
TONES = {"improved": "better", "regressed": "worse"}
# The autocorrelation up to which the method is made.
_STRONG = 0.6


def size_text(difference: float, logarithmic: bool) -> str:
    """Return a size: ``−4.3%`` below 10%, ``+12%`` above, or a difference in the unit."""
    if not logarithmic:
        return f"{'+' if difference > 0 else ''}{significant_text(difference, 3)}".replace("-", "\u2212")
    percent = in_percent(difference)
    text = round_half_up(percent, 1 if abs(percent) < 10 else 0)
    return f"{'+' if percent > 0 else ''}{text}%".replace("-", "\u2212")


def day_text(began: str) -> str:
    """Return the day of a campaign: ``30 Aug 2026``; empty if unknown."""
    return f"{datetime.fromisoformat(began):%-d %b %Y}" if began else ""


def effect_text(metric: Metric, difference: float) -> str:
    """Return ``improved`` or ``regressed``, else ``rose`` or ``fell``."""
    rises = difference > 0
    if metric.better is Better.NEUTRAL:
        return "rose" if rises else "fell"
    return "improved" if (metric.better is Better.HIGHER) == rises else "regressed"


def describe_change(history: History, known: KnownChange, *, logarithmic: bool) -> str:
    """Return a change in a sentence."""
    change, points = known.change, len(history.points)
    size = size_text(change.difference, logarithmic)
    if change.shape is Shape.LEVELS:
        return f"Two levels, {size} apart, changed place {change.steps} times."
    if change.shape is Shape.DRIFT:
        return f"Drifts: {size} over {points} campaigns, no single step."
    since = f"since {point_text(history, change.k)}"
    if known.sure:
        ends = " to ".join(size_text(end, logarithmic) for end in (change.low, change.high))
        small = " It is real, but within 2%." if known.found.small else ""
        return (
            f"{effect_text(history.metric, change.difference).capitalize()} by {size} ({ends}) {since}; "
            f"{points - change.k} campaigns after.{small}"
        )
    return f"May have changed ({size}) {since}: too few campaigns to be sure."


def point_text(history: History, k: int) -> str:
    """Return the name of a point: the value that orders it, else its day, else its number."""
    point = history.points[k]
    return point.label or day_text(point.began) or f"campaign {k + 1}"


def describe_phase(known: KnownChange) -> str:
    """Return how far a change has come: ``new``, ``suspect``, ``acknowledged``, ``fixed``."""
    if known.phase is Phase.CLOSED and known.reason:
        return REASON_WORDS[known.reason]
    return "new" if known.phase is Phase.CONFIRMED else str(known.phase)


def describe_part(rule: Rule, sizes: Sequence[float], members: int, agreeing: int, *, logarithmic: bool) -> str:
    """Return one metric's changes: ``All Device OSA (14 of 14): +4.1% (+2.9% to +5.6%)``."""
    middle, least, greatest = (size_text(size, logarithmic) for size in sizes)
    span = f" ({least} to {greatest})" if members > 1 else ""
    more = f" {agreeing} more {'agrees' if agreeing == 1 else 'agree'}." if agreeing else ""
    return f"{describe_rule(rule, members)}: {middle}{span}.{more}"


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


def describe_study(changed: Sequence[str], stable: int, doubtful: int, short: int) -> str:
    """Return the verdict on all histories: ``3 series regressed … 21 are stable.``."""
    counts = {word: changed.count(word) for word in ("regressed", "improved", "rose", "fell")}
    moved = [f"{number} {word}" for word, number in counts.items() if number]
    first = f"Nothing changed in {stable} series."
    if moved:
        number, _, word = moved[0].partition(" ")
        first = f"{' and '.join([f'{number} series {word}', *moved[1:]])}."
    rest = [f"{stable} {'is' if stable == 1 else 'are'} stable"] if moved and stable else []
    rest += [f"{doubtful} may have changed or {'drifts' if doubtful == 1 else 'drift'}"] if doubtful else []
    rest += [f"{short} {'is' if short == 1 else 'are'} too short to judge"] if short else []
    return f"{first} {', '.join(rest)}." if rest else first
