"""Judging the cells of a table: differences, intervals, p, verdicts, and how many more trials or campaigns decide."""

import math
import statistics
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from perfdb.analysis.metrics import Better
from perfdb.analysis.percent_difference import percent_difference
from perfdb.analysis.verdicts.borrowing import Prior
from perfdb.analysis.verdicts.cells import (
    DELTA,
    Cell,
    Comparison,
    NextStep,
    Noise,
    Reason,
    Scope,
    Side,
    Verdict,
    Workings,
)
from perfdb.analysis.verdicts.days import FEWEST_CELLS, SHIFT_QUANTILE, Days, day_weight, learn, own_campaigns
from perfdb.analysis.verdicts.distributions import LEVEL, exponential, false_discovery, student_p, student_quantile
from perfdb.analysis.verdicts.trials import Contrast, borrow, find_problem, mean


def level_at(look: int) -> float:
    """Return the level at the k-th of repeated looks at the verdicts; 0 is a single look."""
    return LEVEL / (look * (look + 1)) if look else LEVEL


# More than this is no advice.
MOST_ADVISED = 200
_QUANTILE = 0.95


class CampaignNoise(NamedTuple):
    """Noise of a cell with known days.

    ``factor`` λ, ``usual`` τ², ``parts`` the variance that trials give to one campaign of each side, ``freedom`` of
    the cell, ``omega`` and ``days_freedom`` of whole days, ``campaigns`` compared on each side.
    """

    factor: float
    usual: float
    parts: tuple[float, float]
    freedom: float
    omega: float
    days_freedom: int
    campaigns: tuple[int, int]
    paired: bool = False
    rounding: float = 0.0


def trials_needed(used: tuple[float, float], prior_freedom: float, rounding: float, delta: float) -> int | None:
    """Return the trials a side that would decide; ``used`` are the variances of one trial. None for more than 200.

    The number decides four in five such cells if nothing changed, nearly all that differ by twice ``delta``, and half
    of those that differ by half of ``delta``.
    """

    def is_enough(count: int) -> bool:
        return _decides(rounding, math.sqrt(sum(used) / count), prior_freedom + 2 * (count - 1), delta)

    return next(filter(is_enough, range(2, MOST_ADVISED + 1)), None)


def campaigns_needed(noise: CampaignNoise, delta: float) -> int | None:
    """Return the campaigns a side in all that would decide alike. None for more than 200."""
    most = max(noise.campaigns)

    def is_enough(count: int) -> bool:
        more = count - most if noise.paired else 2 * count - sum(noise.campaigns)
        weight = (1 if noise.paired else 2) / count
        error = math.sqrt(noise.factor * (noise.usual * weight + sum(noise.parts) / count))
        shift = student_quantile(SHIFT_QUANTILE, noise.days_freedom + more) * noise.omega * math.sqrt(weight)
        return _decides(math.hypot(shift, noise.rounding), error, noise.freedom + more, delta)

    return next(filter(is_enough, range(max(2, most), MOST_ADVISED + 1)), None)


def _decides(allowance: float, error: float, freedom: float, delta: float) -> bool:
    half = student_quantile(_QUANTILE, freedom) * error
    return math.hypot(allowance, half) + half <= math.log1p(delta)


class Judged:
    """A comparable cell with its test; ``days`` are those of its metric and design."""

    def __init__(self, contrast: Contrast, prior: Prior | None, days: Days, place: int) -> None:
        self.contrast = contrast
        self.days = days
        self.q: float | None = None
        self.stands_out = False
        # The difference to the median of the other cells.
        self.against: float | None = None
        self.factor = days.factors.get(place)
        self.own = days.own.get(place)
        self._prior = prior
        self.difference = contrast.difference
        self.scope = Scope.DAYS_KNOWN if self.factor else Scope.THESE_RUNS
        self.has_noise = self.factor is not None or prior is not None

    @cached_property
    def is_tested(self) -> bool:
        """Whether both sides have a spread or two campaigns, else a band."""
        if not self.has_noise:
            return False
        sides = zip(self.contrast.arms, own_campaigns(self.contrast), strict=True)
        return all(arm.spread.freedom > 0 or (self.factor is not None and campaigns > 1) for arm, campaigns in sides)

    @cached_property
    def shift_allowance(self) -> float:
        """How far days alone move the whole table (a_d)."""
        return self.days.allowance(day_weight(self.contrast)) if self.factor else 0.0

    @cached_property
    def allowance(self) -> float:
        """The difference that is allowed for before anything is tested (a)."""
        return math.hypot(self.shift_allowance, self.contrast.rounding)

    @cached_property
    def day_noise(self) -> float:
        """The variance of the difference by days, before the cell's own factor."""
        return (self.days.usual or 0.0) * day_weight(self.contrast) if self.factor else 0.0

    @cached_property
    def error(self) -> float:
        """The standard error of the difference."""
        factor = self.factor.variance if self.factor else 1.0
        return math.sqrt(factor * (self.day_noise + self.contrast.trial_noise))

    @cached_property
    def freedom(self) -> float:
        """The degrees of freedom of the standard error."""
        return self._freedom_of_days() if self.factor else self._freedom_of_trials()

    def _freedom_of_trials(self) -> float:
        arms = [arm for arm in self.contrast.arms if arm.drawn]
        parts = math.fsum(arm.noise**2 / arm.drawn.freedom for arm in arms if arm.drawn)
        own = sum(arm.spread.freedom for arm in arms)
        limit = (self._prior.freedom if self._prior else 0.0) + own
        return min(self.error**4 / parts, limit) if parts else limit

    def _freedom_of_days(self) -> float:
        assert self.factor is not None
        expected = self.day_noise + self.contrast.trial_noise
        inverse = 1 / self.factor.freedom
        if not self.contrast.paired and expected:
            for arm, campaigns in zip(self.contrast.arms, own_campaigns(self.contrast), strict=True):
                if campaigns == 1 and arm.drawn:
                    inverse += (arm.noise / expected) ** 2 / arm.drawn.freedom
        return 1 / inverse

    def half_width(self, probability: float) -> float:
        """Return half of the interval of logarithms up to this quantile, with its allowance."""
        return math.hypot(self.allowance, student_quantile(probability, self.freedom) * self.error)

    def interval(self, probability: float) -> tuple[float, float]:
        """Return the interval of the difference (logarithms)."""
        half = self.half_width(probability)
        return self.difference - half, self.difference + half

    def p_beyond(self, difference: float, allowance: float) -> float:
        """Return the two-sided p of a difference beyond an allowance."""
        beyond = math.sqrt(max(0.0, difference * difference - allowance * allowance))
        if not self.error:
            return 0.0 if beyond else 1.0
        return student_p(beyond / self.error, self.freedom)

    @cached_property
    def p(self) -> float | None:
        """The two-sided p of the difference; None without a test."""
        return self.p_beyond(self.difference, self.allowance) if self.is_tested else None

    @cached_property
    def parts(self) -> dict[Reason, float]:
        """The squares of which the uncertainty consists."""
        square = student_quantile(0.975, self.freedom) ** 2
        factor = self.factor.variance if self.factor else 1.0
        return {
            Reason.WHOLE_DAYS: self.shift_allowance**2,
            Reason.DAYS: square * factor * self.day_noise,
            Reason.TRIALS: square * factor * self.contrast.trial_noise,
            Reason.ROUNDING: self.contrast.rounding**2,
        }

    def next_step(self, delta: float) -> NextStep | None:
        """Return what would decide the cell; closed campaigns take no more trials. None if nothing reasonable would."""
        base, new = self.contrast.arms
        if self.factor:
            counts = len(base.compared), len(new.compared)
            noise = CampaignNoise(
                self.factor.variance,
                self.days.usual or 0.0,
                (counts[0] * base.noise, counts[1] * new.noise),
                self.freedom,
                self.days.omega,
                self.days.freedom,
                counts,
                self.contrast.paired,
                self.contrast.rounding,
            )
            kind, about = "campaigns", campaigns_needed(noise, delta)
        elif self._prior and base.drawn and new.drawn:
            used = base.drawn.variance, new.drawn.variance
            kind, about = "trials", trials_needed(used, self._prior.freedom, self.contrast.rounding, delta)
        else:
            return None
        return None if about is None else NextStep(kind, about)

    @property
    def workings(self) -> Workings:
        """The intermediate values."""
        return Workings(
            self.difference,
            self.error,
            self.freedom,
            self.shift_allowance,
            self.contrast.rounding,
            self.factor.variance if self.factor else None,
            self.days.usual,
        )


@dataclass(frozen=True, slots=True)
class Shift:
    """The common move of a metric's cells; ``allowance`` by days is a logarithm."""

    ratio: float
    up: int
    down: int
    allowance: float | None

    @property
    def cells(self) -> int:
        """The number of cells."""
        return self.up + self.down


@dataclass(frozen=True, slots=True)
class Judgement:
    """The comparisons of cells, the judged by place, priors and days by design."""

    comparisons: Sequence[Comparison]
    judged: dict[int, Judged]
    priors: dict[tuple[Hashable, bool], Prior | None]
    days: dict[tuple[Hashable, bool], Days]


def judge(cells: Sequence[Cell], delta: float = DELTA, look: int = 0) -> Judgement:
    """Judge the cells of everything that is asked together, of one metric or several.

    ``delta`` is the difference that matters (0.02 is 2%), ``look`` counts repeated looks at the verdicts of
    measurements that go on (0: a single look). Raise ValueError for a ``delta`` that is not above zero.
    """
    if not delta > 0:
        raise ValueError(f"a difference of {delta} is not above zero")
    problems = [find_problem(cell) for cell in cells]
    groups: dict[tuple[Hashable, bool], list[tuple[int, Contrast]]] = {}
    for place, (cell, problem) in enumerate(zip(cells, problems, strict=True)):
        if not problem and not cell.mixes:
            contrast = Contrast(cell)
            groups.setdefault((cell.metric, contrast.paired), []).append((place, contrast))
    judgement = Judgement([], {}, {}, {})
    for group, members in groups.items():
        contrasts = [contrast for _, contrast in members]
        judgement.priors[group] = prior = borrow(contrasts)
        judgement.days[group] = days = learn(contrasts)
        found = {place: Judged(contrast, prior, days, at) for at, (place, contrast) in enumerate(members)}
        judgement.judged.update(found)
    tested = [each for _, each in sorted(judgement.judged.items()) if each.p is not None]
    for each, q in zip(tested, false_discovery([each.p for each in tested if each.p is not None]), strict=True):
        each.q = q
    for members in groups.values():
        _find_outstanding([judgement.judged[place] for place, _ in members])
    level = level_at(look)
    comparisons = [
        _describe(judgement.judged[place], delta, level)
        if place in judgement.judged
        else _not_judged(cell, problem, delta)
        for place, (cell, problem) in enumerate(zip(cells, problems, strict=True))
    ]
    return replace(judgement, comparisons=comparisons)


def find_shift(cells: Sequence[Judged]) -> Shift | None:
    """Return the common move of a metric's and design's cells, if any."""
    if not cells:
        return None
    differences = [cell.difference for cell in cells]
    days = cells[0].days
    allowance = days.allowance(statistics.median(day_weight(cell.contrast) for cell in cells)) if days.known else None
    up, down = sum(each > 0 for each in differences), sum(each < 0 for each in differences)
    return Shift(exponential(statistics.median(differences)), up, down, allowance)


def _find_outstanding(cells: Sequence[Judged]) -> None:
    """Mark the cells that differ from the median of the others though their verdict cannot tell."""
    middle = statistics.median(cell.difference for cell in cells)
    enough = len(cells) >= FEWEST_CELLS
    tested = [cell for cell in cells if enough and cell.is_tested and cell.factor]
    qs = _qs_against(tested, middle)
    calm = [cell.difference for cell, q in zip(tested, qs, strict=True) if q >= LEVEL]
    if calm:
        middle = statistics.median(calm)
        qs = _qs_against(tested, middle)
    for cell in cells:
        cell.against = cell.difference - middle
    for cell, q in zip(tested, qs, strict=True):
        cell.stands_out = q < LEVEL


def _qs_against(cells: Sequence[Judged], middle: float) -> list[float]:
    return false_discovery([cell.p_beyond(cell.difference - middle, cell.contrast.rounding) for cell in cells])


def _describe(cell: Judged, delta: float, level: float) -> Comparison:
    contrast = cell.contrast
    base, new = (arm.used for arm in contrast.arms)
    changed = cell.q is not None and cell.q < level
    is_same = cell.is_tested and max(map(abs, cell.interval(0.95))) < math.log1p(delta)
    verdict = _verdict(cell, changed, is_same)
    undecided = verdict is Verdict.CANNOT_TELL
    band = cell.has_noise and not cell.is_tested
    return Comparison(
        verdict=verdict,
        scope=cell.scope,
        base=base,
        new=new,
        delta=delta,
        better=contrast.cell.better,
        percent=percent_difference(base.mean, new.mean),
        ratio=exponential(cell.difference),
        interval=_ratios(cell.interval(0.975)) if cell.is_tested else None,
        band=_ratios((-cell.half_width(0.975), cell.half_width(0.975))) if band else None,
        p=cell.p,
        q=cell.q,
        campaigns=cell.days.campaigns if cell.factor else 0,
        paired=contrast.paired,
        noise=Noise("campaigns" if cell.factor else "trials", cell.freedom) if cell.has_noise else Noise("none"),
        reason=max(cell.parts, key=cell.parts.__getitem__) if undecided else None,
        next=cell.next_step(delta) if undecided else None,
        is_small=verdict is Verdict.SAME and changed,
        against=None if cell.against is None else exponential(cell.against),
        stands_out=undecided and cell.stands_out,
        workings=cell.workings if cell.has_noise else None,
    )


def _ratios(ends: tuple[float, float]) -> tuple[float, float]:
    return exponential(ends[0]), exponential(ends[1])


def _verdict(cell: Judged, changed: bool, is_same: bool) -> Verdict:
    up = cell.difference > 0
    if not cell.is_tested:
        return _verdict_of_band(cell) if cell.has_noise else Verdict.NO_NOISE
    if is_same:
        return Verdict.SAME
    if not changed:
        return Verdict.CANNOT_TELL
    if cell.factor is None or cell.contrast.cell.better is Better.NEUTRAL:
        return Verdict.HIGHER if up else Verdict.LOWER
    return Verdict.IMPROVED if up == (cell.contrast.cell.better is Better.HIGHER) else Verdict.REGRESSED


def _verdict_of_band(cell: Judged) -> Verdict:
    if abs(cell.difference) <= cell.half_width(0.975):
        return Verdict.WITHIN_NOISE
    return Verdict.LIKELY_HIGHER if cell.difference > 0 else Verdict.LIKELY_LOWER


def _not_judged(cell: Cell, problem: str, delta: float) -> Comparison:
    verdict, sides = Verdict.NOT_COMPARABLE, []
    for history in (cell.base, cell.new):
        trials = [value for each in history.values() for value in each]
        sides.append(Side(len(history), len(trials), mean(trials) if trials and not cell.mixes else None))
    if cell.mixes:
        verdict, problem = Verdict.MIXED, f"runs differ in {', '.join(cell.mixes)}"
    base, new = sides
    return Comparison(verdict, Scope.THESE_RUNS, base, new, delta=delta, better=cell.better, problem=problem)
