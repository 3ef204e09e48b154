"""Noise: spreads, the prior of a group, moderated variances, and where an estimate comes from."""

import math
import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from perfdb.analysis.comparison.comparison import NOTHING_KNOWN, Background, Noise, NoiseSource, Pair
from perfdb.analysis.comparison.noise import (
    Moderated,
    Prior,
    estimate_noise,
    fit_prior,
    inverse_trigamma,
    is_noisy,
    moderate,
)
from perfdb.analysis.comparison.spreads import Spread, fisher_quantile, rounding_variance, spread, spreads
from perfdb.analysis.tests.published import GUEST_LAN, HIPERSOCKETS, PAIRS

SPREADS = [spread([pair.base, pair.new], pair.step) for pair in PAIRS]
VARIED = [100.0, 101.0, 102.0]


def prior() -> Prior:
    fitted = fit_prior(SPREADS)
    assert fitted is not None
    return fitted


def one(pair: Pair, background: Background = NOTHING_KNOWN) -> Noise:
    return estimate_noise([pair], background)[0]


def shown(prior: Prior | None) -> tuple[float, float, int]:
    assert prior is not None
    return prior.variance, prior.freedom, prior.total


def said(noise: Noise) -> tuple[NoiseSource, float | None, float | None]:
    return noise.source, noise.sd, noise.freedom


def test_the_spread_of_each_published_cell() -> None:
    assert [math.sqrt(each.variance) for each in SPREADS] == pytest.approx(
        [0.003538, 0.004845, 0.009241, 0.014626], abs=5e-7
    )
    assert [each.freedom for each in SPREADS] == [6, 6, 6, 6]


def test_the_prior_of_the_published_group() -> None:
    assert prior().freedom == pytest.approx(2.44807, abs=5e-6)
    assert prior().variance == pytest.approx(3.618716e-5, abs=5e-12)
    assert prior().total == 24
    # The excess v = 1.232767 is what the freedom follows from.
    assert float(special.polygamma(1, prior().freedom / 2)) == pytest.approx(1.232767, abs=5e-7)


def test_moderated_spreads_of_the_published_group() -> None:
    used = [moderate(each, prior()) for each in SPREADS]
    assert [math.sqrt(each.variance) for each in used] == pytest.approx(
        [0.004402, 0.005211, 0.008434, 0.012744], abs=5e-7
    )
    assert [each.freedom for each in used] == pytest.approx([8.44807] * 4, abs=5e-6)
    assert not any(each.noisy for each in used)
    assert fisher_quantile(0.95, 6, prior().freedom) == pytest.approx(12.60, abs=5e-3)


def test_unequal_numbers_of_trials() -> None:
    own = spread([HIPERSOCKETS[0][:2], GUEST_LAN[0][:3]])
    assert own.variance == pytest.approx(3.078973e-6, abs=5e-13)
    assert own.freedom == 3
    used = moderate(own, prior())
    assert used.variance == pytest.approx(1.795601e-5, abs=5e-12)
    assert used.freedom == pytest.approx(5.44807, abs=5e-6)


def test_rounding_is_the_least_spread() -> None:
    assert rounding_variance(1, 118.0, 0.1) == pytest.approx(5.98e-8, abs=1e-10)
    assert spread([[118.0] * 3, [118.0] * 3], 0.1) == Spread(rounding_variance(1, 118.0, 0.1), 4)
    assert spread([[118.0, 119.0], [118.0, 119.0]], 0.1).variance > 1e-5


def test_values_without_logarithm_are_left_out() -> None:
    assert spread([[0.0, 100.0, 101.0], [-1.0, math.inf]]) == spread([[100.0, 101.0]])
    assert spread([[0.0], []]) == Spread()


@pytest.mark.parametrize("cells", [1, 2])
def test_too_few_cells_are_pooled(cells: int) -> None:
    pooled = fit_prior([Spread(1e-4, 2), Spread(4e-4, 4)][:cells])
    assert shown(pooled) == pytest.approx(([1e-4, 3e-4][cells - 1], 8, [2, 6][cells - 1]))


def test_two_cells_cannot_tell_how_much_spreads_differ() -> None:
    assert shown(fit_prior([Spread(1e-8, 6), Spread(1e-2, 6)])) == pytest.approx((5.000005e-3, 8, 12))


def test_cells_that_vary_alike_are_pooled() -> None:
    alike = fit_prior([Spread(1e-4, 4), Spread(1.1e-4, 4), Spread(0.9e-4, 2)])
    assert shown(alike) == pytest.approx((1.02e-4, 8, 10))


def test_a_group_never_weighs_more_than_eight() -> None:
    # Just more varied than chance: the fit alone would claim hundreds of degrees of freedom.
    spreads = [Spread(1e-4 * factor, 30) for factor in (0.69, 0.8, 1.0, 1.25, 1.45)]
    fitted = fit_prior(spreads)
    assert fitted is not None
    assert fitted.freedom == 8
    pooled = sum(each.variance for each in spreads) / 5
    assert fitted.variance != pytest.approx(pooled, rel=1e-6)


def test_cells_without_a_spread_do_not_shape_the_prior() -> None:
    assert fit_prior([*SPREADS, Spread(), Spread(0.0, 4)]) == prior()
    assert fit_prior([Spread(), Spread(0.0, 4)]) is None


def test_freedom_is_never_more_than_was_measured() -> None:
    fitted = Prior(1e-4, 8, 2)
    assert moderate(Spread(1e-4, 2), fitted).freedom == 2
    assert moderate(Spread(), Prior(1e-4, 0.3, 2)).freedom == 1
    assert moderate(Spread(), fitted).variance == 1e-4


def test_a_noisy_cell_stands_for_itself() -> None:
    fitted = Prior(1e-4, 8, 40)
    limit = fisher_quantile(0.95, 4, 8)
    assert moderate(Spread(1.01 * limit * 1e-4, 4), fitted) == Moderated(1.01 * limit * 1e-4, 4, noisy=True)
    assert not is_noisy(Spread(0.99 * limit * 1e-4, 4), fitted)
    assert not is_noisy(Spread(), fitted)


@settings(deadline=None)
@given(st.floats(1e-9, 1e6))
def test_inverse_trigamma(value: float) -> None:
    assert float(special.polygamma(1, inverse_trigamma(value))) == pytest.approx(value, rel=1e-6)


@settings(deadline=None)
@given(st.lists(st.lists(st.floats(1, 1e6), min_size=1, max_size=5), min_size=1, max_size=4), st.floats(1e-3, 1e3))
def test_a_spread_knows_no_units(samples: list[list[float]], factor: float) -> None:
    scaled = spread([[value * factor for value in sample] for sample in samples], 0.1 * factor)
    plain = spread(samples, 0.1)
    assert scaled.freedom == plain.freedom
    assert scaled.variance == pytest.approx(plain.variance, rel=1e-6, abs=1e-20)


def test_trials_of_the_group_serve_a_single_run() -> None:
    single = Pair([50.0], [52.0], "RR", 0.01)
    noise = estimate_noise([*PAIRS, single], NOTHING_KNOWN)[-1]
    assert noise.source is NoiseSource.TRIALS
    assert noise.sd == pytest.approx(math.sqrt(prior().variance))
    assert noise.freedom == pytest.approx(prior().freedom)


def test_the_trials_of_one_side_are_noise_too() -> None:
    assert one(Pair([], VARIED)) == one(Pair([70.0], VARIED))


def test_a_mean_of_unknown_trials_says_nothing_about_noise() -> None:
    known = one(Pair([70.0], VARIED))
    assert one(Pair([60.0, 80.0], VARIED, base_is_mean=True)) == known
    assert one(Pair(VARIED, VARIED, base_is_mean=True, new_is_mean=True)).source is NoiseSource.NONE


def test_earlier_campaigns_come_before_other_workloads() -> None:
    single = Pair([50.0], [52.0], "RR")
    everything = Background(earlier={"RR": [VARIED, [7.0]]}, metric=[[10.0, 20.0]])
    assert one(single, everything).source is NoiseSource.EARLIER
    assert one(single, everything).sd == pytest.approx(math.sqrt(spread([VARIED]).variance))
    assert one(single, Background(earlier={"CRR": [VARIED]}, metric=[[10.0, 20.0]])).source is NoiseSource.METRIC
    assert one(single, Background(earlier={"RR": [[7.0]]})) == Noise(NoiseSource.NONE)


def test_trials_in_the_table_come_before_any_other() -> None:
    assert one(PAIRS[0], Background(earlier={"RR": [VARIED]}, metric=[VARIED])) == one(PAIRS[0])


def test_other_groups_of_the_table_serve_as_all_workloads() -> None:
    noise = estimate_noise([*PAIRS, Pair([50.0], [52.0], "CRR")], NOTHING_KNOWN)[-1]
    assert (noise.source, noise.borrowed) == (NoiseSource.METRIC, True)
    assert noise.sd == pytest.approx(math.sqrt(prior().variance))
    assert noise.freedom == pytest.approx(prior().freedom)


def test_groups_have_priors_of_their_own() -> None:
    quiet = [Pair([100.0, 100.1], [100.0, 100.1], "quiet") for _ in range(3)]
    loud = [Pair([100.0, 110.0], [100.0, 110.0], "loud") for _ in range(3)]
    assert estimate_noise([*quiet, *loud], NOTHING_KNOWN)[:3] == estimate_noise(quiet, NOTHING_KNOWN)


def test_equal_trials_with_unknown_step_have_no_noise() -> None:
    assert one(Pair([5.0, 5.0], [5.0, 5.0])) == Noise(NoiseSource.NONE)
    assert one(Pair([5.0, 5.0], [5.0, 5.0], step=0.1)).source is NoiseSource.TRIALS


def test_equal_trials_elsewhere_are_rounded_like_the_table() -> None:
    single = Pair([118.0], [118.0], "RR", step=0.1)
    noise = one(single, Background(earlier={"RR": [[118.0, 118.0]]}))
    assert (noise.source, noise.sd) == (NoiseSource.EARLIER, math.sqrt(rounding_variance(1, 118.0, 0.1)))


def test_history_comes_first() -> None:
    pair = Pair(VARIED, VARIED, configurations=("HS",))
    means = [100.0, 110.0, 95.0]
    noise = one(pair, Background(history={"HS": means}))
    assert said(noise) == (NoiseSource.HISTORY, math.sqrt(spread([means]).variance), 2)


@pytest.mark.parametrize("means", [[100.0, 110.0], [100.0, 110.0, 0.0], []])
def test_two_campaigns_are_no_history(means: list[float]) -> None:
    pair = Pair(VARIED, VARIED, configurations=("HS",))
    assert one(pair, Background(history={"HS": means})).source is NoiseSource.TRIALS


def test_two_configurations_pool_their_histories() -> None:
    pair = Pair(VARIED, VARIED, configurations=("HS", "GL"))
    history = {"HS": [100.0, 110.0, 95.0], "GL": [50.0, 51.0, 52.0, 53.0]}
    noise = one(pair, Background(history=history))
    assert said(noise) == (NoiseSource.HISTORY, math.sqrt(spread(list(history.values())).variance), 5)


def test_both_configurations_need_a_history() -> None:
    pair = Pair(VARIED, VARIED, configurations=("HS", "GL"))
    history = {"HS": [100.0, 110.0, 95.0], "GL": [50.0, 51.0]}
    assert one(pair, Background(history=history)).source is NoiseSource.TRIALS


def test_histories_share_a_prior() -> None:
    histories = {str(number): [100.0, 101.0 + number / 10, 102.0] for number in range(3)}
    pairs = [Pair(VARIED, VARIED, configurations=(name,)) for name in histories]
    shared = fit_prior([spread([means]) for means in histories.values()])
    assert shared is not None
    noises = estimate_noise(pairs, Background(history=histories))
    assert [noise.freedom for noise in noises] == [min(shared.freedom + 2, 6)] * 3
    assert noises[0].sd != math.sqrt(spread([histories["0"]]).variance)


def test_a_single_run_learns_from_its_neighbours_history() -> None:
    pairs = [Pair([5.0], [6.0], configurations=("HS",)), Pair([5.0], [6.0])]
    noises = estimate_noise(pairs, Background(history={"HS": [100.0, 110.0, 95.0]}))
    assert [noise.source for noise in noises] == [NoiseSource.HISTORY, NoiseSource.HISTORY]
    assert [noise.borrowed for noise in noises] == [False, True]


SAMPLES = st.lists(st.lists(st.sampled_from([0.0, 5.0, 7.25, 1e-3, 3e7]) | st.floats(0.1, 1e4), max_size=6), max_size=3)


@settings(deadline=None)
@given(st.lists(st.tuples(SAMPLES, st.sampled_from([None, 0.01, 10.0])), min_size=1, max_size=8))
def test_the_spreads_of_many_cells_are_those_of_each(cells: list[tuple[list[list[float]], float | None]]) -> None:
    found = spreads([samples for samples, _ in cells], [step for _, step in cells])
    for at, (samples, step) in enumerate(cells):
        each = found.spread_at(at)
        logs = [[math.log(value) for value in sample if value > 0] for sample in samples]
        freedom = sum(len(sample) - 1 for sample in logs if sample)
        squares = sum((len(sample) - 1) * statistics.variance(sample) for sample in logs if len(sample) > 1)
        values = [value for sample in samples for value in sample if value > 0]
        least = rounding_variance(len(values), sum(values), step or 0.0) if values else 0.0
        assert each.freedom == freedom
        assert each.variance == pytest.approx(max(squares / freedom, least) if freedom else 0.0, rel=1e-6, abs=1e-25)
