"""Throughput curves by users, alone or of a table: the level, the peak and the course.

No law of scalability is fitted: four or five points cannot determine its parameters.
"""

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from perfdb.analysis.declaration import Declaration, Example
from perfdb.analysis.dimensions import Value, describe_values
from perfdb.analysis.tables.observations import Key
from perfdb.analysis.tables.table import Cell, CellKey, Table
from perfdb.analysis.units import count_text, round_half_up, significant_text
from perfdb.analysis.verdicts.borrowing import Drawn
from perfdb.analysis.verdicts.distributions import exponential, student_quantile

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
    NO_CHANGE_SEEN = "no change seen"
    SLIGHTLY_RISING = "slightly rising"
    SLIGHTLY_FALLING = "slightly falling"
    FALLING = "falling"
    LAST_POINT = "levels off at the last point"
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
    unknown). ``change`` is ln last − mean ln of the level before, or ln(last / the one before) of a curve that still
    rises; ``unseen`` is the largest change that noise hides, None if the noise is unknown.
    """

    course: Course
    peak_users: int | None = None
    peak: float | None = None
    after: int | None = None
    start: int | None = None
    change: float | None = None
    unseen: float | None = None

    @property
    def tail(self) -> float | None:
        """Return the change as a share."""
        return None if self.change is None else exponential(self.change) - 1

    def sentence(self, unit: str = "") -> str:
        """Describe the curve: ``levels off between 5 and 10 users; peak 1536 …``. ``unit``: that of the peak."""
        if self.peak is None or self.peak_users is None:
            return "no point has a throughput"
        if self.course is Course.NO_THROUGHPUT:
            return "no throughput at any number of users"
        number = f"{significant_text(self.peak)} {unit}".strip()
        highest = f"{number} at {count_text(self.peak_users, 'user')}"
        if self.course is Course.TOO_FEW:
            return f"too few user counts to find the peak; best so far {highest}"
        peak = f"peak {highest}"
        if self.start is None:
            gain = "" if self.tail is None else f", {_percent(self.tail)} above the best before"
            return f"still rising at the highest tested number of users; {peak}{gain}"
        start = count_text(self.start, "user")
        level = f"at {start} or fewer" if self.after is None else f"between {self.after} and {start}"
        return f"levels off {level}; {peak}{self._tail_words()}"

    def _tail_words(self) -> str:
        unknown = "" if self.unseen is not None or self.course is Course.LAST_POINT else " (no repeats)"
        size = self.unseen if self.course is Course.NO_CHANGE_SEEN else self.change
        words = _GOING_ON[self.course].format(_percent(exponential(size or 0.0) - 1))
        return f", {words}{unknown}"


_GOING_ON = {
    Course.LAST_POINT: "the last point",
    Course.FLAT: "flat to the end",
    Course.NO_CHANGE_SEEN: "no change seen to the end (±{})",
    Course.SLIGHTLY_RISING: "slightly rising to the end by {}",
    Course.SLIGHTLY_FALLING: "then falls slightly by {}",
    Course.RISING: "then rises by {}",
    Course.FALLING: "then falls by {}",
}


def _percent(share: float) -> str:
    return "∞%" if math.isinf(share) else f"{round_half_up(abs(share) * 100, 1)}%"


class _Line(NamedTuple):
    """The points of a curve in order of users: values, noise of one trial, and number of trials."""

    users: list[int]
    values: list[float]
    noises: Sequence[Drawn | None]
    counts: Sequence[int]

    def hidden(self, probability: float, *shares: float) -> float | None:
        """Return the difference that noise, the largest on the level, hides between means; None if unknown.

        ``shares`` are the variances of the means in units of one trial's.
        """
        known = [noise for noise in self.noises[_start(self.values) :] if noise is not None]
        if not known:
            return None
        noise = max(known, key=lambda noise: noise.variance)
        return student_quantile(probability, noise.freedom) * math.sqrt(noise.variance * sum(shares))


def _described(line: _Line) -> Curve:
    users, values = line.users, line.values
    if not values:
        return Curve(Course.TOO_FEW)
    peak, peak_users = max(values), users[values.index(max(values))]
    if len(values) < FEWEST:
        return Curve(Course.TOO_FEW, peak_users, peak)
    if peak == 0:
        return Curve(Course.NO_THROUGHPUT, peak_users, peak)
    if (gain := _still_rising(line)) is not None:
        return Curve(Course.RISING, peak_users, peak, change=gain if math.isfinite(gain) else None)
    at = _start(values)
    return Curve(_course(*(tail := _tail(line, at))), peak_users, peak, users[at - 1] if at else None, users[at], *tail)


def _still_rising(line: _Line) -> float | None:
    """Return the last point's gain (logarithm) if the curve still rises, else None."""
    *before, last = line.values
    best = max(before)
    if last <= best * (1 + LEVEL_TOLERANCE) * (1 + _NOISE) or before[-1] != best:
        return None
    gain = math.log(last / best) if best > 0 else math.inf
    hidden = line.hidden(0.95, 1 / line.counts[-1], 1 / line.counts[-2])
    return gain if hidden is None or gain > hidden else None


def _start(values: Sequence[float]) -> int:
    """Return the index of the first value on the level."""
    # The median of the three largest values, so that one outlier does not move the level.
    reference = sorted(values)[-2]
    least = (1 - LEVEL_TOLERANCE) * reference * (1 - _NOISE)
    return next(at for at, value in enumerate(values) if value >= least and value > 0)


def _tail(line: _Line, start: int) -> tuple[float | None, float | None]:
    """Return the last point's change against the level, and the largest hidden by noise."""
    level = [at for at in range(start, len(line.values) - 1) if line.values[at] > 0]
    last = line.values[-1]
    if not level:
        return None, None
    shares = [1 / line.counts[at] for at in level]
    hidden = line.hidden(0.975, 1 / line.counts[-1], sum(shares) / len(shares) ** 2)
    before = statistics.fmean(math.log(line.values[at]) for at in level)
    return (math.log(last) if last > 0 else -math.inf) - before, hidden


def _course(change: float | None, hidden: float | None) -> Course:
    if change is None:
        return Course.LAST_POINT
    size = abs(change) * (1 - _NOISE) - _NOISE
    if hidden is not None and size <= hidden:
        return Course.FLAT if hidden <= math.log1p(SLIGHT_UP_TO) else Course.NO_CHANGE_SEEN
    if size <= math.log1p(FLAT_UP_TO):
        return Course.FLAT
    if size <= math.log1p(SLIGHT_UP_TO):
        return Course.SLIGHTLY_RISING if change > 0 else Course.SLIGHTLY_FALLING
    return Course.RISING if change > 0 else Course.FALLING


def describe_curve(
    points: Sequence[Point], noises: Sequence[Drawn | None] = (), counts: Sequence[int] = ()
) -> tuple[Curve, Edge | None]:
    """Describe the mean throughput (any unit) by users, and the edge at which the maximum lies.

    ``noises`` are those of one trial at each point (variance of logarithms), ``counts`` its trials (1 if not given). A
    point without value (None) is left out; a zero never starts the level. Raise ValueError for a negative or infinite
    throughput, and for two points at one number of users.
    """
    if len(dict(points)) < len(points):
        raise ValueError("a number of users has more than one point")
    if any(users < 1 for users, _ in points):
        raise ValueError("a point has fewer than one user")
    known = sorted((users, value, at) for at, (users, value) in enumerate(points) if value is not None)
    values = [value for _, value, _ in known]
    if not all(map(math.isfinite, values)) or min(values, default=0) < 0:
        raise ValueError("a throughput is negative or no finite number")
    noise = [noises[at] if noises else None for _, _, at in known]
    line = _Line([users for users, _, _ in known], values, noise, [counts[at] if counts else 1 for _, _, at in known])
    return _described(line), find_edge(values)


def find_edge(values: Sequence[float]) -> Edge | None:
    """Return the end at which a curve's maximum lies, if nowhere in between."""
    best = max(values, default=0.0)
    if len(values) < 2 or best == 0 or best in values[1:-1]:
        return None
    return Edge.SMALLEST if values[0] == best else Edge.LARGEST


# Rates whose curve over users shows scaling.
_RATES = ("trans_per_s", "mb_per_s", "gbit_per_s")


class TableCurve(NamedTuple):
    """One line of a table over users; ``key`` has its other dimensions."""

    key: Mapping[str, Value]
    points: tuple[Point, ...]
    curve: Curve
    edge: Edge | None

    @property
    def title(self) -> str:
        """Return the line's name; empty for the only line."""
        return describe_values(self.key.keys(), self.key.values())


def table_curves(table: Table) -> list[TableCurve]:
    """Return a throughput table's curves over users, of lines with three or more."""
    shown = table.query.layout_names
    if "users" not in table.query.rows + table.query.columns or table.measure.metric not in _RATES:
        return []
    rows, columns = _users_of(table.query.rows, table.rows), _users_of(table.query.columns, table.columns)
    lines: dict[CellKey, dict[int, Cell]] = defaultdict(dict)
    for (row, column), cell in table.cells.items():
        (users, line_row), (others, line_column) = rows[row], columns[column]
        users = users or others
        if users and (cell.mean is None or cell.mean >= 0):
            lines[line_row, line_column][users] = cell
    names = tuple(name for name in shown if name != "users")
    known = ((table.split + row + column, points) for (row, column), points in lines.items())
    return [found for key, points in known if (found := _table_curve(names, key, points)) is not None]


def _users_of(names: tuple[str, ...], keys: Iterable[Key]) -> dict[Key, tuple[int, Key]]:
    """Split each key into its number of users, 0 without, and the rest."""
    if "users" not in names:
        return {key: (0, key) for key in keys}
    at = names.index("users")
    return {
        key: (users if isinstance(users := key[at], int) and users > 0 else 0, key[:at] + key[at + 1 :]) for key in keys
    }


def _table_curve(names: tuple[str, ...], key: Key, cells: Mapping[int, Cell]) -> TableCurve | None:
    points = tuple((users, cells[users].mean) for users in sorted(cells))
    if sum(mean is not None for _, mean in points) < FEWEST:
        return None
    in_order = [cells[users] for users, _ in points]
    found, edge = describe_curve(points, [cell.noise for cell in in_order], [max(cell.n, 1) for cell in in_order])
    return TableCurve(dict(zip(names, key, strict=True)), points, found, edge)


_SOURCE = "perfdb's own rule; its examples are published curves"
_EXAMPLE_NOISE = Drawn(0.01**2, 8)


def _points(given: str) -> list[Point]:
    """Parse ``852.06, 1352.97 at 1, 5 users``."""
    values, users = (each.split(", ") for each in given.partition(" users")[0].split(" at "))
    return [(int(each), float(value)) for each, value in zip(users, values, strict=True)]


def _example(given: str) -> Example:
    """Return an example with three trials a point and noise of 1%, if the text says so."""
    points = _points(given)
    noises = [_EXAMPLE_NOISE] * len(points) if "noise 1%" in given else []
    counts = [3] * len(noises)
    return Example(given, lambda: Curve.sentence(describe_curve(points, noises, counts)[0]))


_FALLING = "139.87, 139.71, 99.69, 92.03 at 1, 10, 20, 50 users"

CURVE_RULES: tuple[Declaration, ...] = (
    Declaration(
        "curve.rising",
        "A curve that is still rising",
        f"last > every earlier value × {1 + LEVEL_TOLERANCE:g}, the last but one is the largest of these, and "
        "ln(last / last but one) > t(0.95, f) · s · √(1/n + 1/n′)",
        "Throughput still grew by more than tolerance and noise at the largest number of users, so nothing can be said "
        f"about where it levels off. At least {FEWEST} numbers of users are needed; others were not tested.",
        _example("1661.09, 5060.78, 6905.31, 9055.97 at 1, 10, 20, 50 users"),
        source=_SOURCE,
    ),
    Declaration(
        "curve.level",
        "Where a curve levels off",
        f"first number of users with a value ≥ {1 - LEVEL_TOLERANCE:g} × median of the three largest values",
        "The level starts somewhere above the number of users before and at this one at the latest: only what was "
        "tested can be said. The median keeps a single outlier from setting the level.",
        _example("852.06, 1352.97, 1508.20, 1535.70, 1351.26 at 1, 5, 10, 20, 50 users"),
        source=_SOURCE,
    ),
    Declaration(
        "curve.tail",
        "How a curve goes on",
        "d = ln last − mean ln of the level before; h = t(0.975, f) · s · √(1/n + Σ(1/n_j)/J²)",
        f"Within ±h it is flat if h is at most {SLIGHT_UP_TO * 100:g}%, else no change is seen. Beyond h it is flat "
        f"up to {FLAT_UP_TO * 100:g}%, slightly rising or falling up to {SLIGHT_UP_TO * 100:g}%, rising or falling "
        "beyond. If nothing was repeated the same limits hold, and the noise is said to be unknown.",
        _example("7040.16, 10637.53, 11502.21, 11926.76 at 1, 10, 20, 50 users, three trials each, noise 1%"),
        source=_SOURCE,
    ),
    Declaration(
        "curve.edge",
        "A maximum at the edge",
        "the maximum is at the smallest or the largest tested number of users, and nowhere in between",
        "Fewer or more users than were tested might have given more, so the maximum is the best that was seen and "
        "perhaps not the best there is.",
        Example(_FALLING, lambda: getattr(describe_curve(_points(_FALLING))[1], "sentence", "")),
        source=_SOURCE,
    ),
)
