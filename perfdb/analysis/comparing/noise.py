"""How much the cells of a noise group vary by themselves: each cell's spread, the group's prior, and both together.

Three trials tell little about a spread, the many cells of a table tell much. So each cell's variance is moderated by
what its group has in common (Smyth 2004). All variances are of natural logarithms, whose standard deviation is the
coefficient of variation.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from operator import mul
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import special

from perfdb.analysis.comparing.distributions import Floats, fisher_quantile
from perfdb.analysis.comparing.spreads import Spread

# The most that a group may weigh: cells are never taken to be as alike as the fit of a few of them claims.
MOST_FREEDOM = 8.0
# So many cells it takes to tell how much the spreads themselves differ.
FEWEST_CELLS = 3
NOISY = 0.95


Freedoms = NDArray[np.intp]


class Prior(NamedTuple):
    """What the spreads of a group have in common: variance, the freedom it counts for, and the freedom behind it."""

    variance: float
    freedom: float
    total: int


class Moderated(NamedTuple):
    """The variance and freedom that a comparison uses; ``noisy``: the cell's own, far above its group's."""

    variance: float
    freedom: float
    noisy: bool = False


class Pool(NamedTuple):
    """What a group's prior is fitted from, as sums over its known spreads: one can be put in or taken out at no cost.

    Attributes:
        cells: How many spreads there are.
        freedom: Their degrees of freedom.
        squares: Their variances, each times its freedom.
        logs: The logarithms of their variances, each less what its freedom lets expect.
        log_squares: The squares of these.
        expected: The variance of these that their freedom explains.
    """

    cells: float = 0.0
    freedom: float = 0.0
    squares: float = 0.0
    logs: float = 0.0
    log_squares: float = 0.0
    expected: float = 0.0

    @classmethod
    def of(cls, spreads: Iterable[Spread]) -> Self:
        """All of a group; those that are not known tell nothing."""
        known = [(variance, freedom) for variance, freedom in spreads if freedom > 0 and variance > 0]
        return cls._of_known(*zip(*known, strict=True)) if known else cls()

    @classmethod
    def of_columns(cls, variances: Floats, freedoms: Freedoms) -> Self:
        """The same from a column of variances and one of their freedom."""
        known = (freedoms > 0) & (variances > 0)
        return cls._of_known(variances[known].tolist(), freedoms[known].tolist()) if known.any() else cls()

    @classmethod
    def _of_known(cls, variances: Sequence[float], freedoms: Sequence[int]) -> Self:
        # Cells have few different numbers of trials.
        bias = {freedom: _bias(freedom) for freedom in set(freedoms)}
        explained = {freedom: _trigamma(freedom / 2) for freedom in bias}
        logs = [math.log(variance) - bias[freedom] for variance, freedom in zip(variances, freedoms, strict=True)]
        expected = [explained[freedom] for freedom in freedoms]
        terms = (freedoms, map(mul, freedoms, variances), logs, map(mul, logs, logs), expected)
        return cls(len(variances), *map(math.fsum, terms))

    def exchanged(self, old: Spread, new: Spread) -> "Pool":
        """The same with one spread in place of another."""
        less, more = Pool.of([old]), Pool.of([new])
        return Pool(*(whole - one + other for whole, one, other in zip(self, less, more, strict=True)))

    def prior(self) -> Prior | None:
        """What the spreads have in common; None where none is known."""
        if not self.cells:
            return None
        excess = self._excess()
        if excess <= 0:
            return Prior(self.squares / self.freedom, MOST_FREEDOM, round(self.freedom))
        freedom = min(MOST_FREEDOM, 2 * inverse_trigamma(excess))
        return Prior(math.exp(self.logs / self.cells + _bias(freedom)), freedom, round(self.freedom))

    def _excess(self) -> float:
        """How much more the logarithms of the variances vary than their freedom explains; 0 for too few cells."""
        if self.cells < FEWEST_CELLS:
            return 0.0
        varied = self.log_squares - self.logs**2 / self.cells
        return varied / (self.cells - 1) - self.expected / self.cells


def fit_prior(spreads: Iterable[Spread]) -> Prior | None:
    """The common prior of a group's cells; None when none of them has a spread."""
    return Pool.of(spreads).prior()


# The cells of a table have few different numbers of trials, and these functions take long.
@lru_cache(maxsize=1024)
def _trigamma(value: float) -> float:
    return float(special.zeta(2, value))


@lru_cache(maxsize=1024)
def _bias(freedom: float) -> float:
    """The expected logarithm of a sample variance of this freedom, where the true variance is 1."""
    return float(special.digamma(freedom / 2)) - math.log(freedom / 2)


def inverse_trigamma(value: float) -> float:
    """The y whose trigamma is ``value`` > 0, by Newton's method on 1/trigamma, which is convex (Smyth 2004).

    Trigamma is Hurwitz' ζ(2, y), and its derivative −2·ζ(3, y).
    """
    if value < 1e-6:
        # Here trigamma is 1/y to the last digit, and its derivative underflows.
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
    """A cell's variance drawn towards its group's, each weighted by its freedom.

    A spread beyond the 95 % point of F is noisy and stands for itself. The freedom is never more than all cells
    together have, never less than 1.
    """
    used = moderate_all([own], prior)
    return Moderated(float(used.variances[0]), used.freedom(0), bool(used.noisy[0]))


class AllModerated(NamedTuple):
    """The same of all cells of a group, each a column.

    ``own`` is the freedom of each cell by itself, ``together`` by that the freedom of those that are not noisy.
    """

    variances: Floats
    noisy: NDArray[np.bool_]
    own: Freedoms
    together: Mapping[int, float]

    def freedom(self, place: int) -> float:
        """That of one cell."""
        own = int(self.own[place])
        return own if self.noisy[place] else self.together[own]

    @property
    def freedoms(self) -> list[float]:
        """Those of all."""
        cells = zip(self.own.tolist(), self.noisy.tolist(), strict=True)
        return [own if alone else self.together[own] for own, alone in cells]


def moderate_all(cells: Sequence[Spread], prior: Prior) -> AllModerated:
    """The variances of the cells of a group drawn towards what they have in common."""
    variances, freedoms = zip(*cells, strict=True)
    return moderate_columns(np.array(variances, np.float64), np.array(freedoms, np.intp), prior)


def moderate_columns(own: Floats, freedoms: Freedoms, prior: Prior) -> AllModerated:
    """The same from a column of variances and one of their freedom."""
    different = np.unique(freedoms).tolist()
    together = {freedom: max(1.0, min(prior.freedom + freedom, prior.total)) for freedom in different}
    limits = np.array([_limit(freedom, prior) for freedom in different])
    noisy = own / prior.variance > limits[np.searchsorted(different, freedoms)]
    drawn = (prior.freedom * prior.variance + freedoms * own) / (prior.freedom + freedoms)
    return AllModerated(np.where(noisy, own, drawn), noisy, freedoms, together)


def is_noisy(own: Spread, prior: Prior) -> bool:
    """Whether a cell varies more than chance allows in its group."""
    return own.variance / prior.variance > _limit(own.freedom, prior)


def _limit(freedom: int, prior: Prior) -> float:
    """How many times the variance of its group a cell may have by chance; one without freedom any."""
    return fisher_quantile(NOISY, freedom, prior.freedom) if freedom else math.inf
