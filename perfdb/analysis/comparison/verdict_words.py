"""Comparisons in words.

Sentences are plain ASCII, and each symbol has an ASCII form. Colours and symbols only repeat the words.
"""

from perfdb.analysis.comparison.comparison import Comparison, Effect, Noise, NoiseSource, Summary, Verdict
from perfdb.analysis.metrics import Better, Metric
from perfdb.analysis.units import printed_percent, round_half_up, short_percent

# Hollow triangles: the direction of two single runs, without a test.
_SYMBOLS = {
    Verdict.HIGHER: ("▲", "^"),
    Verdict.LOWER: ("▼", "v"),
    Verdict.SAME: ("=", "="),
    Verdict.INCONCLUSIVE: ("?", "?"),
    Verdict.INSIDE: ("≈", "~"),
    Verdict.NO_NOISE: ("·", "."),
    Verdict.NOT_COMPARABLE: ("–", "-"),
}
_OUTSIDE_ABOVE, _OUTSIDE_BELOW = ("△", "(^)"), ("▽", "(v)")

_SHORT = {Verdict.INSIDE: "inside band", Verdict.OUTSIDE: "outside band", Verdict.NO_NOISE: "noise unknown"}
# Meanings of the words: (sign, word, meaning, id of the statement).
LEGEND = (
    ("▲ ▼", "higher, lower", "repeated, and chance hardly explains the difference (q < 0.05)", "higher-lower"),
    ("▲ ▼", "higher or lower, but within 2%", "a difference for certain, and too small to matter", "but-within"),
    ("=", "same within 2%", "repeated often enough to show that no difference of that size is there", "same"),
    ("?", "inconclusive", "repeated, and neither is shown yet: it takes more trials", "inconclusive"),
    ("≈", "inside band", "single runs that differ no more than repetitions of one run do", "band"),
    ("△ ▽", "outside band", "single runs that differ by more than repetitions do: a hint to be confirmed", "band"),
    ("·", "noise unknown", "nothing was repeated: nobody knows how much these figures vary", "no-noise"),
    ("–", "not comparable", "one side has no value, or one that nothing can be held against", "not-comparable"),
)
# Ids of the statements that explain verdicts.
_RULES = {
    Verdict.HIGHER: "higher-lower",
    Verdict.LOWER: "higher-lower",
    Verdict.SAME: "same",
    Verdict.INCONCLUSIVE: "inconclusive",
    Verdict.INSIDE: "band",
    Verdict.OUTSIDE: "band",
    Verdict.NO_NOISE: "no-noise",
    Verdict.NOT_COMPARABLE: "not-comparable",
}
_BETTER = {Better.HIGHER: "larger is better", Better.LOWER: "smaller is better", Better.NEUTRAL: "neither is better"}


def symbol(comparison: Comparison, ascii_only: bool = False) -> str:
    """Return the sign of the verdict; filled triangles for tested changes."""
    if comparison.verdict is Verdict.OUTSIDE:
        forms = _OUTSIDE_ABOVE if (comparison.ratio or 0) > 1 else _OUTSIDE_BELOW
    else:
        forms = _SYMBOLS[comparison.verdict]
    return forms[ascii_only]


def short_verdict(comparison: Comparison) -> str:
    """Return words for a table's cell: ``higher, better``, ``same within 2%``."""
    verdict = comparison.verdict
    tested = verdict in {Verdict.HIGHER, Verdict.LOWER, Verdict.SAME}
    words = verdict_words(comparison) if tested else _SHORT.get(verdict, verdict.value)
    return ", ".join(filter(None, (words, effect_words(comparison))))


def verdict_words(comparison: Comparison) -> str:
    """Return the verdict as a clause: ``higher, but within 2%``."""
    verdict, size = comparison.verdict, short_percent(comparison.delta)
    if verdict in {Verdict.HIGHER, Verdict.LOWER}:
        return f"{verdict.value}, but within {size}" if comparison.within else verdict.value
    if verdict is Verdict.SAME:
        return f"same within {size}"
    if verdict is Verdict.INCONCLUSIVE and comparison.detectable is not None:
        return f"inconclusive: a change of {short_percent(comparison.detectable)} could have been seen"
    if verdict in {Verdict.INSIDE, Verdict.OUTSIDE} and comparison.band is not None:
        return f"single runs: {verdict.value} ({_range(comparison.band)})"
    if verdict is Verdict.NOT_COMPARABLE and comparison.warnings:
        return f"not comparable: {'; '.join(comparison.warnings)}"
    return _SHORT[verdict] if verdict is Verdict.NO_NOISE else verdict.value


def rule_id(comparison: Comparison) -> str:
    """Return the id of the statement that explains the verdict."""
    changed = comparison.verdict in {Verdict.HIGHER, Verdict.LOWER}
    return "but-within" if changed and comparison.within else _RULES[comparison.verdict]


def _range(ratios: tuple[float, float]) -> str:
    """Format two ratios as differences: ``-3% ... +3.1%``."""
    return " ... ".join(short_percent(ratio - 1, plus=True) for ratio in ratios)


def effect_words(comparison: Comparison) -> str:
    """Return ``better``, ``worse`` or nothing."""
    return comparison.effect.value if comparison.effect in {Effect.BETTER, Effect.WORSE} else ""


def noise_words(noise: Noise) -> str:
    """Return the source of the noise: ``noise from trials (f = 8.4)``."""
    if noise.freedom is None:
        return _SHORT[Verdict.NO_NOISE]
    freedom = round_half_up(noise.freedom, 1).removesuffix(".0")
    text = f"noise from {noise.source.value} (f = {freedom})"
    return f"{text}; noisy: it varies more than its group and is judged by itself" if noise.noisy else text


def more_trials(comparison: Comparison) -> str:
    """Return the trials that an undecided cell needs: ``5 more trials a side would decide 2%``."""
    needed, size = comparison.trials_needed, short_percent(comparison.delta)
    undecided = {Verdict.INCONCLUSIVE, Verdict.INSIDE, Verdict.OUTSIDE}
    if needed is None or comparison.verdict not in undecided:
        return ""
    if comparison.noise.source is NoiseSource.HISTORY and not comparison.noise.borrowed:
        return f"{_count(needed, 'campaign')} a side would decide {size}"
    # Single runs need at least one more trial.
    least = 0 if comparison.verdict is Verdict.INCONCLUSIVE else 1
    more = max(least, needed - min(comparison.n_base, comparison.n))
    return f"{_count(more, 'more trial')} a side would decide {size}" if more else ""


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def describe_comparison(comparison: Comparison) -> str:
    """Return a comparison in one line, for tooltips and screen readers."""
    clauses = (
        _difference(comparison),
        verdict_words(comparison),
        effect_words(comparison),
        "" if comparison.interval is None else f"95% interval {_range(comparison.interval)}",
        "" if comparison.verdict is Verdict.NOT_COMPARABLE else _sizes(comparison),
        "" if comparison.noise.freedom is None or comparison.ratio is None else noise_words(comparison.noise),
        more_trials(comparison),
        *(() if comparison.verdict is Verdict.NOT_COMPARABLE else comparison.warnings),
    )
    return "; ".join(filter(None, clauses))


def _difference(comparison: Comparison) -> str:
    return "" if comparison.percent is None else printed_percent(comparison.percent, plus=True)


def _sizes(comparison: Comparison) -> str:
    return f"{comparison.n} against {_count(comparison.n_base, 'trial')}"


def sign_rule(metric: Metric) -> str:
    """Return the meaning of signs: ``+ is larger; larger is better for Transactions per second``."""
    return f"+ is larger; {_BETTER[metric.better]} for {metric.title}"


def summary_words(summary: Summary) -> str:
    """Return a summary in one line, with a caution if cells differ."""
    if summary.cells == 1 and summary.largest is not None:
        counted = {
            Verdict.HIGHER: summary.up,
            Verdict.LOWER: summary.down,
            Verdict.SAME: summary.same,
            **summary.others,
        }
        (verdict,) = (verdict for verdict, number in counted.items() if number)
        return f"1 cell: {_ratio(summary.largest)} times the old, {_SHORT.get(verdict, verdict.value)}"
    found = [f"{summary.up} higher", f"{summary.down} lower", f"{summary.same} same"]
    found += [f"{number} {_SHORT.get(verdict, verdict.value)}" for verdict, number in summary.others.items()]
    clauses = [_centre(summary), f"{_count(summary.cells, 'cell')}: {', '.join(found)}"]
    if summary.smallest is not None and summary.largest is not None:
        clauses.append(f"from {_ratio(summary.smallest)} to {_ratio(summary.largest)}")
    if not summary.uniform:
        clauses.append("the cells differ by more than their noise explains, so look at each of them")
    return "; ".join(clauses)


def _centre(summary: Summary) -> str:
    if summary.ratio is None or summary.interval is None:
        return "too few cells for a common ratio"
    low, high = summary.interval
    return f"geometric mean of the ratios {_ratio(summary.ratio)} (95% interval {_ratio(low)} ... {_ratio(high)})"


def _ratio(value: float) -> str:
    return round_half_up(value, 3)
