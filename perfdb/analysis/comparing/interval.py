"""The interval of a cell's own mean: the error bars of tables without a base."""

import math
from collections.abc import Hashable, Sequence

from perfdb.analysis.comparing.comparison import Noise, NoiseSource
from perfdb.analysis.comparing.distributions import ratio, student_quantile
from perfdb.analysis.comparing.estimate import noises
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
    known = noises(logs.spreads(steps), [NoiseSource.TRIALS] * len(samples), groups, steps, background)
    whole = [len(sample) == count > 0 for sample, count in zip(samples, logs.counts.tolist(), strict=True)]
    return [
        _interval(sample, noise) if full else None for full, sample, noise in zip(whole, samples, known, strict=True)
    ]


def _interval(sample: Sample, noise: Noise) -> tuple[float, float] | None:
    _, sd, freedom, _, _ = noise
    if sd is None or freedom is None:
        return None
    count = len(sample)
    mean, half_width = math.fsum(sample) / count, student_quantile(0.975, freedom) * sd / math.sqrt(count)
    return mean * ratio(-half_width), mean * ratio(half_width)
