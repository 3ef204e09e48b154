"""Cells against their base: published vectors, verdicts, edge cases, and what must not depend on units or sides."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perfdb.analysis.comparison.compare_pairs import Contrast, compare, ps_of, table_q, trials_needed
from perfdb.analysis.comparison.comparison import Background, Comparison, Effect, NoiseSource, Pair, Verdict
from perfdb.analysis.comparison.noise import fit_prior, moderate
from perfdb.analysis.comparison.spreads import spread
from perfdb.analysis.metrics import Better
from perfdb.analysis.tests.published import GUEST_LAN, HIPERSOCKETS, PAIRS
from perfdb.analysis.units import printed_percent

PUBLISHED = compare(PAIRS, Better.HIGHER)
MIRRORED = {Verdict.HIGHER: Verdict.LOWER, Verdict.LOWER: Verdict.HIGHER}
OPPOSITE = {Effect.BETTER: Effect.WORSE, Effect.WORSE: Effect.BETTER}
NEAR = st.lists(st.floats(90, 110), min_size=0, max_size=4)
TABLES = st.lists(st.tuples(NEAR, NEAR), min_size=1, max_size=6)


def one(pair: Pair, better: Better = Better.HIGHER, background: Background | None = None) -> Comparison:
    return compare([pair], better, background=background or Background())[0]


def test_published_ratios_and_intervals() -> None:
    ratios = [cell.ratio for cell in PUBLISHED]
    assert ratios == pytest.approx([1.01003, 1.65261, 1.49094, 1.35380], abs=5e-6)
    ends = [end for cell in PUBLISHED for end in cell.interval or ()]
    expected = [1.00288, 1.01724, 1.63876, 1.66659, 1.47076, 1.51140, 1.32621, 1.38196]
    assert ends == pytest.approx(expected, abs=5e-6)


def test_published_differences_are_those_of_the_means() -> None:
    assert [printed_percent(cell.percent) for cell in PUBLISHED] == ["1%", "65%", "49%", "35%"]


def test_published_probabilities() -> None:
    assert [cell.p for cell in PUBLISHED] == pytest.approx([0.011612, 2.03e-15, 8.17e-13, 2.70e-10], rel=3e-3)
    assert PUBLISHED[0].p == pytest.approx(0.011612, abs=5e-7)
    assert [cell.q for cell in PUBLISHED] == pytest.approx([0.011612, 8.10e-15, 1.63e-12, 3.60e-10], rel=3e-3)


def test_published_verdicts() -> None:
    assert [cell.verdict for cell in PUBLISHED] == [Verdict.HIGHER] * 4
    assert [cell.within for cell in PUBLISHED] == [True, False, False, False]
    assert [cell.effect for cell in PUBLISHED] == [Effect.BETTER] * 4


def test_the_published_interval_that_lies_within_two_per_cent() -> None:
    first = PUBLISHED[0]
    assert first.ratio is not None
    assert first.error is not None
    contrast = Contrast(math.log(first.ratio), first.error, first.noise.freedom or 0)
    assert contrast.interval(0.90) == pytest.approx((1.00424, 1.01586), abs=5e-6)


def test_published_unequal_numbers_of_trials() -> None:
    prior = fit_prior([spread([pair.base, pair.new], pair.step) for pair in PAIRS])
    assert prior is not None
    base, new = HIPERSOCKETS[0][:2], GUEST_LAN[0][:3]
    used = moderate(spread([base, new]), prior)
    difference = sum(map(math.log, new)) / 3 - sum(map(math.log, base)) / 2
    contrast = Contrast(difference, math.sqrt(used.variance * (1 / 2 + 1 / 3)), used.freedom)
    assert math.exp(difference) == pytest.approx(1.012312, abs=5e-7)
    assert contrast.interval() == pytest.approx((1.002537, 1.022182), abs=5e-7)
    assert ps_of([contrast]) == pytest.approx([0.022216], abs=5e-7)


def test_the_published_band_of_single_runs() -> None:
    single = compare([*PAIRS, Pair([10000.0], [10300.0], "RR", 0.01)], Better.HIGHER)[-1]
    assert single.band is not None
    assert [100 * (end - 1) for end in single.band] == pytest.approx([-3.041, 3.136], abs=5e-4)
    assert single.verdict is Verdict.INSIDE
    assert (single.p, single.q, single.interval) == (None, None, None)


@pytest.mark.parametrize(
    ("new", "verdict", "effect"),
    [
        (9690.0, Verdict.OUTSIDE, Effect.WORSE),
        (9700.0, Verdict.INSIDE, Effect.UNKNOWN),
        (10310.0, Verdict.INSIDE, Effect.UNKNOWN),
        (10320.0, Verdict.OUTSIDE, Effect.BETTER),
    ],
)
def test_single_runs_lie_inside_or_outside_the_band(new: float, verdict: Verdict, effect: Effect) -> None:
    single = compare([*PAIRS, Pair([10000.0], [new], "RR", 0.01)], Better.HIGHER)[-1]
    assert (single.verdict, single.effect) == (verdict, effect)


def test_single_runs_do_not_change_the_q_of_others() -> None:
    assert compare([*PAIRS, Pair([1.0], [9.0], "RR")], Better.HIGHER)[:4] == PUBLISHED


def test_a_mean_printed_without_its_trials_has_a_band() -> None:
    pair = Pair([10000.0], [10000.0, 10010.0, 10020.0], "RR", 0.01)
    trial = compare([*PAIRS, pair], Better.HIGHER)[-1]
    mean = compare([*PAIRS, pair._replace(base_is_mean=True)], Better.HIGHER)[-1]
    assert (trial.verdict, trial.band) == (Verdict.SAME, None)
    assert (mean.verdict, mean.p) == (Verdict.INSIDE, None)
    assert mean.warnings == ("the base is a mean printed without its trials and counts as a single run",)


def test_one_against_many_is_tested() -> None:
    cell = one(Pair([100.0], [120.0, 120.5, 121.0, 121.5]))
    assert (cell.n_base, cell.n, cell.noise.freedom) == (1, 4, 3)
    assert (cell.verdict, cell.band) == (Verdict.HIGHER, None)


@pytest.mark.parametrize(("sd", "needed"), [(0.005, 1), (0.01, 4), (0.02, 16), (1e-9, 1)])
def test_trials_needed_to_see_two_per_cent(sd: float, needed: int) -> None:
    assert trials_needed(sd, 0.02) == needed


def test_what_could_have_been_seen() -> None:
    cell = one(Pair([100.0, 104.0, 98.0], [101.0, 97.0, 105.0]))
    assert (cell.verdict, cell.effect) == (Verdict.INCONCLUSIVE, Effect.UNKNOWN)
    # By hand: s = 3.524 %, d = 4, t(97.5 %) = 2.7764, t(80 %) = 0.9410.
    assert cell.noise.sd == pytest.approx(0.03524, abs=1e-5)
    assert cell.detectable == pytest.approx(math.exp((2.7764 + 0.9410) * 0.03524 * math.sqrt(2 / 3)) - 1, abs=1e-4)
    assert cell.trials_needed == 50


def test_same_needs_the_whole_interval_inside() -> None:
    base = [100.0, 100.2, 100.1]
    assert one(Pair(base, [100.2, 100.1, 100.3])).verdict is Verdict.SAME
    assert one(Pair(base, [100.2, 100.1, 100.3])).effect is Effect.NEUTRAL
    assert compare([Pair(base, [100.2, 100.1, 100.3])], Better.HIGHER, delta=0.001)[0].verdict is Verdict.INCONCLUSIVE


def test_same_takes_two_one_sided_tests_at_five_per_cent() -> None:
    # ln 1.02 = 0.01980 lies between 1.645 and 1.960 standard errors of 0.011.
    contrast = Contrast(0.0, 0.011, 1e6)
    assert contrast.is_within(0.02)
    assert contrast.interval(0.95)[1] > 1.02
    assert not Contrast(0.0, 0.0121, 1e6).is_within(0.02)


@pytest.mark.parametrize(
    ("better", "effect"),
    [(Better.HIGHER, Effect.BETTER), (Better.LOWER, Effect.WORSE), (Better.NEUTRAL, Effect.UNKNOWN)],
)
def test_better_or_worse_is_the_metrics_business(better: Better, effect: Effect) -> None:
    assert one(PAIRS[1], better).effect is effect


@pytest.mark.parametrize("delta", [0.0, -0.02, math.nan])
def test_a_practical_size_is_above_zero(delta: float) -> None:
    with pytest.raises(ValueError, match="practical size"):
        compare(PAIRS, Better.HIGHER, delta=delta)


def test_nothing_to_compare() -> None:
    assert compare([], Better.HIGHER) == []


def test_a_missing_side_leaves_a_value_without_comparison() -> None:
    cell = one(Pair([100.0, 102.0], []))
    assert (cell.verdict, cell.effect) == (Verdict.NOT_COMPARABLE, Effect.UNKNOWN)
    assert (cell.base_mean, cell.n_base, cell.n, cell.percent, cell.ratio) == (101.0, 2, 0, None, None)
    assert cell.warnings == ("the new side is missing",)
    assert one(Pair([], [100.0])).warnings == ("the base is missing",)


def test_trials_without_logarithm_are_kept_and_told() -> None:
    cell = one(Pair([0.0, 100.0, 101.0, 102.0], [110.0, 111.0, -1.0, 0.0]))
    assert (cell.n_base, cell.n, cell.base_mean) == (4, 4, 75.75)
    assert cell.percent == pytest.approx(100 * (55 / 75.75 - 1))
    assert cell.ratio == pytest.approx(math.sqrt(110 * 111) / (100 * 101 * 102) ** (1 / 3))
    assert cell.noise.freedom == 3
    assert cell.warnings == (
        "1 trial of the base is zero or negative and left out of the ratio",
        "2 trials of the new side are zero or negative and left out of the ratio",
    )


def test_a_side_of_zeros_is_not_comparable() -> None:
    cell = one(Pair([0.0, 0.0], [3.0, 4.0]))
    assert (cell.verdict, cell.percent, cell.base_mean) == (Verdict.NOT_COMPARABLE, None, 0.0)


def test_without_noise_there_is_a_difference_only() -> None:
    cell = one(Pair([100.0], [150.0]))
    assert cell.verdict is Verdict.NO_NOISE
    assert (cell.ratio, cell.percent) == pytest.approx((1.5, 50.0))
    assert (cell.interval, cell.band, cell.p, cell.detectable, cell.trials_needed) == (None,) * 5


def test_equal_trials_are_as_sure_as_their_rounding() -> None:
    cell = one(Pair([118.0] * 3, [118.0] * 3, step=0.1))
    assert cell.verdict is Verdict.SAME
    assert cell.error == pytest.approx(math.sqrt(5.98e-8 * 2 / 3), rel=1e-3)
    assert one(Pair([118.0] * 3, [118.5] * 3, step=0.1)).verdict is Verdict.HIGHER


def test_history_counts_campaigns_and_not_trials() -> None:
    pair = Pair([100.0, 100.1, 99.9], [110.0, 110.1, 109.9], configurations=("HS",))
    assert one(pair).verdict is Verdict.HIGHER
    cell = one(pair, background=Background(history={"HS": [100.0, 107.0, 94.0]}))
    assert (cell.verdict, cell.noise.source) == (Verdict.INCONCLUSIVE, NoiseSource.HISTORY)
    assert cell.error == pytest.approx((cell.noise.sd or 0) * math.sqrt(2))


def test_single_runs_with_a_history_are_tested() -> None:
    background = Background(history={"HS": [100.0, 100.5, 99.7, 100.2]})
    cell = one(Pair([100.0], [110.0], configurations=("HS",)), background=background)
    assert (cell.verdict, cell.band) == (Verdict.HIGHER, None)


def test_single_runs_beside_a_history_have_a_band() -> None:
    pairs = [Pair([100.0], [110.0], configurations=("HS",)), Pair([50.0], [60.0])]
    cells = compare(pairs, Better.HIGHER, background=Background(history={"HS": [100.0, 100.5, 99.7, 100.2]}))
    assert cells[1].verdict is Verdict.OUTSIDE
    assert cells[1].p is None


def test_a_noisy_cell_is_judged_by_itself() -> None:
    loud = Pair([100.0, 140.0, 80.0, 120.0], [100.0, 150.0, 90.0, 110.0], "RR")
    calm = [Pair([100.0, 100.1, 99.9, 100.0], [100.0, 100.1, 99.9, 100.05], "RR") for _ in range(8)]
    cells = compare([*calm, loud], Better.HIGHER)
    assert [cell.noise.noisy for cell in cells] == [False] * 8 + [True]
    assert cells[-1].noise.freedom == 6


def test_many_cells_are_allowed_for() -> None:
    # Alone, p = 0.03 would be a change; among twenty cells without any it is what chance brings.
    assert table_q([0.03]) == [0.03]
    assert table_q([0.03, *[0.5] * 19])[0] == pytest.approx(0.5)
    assert table_q([None, 0.01, None, 0.04]) == [None, 0.02, None, 0.04]
    assert table_q([None]) == [None]


def test_figures_beyond_floats_do_not_stop_a_table() -> None:
    cells = compare([Pair([1e-300, 1e300], [1e300, 1e-300]), Pair([1e-300], [1e300])], Better.HIGHER)
    assert [cell.verdict for cell in cells] == [Verdict.INCONCLUSIVE, Verdict.INSIDE]
    assert cells[1].percent is None


def close(one: float | None, other: float | None) -> bool:
    """Equal but for the last bits; None equals None."""
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-9)


@settings(deadline=None)
@given(TABLES)
def test_swapping_the_sides_mirrors_everything(table: list[tuple[list[float], list[float]]]) -> None:
    forth = compare([Pair(base, new, step=0.01) for base, new in table], Better.HIGHER)
    back = compare([Pair(new, base, step=0.01) for base, new in table], Better.HIGHER)
    for cell, mirror in zip(forth, back, strict=True):
        assert mirror.verdict is MIRRORED.get(cell.verdict, cell.verdict)
        assert mirror.effect is OPPOSITE.get(cell.effect, cell.effect)
        assert close(mirror.p, cell.p)
        if cell.ratio is not None:
            assert close(mirror.ratio, 1 / cell.ratio)
        if cell.interval is not None and mirror.interval is not None:
            assert close(mirror.interval[0], 1 / cell.interval[1])


@settings(deadline=None)
@given(TABLES, st.floats(1e-3, 1e3))
def test_other_units_change_nothing(table: list[tuple[list[float], list[float]]], factor: float) -> None:
    plain = compare([Pair(base, new, step=0.01) for base, new in table], Better.LOWER)
    scaled = compare(
        [Pair([v * factor for v in base], [v * factor for v in new], step=0.01 * factor) for base, new in table],
        Better.LOWER,
    )
    for cell, other in zip(plain, scaled, strict=True):
        assert close(cell.percent, other.percent)
        assert close(cell.ratio, other.ratio)
        assert close(cell.q, other.q)


@settings(deadline=None)
@given(TABLES)
def test_what_is_changed_agrees_with_its_interval(table: list[tuple[list[float], list[float]]]) -> None:
    for cell in compare([Pair(base, new, step=0.01) for base, new in table], Better.HIGHER):
        if cell.verdict in MIRRORED:
            assert cell.interval is not None
            # q is never below p, so a changed cell's own interval leaves 1 out.
            assert not cell.interval[0] <= 1 <= cell.interval[1]
        if cell.verdict is Verdict.SAME:
            assert cell.ratio is not None
            assert 1 / 1.02 < cell.ratio < 1.02


@settings(deadline=None)
@given(NEAR.filter(lambda values: len(values) > 1), st.floats(1.0001, 1.2))
def test_more_noise_is_never_more_sure(values: list[float], factor: float) -> None:
    centre = math.exp(sum(map(math.log, values)) / len(values))
    wider = [centre * (value / centre) ** factor for value in values]
    calm, loud = (one(Pair(sample, [105.0 * v / centre for v in sample], step=0.01)) for sample in (values, wider))
    assert calm.p is not None
    assert loud.p is not None
    assert loud.p >= calm.p * (1 - 1e-3)
