"""Result of a comparison of two samples, as plain data.

``base`` is the sample compared with (old), the other one is the cell's own (new); a positive difference means
*larger*, and whether larger is better follows from the metric.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple


class Verdict(StrEnum):
    """Verdict on a cell relative to its base."""

    HIGHER = "higher"
    LOWER = "lower"
    SAME = "same"
    INCONCLUSIVE = "inconclusive"
    INSIDE = "inside the band"
    OUTSIDE = "outside the band"
    NO_NOISE = "no noise estimate"
    NOT_COMPARABLE = "not comparable"


class Effect(StrEnum):
    """Improvement or not; unknown if undecided or the metric has no direction.

    Single runs outside their band count as decided, in the direction that they show. Neutral is a cell that is
    the same.
    """

    BETTER = "better"
    WORSE = "worse"
    NEUTRAL = "neutral"
    UNKNOWN = "unknown"


class NoiseSource(StrEnum):
    """Source of the noise estimate, the first that applies."""

    HISTORY = "history"
    TRIALS = "trials"
    EARLIER = "trials of earlier campaigns"
    METRIC = "trials of all workloads"
    NONE = "none"


class Noise(NamedTuple):
    """Noise estimate of a comparison: source, standard deviation (of logs) and freedom.

    ``noisy``: the cell's own spread is so much larger than its group's that only its own counts.
    ``borrowed``: the cell was not repeated, so the estimate comes from others.
    """

    source: NoiseSource
    sd: float | None = None
    freedom: float | None = None
    noisy: bool = False
    borrowed: bool = False


class Comparison(NamedTuple):
    """A cell relative to its base.

    ``percent`` is 100·(mean/base mean − 1) of unrounded means, None without meaning (a base of zero, below
    zero or missing). ``ratio`` and its 95 % ``interval`` come from the logarithms of the trials, ``error`` is the
    standard error of ln ratio; ``p`` from Student's t, ``q`` after Benjamini and Hochberg over the table. ``band`` is
    the repeatability band, as ratios, of single runs. ``within``: the 90 % interval is inside ±``delta``.
    ``detectable`` is the smallest detectable change (ratio minus 1); ``trials_needed`` the
    trials a side that would decide ``delta``, or the campaigns if the noise is that of history. ``n_base`` and
    ``n`` count the measurements of both sides.
    """

    n_base: int
    n: int
    base_mean: float | None
    percent: float | None
    verdict: Verdict
    effect: Effect
    delta: float
    noise: Noise
    ratio: float | None = None
    interval: tuple[float, float] | None = None
    p: float | None = None
    q: float | None = None
    within: bool = False
    band: tuple[float, float] | None = None
    detectable: float | None = None
    trials_needed: int | None = None
    warnings: tuple[str, ...] = ()
    error: float | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """Summary of one metric's matched cells: geometric mean of ratios, 95 % interval.

    ``ratio`` and ``interval`` are None for fewer than three cells. ``smallest`` and ``largest`` are ratios; ``up``,
    ``down`` and ``same`` count the cells by verdict, ``undecided`` the others, and ``others`` those by verdict.
    ``uniform`` is False if noise does not explain the ratios' differences, so that the summary must not be shown
    alone.
    """

    cells: int
    ratio: float | None
    interval: tuple[float, float] | None
    smallest: float | None
    largest: float | None
    up: int
    down: int
    same: int
    undecided: int
    uniform: bool = True
    others: Mapping[Verdict, int] = field(default_factory=dict)


Sample = Sequence[float]


class Pair(NamedTuple):
    """A cell and its base, in the metric's unit; an empty sample is missing.

    ``group`` is the noise group: cells with the same metric and the same kind of workload in the two campaigns.
    ``step`` is one in the last printed digit, None if values were not printed. A side marked as a *mean*
    is printed without its trials, so it counts as one value.

    ``configurations`` name the pair in the background's history: one if the same configuration is compared across
    campaigns or levels, two (base and new) if two configurations are compared, such as two devices.
    """

    base: Sample
    new: Sample
    group: Hashable = None
    step: float | None = None
    base_is_mean: bool = False
    new_is_mean: bool = False
    configurations: tuple[Hashable, ...] = ()


@dataclass(frozen=True, slots=True)
class Background:
    """Data outside the table about the noise of its cells.

    ``history``: for each configuration its mean in each earlier campaign (none of the two compared).
    ``earlier``: for each noise group the trials of its cells in earlier campaigns on the same machine, one sample a
    cell and campaign. ``metric``: the same for all workloads of the metric; without any, the other groups
    of the table serve.
    """

    # Mapping's key is invariant, so that Hashable would refuse a mapping of strings.
    history: Mapping[Any, Sample] = field(default_factory=dict)
    earlier: Mapping[Any, Sequence[Sample]] = field(default_factory=dict)
    metric: Sequence[Sample] = ()


NOTHING_KNOWN = Background()
