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

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from perfdb.analysis.comparison.comparison import Noise, NoiseSource
from perfdb.analysis.comparison.noise_prior import Prior, moderate_all, prior_of
from perfdb.analysis.comparison.pair import Background, Pair, Sample
from perfdb.analysis.comparison.spreads import Logged, Logs, Spreads, usable

FEWEST_CAMPAIGNS = 3


def estimate_noise(pairs: Sequence[Pair], background: Background) -> list[Noise]:
    """The noise of each pair of one table and metric, in their order."""
    return estimate_with_logs(pairs, background)[0]


def estimate_with_logs(pairs: Sequence[Pair], background: Background) -> tuple[list[Noise], Logged]:
    """The same, and the logarithms of all sides of the pairs, which it takes."""
    samples, sources = _own_samples(pairs, background)
    sides = chain.from_iterable((pair.base, pair.new) for pair in pairs)
    logged = Logged(chain(sides, chain.from_iterable(samples)))
    groups, steps = [pair.group for pair in pairs], [pair.step for pair in pairs]
    return noises(logged.spreads(samples, steps), sources, groups, steps, background), logged


class Group(NamedTuple):
    """A noise group: the places of its cells and their spreads, its prior if there is one, and where that is from."""

    places: list[int]
    own: Spreads
    prior: Prior | None
    source: NoiseSource


def noises(
    own: Spreads,
    sources: Sequence[NoiseSource],
    groups: Sequence[Hashable],
    steps: Sequence[float | None],
    background: Background,
) -> list[Noise]:
    """The noise of each cell whose own spread is known: where that comes from, its noise group and its step."""
    found = [Noise(NoiseSource.NONE)] * len(sources)
    for group in grouped(own, sources, groups, steps, background):
        if group.prior is None:
            continue
        moderated = moderate_all(group.own, [group.prior], [len(group.places)])
        columns = (np.sqrt(moderated.variances), moderated.noisy, *group.own)
        used = zip(group.places, moderated.freedoms, *(column.tolist() for column in columns), strict=True)
        for place, freedom, sd, alone, variance, trials in used:
            # Its own source where the cell has a spread, else its group's.
            source = sources[place] if variance > 0 else group.source
            found[place] = Noise(source, sd, freedom, alone, trials == 0)
    return found


def grouped(
    own: Spreads,
    sources: Sequence[NoiseSource],
    groups: Sequence[Hashable],
    steps: Sequence[float | None],
    background: Background,
) -> Iterator[Group]:
    """The cells by their noise groups, each with the prior that its cells share."""
    members: dict[Hashable, list[int]] = defaultdict(list)
    for place, group in enumerate(groups):
        members[group].append(place)
    for group, places in members.items():
        step = max((step for place in places if (step := steps[place]) is not None), default=None)
        mine = own.only(places)
        fallbacks = _fallbacks(group, step, own, background)
        yield Group(places, mine, *_prior(mine, [sources[place] for place in places], fallbacks))


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


def _fallbacks(
    group: Hashable, step: float | None, table: Spreads, background: Background
) -> Iterable[tuple[NoiseSource, Spreads]]:
    yield NoiseSource.EARLIER, _spreads(background.earlier.get(group, ()), step)
    yield NoiseSource.METRIC, _spreads(background.metric, step) if background.metric else table


def _spreads(samples: Sequence[Sample], step: float | None) -> Spreads:
    return Logs.of(samples).spreads([step] * len(samples))


def _prior(
    own: Spreads,
    sources: Sequence[NoiseSource],
    fallbacks: Iterable[tuple[NoiseSource, Spreads]],
) -> tuple[Prior | None, NoiseSource]:
    """A group's prior and where it comes from."""
    prior = prior_of(own)
    if prior is not None:
        learnt = {source for variance, source in zip(own.variances.tolist(), sources, strict=True) if variance > 0}
        return prior, NoiseSource.TRIALS if NoiseSource.TRIALS in learnt else NoiseSource.HISTORY
    return _first(fallbacks)


def fallback_prior(
    group: Hashable, step: float | None, table: Spreads, background: Background
) -> tuple[Prior | None, NoiseSource]:
    """The prior of a group none of whose cells has a spread, and where it comes from; ``table`` are all spreads."""
    return _first(_fallbacks(group, step, table, background))


def _first(fallbacks: Iterable[tuple[NoiseSource, Spreads]]) -> tuple[Prior | None, NoiseSource]:
    found = ((prior_of(spreads), source) for source, spreads in fallbacks)
    return next(((prior, source) for prior, source in found if prior is not None), (None, NoiseSource.NONE))
