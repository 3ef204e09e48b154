"""The summary of a table, and whether it may stand alone; intervals of single means."""

import math
import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perfdb.analysis.comparison.compare_pairs import _deviation, compare, is_uniform, summarise
from perfdb.analysis.comparison.comparison import Background, Pair, Summary
from perfdb.analysis.comparison.samples import mean_intervals
from perfdb.analysis.comparison.spreads import spread
from perfdb.analysis.metrics import Better
from perfdb.analysis.tests.published import HIPERSOCKETS, PAIRS


def test_the_published_summary_must_not_stand_alone() -> None:
    summary = summarise(compare(PAIRS, Better.HIGHER))
    assert summary.ratio == pytest.approx(1.35482, abs=5e-6)
    assert summary.interval == pytest.approx((0.96681, 1.89854), abs=5e-6)
    assert (summary.smallest, summary.largest) == pytest.approx((1.01003, 1.65261), abs=5e-6)
    assert (summary.cells, summary.up, summary.down, summary.same, summary.undecided) == (4, 4, 0, 0, 0)
    assert not summary.uniform


def test_the_same_change_everywhere_is_uniform() -> None:
    changed = [Pair(pair.base, [value * 1.1 for value in pair.base[::-1]], "RR", 0.01) for pair in PAIRS]
    summary = summarise(compare(changed, Better.HIGHER))
    assert summary.ratio == pytest.approx(1.1)
    assert (summary.up, summary.uniform) == (4, True)


def test_counts_by_verdict() -> None:
    base = [100.0, 100.2, 100.1]
    news: tuple[list[float], ...] = (
        [110.0, 110.2, 110.1],
        [90.0, 90.2, 90.1],
        [100.1, 100.0, 100.2],
        [101.8, 101.9, 102.1],
        [],
        [105.0],
    )
    cells = compare([Pair(base, new) for new in news[:5]], Better.HIGHER)
    summary = summarise([*cells, *compare([Pair([100.0], news[5])], Better.HIGHER)])
    assert (summary.cells, summary.up, summary.down, summary.same, summary.undecided) == (5, 2, 1, 1, 1)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_few_cells_have_no_common_ratio(count: int) -> None:
    summary = summarise(compare(PAIRS[:count], Better.HIGHER))
    assert (summary.cells, summary.ratio, summary.interval) == (count, None, None)
    assert summary.smallest is None if count == 0 else summary.smallest == pytest.approx(1.01, abs=1e-3)


def test_nothing_to_summarise() -> None:
    assert summarise([]) == Summary(0, None, None, None, None, 0, 0, 0, 0)


def test_two_cells_can_contradict_each_other() -> None:
    assert not summarise(compare(PAIRS[:2], Better.HIGHER)).uniform


def test_the_least_known_noise_decides_what_differs() -> None:
    # Q = (0.045 / 0.01)² / 2 = 10.1 is far above F(95 %; 1, 100) = 3.9 and far below F(95 %; 1, 1) = 161.
    known, vague = compare(PAIRS[:2], Better.HIGHER)
    known = known._replace(ratio=1.0, error=0.01, noise=known.noise._replace(freedom=100.0))
    other = known._replace(ratio=math.exp(0.045))
    assert not is_uniform([known, other])
    assert is_uniform([known, other._replace(noise=vague.noise._replace(freedom=1.0))])


def test_cells_without_noise_say_nothing_about_being_uniform() -> None:
    summary = summarise(compare([Pair([1.0], [2.0]), Pair([1.0], [0.5]), Pair([1.0], [4.0])], Better.HIGHER))
    assert summary.ratio == pytest.approx(4 ** (1 / 3))
    assert summary.uniform


def tables(spreads: tuple[float, ...], trials: int, effects: tuple[float, ...], seed: int) -> list[Summary]:
    """Summaries of 400 simulated tables: a cell for each spread (sd of logs) and effect (log ratio)."""
    generator = np.random.default_rng(seed)
    answers = []
    for _ in range(400):
        pairs = [
            Pair(
                np.exp(generator.normal(0, sd, trials)).tolist(),
                np.exp(generator.normal(effect, sd, trials)).tolist(),
            )
            for sd, effect in zip(spreads, effects, strict=True)
        ]
        answers.append(summarise(compare(pairs, Better.HIGHER)))
    return answers


@pytest.mark.parametrize(
    ("spreads", "trials"), [((0.01,) * 4, 3), ((0.005, 0.01, 0.02, 0.04), 3), ((0.01,) * 12, 2), ((0.01,) * 6, 1)]
)
def test_noise_alone_seldom_looks_like_differing_ratios(spreads: tuple[float, ...], trials: int) -> None:
    answers = tables(spreads, trials, (0.05,) * len(spreads), seed=1)
    assert sum(not summary.uniform for summary in answers) <= 0.08 * len(answers)


def test_differing_ratios_are_found() -> None:
    answers = tables((0.01,) * 4, 3, (0.0, 0.0, 0.05, 0.05), seed=2)
    assert sum(not summary.uniform for summary in answers) >= 0.95 * len(answers)


@given(st.lists(st.floats(1e-9, 1e9), min_size=2, max_size=30))
def test_deviations_of_logarithms_are_rounded_once(ratios: list[float]) -> None:
    logs = [math.log(each) for each in ratios]
    assert _deviation(logs) == statistics.stdev(logs)


def test_intervals_of_means() -> None:
    # By hand, one cell: s = 2.0408 %, t(97.5 %, 2) = 4.3027.
    (interval,) = mean_intervals([[98.0, 100.0, 102.08]], ["RR"], [0.01])
    assert interval is not None
    half = 4.3027 * math.sqrt(spread([[98.0, 100.0, 102.08]]).variance / 3)
    mean = 300.08 / 3
    assert interval == pytest.approx((mean * math.exp(-half), mean * math.exp(half)), rel=1e-5)


def test_a_single_run_takes_its_interval_from_its_group() -> None:
    intervals = mean_intervals([*HIPERSOCKETS, [5000.0], [5000.0]], ["RR"] * 5 + ["CRR"], [0.01] * 6)
    assert intervals[4] is not None
    assert intervals[4][0] < 5000 < intervals[4][1]
    # Four trials know their mean better than one.
    assert intervals[0] is not None
    assert intervals[0][1] / intervals[0][0] < intervals[4][1] / intervals[4][0]
    assert intervals[5] is not None


def test_means_without_noise_have_no_interval() -> None:
    assert mean_intervals([[5.0], [], [6.0]], ["RR"] * 3, [None] * 3) == [None] * 3
    assert mean_intervals([[5.0]], ["RR"], [None], Background(metric=[[5.0, 5.1]]))[0] is not None


def test_means_with_zeros_have_no_interval() -> None:
    assert mean_intervals([[0.0, 5.0, 6.0], [5.0, 6.0], []], ["RR"] * 3, [None] * 3)[::2] == [None, None]


def test_means_cover_the_truth() -> None:
    generator = np.random.default_rng(3)
    samples = np.exp(generator.normal(0, 0.01, (200, 8, 3)))
    found = [each for table in samples for each in mean_intervals(table.tolist(), ["RR"] * 8, [None] * 8)]
    covered = sum(each is not None and each[0] <= 1 <= each[1] for each in found)
    assert 0.93 * len(found) <= covered <= 0.98 * len(found)


@settings(deadline=None)
@given(st.lists(st.lists(st.floats(90, 110), min_size=1, max_size=4), min_size=1, max_size=5))
def test_a_mean_lies_in_its_interval(samples: list[list[float]]) -> None:
    intervals = mean_intervals(samples, ["RR"] * len(samples), [0.01] * len(samples))
    for sample, interval in zip(samples, intervals, strict=True):
        if interval is not None:
            assert interval[0] < sum(sample) / len(sample) < interval[1]


def test_an_interval_beyond_what_a_float_holds_ends_there() -> None:
    assert mean_intervals([(1e-300, 1e300)], [None], [None]) == [(0.0, math.inf)]
