"""What a comparison of two samples says: the plain data that every rendering prints.

Nothing is calculated here. ``base`` is the sample compared with (old), the other one is the cell's own (new); a
positive difference means *larger*, and whether larger is better follows from the metric.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple


class Verdict(StrEnum):
    """What can be said about a cell against its base."""

    HIGHER = "higher"
    LOWER = "lower"
    SAME = "same"
    INCONCLUSIVE = "inconclusive"
    INSIDE = "inside the band"
    OUTSIDE = "outside the band"
    NO_NOISE = "no noise estimate"
    NOT_COMPARABLE = "not comparable"


class Effect(StrEnum):
    """Whether the change is an improvement; unknown while it is not decided or the metric has no direction.

    Single runs outside their band count as decided here, in the direction that they show. Neutral is a cell that is
    the same.
    """

    BETTER = "better"
    WORSE = "worse"
    NEUTRAL = "neutral"
    UNKNOWN = "unknown"


class NoiseSource(StrEnum):
    """Where the estimate of the spread comes from, the first that applies."""

    HISTORY = "history"
    TRIALS = "trials"
    EARLIER = "trials of earlier campaigns"
    METRIC = "trials of all workloads"
    NONE = "none"


class Noise(NamedTuple):
    """The estimate that a comparison used: its source, standard deviation (of logs) and degrees of freedom.

    ``noisy``: the cell's own spread is so much larger than its group's that it stands for itself.
    ``borrowed``: the cell itself was not repeated, all that is known comes from others.
    """

    source: NoiseSource
    sd: float | None = None
    freedom: float | None = None
    noisy: bool = False
    borrowed: bool = False


class Comparison(NamedTuple):
    """A cell against its base.

    ``percent`` is 100·(mean/base mean − 1) of unrounded means, None where it has no meaning (a base of zero, below
    zero or missing). ``ratio`` and its 95 % ``interval`` come from the logarithms of the trials, ``error`` is the
    standard error of ln ratio; ``p`` from Student's t, ``q`` after Benjamini and Hochberg over the table. ``band`` is
    the repeatability band, as ratios, of single runs. ``within``: the 90 % interval lies inside ±``delta``.
    ``detectable`` is the smallest change (as a ratio minus 1) that could have been seen; ``trials_needed`` how many
    trials a side would decide ``delta``, or how many campaigns where the noise is that of history. ``n_base`` and
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
    """Matched cells of one metric together: the geometric mean of their ratios, with its 95 % interval.

    ``ratio`` and ``interval`` are None for fewer than three cells. ``smallest`` and ``largest`` are ratios; ``up``,
    ``down`` and ``same`` count the cells by verdict, ``undecided`` the others, and ``others`` those by their verdicts.
    ``uniform`` is False when the ratios differ by more than their noise explains, so that the summary must not stand
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
    """A cell and its base, in the metric's unit; an empty sample is a missing side.

    ``group`` is the noise group: cells with the same metric and the same kind of workload in the two campaigns vary
    alike. ``step`` is one in the last printed digit, None where values were not printed. A side marked as a *mean*
    is printed without its trials, so that nobody knows how many it stands for: it counts as one.

    ``configurations`` name the pair in the background's history: one where the same configuration is compared across
    campaigns or levels, two (base and new) where two configurations are compared, such as two devices.
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
    """What lies outside the table and says how much its cells vary.

    ``history``: for each configuration its mean in each of the earlier campaigns (none of the two compared).
    ``earlier``: for each noise group the trials of its cells in earlier campaigns on the same machine, one sample a
    cell and campaign. ``metric``: the same for all workloads of the metric; while there are none, the other groups
    of the table serve.
    """

    # Mapping's key is invariant, so that Hashable would refuse a mapping of strings.
    history: Mapping[Any, Sample] = field(default_factory=dict)
    earlier: Mapping[Any, Sequence[Sample]] = field(default_factory=dict)
    metric: Sequence[Sample] = ()


NOTHING_KNOWN = Background()
