"""States of known changes over looks: gone, late, frozen, and nothing closed that comes back."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perfdb.analysis.trends.judge import Series
from perfdb.analysis.trends.states import KnownChange, Phase, Reason, look


def rates(levels: list[tuple[int, float]], seed: int = 1) -> list[float]:
    """Return rates with a noise of half a per cent; ``levels``: (number of points, mean)."""
    dice = np.random.default_rng(seed)
    return [mean * (1 + dice.normal(0, 0.005)) for count, mean in levels for _ in range(count)]


def see(means: list[float], known: list[KnownChange]) -> list[KnownChange]:
    """Look at one series; return the known changes."""
    look([Series(means)], [known])
    return known


FLAT = rates([(24, 100.0)])
STEP = rates([(20, 100.0), (6, 90.0)])


def test_a_change_not_found_in_three_looks_is_gone_and_confirmed_ones_stay_so() -> None:
    known = see(STEP, [])
    assert [(each.phase, each.change.k, each.sure) for each in known] == [(Phase.CONFIRMED, 20, True)]
    for phase in (Phase.CONFIRMED, Phase.CONFIRMED, Phase.GONE):
        assert see(FLAT, known)[0].phase is phase

    assert [each.phase for each in see(STEP, known)] == [Phase.GONE]


def test_a_change_found_in_time_is_not_gone() -> None:
    known = see(STEP, [])
    for _ in range(4):
        see(FLAT, known)
        see(FLAT, known)
        assert [each.phase for each in see(STEP, known)] == [Phase.CONFIRMED]


def test_what_was_only_suspected_may_return() -> None:
    short = rates([(6, 100.0), (4, 95.0)], seed=3)
    known = see(short, [])
    assert [(each.phase, each.sure) for each in known] == [(Phase.SUSPECT, False)]
    for _ in range(3):
        see(FLAT[:10], known)
    assert known[0].phase is Phase.GONE

    assert [each.phase for each in see(short, known)] == [Phase.SUSPECT]


@pytest.mark.parametrize(("after", "late"), [(20, False), (21, True)])
def test_a_change_with_many_points_after_it_was_found_late(after: int, late: bool) -> None:
    (found,) = see(rates([(20, 100.0), (after, 90.0)]), [])
    assert (found.change.k, found.late) == (20, late)


def test_a_place_is_frozen_after_ten_points_and_earlier_points_are_no_longer_judged() -> None:
    means = rates([(20, 100.0), (9, 90.0)])
    known = see(means, [])
    assert not known[0].frozen
    means += rates([(1, 90.0)], seed=5)
    assert see(means, known)[0].frozen

    moved = rates([(12, 100.0), (8, 80.0)]) + means[20:]
    assert [(each.change.k, each.phase) for each in see(moved, known)] == [(20, Phase.CONFIRMED)]


def test_closed_as_expected_begins_a_new_stretch_and_as_noise_does_not() -> None:
    for reason, frozen in ((Reason.EXPECTED, True), (Reason.FIXED, True), (Reason.NOISE, False)):
        known = see(STEP, [])
        known[0].close(reason)
        assert known[0].frozen is frozen
        assert [each.phase for each in see([*STEP, *rates([(20, 90.0)], seed=7)], known)] == [Phase.CLOSED]


def test_reopened_changes_are_open_again_and_acknowledged_ones_stay_so() -> None:
    known = see(STEP, [])
    known[0].acknowledge()
    assert see(STEP, known)[0].phase is Phase.ACKNOWLEDGED
    for _ in range(5):
        see(FLAT, known)
    assert known[0].phase is Phase.ACKNOWLEDGED
    known[0].close(Reason.NOISE)
    known[0].reopen()
    assert (known[0].phase, known[0].reason) == (Phase.CONFIRMED, None)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(list(Reason)), st.integers(3, 9), st.floats(0.85, 0.97))
def test_nothing_closed_comes_back(seed: int, reason: Reason, after: int, factor: float) -> None:
    means = rates([(18, 100.0), (after, 100.0 * factor)], seed)
    known = see(means, [])
    for each in known:
        each.close(reason)
    closed = [(each.change.k, each.reason) for each in known]
    places = [each.change.place for each in known]
    for point in rates([(15, 100.0 * factor)], seed + 1):
        means.append(point)
        see(means, known)
        assert [(each.change.k, each.reason) for each in known[: len(closed)]] == closed
        assert all(each.phase is Phase.CLOSED for each in known[: len(closed)])
    for each in known[len(closed) :]:
        assert all(each.change.place[0] > last or each.change.place[1] < first for first, last in places)
