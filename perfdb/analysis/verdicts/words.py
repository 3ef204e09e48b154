"""Verdicts in words: plain ASCII sentences, repeated by symbols, which have ASCII forms, and by colours."""

import math
from collections.abc import Sequence

from perfdb.analysis.metrics import Better, Metric
from perfdb.analysis.percent_difference import printed_percent, short_percent
from perfdb.analysis.units import count_text, round_half_up
from perfdb.analysis.verdicts.cells import Comparison, Effect, NextStep, Scope, Verdict
from perfdb.analysis.verdicts.judge import Shift
from perfdb.analysis.verdicts.whole_table import Summary

_SYMBOLS = {
    Verdict.SAME: ("=", "="),
    Verdict.CANNOT_TELL: ("?", "?"),
    Verdict.WITHIN_NOISE: ("≈", "~"),
    Verdict.NO_NOISE: ("·", "."),
    Verdict.NOT_COMPARABLE: ("–", "-"),
    Verdict.MIXED: ("≠", "/"),
}
# Filled: the difference holds for other days too. Hollow: in these runs, or likely.
_FILLED = {True: ("▲", "^"), False: ("▼", "v")}
_HOLLOW = {True: ("△", "(^)"), False: ("▽", "(v)")}

_WORDS = {
    Verdict.CANNOT_TELL: "can't tell",
    Verdict.LIKELY_HIGHER: "likely higher",
    Verdict.LIKELY_LOWER: "likely lower",
    Verdict.WITHIN_NOISE: "no more than repeats differ",
    Verdict.NO_NOISE: "can't tell: no repeats",
    Verdict.NOT_COMPARABLE: "not comparable",
}
CHANGED = {Verdict.IMPROVED, Verdict.REGRESSED, Verdict.HIGHER, Verdict.LOWER}
LIKELY = {Verdict.LIKELY_HIGHER, Verdict.LIKELY_LOWER}
# Verdicts that rest on noise, and so have a scope.
_SCOPED = CHANGED | LIKELY | {Verdict.SAME, Verdict.CANNOT_TELL}
# Meanings of the words: (sign, word, meaning, id of the statement).
LEGEND = (
    ("▲ ▼", "improved, regressed", "confirmed by repeats, and more than days alone change (q < 0.05)", "changed"),
    ("△ ▽", "higher, lower in these runs", "confirmed by repeats; another day may differ", "these-runs"),
    ("=", "same within 2%", "enough repeats to rule out a difference above 2%", "same"),
    ("?", "can't tell", "repeated, and neither is shown yet; the reason and the next step are given", "cannot-tell"),
    ("△ ▽", "likely higher, lower", "a side of single runs that lies further off than repeats do", "likely"),
    ("≈", "no more than repeats differ", "a side of single runs that lies no further off than repeats do", "likely"),
    ("·", "no repeats", "nothing was repeated: nobody knows how much these results vary", "no-noise"),
    ("–", "not comparable", "one side has no value, or one that is not positive", "not-comparable"),
    ("≠", "mixed", "the runs differ in more than is compared, and have no common mean", "mixed"),
)
_BETTER = {Better.HIGHER: "larger is better", Better.LOWER: "smaller is better", Better.NEUTRAL: "neither is better"}

DAYS_UNKNOWN = "in these runs; day-to-day variation unknown"


def symbol(comparison: Comparison, ascii_only: bool = False) -> str:
    """Return the verdict's sign; filled triangles for changes beyond these days."""
    up = (comparison.ratio or 0) > 1
    if comparison.verdict in CHANGED:
        return (_FILLED if comparison.scope is Scope.DAYS_KNOWN else _HOLLOW)[up][ascii_only]
    return (_HOLLOW[up] if comparison.verdict in LIKELY else _SYMBOLS[comparison.verdict])[ascii_only]


def is_tentative(comparison: Comparison) -> bool:
    """Return whether a verdict is drawn in outline: in these runs, or likely."""
    return comparison.scope is Scope.THESE_RUNS or comparison.verdict in LIKELY


def short_verdict(comparison: Comparison) -> str:
    """Return words for a table's cell: ``higher, better, in these runs``, ``same within 2%``."""
    return ", ".join(filter(None, (plain_words(comparison), _effect(comparison), _scope(comparison))))


def _effect(comparison: Comparison) -> str:
    """Return the effect that the verdict does not name itself."""
    named = comparison.verdict in (Verdict.IMPROVED, Verdict.REGRESSED)
    return "" if named else effect_words(comparison)


def plain_words(comparison: Comparison) -> str:
    """Return the verdict alone: ``higher``, ``same within 2%``."""
    if comparison.verdict is Verdict.SAME:
        return f"same within {short_percent(comparison.delta)}"
    return _WORDS.get(comparison.verdict, comparison.verdict.value)


def _scope(comparison: Comparison) -> str:
    here = comparison.scope is Scope.THESE_RUNS and comparison.verdict in _SCOPED
    return "in these runs" if here else ""


def verdict_words(comparison: Comparison) -> str:
    """Return the verdict as a clause with its reason: ``can't tell in these runs: trials differ``."""
    words = " ".join(filter(None, (plain_words(comparison), _scope(comparison))))
    if comparison.problem:
        return f"{words}: {comparison.problem}"
    if comparison.verdict is Verdict.SAME and comparison.is_small:
        return f"{words}, a real, small difference"
    if comparison.verdict is Verdict.CANNOT_TELL:
        return (f"{words}: {comparison.reason}" if comparison.reason else words) + _standing_out(comparison)
    if comparison.verdict in LIKELY:
        return f"{words}, if its runs vary like the others'; 1 in 20 by chance; one more campaign settles it"
    return words


def _standing_out(comparison: Comparison) -> str:
    if not comparison.stands_out or comparison.against is None:
        return ""
    where = "above" if comparison.against > 1 else "below"
    return f", but {short_percent(abs(comparison.against - 1))} {where} the other cells"


def rule_id(comparison: Comparison) -> str:
    """Return the id of the statement that explains the verdict."""
    verdict = comparison.verdict
    if verdict in CHANGED:
        here = verdict in {Verdict.HIGHER, Verdict.LOWER} and comparison.scope is Scope.THESE_RUNS
        return "these-runs" if here else "changed"
    return "likely" if verdict in LIKELY | {Verdict.WITHIN_NOISE} else verdict.replace("_", "-")


def ratio_range(ratios: tuple[float, float]) -> str:
    """Format two ratios as differences: ``-3% ... +3.1%``."""
    return " ... ".join(short_percent(ratio - 1, plus=True) for ratio in ratios)


def effect_words(comparison: Comparison) -> str:
    """Return ``better``, ``worse`` or nothing."""
    return comparison.effect.value if comparison.effect in {Effect.BETTER, Effect.WORSE} else ""


def noise_words(comparison: Comparison) -> str:
    """Return what a verdict rests on: ``noise of 5 campaigns (f = 8.4)``."""
    if comparison.noise.freedom is None:
        return "nothing was repeated"
    freedom = round_half_up(comparison.noise.freedom, 1).removesuffix(".0")
    days = comparison.scope is Scope.DAYS_KNOWN
    return f"noise of {count_text(comparison.campaigns, 'campaign') if days else 'trials'} (f = {freedom})"


def scope_words(comparison: Comparison) -> str:
    """Return what a verdict covers: ``over 5 campaigns`` or ``in these runs; …``."""
    if comparison.scope is Scope.DAYS_KNOWN:
        return f"over {count_text(comparison.campaigns, 'campaign')}"
    return DAYS_UNKNOWN


def describe_scope(comparisons: Sequence[Comparison]) -> str:
    """Return what all verdicts cover: ``Over 5 campaigns``, or that other days may differ."""
    known = [each.campaigns for each in comparisons if each.scope is Scope.DAYS_KNOWN]
    if known and len(known) == len(comparisons):
        return f"Over {count_text(max(known), 'campaign')}"
    return DAYS_UNKNOWN[0].upper() + DAYS_UNKNOWN[1:]


def next_words(step: NextStep | None, delta: float) -> str:
    """Return advice: ``about 12 trials a side would decide 2%``; empty without any."""
    if step is None:
        return ""
    kind = step.kind if step.about != 1 else step.kind.removesuffix("s")
    return f"about {step.about} {kind} a side would decide {short_percent(delta)}"


def describe_comparison(comparison: Comparison) -> str:
    """Return a comparison in one line, for tooltips and screen readers."""
    judged = comparison.verdict not in (Verdict.NOT_COMPARABLE, Verdict.MIXED)
    clauses = (
        "" if comparison.percent is None else printed_percent(comparison.percent, plus=True),
        verdict_words(comparison),
        _effect(comparison),
        "" if comparison.interval is None else f"95% interval {ratio_range(comparison.interval)}",
        "" if comparison.band is None else f"repeats differ by {ratio_range(comparison.band)}",
        f"{comparison.new.trials} against {count_text(comparison.base.trials, 'trial')}" if judged else "",
        noise_words(comparison) if judged and comparison.noise.freedom is not None else "",
        next_words(comparison.next, comparison.delta),
    )
    return "; ".join(filter(None, clauses))


def sign_rule(metric: Metric) -> str:
    """Return the meaning of signs: ``+ is larger; larger is better for …``."""
    return f"+ is larger; {_BETTER[metric.better]} for {metric.title}"


def shift_words(shift: Shift) -> str:
    """Return how far the whole table moved, and how far days alone move it."""
    moved = f"the whole table moved by {short_percent(shift.ratio - 1, plus=True)} ({shift.up} of {shift.cells} up)"
    if shift.allowance is None:
        return f"{moved}; how far days alone move it is not known"
    return f"{moved}; days alone move it by up to {short_percent(math.expm1(shift.allowance))} either way"


def summary_words(summary: Summary) -> str:
    """Return a summary in one line, with a caution if cells differ."""
    named = {**_WORDS, Verdict.NO_NOISE: "without repeats"}
    clauses = [", ".join(f"{number} {named.get(verdict, verdict)}" for verdict, number in summary.counts.items())]
    if summary.ratio is not None and summary.interval is not None:
        here = "" if summary.scope is Scope.DAYS_KNOWN else " in these runs"
        typical = short_percent(summary.ratio - 1, plus=True)
        clauses.append(f"typically {typical} (95% interval {ratio_range(summary.interval)}){here}")
    if summary.smallest is not None and summary.largest is not None and summary.cells > 1:
        clauses.append(f"from {ratio_range((summary.smallest, summary.largest)).replace(' ... ', ' to ')}")
    if not summary.uniform:
        clauses.append("the cells differ by more than noise: look at each")
    return "; ".join(clauses)
