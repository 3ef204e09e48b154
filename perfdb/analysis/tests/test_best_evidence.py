"""What stands behind a maximum: its curve, the edge of the tested range, and who is as good."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfdb.analysis.comparison.compare_pairs import CHANGED, TieFinder, compare
from perfdb.analysis.comparison.comparison import Pair, Verdict
from perfdb.analysis.comparison.samples import Samples
from perfdb.analysis.insights.best_evidence import Evidence, best_evidence, compare_with_best
from perfdb.analysis.insights.throughput_curve import Course, Edge
from perfdb.analysis.metrics import Better
from perfdb.analysis.tables.observations import Key, Observations, Row
from perfdb.analysis.tables.tabulate import tabulate
from perfdb.analysis.tests.archive import DIMENSIONS, MEASURES, observations, parsed

PICK = "metric=trans_per_s&columns=device&pick=trans_per_s:device"


def runs(**rates: float) -> Observations:
    """Three trials of users 1, 5, 10, 20, 50 (``u5=100.0``), 0.1 % apart, at MTU 1500; ``x…`` are at MTU 9000."""
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
    assert (found.edge, found.runners_up) == (None, ())


def test_the_edge_of_the_tested_range_is_said() -> None:
    assert only(best_evidence(parsed(PICK), runs(u1=100.0, u10=200.0, u50=300.0))).edge is Edge.LARGEST
    assert only(best_evidence(parsed(PICK), runs(u1=300.0, u10=200.0, u50=100.0))).edge is Edge.SMALLEST


def test_who_is_as_good_within_noise_is_named() -> None:
    found = only(best_evidence(parsed(PICK), runs(u1=100.0, u10=200.0, u20=200.02, u50=199.99, x50=150.0)))
    assert found.key["users"] == 20
    assert [each.key["users"] for each in found.runners_up] == [10, 50]
    assert [each.mean for each in found.runners_up] == pytest.approx([200.0, 199.99])


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
    (table,) = tabulate(parsed(PICK), Observations(quick.dimensions, quick.measures, rows))
    standing = compare_with_best(table)
    assert standing["OSA",] is None
    lan = standing["LAN",]
    assert lan is not None
    assert lan.percent == pytest.approx(-25)
    assert lan.verdict is Verdict.LOWER
    (cost,) = tabulate(
        parsed("metric=cpu_ms_per_trans&columns=device&pick=trans_per_s:device"),
        Observations(quick.dimensions, quick.measures, rows),
    )
    assert compare_with_best(cost)["OSA",] is None


SAMPLES = (
    (100.0, 101.0, 99.5),
    (99.0, 100.5, 100.0),
    (70.0, 70.5, 70.2),
    (99.9,),
    (80.0,),
    (0.0, 0.0),
    (60.0, 140.0, 90.0),
    (50.0, 50.0, 50.0),
    (100.2, 99.7),
)


@pytest.mark.parametrize(
    ("base", "among"),
    [
        (0, {Verdict.SAME, Verdict.INCONCLUSIVE, Verdict.NOT_COMPARABLE}),
        (3, {Verdict.OUTSIDE, Verdict.INCONCLUSIVE}),
        (5, {Verdict.NOT_COMPARABLE}),
    ],
)
def test_columns_say_what_a_table_of_pairs_says(base: int, among: set[Verdict]) -> None:
    """One sample against each of the others: repeated, single, zero and equal trials."""
    values, sizes = [value for sample in SAMPLES for value in sample], [len(sample) for sample in SAMPLES]
    others = [at for at in range(len(SAMPLES)) if at != base]
    (found,) = TieFinder(Samples(values, sizes, (), ())).find_ties([base], [np.array(others)], Better.HIGHER)
    by_pair = compare([Pair(SAMPLES[base], SAMPLES[at]) for at in others], Better.HIGHER)
    moved = {Verdict.HIGHER, Verdict.LOWER}
    assert found == [(at, each) for at, each in zip(others, by_pair, strict=True) if each.verdict not in moved]
    assert among <= {each.verdict for _, each in found}


@given(st.lists(st.lists(st.lists(st.sampled_from([0.0, 99.0, 100.0, 101.0, 150.0, 1e6]), min_size=1, max_size=4),
                         min_size=1, max_size=9), min_size=1, max_size=4))  # fmt: skip
def test_each_of_many_groups_is_a_table_by_itself(groups: list[list[list[float]]]) -> None:
    samples = [sample for group in groups for sample in group]
    ends = np.cumsum([len(group) for group in groups])
    bases = [int(end) - len(group) for end, group in zip(ends, groups, strict=True)]
    others = [np.arange(base + 1, end) for base, end in zip(bases, ends, strict=True)]
    found = TieFinder(Samples.from_samples(samples, (), ())).find_ties(bases, others, Better.HIGHER)
    for (first, *rest), places, each in zip(groups, others, found, strict=True):
        by_pair = compare([Pair(first, sample) for sample in rest], Better.HIGHER)
        known = zip(places.tolist(), by_pair, strict=True)
        assert each == [(at, one) for at, one in known if one.q is None or one.q >= CHANGED]


def test_nothing_is_known_of_single_runs() -> None:
    (((_, found),),) = TieFinder(Samples([5.0, 4.0], [1, 1], (), ())).find_ties([0], [np.array([1])], Better.HIGHER)
    assert found == compare([Pair((5.0,), (4.0,))], Better.HIGHER)[0]
    assert found.verdict is Verdict.NO_NOISE
