"""The interval of a cell's own mean: the error bars of tables without a base."""

import math
from collections.abc import Hashable, Sequence

from perfdb.analysis.comparing.comparison import Noise
from perfdb.analysis.comparing.distributions import ratio_interval, student_quantile
from perfdb.analysis.comparing.estimate import estimate_noise
from perfdb.analysis.comparing.noise import usable
from perfdb.analysis.comparing.pair import NOTHING_KNOWN, Background, Pair, Sample


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
    sides = [Pair((), sample, group, step) for sample, group, step in zip(samples, groups, steps, strict=True)]
    noises = estimate_noise(sides, background)
    return [_interval(sample, noise) for sample, noise in zip(samples, noises, strict=True)]


def _interval(sample: Sample, noise: Noise) -> tuple[float, float] | None:
    if noise.sd is None or noise.freedom is None or not sample or len(usable(sample)) < len(sample):
        return None
    mean = math.fsum(sample) / len(sample)
    low, high = ratio_interval(0.0, student_quantile(0.975, noise.freedom) * noise.sd / math.sqrt(len(sample)))
    return mean * low, mean * high
