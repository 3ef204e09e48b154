"""Verdicts: a bar that holds, one that does not, a machine that is too busy, and answers that differ."""

from collections.abc import Iterator
from time import sleep

import pytest

from bench import report
from bench.case import Bar, Case, Verdict, measure
from bench.timing import Paired


def times(work: float, floor: float, control: float) -> Paired:
    return Paired((work,) * 3, (floor,) * 3, (control,) * 3)


def test_a_ratio_is_the_median_of_the_ratios_of_the_turns() -> None:
    paired = Paired((2.0, 30.0, 2.0), (1.0, 10.0, 4.0), (1.0, 10.0, 4.0))
    assert paired.ratio == 2.0
    assert paired.control_ratio == 1.0
    assert paired.excess_s == 1.0


@pytest.mark.parametrize(
    ("work", "floor", "holds"),
    [(0.0069, 0.001, True), (0.0071, 0.001, False), (0.029, 0.020, True), (0.031, 0.020, False)],
)
def test_a_small_floor_allows_so_much_more_and_a_large_one_a_ratio(work: float, floor: float, holds: bool) -> None:
    assert Bar(1.5, below_s=0.010, excess_s=0.006).holds(times(work, floor, floor), floor) is holds


def test_a_bar_may_be_so_many_seconds_whatever_the_floor_takes() -> None:
    bar = Bar(most_s=2.0)
    assert bar.text(9.0) == "2 s"
    assert bar.holds(times(1.9, 0.1, 0.1), 0.1)
    assert not bar.holds(times(2.1, 2.0, 2.0), 2.0)


@pytest.mark.parametrize(("control", "noisy"), [(1.0, False), (1.14, False), (1.16, True), (0.84, True)])
def test_a_floor_that_disagrees_with_itself_allows_no_verdict(control: float, noisy: bool) -> None:
    assert times(1.0, 1.0, control).noisy is noisy


def test_different_answers_are_not_timed() -> None:
    calls: Iterator[int] = iter(())
    result = measure(Case("group", "name", "floor", lambda: next(calls), lambda: None, Bar(1), lambda: False))
    assert result.verdict is Verdict.DIFFERENT
    assert "DIFFERENT ANSWERS" in report.line(result)


def test_work_that_takes_longer_than_its_bar_is_over() -> None:
    result = measure(Case("group", "name", "floor", lambda: sleep(0.02), lambda: sleep(0.005), Bar(1.5), turns=5))
    assert result.verdict in (Verdict.OVER, Verdict.NOISY)
    assert result.times is not None
    assert result.times.ratio > 1.5
