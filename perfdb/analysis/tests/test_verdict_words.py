"""Comparisons in words: verdicts, effects, scope, noise, and what would decide."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfdb.analysis.insights.method_statements import SECTIONS
from perfdb.analysis.metrics import BY_NAME, Better
from perfdb.analysis.percent_difference import short_percent
from perfdb.analysis.tests.published import CELLS
from perfdb.analysis.verdicts import words
from perfdb.analysis.verdicts.cells import Cell, Comparison, NextStep, Reason, Scope, Verdict
from perfdb.analysis.verdicts.judge import Shift, judge
from perfdb.analysis.verdicts.whole_table import summarise

FIRST, SECOND, *_ = judge(CELLS).comparisons
LONE = Cell({"HS": [10000.0]}, {"GL": [13000.0]}, kind="RR", better=Better.HIGHER, step=0.01)
SINGLE = judge([*CELLS, LONE]).comparisons[-1]


def one(base: Sequence[float], new: Sequence[float], earlier: Sequence[Sequence[float]] = ()) -> Comparison:
    cell = Cell({"a": base}, {"b": new} if new else {}, dict(enumerate(earlier)), better=Better.HIGHER)
    return judge([cell]).comparisons[0]


UNDECIDED = one([100.0, 104.0, 98.0], [101.0, 97.0, 105.0])
SAME = one([100.0, 100.2, 100.1], [100.2, 100.1, 100.3])
UNKNOWN = one([100.0], [150.0])
MISSING = one([100.0, 102.0], [])
IMPROVED = one([100.0, 100.1], [110.0, 110.1], [[100.2, 100.1], [99.9, 99.8]])
MIXED = judge([Cell({"a": [1.0]}, {"b": [2.0]}, mixes=("Layer", "message bytes"))]).comparisons[0]
ALL = (FIRST, SECOND, SINGLE, UNDECIDED, SAME, UNKNOWN, MISSING, IMPROVED, MIXED)


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
        (IMPROVED, "improved", "▲ improved", "^ improved"),
        (SECOND, "higher in these runs", "△ higher, better, in these runs", "(^) higher, better, in these runs"),
        (FIRST, "same within 2% in these runs, a real, small difference", "= same within 2%, in these runs",
         "= same within 2%, in these runs"),
        (SAME, "same within 2% in these runs", "= same within 2%, in these runs", "= same within 2%, in these runs"),
        (UNDECIDED, "can't tell in these runs: trials differ", "? can't tell, in these runs",
         "? can't tell, in these runs"),
        (SINGLE, "likely higher in these runs, if its runs vary like the others'; 1 in 20 by chance; one more campaign "
         "settles it", "△ likely higher, better, in these runs", "(^) likely higher, better, in these runs"),
        (UNKNOWN, "can't tell: no repeats", "· can't tell: no repeats", ". can't tell: no repeats"),
        (MISSING, "not comparable: the new side is missing", "– not comparable", "- not comparable"),
        (MIXED, "mixed: runs differ in Layer, message bytes", "≠ mixed", "/ mixed"),
    ],
)  # fmt: skip
def test_verdicts_in_words(comparison: Comparison, verdict: str, short: str, ascii_short: str) -> None:
    assert words.verdict_words(comparison) == verdict
    text = words.short_verdict(comparison)
    assert f"{words.symbol(comparison)} {text}" == short
    assert f"{words.symbol(comparison, ascii_only=True)} {text}" == ascii_short


def test_only_what_holds_for_other_days_is_filled() -> None:
    assert not words.is_tentative(IMPROVED)
    assert words.is_tentative(SECOND)
    assert words.is_tentative(replace(SINGLE, scope=Scope.DAYS_KNOWN))
    assert words.symbol(replace(SECOND, ratio=0.9)) == "▽"
    assert words.symbol(replace(IMPROVED, ratio=0.9)) == "▼"


def test_sentences_are_ascii() -> None:
    for comparison in ALL:
        assert words.describe_comparison(comparison).isascii()
        assert words.short_verdict(comparison).isascii()


@pytest.mark.parametrize(
    ("verdict", "better", "text"),
    [
        (Verdict.HIGHER, Better.HIGHER, "better"),
        (Verdict.HIGHER, Better.LOWER, "worse"),
        (Verdict.LIKELY_LOWER, Better.LOWER, "better"),
        (Verdict.REGRESSED, Better.HIGHER, "worse"),
        (Verdict.SAME, Better.HIGHER, ""),
        (Verdict.CANNOT_TELL, Better.HIGHER, ""),
        (Verdict.LOWER, Better.NEUTRAL, ""),
    ],
)
def test_effects_in_words(verdict: Verdict, better: Better, text: str) -> None:
    assert words.effect_words(replace(SECOND, verdict=verdict, better=better)) == text


def test_what_a_verdict_rests_on_is_said() -> None:
    assert words.noise_words(IMPROVED).startswith("noise of 3 campaigns (f = ")
    assert words.noise_words(SECOND).startswith("noise of trials (f = ")
    assert words.noise_words(UNKNOWN) == "nothing was repeated"
    assert words.scope_words(IMPROVED) == "over 3 campaigns"
    assert words.scope_words(SECOND) == "in these runs; day-to-day variation unknown"


def test_what_would_decide_is_said() -> None:
    assert words.next_words(NextStep("trials", 47), 0.02) == "about 47 trials a side would decide 2%"
    assert words.next_words(NextStep("campaigns", 1), 0.05) == "about 1 campaign a side would decide 5%"
    assert words.next_words(UNDECIDED.next, UNDECIDED.delta).startswith("about ")
    assert SAME.next is None


def test_a_cell_that_stands_out_says_so() -> None:
    cell = replace(UNDECIDED, scope=Scope.DAYS_KNOWN, reason=Reason.WHOLE_DAYS, stands_out=True, against=0.94)
    assert words.verdict_words(cell) == "can't tell: whole days differ, but 6% below the other cells"


def test_everything_in_one_line() -> None:
    assert words.describe_comparison(FIRST) == (
        "+1%; same within 2% in these runs, a real, small difference; 95% interval +0.36% ... +1.6%; "
        "4 against 4 trials; noise of trials (f = 7)"
    )
    assert words.describe_comparison(UNKNOWN) == "+50%; can't tell: no repeats; 1 against 1 trial"
    assert words.describe_comparison(MISSING) == "not comparable: the new side is missing"
    assert words.describe_comparison(MIXED) == "mixed: runs differ in Layer, message bytes"


@pytest.mark.parametrize(
    ("metric", "rule"),
    [
        ("trans_per_s", "+ is larger; larger is better for Transactions per second"),
        ("response_ms", "+ is larger; smaller is better for Response time"),
        ("cpu_util", "+ is larger; neither is better for CPU utilisation"),
    ],
)
def test_the_rule_of_signs(metric: str, rule: str) -> None:
    assert words.sign_rule(BY_NAME[metric]) == rule


def test_the_common_shift_in_words() -> None:
    assert words.shift_words(Shift(1.01, 16, 2, 0.0188)) == (
        "the whole table moved by +1% (16 of 18 up); days alone move it by up to 1.9% either way"
    )
    assert words.shift_words(Shift(0.97, 1, 4, None)) == (
        "the whole table moved by -3% (1 of 5 up); how far days alone move it is not known"
    )


def test_summaries_in_words() -> None:
    assert words.summary_words(summarise(judge(CELLS).comparisons, None)) == (
        "1 same, 3 higher; typically +35% (95% interval -3.3% ... +90%) in these runs; from +1% to +65%; "
        "the cells differ by more than noise: look at each"
    )
    assert words.summary_words(summarise([UNDECIDED], None)) == "1 can't tell"
    assert words.summary_words(summarise([UNKNOWN, UNKNOWN], None)) == "2 without repeats; from +50% to +50%"


def test_every_verdict_has_a_rule_that_is_declared() -> None:
    declared = {each.code for section in SECTIONS.values() for each in section}
    for verdict in Verdict:
        for scope in Scope:
            assert words.rule_id(replace(FIRST, verdict=verdict, scope=scope)) in declared
