"""Throughput curves: where they level off, how they go on, and what is said when there is little to say."""

from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from perfdb.analysis.insights.throughput_curve import (
    Course,
    Curve,
    Edge,
    Point,
    describe_curve,
)
from perfdb.analysis.verdicts.borrowing import Drawn

FIVE = (1, 5, 10, 20, 50)
FOUR = (1, 10, 20, 50)


def curve(users: tuple[int, ...], *values: float | None) -> list[Point]:
    return list(zip(users, values, strict=True))


def described(points: Sequence[Point]) -> Curve:
    return describe_curve(points)[0]


def edge_of(points: Sequence[Point]) -> Edge | None:
    return describe_curve(points)[1]


# The published examples: points, course, bracket, peak, tail in per cent.
PLATEAU = curve(FIVE, 852.06, 1352.97, 1508.20, 1535.70, 1351.26)
BUMP = curve(FIVE, 70.10, 83.29, 80.99, 80.90, 88.70)
RISING = curve(FOUR, 1661.09, 5060.78, 6905.31, 9055.97)
FALLING = curve(FOUR, 139.87, 139.71, 99.69, 92.03)
SLIGHT = curve(FOUR, 7040.16, 10637.53, 11502.21, 11926.76)


@pytest.mark.parametrize(
    ("points", "course", "bracket", "peak_users", "tail"),
    [
        (PLATEAU, Course.FALLING, (5, 10), 20, -11.2),
        (BUMP, Course.RISING, (1, 5), 50, 8.5),
        (RISING, Course.RISING, (None, None), 50, 31.1),
        (FALLING, Course.FALLING, (None, 1), 1, -26.3),
        (SLIGHT, Course.SLIGHTLY_RISING, (10, 20), 50, 3.7),
    ],
)
def test_published_curves(
    points: list[Point], course: Course, bracket: tuple[int | None, int | None], peak_users: int, tail: float
) -> None:
    found = described(points)
    assert (found.course, (found.after, found.start), found.peak_users) == (course, bracket, peak_users)
    assert found.tail is not None
    assert round(found.tail * 100, 1) == tail


@pytest.mark.parametrize(
    ("points", "sentence"),
    [
        (
            PLATEAU,
            "levels off between 5 and 10 users; peak 1536 at 20 users, then falls by 11.2% (no repeats)",
        ),
        (
            BUMP,
            "levels off between 1 and 5 users; peak 88.70 at 50 users, then rises by 8.5% (no repeats)",
        ),
        (
            RISING,
            "still rising at the highest tested number of users; peak 9056 at 50 users, 31.1% above the best before",
        ),
        (
            FALLING,
            "levels off at 1 user or fewer; peak 139.9 at 1 user, then falls by 26.3% (no repeats)",
        ),
        (
            SLIGHT,
            "levels off between 10 and 20 users; peak 11 930 at 50 users, slightly rising to the end by 3.7% "
            "(no repeats)",
        ),
        (
            curve(FOUR, 50.0, 100.0, 99.0, 97.0),
            "levels off between 1 and 10 users; peak 100.0 at 10 users, then falls slightly by 2.5% (no repeats)",
        ),
        (
            curve(FOUR, 50.0, 100.0, 99.0, 99.5),
            "levels off between 1 and 10 users; peak 100.0 at 10 users, flat to the end (no repeats)",
        ),
        (curve((1, 2), 5.0, 7.0), "too few user counts to find the peak; best so far 7.000 at 2 users"),
        (curve((1, 2, 3), 0.0, 0.0, 0.0), "no throughput at any number of users"),
        ([], "no point has a throughput"),
    ],
)
def test_sentences(points: list[Point], sentence: str) -> None:
    assert described(points).sentence() == sentence


def test_the_sentence_takes_decimals_and_unit() -> None:
    assert "peak 1536 trans/s at 20 users" in described(PLATEAU).sentence("trans/s")


@pytest.mark.parametrize(
    ("last", "course"),
    [
        (102.0, Course.FLAT),
        (102.01, Course.SLIGHTLY_RISING),
        (97.99, Course.SLIGHTLY_FALLING),
        (105.0, Course.SLIGHTLY_RISING),
        (105.01, Course.RISING),
        (95.0, Course.FALLING),
    ],
)
def test_limits_belong_to_the_nearer_course(last: float, course: Course) -> None:
    assert described(curve(FOUR, 50.0, 100.0, 100.0, last)).course is course


def test_a_change_within_the_noise_is_not_seen() -> None:
    points = curve(FIVE, 500.0, 850.0, 1000.0, 1000.0, 960.0)
    loud, quiet = ([Drawn(spread**2, 8.0)] * 5 for spread in (0.03, 0.01))
    found, _ = describe_curve(points, loud, [3] * 5)
    assert found.sentence().endswith("peak 1000 at 10 users, no change seen to the end (±5.0%)")
    assert describe_curve(points, quiet, [3] * 5)[0].course is Course.SLIGHTLY_FALLING


def test_a_rise_within_the_noise_is_not_rising() -> None:
    points = curve(FOUR, 50.0, 90.0, 100.0, 107.0)
    assert describe_curve(points)[0].start is None
    assert describe_curve(points, [Drawn(0.1**2, 4.0)] * 4)[0].start == 20


def test_the_level_starts_at_exactly_95_percent() -> None:
    assert described(curve(FOUR, 95.0, 100.0, 100.0, 100.0)).start == 1
    assert described(curve(FOUR, 94.9, 100.0, 100.0, 100.0)).start == 10


def test_rising_by_exactly_the_tolerance_is_not_rising() -> None:
    assert described(curve(FOUR, 50.0, 90.0, 100.0, 105.0)).start == 20
    assert described(curve(FOUR, 50.0, 90.0, 100.0, 105.1)).start is None


def test_one_outlier_does_not_move_the_level() -> None:
    found = described(curve(FIVE, 50.0, 100.0, 300.0, 102.0, 101.0))
    assert (found.after, found.start) == (1, 5)


def test_a_missing_point_widens_the_bracket() -> None:
    found = described(curve(FIVE, 852.06, None, 1508.20, 1535.70, 1351.26))
    assert (found.after, found.start) == (1, 10)


def test_missing_points_count_as_untested() -> None:
    assert described(curve(FOUR, 10.0, None, 20.0, None)) == Curve(Course.TOO_FEW, 20, 20.0)
    assert described(curve(FOUR, None, None, None, None)) == Curve(Course.TOO_FEW)


def test_zeros() -> None:
    assert described(curve((1, 2, 3), 0.0, 0.0, 0.0)) == Curve(Course.NO_THROUGHPUT, 1, 0.0)
    assert described(curve((1, 2, 3), 0.0, 0.0, 5.0)) == Curve(Course.RISING, 3, 5.0)
    assert described(curve((1, 2, 3), 0.0, 5.0, 0.0)).tail == -1.0
    assert described(curve((1, 2, 3), 0.0, 5.0, 0.0)).course is Course.FALLING
    assert "above" not in described(curve((1, 2, 3), 0.0, 0.0, 5.0)).sentence()


def test_the_order_of_the_points_does_not_matter() -> None:
    assert described(PLATEAU[::-1]) == described(PLATEAU)


@pytest.mark.parametrize(
    "points",
    [
        [(1, 5.0), (1, 6.0)],
        [(0, 5.0)],
        [(1, -5.0)],
        [(1, float("nan"))],
        [(1, float("inf"))],
    ],
)
def test_what_is_no_curve(points: list[Point]) -> None:
    with pytest.raises(ValueError, match=r"user|throughput"):
        described(points)
    with pytest.raises(ValueError, match=r"user|throughput"):
        edge_of(points)


@pytest.mark.parametrize(
    ("points", "edge"),
    [
        (PLATEAU, None),
        (BUMP, Edge.LARGEST),
        (FALLING, Edge.SMALLEST),
        (curve((1, 2), 5.0, 7.0), Edge.LARGEST),
        (curve((1,), 5.0), None),
        (curve((1, 2, 3), 7.0, 7.0, 7.0), None),
        (curve((1, 2, 3), 7.0, 6.0, 7.0), Edge.SMALLEST),
        (curve((1, 2, 3), 0.0, 0.0, 0.0), None),
        (curve((1, 2, 3, 4), 5.0, 6.0, 7.0, None), Edge.LARGEST),
        ([], None),
    ],
)
def test_edges(points: list[Point], edge: Edge | None) -> None:
    assert edge_of(points) is edge


def test_edges_say_so() -> None:
    assert Edge.LARGEST.sentence == "maximum is at the edge of the tested range (largest number of users)"


@given(st.dictionaries(st.integers(1, 500), st.floats(0, 1e9) | st.none(), max_size=8))
@example({1: 1e-300, 2: 5e-324, 3: 1e9})
def test_every_curve_has_an_answer(values: dict[int, float | None]) -> None:
    points = list(values.items())
    found = described(points)
    assert found.sentence()
    if found.start is not None:
        assert values[found.start]
        assert found.after is None or found.after < found.start
    assert (found.peak_users is None) == all(value is None for value in values.values())


@given(st.lists(st.floats(1, 1e6), min_size=3, max_size=6), st.integers(-20, 20))
def test_the_answer_does_not_depend_on_the_unit(values: list[float], power: int) -> None:
    users = tuple(range(1, len(values) + 1))
    scaled = described(curve(users, *(value * 2.0**power for value in values)))
    found = described(curve(users, *values))
    assert (scaled.course, scaled.after, scaled.start) == (found.course, found.after, found.start)
