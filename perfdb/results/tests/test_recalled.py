"""What a process recalls of the names in questions."""

import pytest
from pytest_django import DjangoAssertNumQueries

from perfdb.analysis.query import Query
from perfdb.analysis.table import Key
from perfdb.results import recalled
from perfdb.results.models import Device
from perfdb.results.queries.run_queries import asked, asked_by_heart, looked_up, tables
from perfdb.results.runs.lock import touch_study
from perfdb.results.tests.builders import make_run, make_study

pytestmark = pytest.mark.django_db

STUDY = ("study", "guest-lan")


@pytest.fixture(autouse=True)
def _nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recalled, "MEMORY", recalled.Memory())


def question(*filters: tuple[str, str]) -> Query:
    return Query.parse([("metric", "trans_per_s"), ("rows", "device"), *filters])


def look_up(query: Query) -> None:
    looked_up(query.filters, campaigns=bool(query.baseline))


def by_heart(query: Query) -> list[Key] | None:
    """The rows of the answer, if it can be recalled what the question means."""
    known = asked_by_heart(query)
    return None if known is None else [row for table in tables(*known[:2]) for row in table.rows]


def test_names_are_looked_up_once(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    make_run()
    query = question(STUDY, ("device", "QDIO"), ("workload", "RR"))
    with django_assert_num_queries(0):
        assert asked_by_heart(query) is None
    asked(query)
    with django_assert_num_queries(1):
        known = asked_by_heart(query)
    assert known is not None
    assert known[1].rows == asked(query)[1].rows
    assert known[2] == looked_up(query.filters)


def test_a_study_that_changed_is_looked_up_again() -> None:
    run = make_run(device="OSA")
    query = question(STUDY, ("workload", "RR"))
    look_up(query)
    # A workload that goes by the same name came with the new run.
    make_run("B", device="QDIO", workload="RR 200/1000")
    touch_study(run.study)
    assert by_heart(query) is None
    look_up(query)
    assert by_heart(query) == [("OSA",), ("QDIO",)]


def test_a_study_that_is_gone_is_looked_up_again() -> None:
    study = make_study()
    query = question(STUDY)
    look_up(query)
    assert by_heart(query) == []
    study.delete()
    assert by_heart(query) is None


def test_a_name_that_was_changed_is_looked_up_again() -> None:
    make_run()
    query = question(STUDY, ("device", "QDIO"))
    look_up(query)
    assert by_heart(query) == [("QDIO",)]
    Device.objects.update(name="OSA")
    assert by_heart(query) is None
    look_up(query)
    assert by_heart(query) is None


def test_another_study_may_change() -> None:
    make_run()
    other = make_run("B", study=make_study("other"))
    query = question(STUDY)
    look_up(query)
    touch_study(other.study)
    assert by_heart(query) == [("QDIO",)]


@pytest.mark.parametrize(
    "filters",
    [
        [("workload", "RR")],
        [STUDY, ("device", "unknown")],
        [STUDY, ("level", "(none)")],
        [("study", "unknown")],
    ],
)
def test_what_another_study_may_decide_or_nobody_has_is_not_kept(filters: list[tuple[str, str]]) -> None:
    make_run()
    query = question(*filters)
    look_up(query)
    assert asked_by_heart(query) is None


def test_where_nothing_is_read_nothing_is_recalled() -> None:
    make_run()
    query = question(STUDY, ("mtu", str(2**40)))
    look_up(query)
    assert asked_by_heart(query) is None


def test_a_question_without_runs_may_be_recalled() -> None:
    make_run()
    query = question(STUDY, ("mtu", "9000"))
    look_up(query)
    assert by_heart(query) == []


def test_other_campaigns_are_asked_for_by_comparisons_alone() -> None:
    make_run()
    query = question(STUDY)
    look_up(query)
    assert by_heart(query.replace(baseline={"device": "QDIO"})) is None


def test_it_does_not_grow_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recalled, "MOST", 2)
    make_run()
    queries = [question(STUDY, *more) for more in ([], [("device", "QDIO")], [("workload", "RR")])]
    for query in queries:
        look_up(query)
    assert [by_heart(query) for query in queries] == [None, None, [("QDIO",)]]
