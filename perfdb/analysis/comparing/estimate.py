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
from perfdb.analysis.comparing.noise import Prior, Spread, fit_prior, moderate, spread, usable
from perfdb.analysis.comparing.pair import Background, Pair, Sample

FEWEST_CAMPAIGNS = 3

_Priors = Mapping[Hashable, tuple[Prior | None, NoiseSource]]


def estimate_noise(pairs: Sequence[Pair], background: Background) -> list[Noise]:
    """The noise of each pair of one table and metric, in their order."""
    own = [_own(pair, background) for pair in pairs]
    priors = _priors(pairs, own, background)
    return [_noise(*each, *priors[pair.group]) for pair, each in zip(pairs, own, strict=True)]


def _own(pair: Pair, background: Background) -> tuple[Spread, NoiseSource]:
    """What the cell itself says: its history if that is long enough, else its trials."""
    histories = [usable(background.history.get(name, ())) for name in pair.configurations] if background.history else ()
    if histories and min(len(means) for means in histories) >= FEWEST_CAMPAIGNS:
        return spread(histories, pair.step), NoiseSource.HISTORY
    base, new = () if pair.base_is_mean else pair.base, () if pair.new_is_mean else pair.new
    return spread((base, new), pair.step), NoiseSource.TRIALS


def _priors(pairs: Sequence[Pair], own: Sequence[tuple[Spread, NoiseSource]], background: Background) -> _Priors:
    groups: dict[Hashable, list[tuple[Spread, NoiseSource]]] = defaultdict(list)
    steps: dict[Hashable, float] = {}
    for pair, each in zip(pairs, own, strict=True):
        groups[pair.group].append(each)
        if pair.step is not None:
            steps[pair.group] = max(steps.get(pair.group, 0.0), pair.step)
    elsewhere = [each for each, _ in own]
    return {
        group: _prior(members, _fallbacks(group, steps.get(group), elsewhere, background))
        for group, members in groups.items()
    }


def _fallbacks(
    group: Hashable, step: float | None, table: Sequence[Spread], background: Background
) -> Iterable[tuple[NoiseSource, Sequence[Spread]]]:
    yield NoiseSource.EARLIER, _spreads(background.earlier.get(group, ()), step)
    yield NoiseSource.METRIC, _spreads(background.metric, step) or table


def _spreads(samples: Sequence[Sample], step: float | None) -> list[Spread]:
    return [spread([sample], step) for sample in samples]


def _prior(
    members: Sequence[tuple[Spread, NoiseSource]], fallbacks: Iterable[tuple[NoiseSource, Sequence[Spread]]]
) -> tuple[Prior | None, NoiseSource]:
    """A group's prior and where it comes from."""
    prior = fit_prior([each for each, _ in members])
    if prior is not None:
        learnt = {source for each, source in members if each.known}
        return prior, NoiseSource.TRIALS if NoiseSource.TRIALS in learnt else NoiseSource.HISTORY
    found = ((fit_prior(spreads), source) for source, spreads in fallbacks)
    return next(((prior, source) for prior, source in found if prior is not None), (None, NoiseSource.NONE))


def _noise(own: Spread, source: NoiseSource, prior: Prior | None, common: NoiseSource) -> Noise:
    """The cell's noise; its source is its own where it has a spread, else its group's."""
    if prior is None:
        return Noise(NoiseSource.NONE)
    used = moderate(own, prior)
    return Noise(
        source if own.known else common, math.sqrt(used.variance), used.freedom, used.noisy, borrowed=own.freedom == 0
    )
