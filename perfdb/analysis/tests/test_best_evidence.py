"""What stands behind a maximum: its curve, the edge of the tested range, and who is as good."""

import pytest

from perfdb.analysis.insights.best_evidence import Evidence, best_evidence
from perfdb.analysis.insights.throughput_curve import Course, Edge
from perfdb.analysis.tables.observations import Key, Observations, Row
from perfdb.analysis.tests.archive import DIMENSIONS, MEASURES, observations, parsed
from perfdb.analysis.verdicts.cells import Verdict

PICK = "metric=trans_per_s&columns=device&pick=trans_per_s:device"


def runs(**rates: float) -> Observations:
    """Three trials of users 1, 5, 10, 20, 50 (``u5=100.0``), 0.1% apart, at MTU 1500; ``x…`` are at MTU 9000."""
    rows: list[Row] = []
    for name, rate in rates.items():
        mtu = 9000 if name[0] == "x" else 1500
        for trial, change in enumerate((0.999, 1.0, 1.001), start=1):
            key = ("demo", "RR", "OSA", mtu, int(name[1:]), trial, name, "2.4.7")
            rows.append((len(rows), *key, rate * change, 1000 / rate, None))
    return Observations(DIMENSIONS, MEASURES, rows)


def only(found: dict[Key, Evidence]) -> Evidence:
    (one,) = found.values()
    return one


def test_it_works() -> None:
    found = only(
        best_evidence(parsed(PICK), runs(u1=852.06, u5=1352.97, u10=1508.2, u20=1535.7, u50=1351.26, x20=1500.0))
    )
    assert found.key == {"mtu": 1500, "users": 20}
    assert [users for users, _ in found.points] == [1, 5, 10, 20, 50]
    assert found.curve is not None
    assert (found.curve.course, found.curve.after, found.curve.start) == (Course.FALLING, 5, 10)
    assert found.edge is None
    assert [each.key for each in found.runners_up] == [{"mtu": 1500, "users": 10}]


def test_the_edge_of_the_tested_range_is_said() -> None:
    assert only(best_evidence(parsed(PICK), runs(u1=100.0, u10=200.0, u50=300.0))).edge is Edge.LARGEST
    assert only(best_evidence(parsed(PICK), runs(u1=300.0, u10=200.0, u50=100.0))).edge is Edge.SMALLEST


def test_who_is_as_good_within_noise_is_named() -> None:
    found = only(best_evidence(parsed(PICK), runs(u1=100.0, u10=200.0, u20=200.02, u50=199.99, x50=150.0)))
    assert found.key["users"] == 20
    assert [each.key["users"] for each in found.runners_up] == [10, 50]
    assert [each.mean for each in found.runners_up] == pytest.approx([200.0, 199.99])


@pytest.mark.parametrize(("costs", "users"), [((None, 0.5), 5), ((0.5, None), 1), ((0.5, 0.5), 1)])
def test_of_equal_means_the_one_with_most_measures_is_best(
    costs: tuple[float | None, float | None], users: int
) -> None:
    rows: list[Row] = [
        (number, "demo", "RR", "OSA", 1500, each, 1, f"R{each}", "2.4.7", 100.0, 10.0, cost)
        for number, (each, cost) in enumerate(zip((1, 5), costs, strict=True))
    ]
    assert only(best_evidence(parsed(PICK), Observations(DIMENSIONS, MEASURES, rows))).key == {"users": users}


def test_of_equal_means_the_one_with_more_trials_is_best() -> None:
    rows: list[Row] = [
        (number, "demo", "RR", "OSA", 1500, users, trial, f"R{users}", "2.4.7", 100.0, 10.0, None)
        for number, (users, trial) in enumerate([(1, 1), (5, 1), (5, 2)])
    ]
    assert only(best_evidence(parsed(PICK), Observations(DIMENSIONS, MEASURES, rows))).key == {"users": 5}


def test_each_group_has_its_own() -> None:
    found = best_evidence(parsed(PICK), observations())
    assert set(found) == {("LAN",), ("OSA",)}
    assert found["OSA",].key["mtu"] == 9000
    assert [each.key["mtu"] for each in found["OSA",].runners_up] == [1500]


def test_a_cost_has_no_curve_of_throughput() -> None:
    found = only(
        best_evidence(parsed("metric=cpu_ms_per_trans&columns=device&pick=cpu_ms_per_trans:device"), runs(u1=1.0))
    )
    assert (found.curve, found.edge) == (None, None)


def test_without_a_pick_there_is_no_best() -> None:
    with pytest.raises(ValueError, match="pick"):
        best_evidence(parsed("metric=trans_per_s"), observations())


def single(**rates: float) -> Observations:
    """The first trials alone."""
    several = runs(**rates)
    return Observations(several.dimensions, several.measures, list(several.rows)[::3])


def test_without_any_repetition_what_is_within_the_practical_size_is_as_good() -> None:
    found = only(best_evidence(parsed(PICK), single(u1=100.0, u10=200.0, u20=199.0, u50=190.0)))
    assert [each.key["users"] for each in found.runners_up] == [20]
    assert not found.repeated
    assert only(best_evidence(parsed(PICK), runs(u1=100.0))).repeated


def test_the_maxima_are_held_against_the_best_of_them() -> None:
    quick, slow = runs(u10=200.0), runs(u10=150.0)
    rows = [*quick.rows, *((row[0] + 10, row[1], row[2], "LAN", *row[4:]) for row in slow.rows)]
    found = best_evidence(parsed(PICK), Observations(quick.dimensions, quick.measures, rows))
    assert found["OSA",].standing is None
    lan = found["LAN",].standing
    assert lan is not None
    assert lan.percent == pytest.approx(-25)
    assert lan.verdict is Verdict.LOWER
    cost = best_evidence(
        parsed("metric=cpu_ms_per_trans&columns=device&pick=cpu_ms_per_trans:device"),
        Observations(quick.dimensions, quick.measures, rows),
    )
    assert cost["OSA",].standing is None


def test_the_best_is_compared_with_those_next_to_it() -> None:
    many = runs(**{f"u{users}": 100.0 + users / 1000 for users in range(1, 300)})
    found = only(best_evidence(parsed(PICK), many))
    assert found.key["users"] == 299
    assert len(found.runners_up) == 100


def test_nothing_is_known_of_single_runs() -> None:
    found = only(best_evidence(parsed(PICK), single(u1=5.0, u10=4.95)))
    assert [each.comparison.verdict for each in found.runners_up] == [Verdict.NO_NOISE]
