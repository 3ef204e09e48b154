"""Noise of single samples: of one trial, and of the mean of a cell's trials."""

import math
from collections.abc import Hashable, Sequence
from itertools import accumulate

import numpy as np

from perfdb.analysis.verdicts.borrowing import Drawn, Prior, Spread, fit_trials
from perfdb.analysis.verdicts.distributions import exponential, student_quantile
from perfdb.analysis.verdicts.trials import EQUAL

Sample = Sequence[float]
Interval = tuple[float, float] | None


def find_spreads(samples: Sequence[Sample], steps: Sequence[float | None]) -> list[Drawn]:
    """Return the variance of the logarithms of each sample with its degrees of freedom, 0 if nothing is known.

    ``steps`` are one in the last printed digit of each sample, None for values that are not printed.
    """
    sizes = np.array([len(sample) for sample in samples], np.intp)
    values = np.array([value for sample in samples for value in sample], np.float64)
    if not len(values):
        return [Drawn(0.0, 0)] * len(samples)
    cell = np.repeat(np.arange(len(sizes)), sizes)
    some, freedoms = np.maximum(sizes, 1), sizes - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(values)
        means = np.bincount(cell, logs, len(sizes)) / some
        variances = np.bincount(cell, (logs - means[cell]) ** 2, len(sizes)) / np.maximum(freedoms, 1)
    middles = np.bincount(cell, values, len(sizes)) / some
    found = []
    for variance, freedom, middle, step in zip(
        variances.tolist(), freedoms.tolist(), middles.tolist(), steps, strict=True
    ):
        # A sample with a value that is not positive has no variance of logarithms.
        if freedom < 1 or not math.isfinite(variance):
            found.append(Drawn(0.0, 0))
            continue
        own = 0.0 if variance < EQUAL else variance
        least = (step / middle) ** 2 / 12 if step else 0.0
        found.append(Drawn(max(own, least), freedom) if own or least else Drawn(0.0, 0))
    return found


def find_noise(
    samples: Sequence[Sample], kinds: Sequence[Hashable], steps: Sequence[float | None]
) -> tuple[list[Drawn | None], Prior | None]:
    """Return the noise of one trial of each sample, drawn to that of its kind, and what the kinds have in common.

    A kind without repetitions takes the usual noise of the kind with the largest; None if nothing was repeated.
    """
    spreads = find_spreads(samples, steps)
    prior = fit_trials([Spread(*spread, kind) for spread, kind in zip(spreads, kinds, strict=True)])
    if prior is None:
        return [None] * len(samples), None
    largest = max(prior.usual.values(), key=lambda usual: usual.variance)
    drawn = [prior.draw(*spread, prior.usual.get(kind, largest)) for spread, kind in zip(spreads, kinds, strict=True)]
    return list(drawn), prior


def mean_intervals(samples: Sequence[Sample], noises: Sequence[Drawn | None]) -> list[Interval]:
    """Return the 95 % interval of each sample's mean: mean · exp(± t · s / √n).

    None without noise, for an empty sample, and where a trial is not positive.
    """
    found: list[Interval] = []
    for sample, noise in zip(samples, noises, strict=True):
        if noise is None or not len(sample) or min(sample) <= 0:
            found.append(None)
            continue
        half = student_quantile(0.975, noise.freedom) * math.sqrt(noise.variance / len(sample))
        mean = math.fsum(sample) / len(sample)
        found.append((mean * exponential(-half), mean * exponential(half)))
    return found


def split(values: Sequence[float], sizes: Sequence[int]) -> list[Sequence[float]]:
    """Return the samples of values that stand end to end."""
    return [values[end - size : end] for size, end in zip(sizes, accumulate(sizes), strict=True)]
