"""Judgement of all series of a study: what changed, how sure that is, and whether the last points are far off."""

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from perfdb.analysis.trends import noise
from perfdb.analysis.trends.changes import Change, Shape, Stretch, describe_changes, find_steps, level_rests
from perfdb.analysis.trends.splits import size_quantile, split_ps
from perfdb.analysis.verdicts.cells import DELTA
from perfdb.analysis.verdicts.distributions import LEVEL, Floats, false_discovery, student_p

# Fewer points are not judged.
FEWEST = 6
_SURE, _SURE_OF_FEW = 0.02, 0.01
_SHORT = 12
_TAIL_P, _TAIL_LEVEL = 0.001, 5
# So many more points the statement on the smallest visible step assumes, and the quantile of 4 in 5 cases.
_MORE, _FOUR_IN_FIVE = 5, 0.84
_BLOCK = 50_000
_EQUAL = 1e-9


class Series(NamedTuple):
    """Means of one metric in order; ``group`` varies alike, ``step`` is the rounding."""

    means: Sequence[float]
    group: Hashable = None
    step: float = 0.0


class State(StrEnum):
    """How sure a change is."""

    CONFIRMED = "confirmed"
    SUSPECT = "suspect"
    NOT_SHOWN = "not shown"


@dataclass(frozen=True, slots=True)
class Finding:
    """A change with its q over all series, its state, and whether it is ``small``: within δ, by the estimate."""

    change: Change
    q: float
    state: State
    small: bool


class Tail(NamedTuple):
    """The last ``points`` (1 or 2) against the current level; ``points`` is 0 if none can be told."""

    p: float = 1.0
    points: int = 0

    @property
    def suspect(self) -> bool:
        """Return whether the last points are far off."""
        return self.p <= _TAIL_P


NO_TAIL = Tail()


@dataclass(frozen=True, slots=True)
class Judged:
    """What is said of a series.

    ``rho`` is the autocorrelation, ``p`` that of the best split of all points, ``q`` that of a series without changes.
    ``smallest`` is the ratio − 1 of the smallest step that five more points would show in 4 of 5 cases.
    """

    points: int
    logarithmic: bool
    rho: float | None = None
    p: float | None = None
    q: float | None = None
    findings: tuple[Finding, ...] = ()
    tail: Tail = NO_TAIL
    smallest: float | None = None

    @property
    def judged(self) -> bool:
        """Return whether there were enough points."""
        return self.p is not None


class _Row(NamedTuple):
    """The values of a series, also tamed, and the autocorrelation by themselves alone."""

    values: Floats
    tamed: Floats
    rho: float


class _Found(NamedTuple):
    """A series on its way: its stretch, the changes, and whether its group is small."""

    stretch: Stretch
    changes: list[Change]
    small: bool
    logarithmic: bool


def judge_series(
    series: Sequence[Series], is_known: Callable[[int, Change], bool] = lambda _at, _change: False
) -> list[Judged]:
    """Return what changed in each series; all are judged together.

    Changes that ``is_known`` at the index of their series are no news: they are left out of the false discovery rate,
    keep p for q, and are not shown.
    """
    found = _find_changes(series)
    # One p for each change, or that of the whole stretch without any.
    ps = {
        (at, number): p
        for at, each in enumerate(found)
        if each
        for number, p in enumerate([change.p for change in each.changes] or [each.stretch.p])
        if not each.changes or not is_known(at, each.changes[number])
    }
    qs = dict(zip(ps, false_discovery(list(ps.values())), strict=True))
    judged = []
    for at, (one, each) in enumerate(zip(series, found, strict=True)):
        if each is None:
            judged.append(Judged(len(one.means), _is_logarithmic(one.means)))
            continue
        findings = tuple(_finding(each, change, qs.get((at, n))) for n, change in enumerate(each.changes))
        judged.append(_judged(each, findings, None if findings else qs[at, 0]))
    return judged


def _is_logarithmic(means: Sequence[float]) -> bool:
    return all(mean > 0 for mean in means)


def _find_changes(series: Sequence[Series]) -> list[_Found | None]:
    """Return the changes of each series with enough points."""
    by_points: dict[int, list[int]] = defaultdict(list)
    for at, each in enumerate(series):
        if len(each.means) >= FEWEST:
            by_points[len(each.means)].append(at)
    rows: dict[int, _Row] = {}
    for places in by_points.values():
        means = [np.asarray(series[at].means, np.float64) for at in places]
        values = np.array([np.log(each) if each.min() > 0 else each for each in means])
        tamed = noise.tame(values)
        for at, own, row, calm in zip(places, noise.own_autocorrelation(tamed), values, tamed, strict=True):
            rows[at] = _Row(row, calm, float(own))
    groups = _groups(series, rows)
    found: list[_Found | None] = [None] * len(series)
    for points, places in by_points.items():
        size = max(1, _BLOCK // points)
        for start in range(0, len(places), size):
            block = places[start : start + size]
            stretches = _stretches([rows[at] for at in block], [groups[series[at].group] for at in block])
            for at, stretch, steps in zip(block, stretches, find_steps(stretches), strict=True):
                logarithmic = _is_logarithmic(series[at].means)
                printed = series[at].step / (abs(math.fsum(series[at].means)) / points if logarithmic else 1.0)
                changes = describe_changes(stretch, steps, printed)
                found[at] = _Found(stretch, changes, groups[series[at].group].small, logarithmic)
    return found


def _groups(series: Sequence[Series], rows: Mapping[int, _Row]) -> dict[Hashable, noise.Group]:
    members: dict[Hashable, list[_Row]] = defaultdict(list)
    for at, row in rows.items():
        members[series[at].group].append(row)
    return {
        group: noise.learn_group([row.rho for row in each], [len(row.values) for row in each])
        for group, each in members.items()
    }


def _stretches(rows: Sequence[_Row], groups: Sequence[noise.Group]) -> list[Stretch]:
    """Return the stretches of rows with equally many points."""
    values, tamed = np.array([row.values for row in rows]), np.array([row.tamed for row in rows])
    rho = np.array([group.draw(row.rho, values.shape[1]) for row, group in zip(rows, groups, strict=True)])
    p, best = split_ps(values, tamed, (1 + rho) / (1 - rho))
    return [Stretch(*each) for each in zip(values, tamed, rho.tolist(), p.tolist(), best.tolist(), strict=True)]


def _finding(found: _Found, change: Change, q: float | None) -> Finding:
    small = found.logarithmic and abs(math.expm1(change.difference)) < DELTA
    if q is None:
        return Finding(change, change.p, State.NOT_SHOWN, small)
    sure = _SURE_OF_FEW if found.small else _SURE
    confirmed = q <= LEVEL and change.p <= sure and change.shape is not Shape.LEVELS
    suspect = change.p <= _SURE or (found.stretch.points < _SHORT and change.p <= LEVEL) or change.shape is Shape.LEVELS
    state = State.CONFIRMED if confirmed else State.SUSPECT if suspect else State.NOT_SHOWN
    return Finding(change, q, state, small)


def _judged(found: _Found, findings: tuple[Finding, ...], q: float | None) -> Judged:
    stretch = found.stretch
    steps = [change.k for change in found.changes if change.shape is Shape.STEP]
    tails = [tail for last in (1, 2) if (tail := _test_tail(stretch, steps[-1] if steps else 0, last))]
    return Judged(
        points=stretch.points,
        logarithmic=found.logarithmic,
        rho=stretch.rho,
        p=stretch.p,
        q=q,
        findings=findings,
        tail=min(tails, key=lambda tail: tail.p, default=NO_TAIL),
        smallest=_find_smallest(stretch, steps) if found.logarithmic else None,
    )


def _test_tail(stretch: Stretch, start: int, last: int) -> Tail | None:
    """Test the last one or two points against the level that begins at ``start``."""
    level = stretch.tamed[start : stretch.points - last]
    if len(level) < _TAIL_LEVEL:
        return None
    centred = level - level[0]
    middle = float(centred.sum()) / len(level)
    moved = [float(value - level[0]) - middle for value in stretch.values[stretch.points - last :]]
    if last > 1 and (min(moved) > 0) is not (max(moved) > 0):
        return None
    mean = math.fsum(moved) / last
    variance = (float(centred.dot(centred)) - len(level) * middle**2) / (len(level) - 1)
    if not centred.any():
        p = 1.0 if abs(mean) <= _EQUAL * abs(float(level[0])) else 0.0
        return Tail(p, 0 if p == 1.0 else last)
    factor = (1.0 if last == 1 else 1 + stretch.rho) / last + stretch.inflation / len(level)
    return Tail(student_p(mean / math.sqrt(variance * factor), len(level) - 1), last)


def _find_smallest(stretch: Stretch, steps: Sequence[int]) -> float:
    """Return the smallest step that five more points show in 4 of 5 cases."""
    if np.ptp(stretch.tamed) == 0:
        return 0.0
    variance = level_rests(stretch.tamed, steps) / (stretch.points - len(steps) - 1)
    last = stretch.points - (steps[-1] if steps else 0)
    error = math.sqrt(variance * stretch.inflation * (1 / last + 1 / _MORE))
    return math.expm1((size_quantile(_SURE, stretch.points) + _FOUR_IN_FIVE) * error)
