"""Noise of cells: spread of each cell, prior of its group, and the moderated estimate.

Three trials tell little about a spread, many cells tell much, so a cell's variance is moderated by its group (Smyth
2004). Variances are of natural logarithms, whose standard deviation is the coefficient of variation.

A cell's own estimate is its *history*, the variance of its means in three or more earlier campaigns (pooled for two
configurations), else the *trials* of both sides. Cells of a group share a prior fitted to these. A group without any
takes the prior of earlier campaigns on the same machine, then of all workloads of the metric.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, chain, pairwise
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import special

from perfdb.analysis.comparison.comparison import Background, Noise, NoiseSource, Pair, Sample
from perfdb.analysis.comparison.spreads import Floats, Logged, Logs, Places, Spread, Spreads, fisher_quantile, usable

# The largest weight of a group: a fit of few cells overstates their similarity.
MOST_FREEDOM = 8.0
# The fewest cells that show how much spreads differ.
FEWEST_CELLS = 3
NOISY = 0.95
Freedoms = NDArray[np.intp]


class Prior(NamedTuple):
    """Common spread of a group: variance, its weight in degrees of freedom, and the total freedom."""

    variance: float
    freedom: float
    total: int


class Moderated(NamedTuple):
    """The variance and freedom used by a comparison."""

    variance: float
    freedom: float
    noisy: bool = False


class Pool(NamedTuple):
    """Sums over a group's known spreads, from which the prior is fitted.

    Attributes:
        cells: Number of spreads.
        freedom: Sum of the degrees of freedom.
        squares: Sum of variances times freedom.
        logs: Sum of the log variances, less the expectation at this freedom.
        log_squares: Sum of their squares.
        expected: Variance of the log variances that the freedom explains.
    """

    cells: float = 0.0
    freedom: float = 0.0
    squares: float = 0.0
    logs: float = 0.0
    log_squares: float = 0.0
    expected: float = 0.0

    def prior(self) -> Prior | None:
        """Fit the prior; None without spreads."""
        if not self.cells:
            return None
        excess = self._excess()
        if excess <= 0:
            return Prior(self.squares / self.freedom, MOST_FREEDOM, round(self.freedom))
        freedom = min(MOST_FREEDOM, 2 * inverse_trigamma(excess))
        return Prior(math.exp(self.logs / self.cells + _bias(freedom)), freedom, round(self.freedom))

    def _excess(self) -> float:
        """Return the excess variance of the log variances; 0 for few cells."""
        if self.cells < FEWEST_CELLS:
            return 0.0
        varied = self.log_squares - self.logs**2 / self.cells
        return varied / (self.cells - 1) - self.expected / self.cells


def pools(spreads: Spreads, sizes: Sequence[int]) -> list[Pool]:
    """Return the pool of each group, for consecutive cells of these sizes. The sums are exact."""
    known = np.flatnonzero((spreads.freedoms > 0) & (spreads.variances > 0))
    ends = np.searchsorted(known, list(accumulate(sizes, initial=0))).tolist()
    each = [term.tolist() for term in pool_terms(spreads.select(known))]
    return [
        Pool(end - start, *[math.fsum(term[start:end]) for term in each]) if start < end else Pool()
        for start, end in pairwise(ends)
    ]


def pool_terms(spreads: Spreads) -> list[Floats]:
    """Return the terms that known spreads add to the sums of a pool, in order of its fields."""
    variances, freedoms = spreads
    different, kinds = np.unique(freedoms, return_inverse=True)
    bias, explained = (
        np.array([known(freedom) for freedom in different.tolist()], np.float64)[kinds]
        for known in (_bias, lambda freedom: _trigamma(freedom / 2))
    )
    # ``math.log``: numpy's may differ in the last digit.
    logs = np.fromiter(map(math.log, variances.tolist()), np.float64, len(variances)) - bias
    return [freedoms.astype(np.float64), freedoms * variances, logs, logs * logs, explained]


def prior_of(spreads: Spreads) -> Prior | None:
    """Fit the prior of a group's cells; None without spreads."""
    return pools(spreads, [len(spreads.freedoms)])[0].prior()


def fit_prior(spreads: Iterable[Spread]) -> Prior | None:
    """Fit the prior of single spreads."""
    return prior_of(Spreads.from_each(spreads))


# Few different freedoms occur, and these functions are slow.
@lru_cache(maxsize=1024)
def _trigamma(value: float) -> float:
    return float(special.zeta(2, value))


@lru_cache(maxsize=1024)
def _bias(freedom: float) -> float:
    """Return the expected log of a sample variance of true variance 1."""
    return float(special.digamma(freedom / 2)) - math.log(freedom / 2)


def inverse_trigamma(value: float) -> float:
    """Solve trigamma(y) = ``value`` > 0 by Newton's method on 1/trigamma (Smyth 2004).

    Trigamma is Hurwitz' ζ(2, y), and its derivative −2·ζ(3, y).
    """
    if value < 1e-6:
        # Trigamma is 1/y to the last digit, and its derivative underflows.
        return 1 / value
    y = 0.5 + 1 / value
    for _ in range(100):
        trigamma = _trigamma(y)
        change = trigamma * (1 - trigamma / value) / (-2 * float(special.zeta(3, y)))
        y += change
        if abs(change) < 1e-12 * y:
            break
    return y


def moderate(own: Spread, prior: Prior) -> Moderated:
    """Shrink a cell's variance towards its group's, weighted by freedom.

    A spread beyond the 95 % point of F is noisy and stays. The freedom is at least 1 and at most that of all cells.
    """
    if is_noisy(own, prior):
        return Moderated(own.variance, own.freedom, noisy=True)
    variance = weighted_variance(own.variance, own.freedom, prior.variance, prior.freedom)
    return Moderated(variance, _together(own.freedom, prior))


_Number = TypeVar("_Number", float, Floats)


def weighted_variance(own: _Number, freedom: _Number, usual: _Number, weight: _Number) -> _Number:
    """Return the mean of two variances, weighted by freedom."""
    return (weight * usual + freedom * own) / (weight + freedom)


def _together(freedom: int, prior: Prior) -> float:
    """Return the freedom of a cell with its group."""
    return max(1.0, min(prior.freedom + freedom, prior.total))


class AllModerated(NamedTuple):
    """Moderated spreads of many cells as columns.

    ``own`` is each cell's freedom, ``kinds`` its index in ``together``, the freedoms of cells that are not noisy.
    """

    variances: Floats
    noisy: NDArray[np.bool_]
    own: Freedoms
    kinds: Places
    together: Sequence[float]

    def freedom(self, place: int) -> float:
        """Return the freedom of one cell."""
        return int(self.own[place]) if self.noisy[place] else self.together[self.kinds[place]]

    @property
    def freedoms(self) -> list[float]:
        """The freedoms of all cells."""
        cells = zip(self.own.tolist(), self.kinds.tolist(), self.noisy.tolist(), strict=True)
        return [own if alone else self.together[kind] for own, kind, alone in cells]

    def by_freedom(self, known: Callable[[float], float]) -> Floats:
        """Evaluate a function of the freedom for each cell; few freedoms differ."""
        found: Floats = np.array([known(freedom) for freedom in self.together], np.float64)[self.kinds]
        for place in np.flatnonzero(self.noisy).tolist():
            found[place] = known(int(self.own[place]))
        return found


def moderate_all(own: Spreads, priors: Sequence[Prior], sizes: Sequence[int]) -> AllModerated:
    """Shrink the variances of cells towards their groups; ``sizes`` are those of the groups."""
    variances, freedoms = own
    several = int(freedoms.max(initial=0)) + 1
    group = np.repeat(np.arange(len(priors)), sizes) if len(priors) > 1 else 0
    different, kinds = np.unique(group * several + freedoms, return_inverse=True)
    cells = [(priors[kind // several], kind % several) for kind in different.tolist()]
    together = [_together(freedom, prior) for prior, freedom in cells]
    limits = np.array([_limit(freedom, prior) for prior, freedom in cells])
    usual, weight = (np.array(each, np.float64)[group] for each in list(zip(*priors, strict=True))[:2])
    noisy = variances / usual > limits[kinds]
    moderated = weighted_variance(variances, freedoms.astype(np.float64), usual, weight)
    return AllModerated(np.where(noisy, variances, moderated), noisy, freedoms, kinds, together)


def is_noisy(own: Spread, prior: Prior) -> bool:
    """Return whether a cell varies more than chance allows in its group."""
    return own.variance / prior.variance > _limit(own.freedom, prior)


def _limit(freedom: int, prior: Prior) -> float:
    """Return the largest ratio to the group's variance by chance."""
    return fisher_quantile(NOISY, freedom, prior.freedom) if freedom else math.inf


FEWEST_CAMPAIGNS = 3


def estimate_noise(pairs: Sequence[Pair], background: Background) -> list[Noise]:
    """Return the noise of each pair of one table and metric."""
    return estimate_with_logs(pairs, background)[0]


def estimate_with_logs(pairs: Sequence[Pair], background: Background) -> tuple[list[Noise], Logged]:
    """Return the noise of each pair, and the logarithms of all sides."""
    samples, sources = _own_samples(pairs, background)
    sides = chain.from_iterable((pair.base, pair.new) for pair in pairs)
    logged = Logged(chain(sides, chain.from_iterable(samples)))
    groups, steps = [pair.group for pair in pairs], [pair.step for pair in pairs]
    return estimate_noises(logged.spreads(samples, steps), sources, groups, steps, background), logged


class Group(NamedTuple):
    """A noise group: indexes of its cells, their spreads, the prior and its source."""

    places: list[int]
    own: Spreads
    prior: Prior | None
    source: NoiseSource


def estimate_noises(
    own: Spreads,
    sources: Sequence[NoiseSource],
    groups: Sequence[Hashable],
    steps: Sequence[float | None],
    background: Background,
) -> list[Noise]:
    """Return the noise of each cell whose own spread is known."""
    found = [Noise(NoiseSource.NONE)] * len(sources)
    for group in noise_groups(own, sources, groups, steps, background):
        if group.prior is None:
            continue
        moderated = moderate_all(group.own, [group.prior], [len(group.places)])
        columns = (np.sqrt(moderated.variances), moderated.noisy, *group.own)
        used = zip(group.places, moderated.freedoms, *(column.tolist() for column in columns), strict=True)
        for place, freedom, sd, alone, variance, trials in used:
            source = sources[place] if variance > 0 else group.source
            found[place] = Noise(source, sd, freedom, alone, trials == 0)
    return found


def noise_groups(
    own: Spreads,
    sources: Sequence[NoiseSource],
    groups: Sequence[Hashable],
    steps: Sequence[float | None],
    background: Background,
) -> Iterator[Group]:
    """Yield the noise groups with their priors."""
    members: dict[Hashable, list[int]] = defaultdict(list)
    for place, group in enumerate(groups):
        members[group].append(place)
    for group, places in members.items():
        step = max((step for place in places if (step := steps[place]) is not None), default=None)
        mine = own.select(places)
        fallbacks = _fallbacks(group, step, own, background)
        yield Group(places, mine, *_prior(mine, [sources[place] for place in places], fallbacks))


def _own_samples(pairs: Sequence[Pair], background: Background) -> tuple[list[Sequence[Sample]], list[NoiseSource]]:
    """Return each cell's own samples: history if long enough, else trials."""
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
    return Logs.from_samples(samples).spreads([step] * len(samples))


def _prior(
    own: Spreads, sources: Sequence[NoiseSource], fallbacks: Iterable[tuple[NoiseSource, Spreads]]
) -> tuple[Prior | None, NoiseSource]:
    """Return a group's prior and its source."""
    prior = prior_of(own)
    if prior is not None:
        learnt = {source for variance, source in zip(own.variances.tolist(), sources, strict=True) if variance > 0}
        return prior, NoiseSource.TRIALS if NoiseSource.TRIALS in learnt else NoiseSource.HISTORY
    return _first(fallbacks)


def fallback_prior(
    group: Hashable, step: float | None, table: Spreads, background: Background
) -> tuple[Prior | None, NoiseSource]:
    """Return the prior of a group without spreads, and its source; ``table`` are all spreads."""
    return _first(_fallbacks(group, step, table, background))


def _first(fallbacks: Iterable[tuple[NoiseSource, Spreads]]) -> tuple[Prior | None, NoiseSource]:
    found = ((prior_of(spreads), source) for source, spreads in fallbacks)
    return next(((prior, source) for prior, source in found if prior is not None), (None, NoiseSource.NONE))
