"""What is compared, and what is known from elsewhere about its noise."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

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
