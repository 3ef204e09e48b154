"""Values of a table's cells end to end, their noise, and intervals of their means."""

import math
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property, partial
from itertools import accumulate, chain

import numpy as np

from perfdb.analysis.comparison.comparison import NOTHING_KNOWN, Background, Sample
from perfdb.analysis.comparison.noise import Pool, Prior, fallback_prior, moderate_all, pools
from perfdb.analysis.comparison.spreads import Floats, Logs, Spreads, ratio, student_quantile

_NO_TRIALS = np.empty(0)


class Samples:
    """The values of cells, end to end.

    Attributes:
        values: All values, in the metric's unit.
        sizes: Number of values per cell.
        groups: Noise group per cell, as in ``Pair``.
        steps: One in the last printed digit per cell, None for unprinted values.
        trials: Trial number per value, 0 if missing; empty if no check of trials needs them.
    """

    def __init__(
        self,
        values: Sequence[float],
        sizes: Sequence[int],
        groups: Sequence[Hashable],
        steps: Sequence[float | None],
        trials: Floats = _NO_TRIALS,
    ) -> None:
        self.values = values
        self.trials = trials
        self.sizes = sizes
        self.groups = groups
        self.steps = steps

    @classmethod
    def from_samples(
        cls,
        samples: Sequence[Sample],
        groups: Sequence[Hashable],
        steps: Sequence[float | None],
        trials: Floats = _NO_TRIALS,
    ) -> "Samples":
        """Join the samples of cells."""
        return cls([value for sample in samples for value in sample], list(map(len, samples)), groups, steps, trials)

    @cached_property
    def each(self) -> list[Sequence[float]]:
        """The values of each cell."""
        values = self.values
        return [values[end - size : end] for size, end in zip(self.sizes, accumulate(self.sizes), strict=True)]

    @cached_property
    def logs(self) -> Logs:
        """The logarithms."""
        return Logs(self.values, self.sizes)

    @cached_property
    def spreads(self) -> Spreads:
        """The spread of each cell."""
        return self.logs.spreads(self.steps)

    @cached_property
    def members(self) -> Mapping[Hashable, Sequence[int]]:
        """The indexes of the cells of each noise group."""
        if len(set(self.groups)) == 1:
            return {self.groups[0]: range(len(self.groups))}
        members: dict[Hashable, list[int]] = defaultdict(list)
        for place, group in enumerate(self.groups):
            members[group].append(place)
        return members

    @cached_property
    def pools(self) -> Mapping[Hashable, Pool]:
        """The pool of each noise group."""
        members = self.members.values()
        together = self.spreads if len(members) == 1 else self.spreads.select(list(chain.from_iterable(members)))
        return dict(zip(self.members, pools(together, list(map(len, members))), strict=True))

    @cached_property
    def priors(self) -> Mapping[Hashable, Prior | None]:
        """The prior of each noise group, None without spreads."""
        return {group: pool.prior() for group, pool in self.pools.items()}


Interval = tuple[float, float] | None
# exp of this is finite.
_LARGEST = 700.0


def mean_intervals(
    samples: Sequence[Sample],
    groups: Sequence[Hashable],
    steps: Sequence[float | None],
    background: Background = NOTHING_KNOWN,
) -> list[Interval]:
    """Return the 95 % interval of each sample's mean: mean · exp(± t · s / √n).

    ``groups`` and ``steps`` as in ``Pair``. None without a noise estimate, or where a trial is not positive.
    """
    means = [math.fsum(sample) / len(sample) if len(sample) else math.nan for sample in samples]
    return sample_intervals(Samples.from_samples(samples, groups, steps), means, background)


def sample_intervals(
    samples: Samples, means: Sequence[float], background: Background = NOTHING_KNOWN
) -> list[Interval]:
    """Return the intervals of samples with known means."""
    found: list[Interval] = [None] * len(samples.sizes)
    for group, places in samples.members.items():
        prior = samples.priors[group] or _elsewhere(samples, group, places, background)
        if prior is None:
            continue
        made = _intervals(samples, places, means, prior)
        if len(places) == len(found):
            return made
        for place, interval in zip(places, made, strict=True):
            found[place] = interval
    return found


def _intervals(samples: Samples, places: Sequence[int], means: Sequence[float], prior: Prior) -> list[Interval]:
    """Return the intervals of a noise group's cells."""
    own, counts, sizes = samples.spreads, samples.logs.counts, samples.logs.sizes
    if len(places) < len(sizes):
        chosen = np.array(places, np.intp)
        own, counts, sizes, means = (
            own.select(places),
            counts[chosen],
            sizes[chosen],
            [means[place] for place in places],
        )
    moderated = moderate_all(own, [prior], [len(places)])
    half_widths = moderated.by_freedom(partial(student_quantile, 0.975)) * np.sqrt(moderated.variances)
    half_widths /= np.sqrt(np.maximum(counts, 1))
    speaks = ((counts > 0) & (counts == sizes)).tolist()
    # ``ratio`` checks for overflow, which is slow.
    power = math.exp if half_widths.max(initial=0.0) < _LARGEST else ratio
    return [
        (mean * power(-half_width), mean * power(half_width)) if speaking else None
        for mean, half_width, speaking in zip(means, half_widths.tolist(), speaks, strict=True)
    ]


def _elsewhere(samples: Samples, group: Hashable, places: Sequence[int], background: Background) -> Prior | None:
    """Return the prior of a group that was not repeated."""
    step = max((step for place in places if (step := samples.steps[place]) is not None), default=None)
    return fallback_prior(group, step, samples.spreads, background)[0]
