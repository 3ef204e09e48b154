"""Counts of runs by dimension, against counting the runs themselves."""

from datetime import UTC, datetime

import pytest
from django.http import QueryDict
from pytest_django import DjangoAssertNumQueries

from perfdb.analysis.dimensions import Value
from perfdb.results.models import Run
from perfdb.results.queries.run_list import facets, filters
from perfdb.results.queries.run_list.facets import Facets
from perfdb.results.queries.run_list.filters import RunFilter, filter_runs
from perfdb.results.tests.builders import make_run, make_study

pytestmark = pytest.mark.django_db


def asked(query: str) -> Facets:
    filtered = RunFilter(QueryDict(query))
    assert filtered.first_error() is None
    return facets.count_facets(filtered)


def values(query: str, name: str) -> dict[Value, int]:
    found = asked(query).counts.get(name)
    return dict(found.values) if found else {}


@pytest.fixture
def archive() -> None:
    """Seven runs that differ in every dimension, one of them withdrawn."""
    make_run("A1", users=10)
    make_run("A2", users=10, trial=2)
    make_run("B1", users=50, device="HiperSockets", mtu=8192)
    make_run("B2", users=50, device="HiperSockets", mtu=8192, layer=2, status="failed")
    make_run("C1", study=make_study("other"), level="z/VM 4.4", campaign="May", factors={"kernel": "6.4"})
    later = datetime(2004, 1, 1, tzinfo=UTC)
    make_run("C2", study=make_study("other"), factors={"kernel": "6.10", "cpu": "2"}, started=later)
    make_run("A3", users=10, trial=3, status="withdrawn")
    Run.objects.filter(run_id__in=["A1", "C1"]).update(tags=["odd"])
    Run.objects.filter(run_id="B1").update(tags=["odd", "even"])


def test_without_filters_everything_is_counted(archive: None) -> None:
    found = asked("")
    assert (found.all.total, found.all.exact) == (6, True)
    assert {name: dict(counts.values) for name, counts in found.counts.items()} == {
        "study": {"guest-lan": 4, "other": 2},
        "campaign": {"May": 1, None: 5},
        "system": {"2064-109": 6},
        "level": {"z/VM 4.4": 1, None: 5},
        "workload": {"RR": 6},
        "device": {"HiperSockets": 2, "QDIO": 4},
        "mtu": {1492: 4, 8192: 2},
        "users": {10: 4, 50: 2},
        "layer": {2: 1, None: 5},
        "factor.cpu": {"2": 1, None: 5},
        "factor.kernel": {"6.4": 1, "6.10": 1, None: 4},
        "status": {"complete": 5, "failed": 1, "withdrawn": 1},
        "tag": {"even": 1, "odd": 3},
    }


def test_values_stand_in_natural_order(archive: None) -> None:
    assert list(values("", "factor.kernel")) == ["6.4", "6.10", None]


def test_a_filter_does_not_count_for_itself(archive: None) -> None:
    assert values("device=QDIO", "device") == {"HiperSockets": 2, "QDIO": 4}
    assert values("device=QDIO", "mtu") == {1492: 4}
    assert values("device=QDIO&users=50", "device") == {"HiperSockets": 2}
    assert values("status=withdrawn", "status") == {"complete": 5, "failed": 1, "withdrawn": 1}
    assert values("status=withdrawn", "users") == {10: 1}
    assert values("tag=even", "tag") == {"even": 1, "odd": 3}
    assert values("tag=even", "device") == {"HiperSockets": 1}
    assert values("factor.kernel=6.4", "factor.kernel") == {"6.4": 1, "6.10": 1, None: 4}
    assert values("factor.kernel=6.4", "campaign") == {"May": 1}


@pytest.mark.parametrize(
    "query",
    [
        "",
        "device=QDIO",
        "device=QDIO&mtu=1492&users=10",
        "workload=RR",
        "campaign=(none)",
        "factor.kernel=6.4&factor.kernel=(none)",
        "status=failed&status=withdrawn",
        "exclude=device:QDIO",
        "range=users:20..",
        "range=trial:2..",
        "exclude=tag:odd",
        "q=b",
        "trial=1",
        "run_id=A1",
        "tag=odd",
        "tag=odd&device=QDIO",
        "started_after=2003-12-01",
        "date=2003-04-01&study=other",
        "study=other&factor.cpu=2",
        "device=none of these",
    ],
)
def test_every_count_is_what_choosing_that_value_lists(archive: None, query: str) -> None:
    found = asked(query)
    assert found.all.total == filter_runs(QueryDict(query)).count()
    for name, counts in found.counts.items():
        for value, number in counts.values.items():
            chosen = QueryDict(query, mutable=True)
            chosen.setlist(name, ["(none)" if value is None else str(value)])
            assert filter_runs(chosen).count() == number, (name, value)


@pytest.mark.parametrize(
    "query", ["", "device=QDIO&mtu=1492&status=complete&factor.kernel=6.4", "q=A&tag=odd&users=10"]
)
def test_it_is_one_query(archive: None, query: str, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    filtered = RunFilter(QueryDict(query))
    # Names of devices and what studies mean by them, and run ids.
    names_looked_up = 2 * query.count("device=") + query.count("q=")
    with django_assert_num_queries(1 + names_looked_up):
        facets.count_facets(filtered)


def test_counting_ends_somewhere_and_says_so(archive: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facets, "MOST_COUNTED", 3)

    found = asked("q=A")
    assert (found.all.total, found.all.exact) == (2, True)

    found = asked("trial=1")
    assert (found.all.total, found.all.exact) == (4, False)
    assert not found.counts["device"].exact

    found = asked("users=10")
    assert (found.all.total, found.all.exact) == (4, True), "dimensions are counted whatever there is"


def test_the_few_runs_of_a_list_are_those_of_its_filters(archive: None) -> None:
    for query in ("", "mtu=1492", "device=QDIO&status=withdrawn", "factor.cpu=2", "q=a&mtu=1492", "device=none"):
        filtered = RunFilter(QueryDict(query))
        assert set(facets.select_listed_runs(filtered, facets.count_facets(filtered))) == set(
            filter_runs(QueryDict(query))
        )


def test_a_part_of_the_run_id_is_found_among_few_names_and_among_many(
    archive: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = sorted(filter_runs(QueryDict("q=a")).values_list("run_id", flat=True))
    monkeypatch.setattr(filters, "MOST_NAMES", 1)
    assert sorted(filter_runs(QueryDict("q=a")).values_list("run_id", flat=True)) == few == ["A1", "A2"]


def test_names_with_quotes_are_text() -> None:
    make_run("A", factors={"it's %s": "100%"}, device="O'Neill %d")
    assert values("q=A", "factor.it's %s") == {"100%": 1}
    assert values("device=O'Neill %25d", "device") == {"O'Neill %d": 1}
    assert values("factor.it's %25s=100%25", "factor.it's %s") == {"100%": 1}
