"""Pairs of experiments that are equal but for one dimension, and why others have no partner."""

import pytest

from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.tables.matched_pairs import Matched, Sides, match_experiments, promising_pairs
from perfdb.analysis.tables.observations import Observations, Row
from perfdb.analysis.tables.tabulate import tabulate
from perfdb.analysis.tests.archive import DIMENSIONS, MEASURES, observations, parsed

NAMES = ("level", "campaign", "device", "mtu", "users", "trial", "run_id")


def given(*keys: tuple[object, ...]) -> Observations:
    rows: list[Row] = [(number, *key, 1, f"r{number}", 100.0 + number) for number, key in enumerate(keys)]
    return Observations(NAMES, MEASURES[:1], rows)


def reasons(matched: Matched) -> list[tuple[object, str]]:
    return [(each.side, each.reason) for each in matched.left_over]


def test_it_works() -> None:
    runs = given(
        ("L1", None, "A", 1500, 1),
        ("L1", None, "A", 8992, 50),
        ("L1", None, "B", 1500, 1),
        ("L1", None, "B", 8992, 1),
        ("L1", None, "B", 1500, 50),
        ("L1", None, "C", 1500, 1),
    )
    matched = match_experiments(runs, Sides("device", "A", "B"))
    assert matched.pairs == 1
    assert [row[0] for row in matched.observations.rows] == [0, 2]
    assert reasons(matched) == [
        ("A", "no run with MTU 8992 and 50 users on B"),
        ("B", "no run with MTU 1500 and 50 users on A"),
        ("B", "no run with MTU 8992 and 1 user on A"),
    ]
    assert matched.left_over[0].key == {"mtu": 8992, "users": 50}
    assert matched.left_over[0].runs == (1,)


def test_the_fewest_words_that_are_true() -> None:
    runs = given(("L1", None, "A", 9000, 50), ("L1", None, "B", 1500, 50), ("L1", None, "B", 1500, 1))
    assert reasons(match_experiments(runs, Sides("device", "A", "B")))[0] == ("A", "no run with MTU 9000 on B")
    alone = given(("L1", None, "A", 9000, 50))
    assert reasons(match_experiments(alone, Sides("device", "A", "B"))) == [("A", "no run on B")]


def test_any_dimension_can_be_compared() -> None:
    matched = match_experiments(observations(), Sides("mtu", 1500, 9000))
    assert (matched.pairs, matched.varying) == (2, ("users",))
    matched = match_experiments(observations(), Sides("factor.kernel", "2.4.7", "2.4.9"))
    assert (matched.pairs, len(matched.left_over)) == (0, 7)


def test_two_days_of_one_experiment_can_be_compared() -> None:
    names = ("device", "users", "trial", "date", "run_id")
    rows: list[Row] = [(n, "A", 10, n, day, f"r{n}", 100.0) for n, day in enumerate(("2026-05-01", "2026-06-01"))]
    matched = match_experiments(Observations(names, MEASURES[:1], rows), Sides("date", "2026-05-01", "2026-06-01"))
    assert (matched.pairs, matched.left_over) == (1, ())


def test_a_level_and_its_campaign_differ_together() -> None:
    runs = given(("z/VM 4.3", "May", "A", 1500, 1), ("z/VM 4.4", "June", "A", 1500, 1))
    assert match_experiments(runs, Sides("level", "z/VM 4.3", "z/VM 4.4")).pairs == 1
    assert match_experiments(runs, Sides("campaign", "May", "June")).pairs == 1
    assert match_experiments(runs, Sides("device", "A", "B")).pairs == 0


def test_the_pairs_are_a_table_with_old_as_baseline() -> None:
    matched = match_experiments(observations(), Sides("mtu", 9000, 1500))
    query = matched.question(parsed("metric=trans_per_s&device=OSA"))
    assert query == parsed("metric=trans_per_s&device=OSA&mtu=1500&mtu=9000&rows=users&columns=mtu&baseline=mtu:9000")
    (table,) = tabulate(query, matched.observations)
    assert len(table.cells) == 2 * matched.pairs
    assert Sides("mtu", 9000, 1500).swapped == Sides("mtu", 1500, 9000)


@pytest.mark.parametrize("sides", [Sides("device", "A", "A"), Sides("trial", 1, 2), Sides("run_id", "a", "b")])
def test_what_cannot_be_matched_is_refused(sides: Sides) -> None:
    with pytest.raises(QueryError):
        match_experiments(Observations(DIMENSIONS, MEASURES, []), sides)


def test_what_makes_most_pairs_comes_first() -> None:
    runs = given(
        ("L1", None, "B", 1500, 1),
        ("L1", None, "A", 1500, 1),
        ("L1", None, "C", 1500, 1),
        ("L1", None, "B", 1500, 10),
        ("L1", None, "C", 1500, 10),
        (None, None, "A", 1500, 1),
    )
    assert [(each.old, each.new, number) for each, number in promising_pairs(runs, "device")] == [
        ("B", "C", 2),
        ("A", "B", 1),
        ("A", "C", 1),
    ]
    assert promising_pairs(runs, "mtu") == []
    assert promising_pairs(runs, "level") == []


@pytest.mark.parametrize(
    ("windows", "pairs"),
    [((16384, 16384, 87380, 87380), 2), ((16384, 65536, 87380, 65536), 1), ((16384, 16384, 16384, 65536), 1)],
    ids=["default of each level", "one was asked for", "one differs"],
)
def test_windows_may_differ_between_levels_only_as_the_default_of_each(windows: tuple[int, ...], pairs: int) -> None:
    keys = (("L1", 1), ("L1", 10), ("L2", 1), ("L2", 10))
    rows: list[Row] = [
        (number, level, users, str(window), 1, f"r{number}", 100.0)
        for number, ((level, users), window) in enumerate(zip(keys, windows, strict=True))
    ]
    rows.append((9, "L1", 1, "1024" if pairs < 2 else "16384", 2, "r9", 100.0))
    names = ("level", "users", "factor.window", "trial", "run_id")
    assert match_experiments(Observations(names, MEASURES[:1], rows), Sides("level", "L1", "L2")).pairs == pairs
