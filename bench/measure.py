"""Benchmark cases: timing of work beside its floor, and verdicts.

Work and floor take turns in shuffled order, so that a busy machine slows both down alike. The floor runs twice a turn:
where its two times disagree (A/A), the verdict is `noisy`.
"""

import gc
import platform
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

_HEAD = f"{'case':46}{'perfdb':>12}{'floor':>12}{'ratio':>8}{'bar':>10}{'A/A':>6}  verdict"
HEAD = f"{_HEAD}\n{'-' * len(_HEAD)}"

Work = Callable[[], object]


class Verdict(StrEnum):
    """Result of a case."""

    HOLDS = "holds"
    OVER = "OVER"
    NOISY = "noisy"
    DIFFERENT = "DIFFERENT ANSWERS"


class Times(NamedTuple):
    """Seconds of each turn: the work, the floor, and the floor again."""

    work: tuple[float, ...]
    floor: tuple[float, ...]
    control: tuple[float, ...]

    @property
    def ratio(self) -> float:
        """Return the median of the turns' ratios of work to floor."""
        return median(work / floor for work, floor in zip(self.work, self.floor, strict=True))

    @property
    def control_ratio(self) -> float:
        """Return the A/A ratio: the floor's second run to its first."""
        return median(again / floor for again, floor in zip(self.control, self.floor, strict=True))

    @property
    def is_noisy(self) -> bool:
        """Return whether the machine was busy: an A/A ratio off by over 15 %."""
        return not 0.85 <= self.control_ratio <= 1.15


class Bar(NamedTuple):
    """Upper limit of a case: its seconds, or its ratio to the floor."""

    seconds: float = 0.0
    ratio: float = 0.0

    def holds(self, times: Times) -> bool:
        """Return whether the median time, or else the median ratio, is within the bar."""
        return median(times.work) <= self.seconds if self.seconds else times.ratio <= self.ratio

    def __str__(self) -> str:
        return f"{self.seconds:g} s" if self.seconds else f"{self.ratio:g} x"


@dataclass(frozen=True, slots=True)
class Case:
    """Work to be timed beside its floor; ``is_same`` compares both answers before the timing."""

    group: str
    name: str
    work: Work
    floor: Work
    bar: Bar
    is_same: Callable[[], bool] = field(default=lambda: True)
    turns: int = 15


class Result(NamedTuple):
    """Verdict and times of a case; no times where the answers differ."""

    case: Case
    verdict: Verdict
    times: Times | None = None

    def __str__(self) -> str:
        if self.times is None:
            return f"{self.case.name:46}{'':48}  {self.verdict}"
        shown = "".join(f"{1000 * median(each):9.1f} ms" for each in (self.times.work, self.times.floor))
        ratios = f"{self.times.ratio:8.2f}{self.case.bar!s:>10}{self.times.control_ratio:6.2f}"
        return f"{self.case.name:46}{shown}{ratios}  {self.verdict}"

    def plain(self) -> dict[str, Any]:
        """Return the result as JSON data, with every single time in seconds."""
        row = {"group": self.case.group, "case": self.case.name, "bar": str(self.case.bar), "verdict": self.verdict}
        if self.times is None:
            return row
        return row | {"work_s": self.times.work, "floor_s": self.times.floor, "control_s": self.times.control}


def measure(case: Case) -> Result:
    """Compare the answers of work and floor, then time both."""
    if not case.is_same():
        return Result(case, Verdict.DIFFERENT)
    times = take_turns(case.work, case.floor, turns=case.turns)
    holds = Verdict.HOLDS if case.bar.holds(times) else Verdict.OVER
    return Result(case, Verdict.NOISY if times.is_noisy and not case.bar.seconds else holds, times)


def take_turns(work: Work, floor: Work, *, turns: int) -> Times:
    """Time work, floor and floor again in random order, turn by turn."""
    work()
    floor()
    random, places = Random(20260101), (0, 1, 2)
    times: tuple[list[float], ...] = ([], [], [])
    # The benchmark's own objects are kept out of garbage collections.
    gc.collect()
    gc.freeze()
    try:
        for _ in range(turns):
            for place in random.sample(places, len(places)):
                gc.collect()
                times[place].append(measure_seconds(floor if place else work))
    finally:
        gc.unfreeze()
    return Times(*map(tuple, times))


def measure_seconds(work: Work) -> float:
    """Return the seconds that work takes."""
    start = perf_counter()
    work()
    return perf_counter() - start


def as_json(runs: int, results: Iterable[Result]) -> dict[str, Any]:
    """Return all results with the machine's description."""
    machine = {"python": platform.python_version(), "system": platform.platform(), "processor": platform.machine()}
    return {"runs": runs, "machine": machine, "cases": [result.plain() for result in results]}
