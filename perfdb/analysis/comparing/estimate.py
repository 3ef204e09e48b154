"""Which estimate of the noise each cell of a table is judged by: the first source that has one.

1. **History**: where at least three earlier campaigns hold the cell, the variance of their means. Trials inside one
   campaign cannot see what a restart or another day changes. Where two configurations are compared, both must have
   such a history, and their variances are pooled with (H_A − 1) + (H_B − 1) degrees of freedom.
2. **Trials** of the two sides.

Cells of one noise group share one prior, fitted to what each has of these two. A group in which no cell has either
takes its prior from

3. the trials of earlier campaigns on the same machine, then
4. the trials of all workloads of the metric.

Without any of them there is no noise estimate, and a difference is all that can be said.
"""

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence

from perfdb.analysis.comparing.comparison import Noise, NoiseSource
from perfdb.analysis.comparing.noise import Prior, fit_prior, moderate
from perfdb.analysis.comparing.pair import Background, Pair, Sample
from perfdb.analysis.comparing.spreads import Logs, Spread, spreads, usable

FEWEST_CAMPAIGNS = 3

_Priors = Mapping[Hashable, tuple[Prior | None, NoiseSource]]


def estimate_noise(pairs: Sequence[Pair], background: Background) -> list[Noise]:
    """The noise of each pair of one table and metric, in their order."""
    samples, sources = _own_samples(pairs, background)
    steps = [pair.step for pair in pairs]
    return noises(spreads(samples, steps), sources, [pair.group for pair in pairs], steps, background)


def noises(
    own: Sequence[Spread],
    sources: Sequence[NoiseSource],
    groups: Sequence[Hashable],
    steps: Sequence[float | None],
    background: Background,
) -> list[Noise]:
    """The noise of each cell whose own spread is known: where that comes from, its noise group and its step."""
    priors = _priors(own, sources, groups, steps, background)
    return [_noise(each, source, *priors[group]) for each, source, group in zip(own, sources, groups, strict=True)]


def _own_samples(pairs: Sequence[Pair], background: Background) -> tuple[list[Sequence[Sample]], list[NoiseSource]]:
    """What each cell itself says of its noise: its history if that is long enough, else its trials."""
    samples: list[Sequence[Sample]] = [
        (() if pair.base_is_mean else pair.base, () if pair.new_is_mean else pair.new) for pair in pairs
    ]
    sources = [NoiseSource.TRIALS] * len(pairs)
    for at, pair in enumerate(pairs) if background.history else ():
        histories = [usable(background.history.get(name, ())) for name in pair.configurations]
        if histories and min(map(len, histories)) >= FEWEST_CAMPAIGNS:
            samples[at], sources[at] = histories, NoiseSource.HISTORY
    return samples, sources


def _priors(
    own: Sequence[Spread],
    sources: Sequence[NoiseSource],
    groups: Sequence[Hashable],
    steps: Sequence[float | None],
    background: Background,
) -> _Priors:
    members: dict[Hashable, list[tuple[Spread, NoiseSource]]] = defaultdict(list)
    coarsest: dict[Hashable, float] = {}
    for each, source, group, step in zip(own, sources, groups, steps, strict=True):
        members[group].append((each, source))
        if step is not None and step > coarsest.get(group, 0.0):
            coarsest[group] = step
    return {
        group: _prior(each, _fallbacks(group, coarsest.get(group), own, background)) for group, each in members.items()
    }


def _fallbacks(
    group: Hashable, step: float | None, table: Sequence[Spread], background: Background
) -> Iterable[tuple[NoiseSource, Sequence[Spread]]]:
    yield NoiseSource.EARLIER, _spreads(background.earlier.get(group, ()), step)
    yield NoiseSource.METRIC, _spreads(background.metric, step) or table


def _spreads(samples: Sequence[Sample], step: float | None) -> list[Spread]:
    return Logs(samples).spreads([step] * len(samples))


def _prior(
    members: Sequence[tuple[Spread, NoiseSource]], fallbacks: Iterable[tuple[NoiseSource, Sequence[Spread]]]
) -> tuple[Prior | None, NoiseSource]:
    """A group's prior and where it comes from."""
    prior = fit_prior([each for each, _ in members])
    if prior is not None:
        learnt = {source for (variance, _), source in members if variance > 0}
        return prior, NoiseSource.TRIALS if NoiseSource.TRIALS in learnt else NoiseSource.HISTORY
    found = ((fit_prior(spreads), source) for source, spreads in fallbacks)
    return next(((prior, source) for prior, source in found if prior is not None), (None, NoiseSource.NONE))


def _noise(own: Spread, source: NoiseSource, prior: Prior | None, common: NoiseSource) -> Noise:
    """The cell's noise; its source is its own where it has a spread, else its group's."""
    if prior is None:
        return Noise(NoiseSource.NONE)
    variance, freedom, noisy = moderate(own, prior)
    return Noise(source if own.variance > 0 else common, math.sqrt(variance), freedom, noisy, own.freedom == 0)
