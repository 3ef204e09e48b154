"""Timing and verdicts: a bar that holds, one that does not, a busy machine, and answers that differ."""

import gc
import weakref
from collections.abc import Iterator
from time import sleep

import pytest

from bench.measure import Bar, Case, Times, Verdict, measure, take_turns


def times(work: float, floor: float, control: float) -> Times:
    return Times((work,) * 3, (floor,) * 3, (control,) * 3)


def test_a_ratio_is_the_median_of_the_ratios_of_the_turns() -> None:
    uneven = Times((2.0, 30.0, 2.0), (1.0, 10.0, 4.0), (1.0, 10.0, 4.0))
    assert uneven.ratio == 2.0
    assert uneven.control_ratio == 1.0


@pytest.mark.parametrize(("work", "holds"), [(1.9, True), (2.1, False)])
def test_a_bar_is_a_time_or_a_ratio(work: float, holds: bool) -> None:
    assert Bar(seconds=2.0).holds(times(work, 0.1, 0.1)) is holds
    assert Bar(ratio=2.0).holds(times(work, 1.0, 1.0)) is holds
    assert (str(Bar(seconds=2.0)), str(Bar(ratio=2.0))) == ("2 s", "2 x")


@pytest.mark.parametrize(("control", "noisy"), [(1.0, False), (1.14, False), (1.16, True), (0.84, True)])
def test_a_floor_that_disagrees_with_itself_is_noisy(control: float, noisy: bool) -> None:
    assert times(1.0, 1.0, control).is_noisy is noisy


def test_different_answers_are_not_timed() -> None:
    calls: Iterator[int] = iter(())
    result = measure(Case("group", "name", lambda: next(calls), lambda: None, Bar(ratio=1), lambda: False))
    assert result.verdict is Verdict.DIFFERENT
    assert "DIFFERENT ANSWERS" in str(result)


def test_work_that_takes_longer_than_its_bar_is_over() -> None:
    result = measure(Case("group", "name", lambda: sleep(0.02), lambda: sleep(0.005), Bar(ratio=1.5), turns=5))
    assert result.verdict in (Verdict.OVER, Verdict.NOISY)
    assert result.times is not None
    assert result.times.ratio > 1.5


class _Circle:
    def __init__(self) -> None:
        self.own = self


def test_garbage_of_a_turn_is_collected_and_the_rest_is_frozen() -> None:
    left: list[weakref.ref[_Circle]] = []
    alive: list[bool] = []
    frozen: list[int] = []

    def work() -> None:
        frozen.append(gc.get_freeze_count())
        alive.extend(each() is not None for each in left)
        left[:] = [weakref.ref(_Circle())]

    before = gc.get_freeze_count()
    take_turns(work, lambda: None, turns=3)
    assert alive == [False, False, False]
    assert min(frozen[1:]) > max(before, 1000)
    assert gc.get_freeze_count() == 0
