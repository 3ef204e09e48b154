"""The interval of a cell's own mean: the error bars of tables without a base."""

import math
from collections.abc import Hashable, Sequence
from functools import partial

import numpy as np

from perfdb.analysis.comparison.distributions import ratio, student_quantile
from perfdb.analysis.comparison.noise_estimate import fallback_prior
from perfdb.analysis.comparison.noise_prior import Prior, moderate_all
from perfdb.analysis.comparison.pair import NOTHING_KNOWN, Background, Sample
from perfdb.analysis.comparison.samples import Samples

Interval = tuple[float, float] | None
# The ratio of which this is the logarithm is a float for certain.
_LARGEST = 700.0


def mean_intervals(
    samples: Sequence[Sample],
    groups: Sequence[Hashable],
    steps: Sequence[float | None],
    background: Background = NOTHING_KNOWN,
) -> list[Interval]:
    """Where each sample's mean lies with 95 %, in the metric's unit: mean · exp(± t · s / √n).

    ``groups`` and ``steps`` are those of ``Pair``, one for each sample. None where there is no noise estimate, or
    where a trial is not positive and so neither the mean nor the noise speaks for all trials.
    """
    means = [math.fsum(sample) / len(sample) if len(sample) else math.nan for sample in samples]
    return intervals_of(Samples.of(samples, groups, steps), means, background)


def intervals_of(samples: Samples, means: Sequence[float], background: Background = NOTHING_KNOWN) -> list[Interval]:
    """The same of samples whose means are known; those of empty ones make no difference."""
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
    """Those of the cells of a noise group."""
    own, counts, sizes = samples.spreads, samples.logs.counts, samples.logs.sizes
    if len(places) < len(sizes):
        chosen = np.array(places, np.intp)
        own, counts, sizes, means = own.only(places), counts[chosen], sizes[chosen], [means[place] for place in places]
    moderated = moderate_all(own, [prior], [len(places)])
    half_widths = moderated.by_freedom(partial(student_quantile, 0.975)) * np.sqrt(moderated.variances)
    half_widths /= np.sqrt(np.maximum(counts, 1))
    speaks = ((counts > 0) & (counts == sizes)).tolist()
    # ``ratio`` looks out for what is too large, which takes as long as the rest.
    power = math.exp if half_widths.max(initial=0.0) < _LARGEST else ratio
    return [
        (mean * power(-half_width), mean * power(half_width)) if speaking else None
        for mean, half_width, speaking in zip(means, half_widths.tolist(), speaks, strict=True)
    ]


def _elsewhere(samples: Samples, group: Hashable, places: Sequence[int], background: Background) -> Prior | None:
    """The prior of a group none of whose cells was repeated."""
    step = max((step for place in places if (step := samples.steps[place]) is not None), default=None)
    return fallback_prior(group, step, samples.spreads, background)[0]
