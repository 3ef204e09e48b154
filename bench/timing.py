"""Comparing the time of two pieces of work on a machine that is not quiet.

Both take turns in shuffled order, so that whatever else the machine does hits both; the verdict is on the median of
the ratios of the single turns. The floor runs twice a turn: where it does not agree with itself, nothing else that was
measured meanwhile can be believed.
"""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from statistics import median
from time import perf_counter

QUIET = (0.85, 1.15)
_SEED = 20260101

Work = Callable[[], object]
Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Paired:
    """Seconds of the work and of its floor, turn by turn; ``control`` are those of the floor's second run."""

    work: tuple[float, ...]
    floor: tuple[float, ...]
    control: tuple[float, ...]

    @property
    def ratio(self) -> float:
        """The work's time by the floor's."""
        return median(work / floor for work, floor in zip(self.work, self.floor, strict=True))

    @property
    def control_ratio(self) -> float:
        """The floor's time by its own."""
        return median(again / floor for again, floor in zip(self.control, self.floor, strict=True))

    @property
    def excess_s(self) -> float:
        """How many seconds longer the work takes than the floor."""
        return median(work - floor for work, floor in zip(self.work, self.floor, strict=True))

    @property
    def noisy(self) -> bool:
        """Whether the machine was too busy to say anything."""
        return not QUIET[0] <= self.control_ratio <= QUIET[1]


def seconds(work: Work, clock: Clock = perf_counter) -> float:
    """How long it takes by a clock; what earlier work left behind is cleared away before."""
    gc.collect()
    start = clock()
    work()
    return clock() - start


@contextmanager
def _held_apart() -> Iterator[None]:
    """Let the collector go through what turns leave behind, and nothing else.

    Going through all that the benchmark holds, before each turn, it would empty the processor's caches for everybody:
    2 ms more of a question over HTTP.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def paired(work: Work, floor: Work, *, turns: int) -> Paired:
    """Time both in turns, each after a first run that is not counted."""
    work()
    floor()
    with _held_apart():
        return in_turns(work, floor, turns=turns, time=seconds)


def in_turns(work: Work, floor: Work, *, turns: int, time: Callable[[Work], float]) -> Paired:
    """Time both and the floor once more, in each turn in a random order: what follows the work takes longer."""
    random = Random(_SEED)
    turn = [("work", work), ("floor", floor), ("control", floor)]
    times: dict[str, list[float]] = {name: [] for name, _ in turn}
    for _ in range(turns):
        for name, each in random.sample(turn, len(turn)):
            times[name].append(time(each))
    return Paired(tuple(times["work"]), tuple(times["floor"]), tuple(times["control"]))
