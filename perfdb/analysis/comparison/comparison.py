"""Data of a comparison: inputs, noise and result.

``base`` is the sample compared with (old), the other is the cell's own (new). A positive difference means *larger*;
the metric decides whether larger is better.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple


class Verdict(StrEnum):
    """The conclusion on a cell against its base."""

    HIGHER = "higher"
    LOWER = "lower"
    SAME = "same"
    INCONCLUSIVE = "inconclusive"
    INSIDE = "inside the band"
    OUTSIDE = "outside the band"
    NO_NOISE = "no noise estimate"
    NOT_COMPARABLE = "not comparable"


class Effect(StrEnum):
    """Whether a change improves; unknown while undecided or for a metric without direction.

    Single runs outside their band count as decided. Neutral is a cell that is the same.
    """

    BETTER = "better"
    WORSE = "worse"
    NEUTRAL = "neutral"
    UNKNOWN = "unknown"


class NoiseSource(StrEnum):
    """Sources of the noise estimate, in order of preference."""

    HISTORY = "history"
    TRIALS = "trials"
    EARLIER = "trials of earlier campaigns"
    METRIC = "trials of all workloads"
    NONE = "none"


class Noise(NamedTuple):
    """A noise estimate: source, standard deviation (of logarithms) and degrees of freedom.

    ``noisy``: the cell's own spread is far above its group's and is used alone. ``borrowed``: the cell was not
    repeated, so the estimate comes from others.
    """

    source: NoiseSource
    sd: float | None = None
    freedom: float | None = None
    noisy: bool = False
    borrowed: bool = False


class Comparison(NamedTuple):
    """A cell against its base.

    ``percent`` is 100·(mean/base mean − 1) of unrounded means, None for a base that is not positive. ``ratio`` and
    its 95 % ``interval`` come from the logarithms of the trials; ``error`` is the standard error of ln ratio, ``p``
    from Student's t, ``q`` after Benjamini and Hochberg over the table. ``band`` is the repeatability band of single
    runs, as ratios. ``within``: the 90 % interval lies inside ±``delta``. ``detectable`` is the smallest detectable
    change (ratio − 1). ``trials_needed`` per side would decide ``delta`` (campaigns, for noise of a history).
    ``n_base`` and ``n`` count measurements.
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
    """Matched cells of one metric: the geometric mean of ratios with its 95 % interval.

    ``ratio`` and ``interval`` are None for fewer than three cells. ``smallest`` and ``largest`` are ratios. ``up``,
    ``down`` and ``same`` count cells by verdict, ``undecided`` the rest, ``others`` the rest by verdict. ``uniform``
    is False when the ratios differ by more than noise.
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
    """A cell and its base, in the metric's unit; an empty sample is a missing side.

    ``group`` is the noise group: cells of one metric and kind of workload vary alike. ``step`` is one in the last
    printed digit, None for unprinted values. A *mean* printed without its trials counts as one value.
    ``configurations`` name the pair in the background's history: one for the same configuration across campaigns,
    two (base and new) for two configurations.
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
    """Noise known from outside the table.

    ``history``: each configuration's mean in each earlier campaign. ``earlier``: per noise group, the trials of each
    cell in earlier campaigns on the same machine. ``metric``: the same for all workloads of the metric; if empty,
    the other groups of the table serve.
    """

    # Any, since Mapping's key type is invariant.
    history: Mapping[Any, Sample] = field(default_factory=dict)
    earlier: Mapping[Any, Sequence[Sample]] = field(default_factory=dict)
    metric: Sequence[Sample] = ()


NOTHING_KNOWN = Background()
