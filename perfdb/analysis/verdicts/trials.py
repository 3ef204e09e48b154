"""Noise between trials of a sample or of a side of a cell, drawn to that of the cells that vary alike."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import TypeVar

from perfdb.analysis.verdicts.borrowing import Drawn, Prior, Spread, fit_trials
from perfdb.analysis.verdicts.cells import Cell, History, Side
from perfdb.analysis.verdicts.distributions import exponential, student_quantile

_T = TypeVar("_T")
Sample = Sequence[float]
Interval = tuple[float, float] | None
# A variance below this is that of equal trials.
EQUAL = 1e-20
# Equal values differ by this share in binary.
_BINARY = 1e-9


@dataclass
class Arm:
    """One side, A (base) or B (new), with the logarithms of trials by campaign."""

    name: str
    values: History
    past: History
    step: float | None
    drawn: Drawn | None = None
    compared: dict[Hashable, list[float]] = field(init=False)
    earlier: dict[Hashable, list[float]] = field(init=False)

    def __post_init__(self) -> None:
        self.compared, self.earlier = logarithms(self.values), logarithms(self.past)

    @cached_property
    def trials(self) -> list[float]:
        """The values that are compared."""
        return [value for each in self.values.values() for value in each]

    @cached_property
    def mean(self) -> float:
        """The arithmetic mean of the trials."""
        return mean(self.trials)

    @cached_property
    def value(self) -> float:
        """The mean over campaigns of the mean logarithm of their trials."""
        return mean([*map(mean, self.compared.values())])

    @cached_property
    def spread(self) -> Drawn:
        """The pooled variance of the logarithms within campaigns; freedom 0 if nothing is known of it."""
        squares, freedom = 0.0, 0
        for logs in (*self.compared.values(), *self.earlier.values()):
            middle = mean(logs)
            squares += math.fsum((log - middle) ** 2 for log in logs)
            freedom += len(logs) - 1
        return _pooled(squares, freedom, self.step / self.mean if self.step else 0.0)

    @property
    def rounding(self) -> float:
        """Half a printed step as a share of the mean, where all trials lie within one step; else 0."""
        if not self.step or max(self.trials) - min(self.trials) > self.step * (1 + _BINARY):
            return 0.0
        return self.step / 2 / self.mean

    @property
    def noise(self) -> float:
        """The variance of ``value`` by trials, 0 if unknown."""
        return sum(map(self.trial_part, self.compared.values())) / len(self.compared) ** 2

    def trial_part(self, logs: Sequence[float]) -> float:
        """Return the variance of the mean of a campaign's trials, 0 if unknown."""
        return self.drawn.variance / len(logs) if self.drawn else 0.0

    @property
    def used(self) -> Side:
        """The evidence of this side."""
        variance, freedom = self.drawn or (None, None)
        return Side(len(self.compared), len(self.trials), self.mean, *self.spread, variance, freedom)


class Contrast:
    """A comparable cell, ``paired`` and restricted to campaigns with both sides if any."""

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        self.paired = not cell.base.keys().isdisjoint(cell.new.keys())
        base, new, past, past_new = cell.base, cell.new, cell.earlier, cell.earlier_new
        if self.paired:
            base, new = _both(base, new)
            past, past_new = _both(past, past_new)
        self.base = Arm("A", base, past, cell.step)
        self.new = Arm("B", new, past_new, cell.step)
        self.arms = self.base, self.new
        # Of the logarithms.
        self.difference = self.new.value - self.base.value

    @property
    def trial_noise(self) -> float:
        """The variance of the difference by trials."""
        return self.base.noise + self.new.noise

    @property
    def rounding(self) -> float:
        """The difference that rounding alone may make."""
        return self.base.rounding + self.new.rounding


def mean(values: Sequence[float]) -> float:
    """Return the arithmetic mean."""
    return math.fsum(values) / len(values)


def logarithms(values: History) -> dict[Hashable, list[float]]:
    """Return the logarithms by campaign, without campaigns with values below or at 0."""
    return {
        campaign: [math.log(value) for value in trials]
        for campaign, trials in values.items()
        if trials and 0 < min(trials) <= max(trials) < math.inf
    }


def _both(base: History, new: History) -> tuple[History, History]:
    both = [campaign for campaign in base if campaign in new]
    return {each: base[each] for each in both}, {each: new[each] for each in both}


def find_problem(cell: Cell) -> str:
    """Return why a cell is not comparable; empty if it is."""
    for side, history in (("base", cell.base), ("new side", cell.new)):
        trials = [value for each in history.values() for value in each]
        if not trials:
            return f"the {side} is missing"
        bad = sum(not (0 < value < math.inf) for value in trials)
        if bad:
            return f"{bad} of {len(trials)} trials of the {side} {'has' if bad == 1 else 'have'} no positive value"
    return ""


def borrow(contrasts: Sequence[Contrast]) -> Prior | None:
    """Draw the spread of each side to that of the cells of one metric and design; return what they have in common.

    A group is a kind of workload and a side. One without spreads takes the usual spread of the other side of its
    kind, else of the group with the largest. Without any spread ``drawn`` stays None.
    """
    prior = fit_trials([Spread(*arm.spread, (each.cell.kind, arm.name)) for each in contrasts for arm in each.arms])
    if prior is None:
        return None
    largest = max(prior.usual.values(), key=lambda usual: usual.variance)
    for each in contrasts:
        own = [prior.usual.get((each.cell.kind, arm.name)) for arm in each.arms]
        for arm, usual in zip(each.arms, (own[0] or own[1], own[1] or own[0]), strict=True):
            arm.drawn = prior.draw(*arm.spread, usual or largest)
    return prior


def find_spread(sample: Sample, step: float | None) -> Drawn:
    """Return a sample's variance of logarithms with freedom, 0 if unknown; ``step`` is printed."""
    count = len(sample)
    if count < 2 or min(sample) <= 0:
        return Drawn(0.0, 0)
    logs = [*map(math.log, sample)]
    middle = mean(logs)
    squares = math.fsum((log - middle) ** 2 for log in logs)
    return _pooled(squares, count - 1, step * count / math.fsum(sample) if step else 0.0)


def _pooled(squares: float, freedom: int, share: float) -> Drawn:
    """Return a variance, at least that of rounding to a step of so large a ``share`` of the mean."""
    variance = squares / freedom if freedom else 0.0
    variance = 0.0 if variance < EQUAL else variance
    if freedom and share:
        variance = max(variance, share**2 / 12)
    return Drawn(variance, freedom if variance else 0)


def find_noise(
    samples: Sequence[Sample], kinds: Sequence[Hashable], steps: Sequence[float | None]
) -> tuple[list[Drawn | None], Prior | None]:
    """Return each sample's noise of one trial, drawn to the kind's, and the prior."""
    spreads = [*map(find_spread, samples, steps)]
    prior = fit_trials([Spread(*spread, kind) for spread, kind in zip(spreads, kinds, strict=True)])
    if prior is None:
        return [None] * len(samples), None
    # A kind without repetitions takes the usual noise of the kind with the largest.
    largest = max(prior.usual.values(), key=lambda usual: usual.variance)
    drawn = [prior.draw(*spread, prior.usual.get(kind, largest)) for spread, kind in zip(spreads, kinds, strict=True)]
    return list(drawn), prior


def mean_intervals(samples: Sequence[Sample], noises: Sequence[Drawn | None]) -> list[Interval]:
    """Return each mean's 95% interval, mean · exp(± t·s/√n), if known."""
    return [_reach(sample, noise, 0) for sample, noise in zip(samples, noises, strict=True)]


def expect_trial(sample: Sample, noise: Drawn | None) -> Interval:
    """Return where a further trial lies with 95%: mean · exp(± t·s·√(1 + 1/n)), if known."""
    return _reach(sample, noise, 1)


def _reach(sample: Sample, noise: Drawn | None, further: int) -> Interval:
    """Return the interval of the mean, or of ``further`` = 1 trial."""
    if noise is None or not len(sample) or min(sample) <= 0:
        return None
    half = student_quantile(0.975, noise.freedom) * math.sqrt(noise.variance * (further + 1 / len(sample)))
    middle = mean(sample)
    return middle * exponential(-half), middle * exponential(half)


def split(values: Sequence[_T], sizes: Sequence[int]) -> list[Sequence[_T]]:
    """Return the samples of values that stand end to end."""
    return [values[end - size : end] for size, end in zip(sizes, accumulate(sizes), strict=True)]
