"""Cells to be judged, and the result: what is said of a cell against its base."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from perfdb.analysis.metrics import Better

# Smaller differences are "the same", unless a query says otherwise.
DELTA = 0.02

# The trials of one configuration by campaign, in the metric's unit.
History = Mapping[Hashable, Sequence[float]]
NO_HISTORY: History = MappingProxyType({})


class Level(NamedTuple):
    """Campaigns of a configuration at another level; ``new`` only counts where the campaign holds both sides."""

    base: History
    new: History = NO_HISTORY


class Cell(NamedTuple):
    """One metric at one combination of dimensions: trials of the base (A) and of the new side (B) by campaign.

    The same campaign may hold both sides. ``earlier`` and ``earlier_new`` are campaigns of the same configurations
    that are not compared and began before, ``levels`` those of other levels. Cells of one ``metric`` and ``kind`` of
    workload vary alike. ``step`` is one in the last printed digit (None: not printed). ``mixes`` names conditions in
    which runs of one side, or the sides, differ although they are not compared.
    """

    base: History
    new: History
    earlier: History = NO_HISTORY
    earlier_new: History = NO_HISTORY
    levels: Mapping[Hashable, Level] = MappingProxyType({})
    metric: Hashable = None
    kind: Hashable = None
    better: Better = Better.NEUTRAL
    step: float | None = None
    mixes: tuple[str, ...] = ()


class Verdict(StrEnum):
    """The conclusion on a cell against its base."""

    IMPROVED = "improved"
    REGRESSED = "regressed"
    HIGHER = "higher"
    LOWER = "lower"
    SAME = "same"
    CANNOT_TELL = "cannot_tell"
    LIKELY_HIGHER = "likely_higher"
    LIKELY_LOWER = "likely_lower"
    WITHIN_NOISE = "within_noise"
    NO_NOISE = "no_noise"
    NOT_COMPARABLE = "not_comparable"
    MIXED = "mixed"


class Scope(StrEnum):
    """Whether a verdict holds for other days too, or only in these runs."""

    DAYS_KNOWN = "days_known"
    THESE_RUNS = "these_runs"


class Effect(StrEnum):
    """Whether a change is for the better; unknown while undecided or for a metric without direction."""

    BETTER = "better"
    WORSE = "worse"
    NEUTRAL = "neutral"
    UNKNOWN = "unknown"


class Reason(StrEnum):
    """The largest part of the uncertainty of a cell."""

    WHOLE_DAYS = "whole days differ"
    DAYS = "days differ"
    TRIALS = "trials differ"
    ROUNDING = "printed too coarsely"


class NextStep(NamedTuple):
    """What would decide a cell: about so many ``trials`` or ``campaigns`` a side."""

    kind: str
    about: int


class Noise(NamedTuple):
    """What a verdict rests on: ``source`` is "campaigns", "trials" or "none", with degrees of freedom."""

    source: str
    freedom: float | None = None


NO_KNOWN_NOISE = Noise("none")


@dataclass(frozen=True, slots=True)
class Side:
    """The evidence of one side of a cell.

    ``campaigns`` and ``trials`` count what is compared, ``mean`` is the arithmetic mean. ``variance`` and ``freedom``
    are its own spread between trials (logarithms), ``used`` and ``used_freedom`` those drawn to the usual spread.
    """

    campaigns: int
    trials: int
    mean: float | None
    variance: float = 0.0
    freedom: float = 0.0
    used: float | None = None
    used_freedom: float | None = None


@dataclass(frozen=True, slots=True)
class Workings:
    """The intermediate values of a test, as natural logarithms.

    ``difference`` is d, ``error`` its standard error, ``freedom`` that of t. ``shift`` and ``rounding`` are the
    allowances a_d and a_r. ``factor`` is λ, by which the cell's days vary more than the usual, ``usual_days`` τ².
    """

    difference: float
    error: float
    freedom: float
    shift: float = 0.0
    rounding: float = 0.0
    factor: float | None = None
    usual_days: float | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is said of a cell against its base.

    ``percent`` is 100·(mean/base mean − 1) of unrounded means. ``ratio`` is that of geometric means, with its 95%
    ``interval`` if a test was made, else the ``band`` of single runs. ``p`` is from Student's t, ``q`` after Benjamini
    and Hochberg over all metrics of the table. ``campaigns`` is how many stand behind the noise of days. ``is_small``:
    the same, and yet a real difference. ``against`` is the ratio to the median of the other cells, ``stands_out`` if
    that differs though the verdict cannot tell. ``problem`` says why a cell is not comparable or what it mixes.
    """

    verdict: Verdict
    scope: Scope
    base: Side
    new: Side
    delta: float = DELTA
    better: Better = Better.NEUTRAL
    percent: float | None = None
    ratio: float | None = None
    interval: tuple[float, float] | None = None
    band: tuple[float, float] | None = None
    p: float | None = None
    q: float | None = None
    campaigns: int = 0
    paired: bool = False
    noise: Noise = NO_KNOWN_NOISE
    reason: Reason | None = None
    next: NextStep | None = None
    is_small: bool = False
    against: float | None = None
    stands_out: bool = False
    problem: str = ""
    workings: Workings | None = None

    @property
    def base_mean(self) -> float | None:
        """Return the mean of the base."""
        return self.base.mean

    @property
    def effect(self) -> Effect:
        """Return better or worse for a changed cell of a metric with direction."""
        if self.verdict in (Verdict.SAME, Verdict.WITHIN_NOISE):
            return Effect.NEUTRAL
        if self.verdict in (Verdict.IMPROVED, Verdict.REGRESSED):
            return Effect.BETTER if self.verdict is Verdict.IMPROVED else Effect.WORSE
        if self.better is Better.NEUTRAL or self.verdict not in _DIRECTIONS:
            return Effect.UNKNOWN
        return Effect.BETTER if (self.better is Better.HIGHER) == _DIRECTIONS[self.verdict] else Effect.WORSE


_DIRECTIONS = {Verdict.HIGHER: True, Verdict.LOWER: False, Verdict.LIKELY_HIGHER: True, Verdict.LIKELY_LOWER: False}
