"""Comparisons in words: verdicts, effects, noise, what is still needed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfdb.analysis.comparison import verdict_words
from perfdb.analysis.comparison.compare_pairs import compare, summarise
from perfdb.analysis.comparison.comparison import Background, Comparison, Effect, Noise, NoiseSource, Pair, Verdict
from perfdb.analysis.comparison.method import DECLARATIONS
from perfdb.analysis.metrics import BY_NAME, Better
from perfdb.analysis.tests.published import PAIRS
from perfdb.analysis.units import short_percent

FIRST, SECOND, *_ = compare(PAIRS, Better.HIGHER)
SINGLE = compare([*PAIRS, Pair([10000.0], [10400.0], "RR", 0.01)], Better.HIGHER)[-1]


def one(pair: Pair, background: Background | None = None) -> Comparison:
    return compare([pair], Better.HIGHER, background=background or Background())[0]


UNDECIDED = one(Pair([100.0, 104.0, 98.0], [101.0, 97.0, 105.0]))
SAME = one(Pair([100.0, 100.2, 100.1], [100.2, 100.1, 100.3]))
UNKNOWN = one(Pair([100.0], [150.0]))
MISSING = one(Pair([100.0, 102.0], []))


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.02, "2%"),
        (0.025, "2.5%"),
        (0.0314, "3.1%"),
        (-0.0304, "-3%"),
        (0.0996, "10%"),
        (0.144, "14%"),
        (0.0042, "0.42%"),
        (0.00004, "0.004%"),
        (2.5, "250%"),
        (0.0, "0%"),
        (float("inf"), "inf%"),
    ],
)
def test_sizes_have_two_digits(share: float, text: str) -> None:
    assert short_percent(share) == text


@given(st.floats(1e-9, 1e9))
def test_sizes_are_within_five_per_cent(share: float) -> None:
    assert float(short_percent(share).removesuffix("%")) / 100 == pytest.approx(share, rel=0.051)


@pytest.mark.parametrize(
    ("comparison", "verdict", "short", "ascii_short"),
    [
        (FIRST, "higher, but within 2%", "▲ higher, but within 2%, better", "^ higher, but within 2%, better"),
        (SECOND, "higher", "▲ higher, better", "^ higher, better"),
        (SAME, "same within 2%", "= same within 2%", "= same within 2%"),
        (UNDECIDED, "inconclusive: a change of 11% could have been seen", "? inconclusive", "? inconclusive"),
        (
            SINGLE,
            "single runs: outside the band (-3% ... +3.1%)",
            "△ outside band, better",
            "(^) outside band, better",
        ),
        (UNKNOWN, "noise unknown", "· noise unknown", ". noise unknown"),
        (MISSING, "not comparable: the new side is missing", "– not comparable", "- not comparable"),
    ],
)
def test_verdicts_in_words(comparison: Comparison, verdict: str, short: str, ascii_short: str) -> None:
    assert verdict_words.verdict_words(comparison) == verdict
    words = verdict_words.short_verdict(comparison)
    assert f"{verdict_words.symbol(comparison)} {words}" == short
    assert f"{verdict_words.symbol(comparison, ascii_only=True)} {words}" == ascii_short


def test_every_verdict_has_a_sign_of_its_own() -> None:
    for ascii_only in (False, True):
        signs = {verdict_words.symbol(SINGLE._replace(verdict=verdict), ascii_only) for verdict in Verdict}
        assert len(signs) == len(Verdict)
        below = verdict_words.symbol(SINGLE._replace(ratio=0.9), ascii_only)
        assert below not in signs


def test_sentences_are_ascii() -> None:
    for comparison in (FIRST, SECOND, SAME, UNDECIDED, SINGLE, UNKNOWN, MISSING):
        assert verdict_words.describe_comparison(comparison).isascii()
        assert verdict_words.short_verdict(comparison).isascii()


@pytest.mark.parametrize(
    ("effect", "text"),
    [(Effect.BETTER, "better"), (Effect.WORSE, "worse"), (Effect.NEUTRAL, ""), (Effect.UNKNOWN, "")],
)
def test_effects_in_words(effect: Effect, text: str) -> None:
    assert verdict_words.effect_words(SECOND._replace(effect=effect)) == text


@pytest.mark.parametrize(
    ("noise", "text"),
    [
        (FIRST.noise, "noise from trials (f = 8.4)"),
        (Noise(NoiseSource.HISTORY, 0.01, 4.0), "noise from history (f = 4)"),
        (Noise(NoiseSource.EARLIER, 0.01, 24.0), "noise from trials of earlier campaigns (f = 24)"),
        (Noise(NoiseSource.METRIC, 0.01, 8.05), "noise from trials of all workloads (f = 8.1)"),
        (
            Noise(NoiseSource.TRIALS, 0.3, 6, noisy=True),
            "noise from trials (f = 6); noisy: it varies more than its group and is judged by itself",
        ),
        (Noise(NoiseSource.NONE), "noise unknown"),
    ],
)
def test_the_source_of_the_noise_is_said(noise: Noise, text: str) -> None:
    assert verdict_words.noise_words(noise) == text


def test_what_undecided_cells_still_need() -> None:
    assert verdict_words.more_trials(UNDECIDED) == "47 more trials a side would decide 2%"
    assert verdict_words.more_trials(UNDECIDED._replace(trials_needed=4)) == "1 more trial a side would decide 2%"
    assert verdict_words.more_trials(UNDECIDED._replace(trials_needed=3)) == ""
    assert verdict_words.more_trials(SINGLE) == "1 more trial a side would decide 2%"
    assert verdict_words.more_trials(SINGLE._replace(trials_needed=5)) == "4 more trials a side would decide 2%"


@pytest.mark.parametrize("decided", [FIRST, SAME, UNKNOWN, MISSING])
def test_decided_cells_need_nothing(decided: Comparison) -> None:
    assert verdict_words.more_trials(decided) == ""


def test_a_history_needs_campaigns() -> None:
    background = Background(history={"HS": [100.0, 102.0, 98.0]})
    cell = one(Pair([100.0] * 3, [101.0] * 3, configurations=("HS",)), background)
    assert verdict_words.more_trials(cell) == "16 campaigns a side would decide 2%"


def test_everything_in_one_line() -> None:
    assert verdict_words.describe_comparison(FIRST) == (
        "+1%; higher, but within 2%; better; 95% interval +0.29% ... +1.7%; 4 against 4 trials; "
        "noise from trials (f = 8.4)"
    )
    assert verdict_words.describe_comparison(UNKNOWN) == "+50%; noise unknown; 1 against 1 trial"
    assert verdict_words.describe_comparison(MISSING) == "not comparable: the new side is missing"


def test_warnings_are_part_of_the_line() -> None:
    cell = one(Pair([0.0, 100.0, 101.0], [100.0, 101.0, 102.0]))
    assert verdict_words.describe_comparison(cell).endswith(
        "1 trial of the base is zero or negative and left out of the ratio"
    )


@pytest.mark.parametrize(
    ("metric", "rule"),
    [
        ("trans_per_s", "+ is larger; larger is better for Transactions per second"),
        ("response_ms", "+ is larger; smaller is better for Response time"),
        ("cpu_util", "+ is larger; neither is better for CPU utilisation"),
    ],
)
def test_the_rule_of_signs(metric: str, rule: str) -> None:
    assert verdict_words.sign_rule(BY_NAME[metric]) == rule


def test_summaries_in_words() -> None:
    assert verdict_words.summary_words(summarise(compare(PAIRS, Better.HIGHER))) == (
        "geometric mean of the ratios 1.355 (95% interval 0.967 ... 1.899); 4 cells: 4 higher, 0 lower, 0 same; "
        "from 1.010 to 1.653; the cells differ by more than their noise explains, so look at each of them"
    )
    assert verdict_words.summary_words(summarise([UNDECIDED])) == ("1 cell: 1.003 times the old, inconclusive")
    assert verdict_words.summary_words(summarise([UNDECIDED, UNDECIDED])) == (
        "too few cells for a common ratio; 2 cells: 0 higher, 0 lower, 0 same, 2 inconclusive; from 1.003 to 1.003"
    )


def test_every_verdict_has_a_rule_that_is_declared() -> None:
    declared = {each.id for each in DECLARATIONS}
    for verdict in Verdict:
        assert verdict_words.rule_id(FIRST._replace(verdict=verdict, within=False)) in declared
    assert verdict_words.rule_id(FIRST._replace(verdict=Verdict.HIGHER, within=True)) == "but-within"
    assert verdict_words.rule_id(FIRST._replace(verdict=Verdict.SAME, within=True)) == "same"
