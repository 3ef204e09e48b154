"""Noise between trials: each side of each cell by its own trials and by those of the cells that vary alike."""

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from perfdb.analysis.verdicts.borrowing import Drawn, Prior, Spread, Usual, fit_trials
from perfdb.analysis.verdicts.cells import Cell, History, Side

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
        self.compared, self.earlier = _logs(self.values), _logs(self.past)

    @cached_property
    def trials(self) -> list[float]:
        """The values that are compared."""
        return [value for each in self.values.values() for value in each]

    @cached_property
    def mean(self) -> float:
        """The arithmetic mean of the trials."""
        return math.fsum(self.trials) / len(self.trials)

    @cached_property
    def value(self) -> float:
        """The mean over campaigns of the mean logarithm of their trials."""
        return math.fsum(map(mean, self.compared.values())) / len(self.compared)

    @cached_property
    def spread(self) -> Drawn:
        """The pooled variance of the logarithms within campaigns; freedom 0 if nothing is known of it."""
        squares, freedom = 0.0, 0
        for logs in (*self.compared.values(), *self.earlier.values()):
            middle = mean(logs)
            squares += math.fsum((log - middle) ** 2 for log in logs)
            freedom += len(logs) - 1
        variance = squares / freedom if freedom else 0.0
        if variance < EQUAL:
            variance = 0.0
        if self.step and freedom:
            return Drawn(max(variance, (self.step / self.mean) ** 2 / 12), freedom)
        return Drawn(variance, freedom if variance else 0)

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

    @property
    def arms(self) -> tuple[Arm, Arm]:
        """Both sides."""
        return self.base, self.new

    @cached_property
    def difference(self) -> float:
        """The difference of the logarithms, new less base."""
        return self.new.value - self.base.value

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


def _logs(values: History) -> dict[Hashable, list[float]]:
    """Return the logarithms by campaign, without campaigns that have a value that is not positive."""
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
    prior = fit_trials([Spread(*arm.spread, _group(each, arm)) for each in contrasts for arm in each.arms])
    if prior is None:
        return None
    largest = max(prior.usual.values(), key=lambda usual: usual.variance)
    for each in contrasts:
        for arm in each.arms:
            usual = _first(prior, (_group(each, arm), _group(each, each.new if arm is each.base else each.base)))
            arm.drawn = prior.draw(*arm.spread, usual or largest)
    return prior


def _group(contrast: Contrast, arm: Arm) -> tuple[Hashable, str]:
    return contrast.cell.kind, arm.name


def _first(prior: Prior, groups: Iterable[Hashable]) -> Usual | None:
    return next((prior.usual[group] for group in groups if group in prior.usual), None)


def levels_of(contrast: Contrast) -> dict[Hashable, dict[Hashable, tuple[list[float], ...]]]:
    """Return the logarithms of each other level by campaign: of the base, or of both sides of a paired cell."""
    found: dict[Hashable, dict[Hashable, tuple[list[float], ...]]] = {}
    for level, (base, new) in contrast.cell.levels.items():
        sides = [_logs(each) for each in (_both(base, new) if contrast.paired else (base,))]
        found[level] = {
            each: tuple([side[each] for side in sides]) for each in sides[0] if all(each in s for s in sides)
        }
    return found
