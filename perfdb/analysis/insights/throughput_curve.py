"""Throughput curves by users: where they level off, their peak and their course.

No law of scalability is fitted: four or five points cannot determine its parameters.
"""

import math
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from perfdb.analysis.declaration import Declaration, Example
from perfdb.analysis.units import round_half_up

LEVEL_TOLERANCE = 0.05
FLAT_UP_TO = 0.02
SLIGHT_UP_TO = 0.05
FEWEST = 3
# Tolerance for binary noise of values on a limit.
_NOISE = 1e-12

Point = tuple[int, float | None]


class Course(StrEnum):
    """The course of a curve after levelling off, or the reason for none."""

    RISING = "rising"
    FLAT = "flat"
    SLIGHTLY_RISING = "slightly rising"
    SLIGHTLY_FALLING = "slightly falling"
    FALLING = "falling"
    LATE_BUMP = "late bump"
    NO_THROUGHPUT = "no throughput"
    TOO_FEW = "too few points"


class Edge(StrEnum):
    """The end of the tested range at which the maximum lies."""

    SMALLEST = "smallest"
    LARGEST = "largest"

    @property
    def sentence(self) -> str:
        """Return the caution about the maximum."""
        return f"maximum is at the edge of the tested range ({self} number of users)"


class Curve(NamedTuple):
    """Description of one curve; a named tuple, since a table has many.

    ``peak_users`` is the smallest number of users with the maximum ``peak``. The level starts above ``after`` users
    (None: at or below the smallest tested number) and at ``start`` users at the latest (None: still rising or
    unknown). ``tail`` is last / maximum − 1, or last / best earlier − 1 if the last point is the maximum; None for
    fewer than three points, or zeros before the last.
    """

    course: Course
    peak_users: int | None = None
    peak: float | None = None
    after: int | None = None
    start: int | None = None
    tail: float | None = None

    def sentence(self, decimals: int = 2, unit: str = "") -> str:
        """Describe the curve: ``levels off between 5 and 10 users; peak 1535.70 …``.

        ``decimals`` and ``unit`` are those of the peak.
        """
        if self.peak is None or self.peak_users is None:
            return "no point has a throughput"
        if self.course is Course.NO_THROUGHPUT:
            return "no throughput at any number of users"
        number = f"{round_half_up(self.peak, decimals)} {unit}".strip()
        peak = f"peak {number} at {_users(self.peak_users)}"
        if self.course is Course.TOO_FEW:
            return f"too few points to tell where it levels off; {peak}"
        if self.course is Course.RISING:
            gain = "" if self.tail is None else f", {_percent(self.tail)} above the best before"
            return f"still rising at the largest tested number of users; {peak}{gain}"
        start = _users(self.start or 0)
        level = f"at {start} or fewer" if self.after is None else f"between {self.after} and {start}"
        return f"levels off {level}; {peak}, {_GOING_ON[self.course].format(_percent(self.tail or 0.0))}"


_GOING_ON = {
    Course.FLAT: "flat to the end (within {})",
    Course.SLIGHTLY_RISING: "slightly rising to the end by {}",
    Course.SLIGHTLY_FALLING: "then falls slightly by {}",
    Course.FALLING: "then falls by {}",
    Course.LATE_BUMP: "a late bump {} above the best before",
}


def _users(number: int) -> str:
    return f"{number} user{'s' * (number != 1)}"


def _percent(share: float) -> str:
    return f"{round_half_up(abs(share) * 100, 1)} %"


def _known(points: Sequence[Point]) -> tuple[list[int], list[float]]:
    """Return users and values of the points with a value.

    Raise ValueError for points that are no curve.
    """
    by_users = dict(points)
    if len(by_users) < len(points):
        raise ValueError("a number of users has more than one point")
    users = sorted(by_users)
    if users and users[0] < 1:
        raise ValueError("a point has fewer than one user")
    values = [value for each in users if (value := by_users[each]) is not None]
    if not all(map(math.isfinite, values)) or min(values, default=0) < 0:
        raise ValueError("a throughput is negative or no finite number")
    return [each for each in users if by_users[each] is not None], values


def _described(users: list[int], values: list[float]) -> Curve:
    if not values:
        return Curve(Course.TOO_FEW)
    peak = max(values)
    peak_users = users[values.index(peak)]
    if len(values) < FEWEST:
        return Curve(Course.TOO_FEW, peak_users, peak)
    if peak == 0:
        return Curve(Course.NO_THROUGHPUT, peak_users, peak)
    last, best = values[-1], max(values[:-1])
    change = last / best - 1 if best > 0 else math.inf
    tail = change if math.isfinite(100 * change) else None
    if last > best * (1 + LEVEL_TOLERANCE) * (1 + _NOISE) and values[-2] == best:
        return Curve(Course.RISING, peak_users, peak, tail=tail)
    at = _start(values)
    return Curve(_course(tail or 0.0), peak_users, peak, users[at - 1] if at else None, users[at], tail)


def _start(values: Sequence[float]) -> int:
    """Return the index of the first value on the level.

    The level is the median of the three largest values, so that one outlier does not move it.
    """
    reference = sorted(values)[-2]
    least = (1 - LEVEL_TOLERANCE) * reference * (1 - _NOISE)
    return next(at for at, value in enumerate(values) if value >= least and value > 0)


def _course(tail: float) -> Course:
    size = abs(tail) * (1 - _NOISE) - _NOISE
    if size <= FLAT_UP_TO:
        return Course.FLAT
    if size <= SLIGHT_UP_TO:
        return Course.SLIGHTLY_RISING if tail > 0 else Course.SLIGHTLY_FALLING
    return Course.LATE_BUMP if tail > 0 else Course.FALLING


def describe_curve(points: Sequence[Point]) -> tuple[Curve, Edge | None]:
    """Describe the mean throughput (any unit) by users, and the edge at which the maximum lies.

    A point without value (None) is left out; a zero never starts the level. Raise ValueError for a negative or
    infinite throughput, and for two points at one number of users.
    """
    return describe_sorted(*_known(points))


def describe_sorted(users: list[int], values: list[float]) -> tuple[Curve, Edge | None]:
    """Describe a valid curve in order of users, and the edge at which the maximum lies.

    There is no edge if a number in between reaches the maximum, with fewer than two values, and if all are zero. A
    maximum at both ends is at the smallest.
    """
    best = max(values, default=0.0)
    if len(values) < 2 or best == 0 or best in values[1:-1]:
        return _described(users, values), None
    return _described(users, values), Edge.SMALLEST if values[0] == best else Edge.LARGEST


_SOURCE = "perfdb's own rule; its examples are published curves"


def _points(given: str) -> list[Point]:
    """Parse ``852.06, 1352.97 at 1, 5 users``."""
    values, users = (each.split(", ") for each in given.removesuffix(" users").split(" at "))
    return [(int(each), float(value)) for each, value in zip(users, values, strict=True)]


def _example(given: str, answer: str) -> Example:
    return Example(given, answer, lambda: Curve.sentence(describe_curve(_points(given))[0]))


_FALLING = "139.87, 139.71, 99.69, 92.03 at 1, 10, 20, 50 users"

CURVE_RULES: tuple[Declaration, ...] = (
    Declaration(
        "curve.rising",
        "A curve that is still rising",
        f"last > every earlier value × {1 + LEVEL_TOLERANCE:g}, and the last but one is the largest of these",
        "Throughput still grew by more than the tolerance at the largest number of users, so nothing can be said about "
        f"where it levels off. At least {FEWEST} numbers of users are needed; one without a value was not tested.",
        _SOURCE,
        _example(
            "1661.09, 5060.78, 6905.31, 9055.97 at 1, 10, 20, 50 users",
            "still rising at the largest tested number of users; "
            "peak 9055.97 at 50 users, 31.1 % above the best before",
        ),
    ),
    Declaration(
        "curve.level",
        "Where a curve levels off",
        f"first number of users with a value ≥ {1 - LEVEL_TOLERANCE:g} × median of the three largest values",
        "The level starts somewhere above the number of users before and at this one at the latest: only what was "
        "tested can be said. The median keeps a single outlier from setting the level.",
        _SOURCE,
        _example(
            "852.06, 1352.97, 1508.20, 1535.70, 1351.26 at 1, 5, 10, 20, 50 users",
            "levels off between 5 and 10 users; peak 1535.70 at 20 users, then falls by 12.0 %",
        ),
    ),
    Declaration(
        "curve.tail",
        "How a curve goes on",
        "last / maximum − 1; last / best earlier − 1 when the last value is the maximum",
        f"Up to {FLAT_UP_TO * 100:g} % the curve is flat, up to {SLIGHT_UP_TO * 100:g} % slightly rising or falling, "
        "and beyond that falling. A rise beyond that, of a curve that had levelled off before, is a late bump.",
        _SOURCE,
        _example(
            "70.10, 83.29, 80.99, 80.90, 88.70 at 1, 5, 10, 20, 50 users",
            "levels off between 1 and 5 users; peak 88.70 at 50 users, a late bump 6.5 % above the best before",
        ),
    ),
    Declaration(
        "curve.edge",
        "A maximum at the edge",
        "the maximum is at the smallest or the largest tested number of users, and nowhere in between",
        "Fewer or more users than were tested might have given more, so the maximum is the best that was seen and "
        "perhaps not the best there is.",
        _SOURCE,
        Example(
            _FALLING,
            "maximum is at the edge of the tested range (smallest number of users)",
            lambda: getattr(describe_curve(_points(_FALLING))[1], "sentence", ""),
        ),
    ),
)
