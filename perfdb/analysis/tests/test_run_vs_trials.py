"""How a run sits among the trials of its experiment."""

from collections.abc import Hashable

import pytest

from perfdb.analysis.insights.run_vs_trials import RunVsTrials, compare_with_trials
from perfdb.analysis.metrics import Measure
from perfdb.analysis.verdicts.flags import Trial

RATE = Measure("trans_per_s")


def trials(first: int, *values: float) -> list[Trial]:
    return [Trial(first + at, at + 1, value) for at, value in enumerate(values)]


def stand(run: int, *values: float, value: float | None = None) -> RunVsTrials:
    """Run ``run`` among trials numbered from 1, beside experiments whose trials vary by a per cent."""
    own = trials(1, *values)
    mine = next((trial.value for trial in own if trial.run == run), value)
    assert mine is not None
    campaign: dict[Hashable, list[Trial]] = {"own": own}
    for number in range(1, 6):
        campaign[number] = trials(100 * number, 990.0, 1010.0, 1000.0)
    return compare_with_trials(RATE, run, mine, "own", campaign)


def test_the_difference_is_to_the_mean_of_the_others() -> None:
    found = stand(1, 110.0, 99.0, 101.0)

    assert found.mean == pytest.approx(310 / 3)
    assert found.percent == pytest.approx(10.0)
    assert [trial.value for trial in found.trials] == [110.0, 99.0, 101.0]


def test_the_interval_is_of_the_mean_of_its_own_trials() -> None:
    found = stand(1, 100.0, 99.0, 101.0)

    assert found.interval is not None
    low, high = found.interval
    assert 97 < low < 100 < high < 103


def test_a_run_that_stands_out_is_flagged_and_the_others_are_not() -> None:
    values = (100.0, 99.9, 100.1, 180.0)

    assert [flag.code for flag in stand(4, *values).flags] == ["outlier"]
    assert stand(2, *values).flags == ()


def test_a_run_that_does_not_count_is_held_against_those_that_do() -> None:
    found = stand(9, 100.0, 102.0, value=50.5)

    assert found.mean == 101.0
    assert found.percent == pytest.approx(-50.0)
    assert len(found.trials) == 2


def test_alone_there_is_nothing_to_compare_with() -> None:
    found = stand(1, 100.0)

    assert (found.percent, found.interval) == (None, None)


def test_others_that_moved_nothing_give_no_percentage() -> None:
    assert stand(1, 100.0, 0.0).percent is None
