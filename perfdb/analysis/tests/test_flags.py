"""Flags of trials: what is flagged, and how seldom clean trials are."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from perfdb.analysis.verdicts.flags import Flag, Trial, TrialCell, check_trials


def cell(title: str, values: Sequence[float], kind: str = "RR", first: int = 1) -> TrialCell:
    trials = tuple(Trial(f"{title}/{number}", number, value) for number, value in enumerate(values, first))
    return TrialCell(lambda: title, trials, kind, 0.01)


def flags(cells: Sequence[TrialCell], *codes: str) -> list[Flag]:
    return [flag for flag in check_trials(cells) if flag.code in codes]


@dataclass(frozen=True)
class Shape:
    """A made-up campaign: noise of 1%, a slope a trial, and a first run that is off by a share (logarithms)."""

    cells: int
    trials: int
    slope: float = 0.0
    first: float = 0.0
    differing: float = 0.0


def campaign(shape: Shape, seed: int) -> list[TrialCell]:
    generator = np.random.default_rng(seed)
    made = []
    for number in range(shape.cells):
        spread = 0.01 * math.exp(generator.normal(0, shape.differing))
        logs = spread * generator.normal(0, 1, shape.trials) + shape.slope * np.arange(shape.trials)
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
    (flag,) = flags([*CALM, cell("odd", [100.0, 112.0, 100.5])], "outlier")
    assert flag.runs == ("odd/2",)
    assert flag.message.startswith("odd: trial 2 is 112, 12% above the mean of the others, 100.25 (p ")


def test_a_loud_cell_has_no_outlier() -> None:
    assert flags([*CALM, *CALM, cell("loud", [90.0, 97.0, 100.0, 103.0, 111.0])], "outlier") == []


def test_two_trials_tell_nothing_about_each_other() -> None:
    assert flags([*CALM, cell("odd", [100.0, 150.0])], "outlier") == []


def test_many_cells_are_judged_like_few() -> None:
    odd = cell("odd", [100.0, 108.0, 100.5, 100.2])
    few, many = [*CALM, *CALM, odd], [*CALM * 20, odd]
    assert [flag.runs for flag in flags(few, "outlier")] == [("odd/2",)]
    assert [flag.runs for flag in flags(many, "outlier")] == [("odd/2",)]


def test_kinds_are_judged_by_themselves() -> None:
    loud = [cell(f"loud {n}", [100.0, 120.0 + n, 85.0], "STRG") for n in range(6)]
    assert flags([*CALM, *loud], "outlier") == []


def test_values_without_logarithm_are_passed_over() -> None:
    assert check_trials([*CALM, cell("zeros", [0.0, -1.0, 5.0, 0.0, 0.0])]) == check_trials(CALM) == []


def test_trials_without_numbers_have_no_order() -> None:
    trials = tuple(Trial(number, None, 100.0 * 1.1**number) for number in range(8))
    assert flags([TrialCell(lambda: "cell", trials)] * 6, "order", "drift", "first-run") == []
    odd = TrialCell(lambda: "odd", (*(Trial(n, None, 100.0 + n / 10) for n in range(5)), Trial("far", None, 200.0)))
    assert "odd: a trial is 200" in check_trials([*(each._replace(kind=None) for each in CALM), odd])[0].message


def test_three_trials_cannot_tell_drift_from_a_first_run() -> None:
    (flag,) = flags([cell(f"cell {n}", [100.0 + n, 99.0 + n, 98.1 + n]) for n in range(4)], "order")
    assert len(flag.runs) == 12
    assert flag.message == ("the first trial differs, or the values drift (by -0.94% a trial over 4 cells, p = 0.005)")


def test_equal_trials_do_not_drift() -> None:
    assert check_trials([cell(f"cell {n}", [118.0] * 5) for n in range(6)]) == []


def test_a_first_run_that_is_always_slower() -> None:
    cells = [cell(f"cell {n}", [95.0 + n / 10, 100.0, 100.4 - n / 10, 100.1]) for n in range(5)]
    (flag,) = flags(cells, "first-run")
    assert flag.runs == tuple(f"cell {n}/1" for n in range(5))
    assert flag.message.startswith("the first trial differs from the later ones (by -4.9% over 5 cells, p < 0.001)")
    assert flags(cells[:4], "first-run") == []


def test_the_first_run_is_trial_one() -> None:
    late = [cell(f"cell {n}", [95.0 + n / 10, 100.0, 100.4 - n / 10, 100.1], first=2) for n in range(5)]
    assert flags(late, "first-run") == []


def test_a_slow_first_run_is_no_drift() -> None:
    codes = {flag.code for flag in check_trials(campaign(Shape(12, 4, first=-0.05), seed=1))}
    assert "first-run" in codes
    assert "drift" not in codes


@pytest.mark.parametrize(("cells", "trials"), [(4, 3), (20, 3), (6, 5), (1, 10)])
def test_clean_trials_are_seldom_flagged(cells: int, trials: int) -> None:
    found = alarms(Shape(cells, trials), 200)
    # Nominally 2 of 200 each (4 where two tests share a word); more than 12 would be a chance of one in a thousand.
    assert all(number <= 12 for number in found.values()), found


def test_noise_that_differs_between_cells_seldom_looks_like_outliers() -> None:
    assert alarms(Shape(20, 3, differing=0.5), 60)["outlier"] <= 5


def test_drift_is_found() -> None:
    assert alarms(Shape(20, 5, slope=0.005), 40)["drift"] >= 36


def test_first_run_effects_are_found() -> None:
    assert alarms(Shape(12, 5, first=-0.02), 40)["first-run"] >= 36
