"""Test plans: what is planned, what is there, how many trials are missing."""

import pytest

from perfdb.analysis.insights.plan_coverage import Coverage, coverage, parse_part, primary_measures
from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.tables.observations import Observations
from perfdb.analysis.tests.archive import DIMENSIONS, MEASURES, observations


def covered(trials: int | None = None, delta: float = 0.02, **lists: list[object]) -> Coverage:
    (found,) = coverage([parse_part("all", lists, trials)], observations(), delta)
    return found


def test_it_works() -> None:
    found = covered(3, workload=["RR"], device=["OSA", "LAN"], mtu=["1500", "8K"], users=[1, 10])
    assert (found.part.size, len(found.cells), found.measured, found.missing) == (8, 8, 4, 12)
    by_key = {cell.key: cell for cell in found.cells}
    assert by_key["RR", "OSA", 1500, 10].runs == (103, 104, 105)
    assert by_key["RR", "OSA", 1500, 10].missing == 0
    assert by_key["RR", "OSA", 8192, 1].missing == 3


def test_how_many_trials_follows_from_the_noise() -> None:
    few, many = covered(delta=0.05, device=["OSA"], users=[1, 10]), covered(delta=0.002, device=["OSA"], users=[1, 10])
    assert [cell.needed for cell in few.cells] == [2, 2]
    assert all(cell.needed is not None and cell.needed > 100 for cell in many.cells)
    assert many.missing == sum((cell.needed or 0) - len(cell.runs) for cell in many.cells)


def test_without_any_noise_one_trial_is_enough_to_be_there() -> None:
    single = Observations(DIMENSIONS, MEASURES, [row for row in observations().rows if row[6] == 1])
    (found,) = coverage([parse_part("p", {"device": ["OSA", "New"], "mtu": [1500], "users": [1]})], single, 0.02)
    assert [(cell.needed, cell.missing) for cell in found.cells] == [(None, 0), (None, 1)]


def test_the_rates_of_the_planned_workloads_are_read() -> None:
    parts = [parse_part("a", {"workload": ["RR", "STRP"]}), parse_part("b", {"workload": ["RR 200/32K"]})]
    assert [measure.metric for measure in primary_measures(parts)] == ["trans_per_s", "mb_per_s"]
    assert [measure.metric for measure in primary_measures([parse_part("c", {"users": [1]})])] == [
        "trans_per_s",
        "mb_per_s",
    ]


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ({}, "names no dimension"),
        ({"speed": [1]}, "'speed' is not a dimension"),
        ({"mtu": ["wide"]}, "'wide' is not a size"),
        ({"trial": [1]}, "cannot be planned"),
        ({"users": []}, "plans no value of users"),
        ({"users": list(range(200)), "mtu": list(range(1, 200))}, "at most 20000"),
    ],
)
def test_what_is_no_plan_is_refused(lists: dict[str, list[object]], message: str) -> None:
    with pytest.raises(QueryError, match=message):
        parse_part("p", lists)
