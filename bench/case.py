"""One thing that is measured beside its floor, and the bar between them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import median

from bench.timing import Paired, Work, paired


class Verdict(StrEnum):
    """What a measurement says."""

    HOLDS = "holds"
    OVER = "OVER"
    NOISY = "noisy"
    DIFFERENT = "DIFFERENT ANSWERS"


@dataclass(frozen=True, slots=True)
class Bar:
    """At most ``ratio`` times the floor; or, for floors below ``below_s``, at most ``excess_s`` longer.

    Where it is ``most_s``, no longer than that, whatever the floor takes.
    """

    ratio: float = 0.0
    below_s: float = 0.0
    excess_s: float = 0.0
    most_s: float = 0.0

    def holds(self, times: Paired, floor_s: float) -> bool:
        """Whether a measurement is within it."""
        if self.most_s:
            return median(times.work) <= self.most_s
        return times.excess_s <= self.excess_s if floor_s < self.below_s else times.ratio <= self.ratio

    def text(self, floor_s: float) -> str:
        """The bar that applies to a floor, for people."""
        if self.most_s:
            return f"{self.most_s:g} s"
        return f"floor + {1000 * self.excess_s:g} ms" if floor_s < self.below_s else f"{self.ratio:g} x"


@dataclass(frozen=True, slots=True)
class Case:
    """``same`` says whether work and floor give the same answer; it is asked before anything is timed."""

    group: str
    name: str
    floor_name: str
    work: Work
    floor: Work
    bar: Bar
    same: Callable[[], bool] = field(default=lambda: True)
    turns: int = 15


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a case; ``times`` is None where the answers differ."""

    case: Case
    verdict: Verdict
    times: Paired | None
    floor_s: float = 0.0


def measure(case: Case) -> Result:
    """Check that both answers are equal, then time both."""
    if not case.same():
        return Result(case, Verdict.DIFFERENT, None)
    times = paired(case.work, case.floor, turns=case.turns)
    floor_s = sorted(times.floor)[len(times.floor) // 2]
    if times.noisy:
        return Result(case, Verdict.NOISY, times, floor_s)
    return Result(case, Verdict.HOLDS if case.bar.holds(times, floor_s) else Verdict.OVER, times, floor_s)
