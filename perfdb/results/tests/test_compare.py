"""Comparing two values of a dimension over stored runs."""

import pytest

from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import Query
from perfdb.analysis.tables.matched_pairs import Sides
from perfdb.analysis.verdicts.cells import Verdict
from perfdb.results.models import RunEvidence
from perfdb.results.queries.compare import ChosenSides, Comparison, compare_sides, parse_sides
from perfdb.results.tests.builders import make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def runs() -> None:
    """Two devices with three trials each of 1 and 10 users; 50 users on one of them only."""
    for device, base in (("QDIO", 100.0), ("HiperSockets", 130.0)):
        for users in (1, 10, 50) if device == "QDIO" else (1, 10):
            for trial, change in enumerate((0.99, 1.0, 1.01), start=1):
                values = {"trans_per_s": base * users * change, "driver_s": 60.0 if device == "QDIO" else 300.0}
                make_run(f"{device}{users}", device=device, users=users, trial=trial, values=values)


def one(old: str, new: str) -> Comparison:
    """One device against another."""
    return compare_sides(Query(), *parse_sides(ChosenSides("device", old, (new,))))


def test_it_works(runs: None) -> None:
    found = one("QDIO", "HiperSockets")
    (part,) = found.parts
    assert (part.matched.pairs, part.matched.varying, part.looked_at) == (2, ("users",), 12)
    rates = found.tables[0]
    assert (rates.measure.metric, rates.columns) == ("trans_per_s", (("QDIO",), ("HiperSockets",)))
    verdicts = [cell.comparison.verdict for cell in rates.cells.values() if cell.comparison]
    assert verdicts == [Verdict.HIGHER, Verdict.HIGHER]
    (left,) = part.matched.left_over
    assert (left.side, left.reason, len(left.runs)) == ("QDIO", "no run with 50 users on HiperSockets", 3)
    assert [(each.key, each.old, each.new) for each in part.differs] == [("driver_s", ("60.0",), ("300.0",))]


def test_old_and_new_stay_in_the_order_chosen(runs: None) -> None:
    found = one("HiperSockets", "QDIO")
    assert found.tables[0].columns == (("HiperSockets",), ("QDIO",))
    verdicts = [cell.comparison.verdict for cell in found.tables[0].cells.values() if cell.comparison]
    assert verdicts == [Verdict.LOWER, Verdict.LOWER]


def test_the_facts_of_the_files_are_compared(runs: None) -> None:
    old = RunEvidence.objects.filter(run__device__name="QDIO")
    old.update(facts={"offload.tso": {"text": "on", "artifact": 0, "line": 1}})
    RunEvidence.objects.exclude(pk__in=old).update(facts={"offload.tso": {"text": "off", "artifact": 0, "line": 1}})
    (part,) = one("QDIO", "HiperSockets").parts
    assert ("offload.tso", ("on",), ("off",)) in [(each.key, each.old, each.new) for each in part.differs]


def test_what_makes_a_pair_is_equal_whatever_the_numbers_of_trials(runs: None) -> None:
    make_run("QDIO1", device="QDIO", users=1, trial=4, values={"trans_per_s": 100.0, "driver_s": 60.0})
    (part,) = one("QDIO", "HiperSockets").parts
    assert [each.key for each in part.differs] == ["driver_s"]


def test_nothing_to_pair() -> None:
    (part,) = compare_sides(Query(), Sides("device", "A", "B")).parts
    assert (part.matched.pairs, part.differs) == (0, [])


@pytest.mark.parametrize(
    ("dimension", "old", "new", "parameter"),
    [
        ("", "a", "b", "dimension"),
        ("speed", "a", "b", "dimension"),
        ("device", "", "b", "old"),
        ("device", "a", " ", "new"),
        ("mtu", "jumbo", "1500", "old"),
    ],
)
def test_what_is_not_said_is_asked_for(dimension: str, old: str, new: str, parameter: str) -> None:
    with pytest.raises(QueryError) as refused:
        parse_sides(ChosenSides(dimension, old, (new,)))
    assert refused.value.parameter == parameter


def test_several_values_are_held_against_one(runs: None) -> None:
    for users in (10, 50):
        make_run(f"vCTC{users}", device="vCTC", users=users, values={"trans_per_s": 50.0 * users})
    found = compare_sides(Query(), *parse_sides(ChosenSides("device", "QDIO", ("HiperSockets", "vCTC"))))
    assert [part.matched.pairs for part in found.parts] == [2, 2]
    rates = found.tables[0]
    assert rates.columns == (("QDIO",), ("HiperSockets",), ("vCTC",))
    assert rates.rows == ((1,), (10,), (50,))
    halved = rates.cells[(50,), ("vCTC",)].comparison
    assert halved is not None
    assert halved.percent == pytest.approx(-50, abs=0.1)
    assert ((1,), ("vCTC",)) not in rates.cells
    assert [each.key for each in found.parts[1].differs] == ["driver_s"]
