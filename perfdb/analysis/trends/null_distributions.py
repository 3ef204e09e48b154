"""The distribution of the largest t over all splits of an unchanged series, from simulated tables.

``size`` is for values and allows for autocorrelation up to 0.5, ``rank`` for normal scores of ranks.
"""

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]

LEAST_P = 1e-12
# Up to so many points the distribution of ranks is an exact step function.
_EXACT = 16
_TIE = 1e-6


class _Shape(NamedTuple):
    """P(T) = 1 − (1 − 2·P(t_ν > T))^K."""

    freedom: float
    choices: float

    def p(self, statistic: Floats) -> Floats:
        """Return the p of statistics."""
        tails = 2 * special.stdtr(self.freedom, -statistic)
        found: Floats = -np.expm1(self.choices * np.log1p(-np.minimum(tails, 1 - 1e-16)))
        return found

    def quantile(self, p: float) -> float:
        """Return the statistic of a p."""
        tail = -math.expm1(math.log1p(-p) / self.choices) / 2
        return -float(special.stdtrit(self.freedom, tail))


@cache
def _tables() -> Mapping[str, Any]:
    text = (resources.files(__package__) / "null_tables.json").read_text(encoding="utf-8")
    found: Mapping[str, Any] = json.loads(text)
    return found


@cache
def _shape(kind: str, points: int) -> _Shape:
    """Return the shape for a number of points: linear in its logarithm, the ends held."""
    table = _tables()[kind]
    at, known = math.log(points), np.log(table["n"])
    return _Shape(float(np.interp(at, known, table["nu"])), float(np.interp(at, known, table["K"])))


def size_p(statistic: Floats, points: int) -> Floats:
    """Return the p of largest t of values, already divided by the root of F."""
    return np.maximum(_shape("size", points).p(statistic), LEAST_P)


def rank_p(statistic: Floats, points: int) -> Floats:
    """Return the p of largest t of normal scores."""
    if points > _EXACT:
        return np.maximum(_shape("rank", points).p(statistic), LEAST_P)
    table = _tables()["rank_small"][str(points)]
    knots: Sequence[float] = table["T"][::-1]
    ps: Floats = np.array([1.0, *table["p"][::-1]])
    places = np.searchsorted(np.asarray(knots), statistic + _TIE, side="right")
    return np.maximum(ps[places], LEAST_P)


def size_quantile(p: float, points: int) -> float:
    """Return the largest t of values that an unchanged series exceeds with this p."""
    return _shape("size", points).quantile(p)
