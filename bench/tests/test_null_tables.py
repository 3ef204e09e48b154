"""The stored null distributions of trends are those that a simulation makes anew."""

from itertools import permutations

import numpy as np
import pytest

from bench.null_tables import PS, compare, fit, make_tables, size_quantiles, steps_of
from perfdb.analysis.trends.splits import best_splits, normal_scores, rank_p


@pytest.mark.parametrize("points", [12, 20, 50])
def test_stored_and_new_quantiles_agree(points: int) -> None:
    ((_, size, rank),) = compare(8000, [points])
    wanted = np.array(PS)
    # 8,000 draws know a p of 0.01 to 11 %; the smaller ones are too rare.
    told = wanted >= 0.01
    assert size[told] == pytest.approx(wanted[told], rel=0.35)
    assert rank[told] == pytest.approx(wanted[told], rel=0.4)


@pytest.mark.parametrize("points", [6, 7, 8])
def test_the_smallest_tables_hold_for_all_orders(points: int) -> None:
    every = np.array(list(permutations(range(points))), np.float64)
    found, _ = best_splits(normal_scores(every))
    steps = steps_of(found)
    assert len(steps["T"]) >= 2
    for statistic, p in zip(steps["T"], steps["p"], strict=True):
        assert rank_p(np.array([statistic]), points)[0] == pytest.approx(p, rel=0.02)


def test_a_fit_gives_back_the_p_of_the_quantiles() -> None:
    dice = np.random.default_rng(1)
    freedom, choices = fit(size_quantiles(dice, 8000, 30))
    assert freedom == pytest.approx(19, rel=0.5)
    assert choices == pytest.approx(5.9, rel=0.5)


def test_tables_are_made_in_the_stored_form() -> None:
    tables = make_tables(300)
    assert set(tables) == {"size", "rank", "rank_small"}
    assert len(tables["size"]["nu"]) == len(tables["size"]["K"]) == len(tables["rank"]["n"]) == 18
    assert tables["rank_small"]["8"]["p"] == sorted(tables["rank_small"]["8"]["p"])
