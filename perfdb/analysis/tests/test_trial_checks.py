"""Trial hygiene: what is flagged, and how seldom clean trials are."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

import numpy as np
import pytest

from perfdb.analysis.comparison import trial_checks
from perfdb.analysis.comparison.noise import fit_prior, moderate
from perfdb.analysis.comparison.spreads import false_discovery, spread, student_p
from perfdb.analysis.comparison.trial_checks import Flag, Trial, TrialCell, Trials, check_trials


def cell(title: str, values: Sequence[float], group: str = "RR", first: int = 1) -> TrialCell:
    trials = tuple(Trial(f"{title}/{number}", number, value) for number, value in enumerate(values, first))
    return TrialCell(title, trials, group, 0.01)


def outliers(cells: Sequence[TrialCell]) -> list[Flag]:
    return trial_checks.find_outliers(Trials.from_cells(cells))


def drift(cells: Sequence[TrialCell]) -> list[Flag]:
    return trial_checks.find_drift(Trials.from_cells(cells))


def first_runs(cells: Sequence[TrialCell]) -> list[Flag]:
    return trial_checks.find_first_run_effects(Trials.from_cells(cells))


@dataclass(frozen=True)
class Shape:
    """A made-up campaign: noise of 1 %, a slope a trial, and a first run that is off by a share (logarithms).

    ``differing`` is how much the noise itself differs between cells (sd of its logarithm).
    """

    cells: int
    trials: int
    slope: float = 0.0
    first: float = 0.0
    differing: float = 0.0


def campaign(shape: Shape, seed: int) -> list[TrialCell]:
    generator = np.random.default_rng(seed)
    made = []
    for number in range(shape.cells):
        spread_of_cell = 0.01 * math.exp(generator.normal(0, shape.differing))
        logs = spread_of_cell * generator.normal(0, 1, shape.trials) + shape.slope * np.arange(shape.trials)
        logs[0] += shape.first
        made.append(cell(f"cell {number}", (1000 * (number + 1) * np.exp(logs)).tolist()))
    return made


def alarms(shape: Shape, repeats: int) -> Counter[str]:
    """In how many of so many campaigns each code is flagged."""
    return Counter(
        code for seed in range(repeats) for code in {flag.code for flag in check_trials(campaign(shape, seed))}
    )


_ORDERS = ((0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (2, 1, 0), (1, 0, 2))
CALM = [
    cell(f"calm {n}", [(100.0 + n, 100.6 + n, 99.5 + n)[place] for place in order]) for n, order in enumerate(_ORDERS)
]


def test_a_trial_far_from_the_others_is_flagged() -> None:
    flags = outliers([*CALM, cell("odd", [100.0, 112.0, 100.5])])
    assert [(flag.code, flag.runs) for flag in flags] == [("outlier", ("odd/2",))]
    assert flags[0].message.startswith("odd: trial 2 is 112, 11% above the median of its cell, 100.5, where trials ")


def test_far_is_four_usual_spreads() -> None:
    found = set()
    for value in (101.0, 102.0, 103.0, 104.0, 105.0, 106.0, 108.0, 125.0):
        cells = [*CALM, cell("odd", [100.0, value, 100.5])]
        prior = fit_prior([spread([[trial.value for trial in each.trials]], each.step) for each in cells])
        assert prior is not None
        far = math.log(value / 100.5) > 4 * math.sqrt(prior.variance)
        codes = [flag.code for flag in outliers(cells)]
        assert bool(codes) is far, value
        found.update(codes or ["near"])
    assert found == {"near", "outlier"}


def test_in_a_loud_cell_a_trial_is_far_and_no_more() -> None:
    flags = outliers([*CALM, *CALM, cell("loud", [90.0, 97.0, 100.0, 103.0, 111.0])])
    assert {(flag.code, flag.runs[0]) for flag in flags} == {("far", "loud/1"), ("far", "loud/5")}


@pytest.mark.parametrize(("value", "code"), [(106.0, "far"), (107.0, "outlier")])
def test_an_outlier_is_beyond_what_a_further_trial_would_show(value: float, code: str) -> None:
    # The mean of the two others is itself uncertain: without allowing for that, 106 would be an outlier too.
    assert [flag.code for flag in outliers([*CALM, cell("odd", [100.0, value, 102.0])])] == [code]


def anew(cells: Sequence[TrialCell]) -> list[str]:
    """The code of each far trial, for each of which the group is fitted anew to all that is left without it."""
    values = [[trial.value for trial in each.trials] for each in cells]
    prior = fit_prior([spread([each], 0.01) for each in values])
    assert prior is not None
    ps = []
    for at, own in enumerate(values):
        for place, value in enumerate(own):
            if abs(math.log(value / median(own))) > 4 * math.sqrt(prior.variance):
                others = [*own[:place], *own[place + 1 :]]
                left = fit_prior(
                    [spread([others if at == each else values[each]], 0.01) for each in range(len(values))]
                )
                assert left is not None
                used = moderate(spread([others], 0.01), left)
                distance = math.log(value) - fmean(map(math.log, others))
                ps.append(student_p(distance / math.sqrt(used.variance * (1 + 1 / len(others))), used.freedom))
    return ["outlier" if q < 0.01 else "far" for q in false_discovery(ps, sum(map(len, values)))]


def test_many_are_judged_as_one_by_one() -> None:
    loud = cell("loud", [60.0, 75.0, 80.0, 90.0, 100.0, 103.0, 111.0, 130.0, 150.0, 160.0])
    cells = [*8 * CALM, loud, *(cell(f"odd {value}", [100.0, value, 102.0]) for value in (95.0, 107.0, 120.0))]
    together = outliers(cells)
    assert [flag.code for flag in together] == anew(cells)
    assert {flag.code for flag in together} == {"far", "outlier"}
    assert len(together) >= 10


def test_two_trials_tell_nothing_about_each_other() -> None:
    assert outliers([*CALM, cell("odd", [100.0, 150.0])]) == []


def test_groups_are_judged_by_themselves() -> None:
    loud = [cell(f"loud {n}", [100.0, 120.0 + n, 85.0], "STRG") for n in range(6)]
    assert outliers([*CALM, *loud]) == []
    assert outliers([*CALM, *(TrialCell(each.title, each.trials, "RR") for each in loud)]) != []


def test_figures_without_logarithm_are_passed_over() -> None:
    assert check_trials([*CALM, cell("zeros", [0.0, -1.0, math.inf, 0.0, 0.0])]) == check_trials(CALM) == []


def test_trials_without_numbers_have_no_order() -> None:
    trials = tuple(Trial(number, None, 100.0 * 1.1**number) for number in range(8))
    cells = [TrialCell(f"cell {n}", trials) for n in range(6)]
    assert [*drift(cells), *first_runs(cells)] == []
    odd = TrialCell("odd", (*(Trial(n, None, 100.0 + n / 10) for n in range(5)), Trial("far", None, 200.0)), "RR")
    (flag,) = outliers([*CALM, odd])
    assert "odd: a trial is 200" in flag.message


def test_values_that_fall_from_trial_to_trial() -> None:
    (flag,) = drift([cell(f"cell {n}", [100.0 + n, 99.0 + n, 98.1 + n]) for n in range(4)])
    assert (flag.code, len(flag.runs)) == ("drift", 12)
    assert flag.message == "over 4 cells, values fall by 0.94% from trial to trial (p = 0.005)"


def test_three_cells_of_three_trials_are_too_few_for_drift() -> None:
    assert drift([cell(f"cell {n}", [100.0, 99.0, 98.1]) for n in range(3)]) == []


def test_drift_of_one_cell_needs_five_trials() -> None:
    (flag,) = drift([cell("warming up", [100.0, 101.1, 101.9, 103.0, 104.1])])
    assert (flag.code, flag.runs) == ("cell-drift", tuple(f"warming up/{n}" for n in range(1, 6)))
    assert flag.message == "warming up: values rise by 0.99% from trial to trial, over 5 trials (p < 0.001)"
    assert drift([cell("short", [100.0, 101.1, 101.9, 103.0])]) == []


def test_equal_trials_do_not_drift() -> None:
    assert check_trials([cell(f"cell {n}", [118.0] * 5) for n in range(6)]) == []


def test_a_first_run_that_is_always_slower() -> None:
    cells = [cell(f"cell {n}", [95.0 + n / 10, 100.0, 100.4 - n / 10]) for n in range(5)]
    (flag,) = first_runs(cells)
    assert (flag.code, flag.runs) == ("first-run", tuple(f"cell {n}/1" for n in range(5)))
    assert flag.message == "trial 1 is 4.9% below the later trials on average, over 5 cells (p < 0.001)"
    assert first_runs(cells[:4]) == []


def test_the_first_run_is_trial_one() -> None:
    late = [cell(f"cell {n}", [95.0 + n / 10, 100.0, 100.4 - n / 10], first=2) for n in range(5)]
    assert first_runs(late) == []


def test_a_slow_first_run_is_no_drift() -> None:
    codes = {flag.code for flag in check_trials(campaign(Shape(12, 4, first=-0.05), seed=1))}
    assert "first-run" in codes
    assert "drift" not in codes


@pytest.mark.parametrize(("cells", "trials"), [(4, 3), (20, 3), (6, 5), (1, 10)])
def test_clean_trials_are_seldom_flagged(cells: int, trials: int) -> None:
    found = alarms(Shape(cells, trials), 400)
    # Nominally 4 of 400 each; more than 12 would be a chance of one in a thousand.
    for code in ("outlier", "drift", "cell-drift", "first-run"):
        assert found[code] <= 12, found


def test_noise_that_differs_between_cells_seldom_looks_like_outliers() -> None:
    flags = [flag for seed in range(100) for flag in check_trials(campaign(Shape(20, 3, differing=0.5), seed))]
    assert sum(flag.code == "outlier" for flag in flags) <= 6


def test_drift_is_found() -> None:
    found = alarms(Shape(20, 5, slope=0.005), 100)
    assert found["drift"] >= 90


def test_first_run_effects_are_found() -> None:
    found = alarms(Shape(12, 3, first=-0.02), 100)
    assert found["first-run"] >= 90


def test_outliers_are_found() -> None:
    found = 0
    for seed in range(100):
        cells = campaign(Shape(8, 3), seed)
        odd = cell("odd", [trial.value * (1.15 if trial.trial == 2 else 1) for trial in cells[0].trials])
        found += any(flag.runs == ("odd/2",) and flag.code == "outlier" for flag in outliers([*cells[1:], odd]))
    assert found >= 90
