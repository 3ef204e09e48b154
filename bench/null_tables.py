"""The null distributions of trends made anew: ``python -m bench.null_tables [--draws N] [--store]``.

Unchanged series are simulated, and the largest t over all splits is taken by the product's own code. Without
``--store`` the p that the stored tables give at the new quantiles is printed below the p that is right.

Two tables have, by number of points, ν and K of P(T) = 1 − (1 − 2·P(t_ν > T))^K: ``size`` for values, at each p the
largest quantile of noise with autocorrelation 0, 0.25 and 0.5; ``rank`` for normal scores. ``rank_small`` has the steps
of the distribution of ``rank`` for up to 16 points.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from bench.calibration import correlate
from perfdb.analysis import trends
from perfdb.analysis.trends import noise
from perfdb.analysis.trends.splits import best_splits, normal_scores, rank_p, size_p

RESULT = Path(trends.__file__).with_name("null_tables.json")
DRAWS = 100_000
POINTS = (6, 7, 8, 9, 10, 12, 14, 16, 20, 25, 30, 40, 50, 70, 100, 150, 200, 300)
SMALL = range(6, 17)
# The distribution is fitted to these p, of which the smaller matter most.
PS = (0.2, 0.1, 0.05, 0.02, 0.01, 0.005)
_KEPT = 1 - np.array(PS)
_CORRELATIONS = (0.0, 0.25, 0.5)
# Steps of the small tables: up to this p, and none that is less than a tenth above the one before.
_LARGEST_P, _APART = 0.35, 1.1
_BLOCK = 2_000_000

Floats = NDArray[np.float64]


def size_statistics(dice: np.random.Generator, correlation: float, draws: int, points: int) -> Floats:
    """Return the largest t of unchanged series of one group, divided by the root of F."""
    tamed = noise.tame(correlate(dice.normal(size=(draws, points)), correlation))
    own = noise.own_autocorrelation(tamed)
    group = noise.learn_group(own.tolist(), [points] * draws)
    inflation = np.array([noise.inflation(group.draw(each, points)) for each in own.tolist()])
    found: Floats = best_splits(tamed)[0] / np.sqrt(inflation)
    return found


def rank_statistics(dice: np.random.Generator, draws: int, points: int) -> Floats:
    """Return the largest t of the normal scores of unchanged series."""
    return best_splits(normal_scores(dice.normal(size=(draws, points))))[0]


def size_quantiles(dice: np.random.Generator, draws: int, points: int) -> Floats:
    """Return for each p the largest quantile of any autocorrelation."""
    found = [np.quantile(size_statistics(dice, each, draws, points), _KEPT) for each in _CORRELATIONS]
    quantiles: Floats = np.max(found, axis=0)
    return quantiles


def rank_quantiles(dice: np.random.Generator, draws: int, points: int) -> Floats:
    """Return for each p the quantile of the normal scores."""
    quantiles: Floats = np.quantile(rank_statistics(dice, draws, points), _KEPT)
    return quantiles


def fit(quantiles: Floats) -> tuple[float, float]:
    """Return ν and K of the best fit by the logarithm of p."""

    def off(logs: Floats) -> Floats:
        freedom, choices = np.exp(logs)
        tails = 2 * special.stdtr(freedom, -quantiles)
        p = -np.expm1(choices * np.log1p(-np.minimum(tails, 1 - 1e-16)))
        found: Floats = np.log(np.maximum(p, 1e-300)) - np.log(PS)
        return found

    limits = (np.log([1.0, 0.1]), np.log([400.0, 500.0]))
    freedom, choices = np.exp(optimize.least_squares(off, np.log([10.0, 5.0]), bounds=limits).x)
    return round(float(freedom), 4), round(float(choices), 4)


def steps_of(statistics: Floats) -> dict[str, list[float]]:
    """Return the steps of a distribution of few values: ``T`` falling, and how often a draw is at least as large."""
    values, counts = np.unique(np.round(statistics, 6), return_counts=True)
    tails = np.cumsum(counts[::-1]) / len(statistics)
    kept: dict[str, list[float]] = {"T": [], "p": []}
    for value, p in zip(values[::-1].tolist(), tails.tolist(), strict=True):
        if p <= _LARGEST_P and not (kept["p"] and p < _APART * kept["p"][-1]):
            kept["T"].append(value)
            kept["p"].append(float(f"{p:.3g}"))
    return kept


def make_tables(draws: int) -> dict[str, Any]:
    """Return all tables."""
    dice = np.random.default_rng(7)
    tables: dict[str, Any] = {}
    for kind, make in (("size", size_quantiles), ("rank", rank_quantiles)):
        found = [fit(make(dice, min(draws, _BLOCK // points), points)) for points in POINTS]
        tables[kind] = {"n": list(POINTS), "nu": [nu for nu, _ in found], "K": [choices for _, choices in found]}
    return tables | {"rank_small": {str(each): steps_of(rank_statistics(dice, draws, each)) for each in SMALL}}


def compare(draws: int, points: Sequence[int] = POINTS) -> Iterator[tuple[int, Floats, Floats]]:
    """Yield (points, p of size, p of rank) that the stored tables give at new quantiles, which stand for ``PS``."""
    dice = np.random.default_rng(8)
    for each in points:
        some = min(draws, _BLOCK // each)
        yield each, size_p(size_quantiles(dice, some, each), each), rank_p(rank_quantiles(dice, some, each), each)


def main() -> int:
    """Compare the stored tables with new ones, or store new ones."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=DRAWS, help="series for each number of points and kind of noise")
    parser.add_argument("--store", action="store_true", help="replace the stored tables")
    chosen = parser.parse_args()
    if chosen.store:
        RESULT.write_text(json.dumps(make_tables(chosen.draws)) + "\n", encoding="utf-8")
        return 0
    titles = "".join(f"{p:>9}" for p in PS)
    sys.stdout.write(f"points  size:{titles}   rank:{titles}\n")
    for points, size, rank in compare(chosen.draws):
        figures = ["".join(f"{p:9.4f}" for p in each) for each in (size, rank)]
        sys.stdout.write(f"{points:6}       {figures[0]}         {figures[1]}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
