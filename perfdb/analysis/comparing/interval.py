"""The interval of a cell's own mean: the error bars of tables without a base."""

import math
from collections.abc import Hashable, Sequence

import numpy as np

from perfdb.analysis.comparing.comparison import NoiseSource
from perfdb.analysis.comparing.distributions import ratio, student_quantile
from perfdb.analysis.comparing.estimate import grouped
from perfdb.analysis.comparing.noise import moderate_all
from perfdb.analysis.comparing.pair import NOTHING_KNOWN, Background, Sample
from perfdb.analysis.comparing.spreads import Logs


def mean_intervals(
    samples: Sequence[Sample],
    groups: Sequence[Hashable],
    steps: Sequence[float | None],
    background: Background = NOTHING_KNOWN,
) -> list[tuple[float, float] | None]:
    """Where each sample's mean lies with 95 %, in the metric's unit: mean · exp(± t · s / √n).

    ``groups`` and ``steps`` are those of ``Pair``, one for each sample. None where there is no noise estimate, or
    where a trial is not positive and so neither the mean nor the noise speaks for all trials.
    """
    logs = Logs.of(samples)
    found: list[tuple[float, float] | None] = [None] * len(samples)
    sources = [NoiseSource.TRIALS] * len(samples)
    for group in grouped(logs.spreads(steps), sources, groups, steps, background):
        if group.prior is None:
            continue
        variances, freedoms, _ = moderate_all(group.own, group.prior)
        quantiles = np.array([student_quantile(0.975, freedom) for freedom in freedoms])
        counts = logs.counts[group.places]
        half_widths = quantiles * np.sqrt(variances) / np.sqrt(np.maximum(counts, 1))
        for place, count, half_width in zip(group.places, counts.tolist(), half_widths.tolist(), strict=True):
            sample = samples[place]
            if len(sample) == count > 0:
                mean = math.fsum(sample) / count
                found[place] = mean * ratio(-half_width), mean * ratio(half_width)
    return found
