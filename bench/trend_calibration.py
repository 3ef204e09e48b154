"""Calibration of trends: ``python -m bench.trend_calibration [--tables N] [--show]``.

Series under seven kinds of noise, with and without a step, are judged by the product's own code, and beside it by
apache-otava and jumpavg at their defaults where these can be installed. The result is the data of the page that
explains the rules. Everything is seeded.
"""

import math
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from importlib import import_module
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.calibration import Chapter, Dice, Row, correlate, main
from bench.instance import ROOT
from bench.measure import measure_seconds
from bench.peers import install
from perfdb.analysis.trends.changes import Shape
from perfdb.analysis.trends.judge import Judged, Series, State, judge_series

RESULT = ROOT / "perfdb" / "analysis" / "trends" / "calibration.json"
SERIES = 1000
LENGTHS = (10, 20, 50, 100, 200)
PACKAGES = ("apache-otava==0.8.0", "jumpavg==0.4.2")
# Of those judged one by one, this part of the series is made; of jumpavg's long ones, which take long, half of that.
_ALONE, _LONG = 0.3, 200
# Of the series judged together so many change; a found step is at most so many points off.
_CHANGED, _NEAR = 0.1, 2
_CV = 0.02
_SURE = 0.02

Floats = NDArray[np.float64]
# Changes found in each of some series, as first points of new levels.
Found = list[list[int]]


def _white(dice: Dice, shape: tuple[int, int]) -> Floats:
    return dice.normal(0, _CV, shape)


def _slow_runs(dice: Dice, shape: tuple[int, int]) -> Floats:
    slower = np.log1p(-dice.uniform(0.05, 0.3, shape))
    return np.add(_white(dice, shape), np.where(dice.random(shape) < 0.05, slower, 0.0))


def _day_effects(dice: Dice, shape: tuple[int, int]) -> Floats:
    """Return series of which one to three campaigns share a day."""
    lengths = dice.integers(1, 4, shape)
    begins = np.zeros((shape[0], shape[1] + 1), np.intp)
    rows = np.arange(shape[0])[:, None]
    begins[rows, np.minimum(np.cumsum(lengths, axis=1), shape[1])] = 1
    days = np.cumsum(begins[:, :-1], axis=1)
    found: Floats = np.take_along_axis(_white(dice, shape), days, axis=1) + _white(dice, shape)
    return found / math.sqrt(2)


NOISES: dict[str, Callable[[Dice, tuple[int, int]], Floats]] = {
    "normal": _white,
    "each point follows the one before (0.5)": lambda dice, shape: correlate(_white(dice, shape), 0.5),
    "5 % of campaigns slower by 5 to 30 %": _slow_runs,
    "heavy tails (t with 3 degrees of freedom)": lambda dice, shape: _CV * dice.standard_t(3, shape) / math.sqrt(3),
    "two modes 8 % apart, half and half": lambda dice, shape: (
        _white(dice, shape) + np.where(dice.random(shape) < 0.5, -0.04, 0.04)
    ),
    "1 to 10 trials a campaign": lambda dice, shape: _white(dice, shape) / np.sqrt(dice.integers(1, 11, shape)),
    "1 to 3 campaigns a day, half of the variance between days": _day_effects,
}


def _draw(number: int, points: int, count: int, changed: int = 0, size: float = 0.0) -> Floats:
    """Return series of a noise; the first ``changed`` have a step at ``find_step``."""
    dice = np.random.default_rng([11, number, points, count, round(1000 * size)])
    logs = list(NOISES.values())[number](dice, (count, points))
    logs[:changed, find_step(points) :] += math.log1p(size)
    return 1000 * np.exp(logs)


def find_step(points: int) -> int:
    """Return the first point of the new level: ten from the end, of ten points the middle."""
    return points - 10 if points > 10 else 5


def _confirmed(judged: Judged) -> list[int]:
    return [each.change.k for each in judged.findings if each.state is State.CONFIRMED]


def _likely(judged: Judged) -> list[int]:
    """Return the changes that would count if all series had changed."""
    counted = (each.change for each in judged.findings if each.change.shape is not Shape.LEVELS)
    return [change.k for change in counted if change.p <= _SURE]


def judge_together(values: Floats, choose: Callable[[Judged], list[int]] = _confirmed) -> Found:
    """Return the changes in series of one group that are judged together."""
    return [choose(each) for each in judge_series([Series(row.tolist(), "all") for row in values])]


def judge_alone(values: Floats) -> Found:
    """Return the changes in series of which each is judged by itself."""
    return [found for row in values for found in judge_together(row[None])]


def judge_by_otava(values: Floats) -> Found:
    """Return Otava's changes at its defaults."""
    detect = import_module("otava.analysis").compute_change_points
    return [[each.index for each in detect(row.tolist())[0]] for row in values]


def judge_by_jumpavg(values: Floats) -> Found:
    """Return jumpavg's changes."""
    classify = import_module("jumpavg").classify
    sizes = ([len(group.run_list) for group in classify(row.tolist())] for row in values)
    return [np.cumsum(each)[:-1].tolist() for each in sizes]


class Detector(NamedTuple):
    """A way to find changes; ``share`` of the series are made for it, of which ``changed`` have a step."""

    title: str
    find: Callable[[Floats], Found]
    share: float = _ALONE
    changed: float = 1.0

    def number_of_series(self, points: int, series: int) -> int:
        """Return how many series are to be made."""
        slow = self.find is judge_by_jumpavg and points >= _LONG
        return max(10, round(series * self.share / (2 if slow else 1)))


@cache
def install_peers() -> bool:
    """Install the peers without what else they need; return whether that worked."""
    try:
        sys.path.append(str(install("--no-deps", *PACKAGES, name="trends")))
    except subprocess.CalledProcessError:
        return False
    return True


OURS = (
    Detector("perfdb, all series judged together", judge_together, 1.0, _CHANGED),
    Detector("perfdb, together, by p ≤ 0.02 alone", partial(judge_together, choose=_likely), 1.0, _CHANGED),
    Detector("perfdb, each series by itself", judge_alone),
)
PEERS = (Detector("apache-otava 0.8.0", judge_by_otava), Detector("jumpavg 0.4.2", judge_by_jumpavg))


def count_alarms(detector: Detector, number: int, points: int, series: int) -> float:
    """Return in how many unchanged series a change is found, in per cent."""
    found = detector.find(_draw(number, points, detector.number_of_series(points, series)))
    return round(100 * sum(map(bool, found)) / len(found), 1)


def count_steps(size: float, detector: Detector, number: int, points: int, series: int) -> float:
    """Return how many steps are found near their place, in per cent."""
    count = max(10, detector.number_of_series(points, series) // (1 if detector.changed < 1 else 3))
    changed = max(1, round(count * detector.changed))
    found = detector.find(_draw(number, points, count, changed, size))[:changed]
    step = find_step(points)
    return round(100 * sum(any(abs(k - step) <= _NEAR for k in each) for each in found) / changed, 1)


def _measure(count: Callable[[int, int, int], float], detector: Detector, series: int) -> Iterator[Row]:
    if detector in PEERS and not install_peers():
        return
    for number, title in enumerate(NOISES):
        yield Row(title, tuple(count(number, points, series) for points in LENGTHS))


_ALARMS = "Of unchanged series, so many have any confirmed change. The noise of a campaign is about 2 %."
_STEPS = (
    "Of steps ten points before the end (of 10 points, in the middle), so many are found within two points of their "
    "place."
)


_KINDS: tuple[tuple[str, str, Callable[..., float]], ...] = (
    ("False changes", _ALARMS, count_alarms),
    *((f"Steps of {100 * size:g} % found", _STEPS, partial(count_steps, size)) for size in (0.03, 0.05, 0.10)),
)
CHAPTERS: Sequence[Chapter] = [
    Chapter(
        f"{title}: {detector.title}",
        f"{about} A tenth of the series has one." if about is _STEPS and detector.changed < 1 else about,
        tuple(f"{points} points, %" for points in LENGTHS),
        partial(_measure, partial(count, detector), detector),
    )
    for title, about, count in _KINDS
    for detector in (*OURS, *PEERS)
]


if __name__ == "__main__":
    many = [Series(row.tolist(), "all") for row in _draw(0, 100, 10_000, 1000, 0.05)]
    sys.stderr.write(f"10,000 series of 100 points are judged in {measure_seconds(lambda: judge_series(many)):.2f} s\n")
    sys.exit(main(CHAPTERS, SERIES, RESULT))
