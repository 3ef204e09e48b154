"""Noise of single samples: of one trial, and of the mean of a cell's trials."""

import math
from collections.abc import Hashable, Sequence
from itertools import accumulate

from perfdb.analysis.verdicts.borrowing import Drawn, Prior, Spread, fit_trials
from perfdb.analysis.verdicts.distributions import exponential, student_quantile
from perfdb.analysis.verdicts.trials import EQUAL

Sample = Sequence[float]
Interval = tuple[float, float] | None


def find_spread(sample: Sample, step: float | None) -> Drawn:
    """Return a sample's variance of logarithms with freedom, 0 if unknown; ``step`` is printed."""
    count = len(sample)
    if count < 2 or min(sample) <= 0:
        return Drawn(0.0, 0)
    logs = [*map(math.log, sample)]
    middle = math.fsum(logs) / count
    variance = math.fsum((log - middle) ** 2 for log in logs) / (count - 1)
    variance = 0.0 if variance < EQUAL else variance
    if step:
        variance = max(variance, (step * count / math.fsum(sample)) ** 2 / 12)
    return Drawn(variance, count - 1 if variance else 0)


def find_noise(
    samples: Sequence[Sample], kinds: Sequence[Hashable], steps: Sequence[float | None]
) -> tuple[list[Drawn | None], Prior | None]:
    """Return the noise of one trial of each sample, drawn to that of its kind, and what the kinds have in common.

    A kind without repetitions takes the usual noise of the kind with the largest; None if nothing was repeated.
    """
    spreads = [*map(find_spread, samples, steps)]
    prior = fit_trials([Spread(*spread, kind) for spread, kind in zip(spreads, kinds, strict=True)])
    if prior is None:
        return [None] * len(samples), None
    largest = max(prior.usual.values(), key=lambda usual: usual.variance)
    drawn = [prior.draw(*spread, prior.usual.get(kind, largest)) for spread, kind in zip(spreads, kinds, strict=True)]
    return list(drawn), prior


def mean_intervals(samples: Sequence[Sample], noises: Sequence[Drawn | None]) -> list[Interval]:
    """Return each mean's 95% interval, mean · exp(± t·s/√n), if known."""
    return [_reach(sample, noise, 0) for sample, noise in zip(samples, noises, strict=True)]


def expect_trial(sample: Sample, noise: Drawn | None) -> Interval:
    """Return where a further trial lies with 95%: mean · exp(± t · s · √(1 + 1 / n)); None as for a mean."""
    return _reach(sample, noise, 1)


def _reach(sample: Sample, noise: Drawn | None, further: int) -> Interval:
    """Return the interval of the mean, or of ``further`` = 1 trial."""
    if noise is None or not len(sample) or min(sample) <= 0:
        return None
    half = student_quantile(0.975, noise.freedom) * math.sqrt(noise.variance * (further + 1 / len(sample)))
    mean = math.fsum(sample) / len(sample)
    return mean * exponential(-half), mean * exponential(half)


def split(values: Sequence[float], sizes: Sequence[int]) -> list[Sequence[float]]:
    """Return the samples of values that stand end to end."""
    return [values[end - size : end] for size, end in zip(sizes, accumulate(sizes), strict=True)]
