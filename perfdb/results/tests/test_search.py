"""Search: what is found by which words, and what is forgiven."""

import pytest
from django.core.files.base import ContentFile
from pytest_django import DjangoAssertNumQueries

from perfdb.results.ingest import uploads
from perfdb.results.models import Note, ReportItem, Run, SavedQuery
from perfdb.results.queries import name_search
from perfdb.results.queries.name_search import Hit, Kind
from perfdb.results.runs import access
from perfdb.results.tests.builders import make_run, make_study

pytestmark = pytest.mark.django_db


def found(text: str, size: int = 10) -> dict[Kind, list[str]]:
    """The names of what is found, by kind."""
    return {kind: [hit.name for hit in hits] for kind, hits in name_search.search_names(text, size).hits.items()}


def hit(text: str, kind: Kind) -> Hit:
    """The best hit of a kind."""
    return name_search.search_names(text, 10).hits[kind][0]


@pytest.fixture
def archive() -> Run:
    """Two studies, a few runs, and one thing of each other kind."""
    spring = make_study("spring", purpose="Whether the dedicated adapter beats the virtual switch.")
    make_run("NMGBR950", study=spring, device="HiperSockets", level="z/VM 5.2")
    make_run("NMGBR951", study=spring, device="Guest LAN", workload="CRR")
    run = make_run("AWMX110", study=make_study("autumn"), device="HiperSockets", machine="2064-109")
    Run.objects.filter(pk=run.pk).update(tags=["tuned"])
    Note.objects.create(run=run, text="The second processor was varied off.")
    owner = access.find_owner()
    SavedQuery.objects.create(name="Cost of jumbo frames", page="compare", query="dimension=mtu", owner=owner)
    ReportItem.objects.create(
        study=spring, kind="finding", position=1, title="Streams gain most", prose="Large frames."
    )
    uploads.receive(owner, [("night/client.awm.log", ContentFile(b"a log"))], study=spring)
    return run


def test_each_kind_is_found_by_a_word_of_its_own(archive: Run) -> None:
    assert found("spring") == {Kind.STUDY: ["Spring"]}
    assert found("dedicated") == {Kind.STUDY: ["Spring"]}
    assert found("nmgbr950") == {Kind.RUN: ["NMGBR950"]}
    assert found("hiper") == {Kind.DEVICE: ["HiperSockets"]}
    assert found("crr") == {Kind.WORKLOAD: ["CRR"]}
    assert found("2064") == {Kind.SYSTEM: ["2064-109"]}
    assert found("z/vm") == {Kind.LEVEL: ["z/VM 5.2"]}
    assert found("tuned") == {Kind.TAG: ["tuned"]}
    assert found("jumbo") == {Kind.QUERY: ["Cost of jumbo frames"]}
    assert found("streams") == {Kind.REPORT: ["Streams gain most"]}
    assert found("processor") == {Kind.NOTE: ["The second processor was varied off."]}
    assert found("client.awm") == {Kind.FILE: ["night/client.awm.log"]}


def test_run_ids_that_begin_so_come_before_those_that_have_it_within(archive: Run) -> None:
    make_run("X-NMG")

    assert found("nmg") == {Kind.RUN: ["NMGBR950", "NMGBR951", "X-NMG"]}
    assert found("nmg", size=2) == {Kind.RUN: ["NMGBR950", "NMGBR951"]}
    assert found("BR95") == {Kind.RUN: ["NMGBR950", "NMGBR951"]}


def test_all_words_must_fit(archive: Run) -> None:
    assert found("virtual switch") == {Kind.STUDY: ["Spring"]}
    assert found("virtual spring") == {Kind.STUDY: ["Spring"]}
    assert found("virtual autumn") == {}


@pytest.mark.parametrize(
    ("typed", "kind", "meant"),
    [
        ("hipersocket", Kind.DEVICE, "HiperSockets"),
        ("hyperscokets", Kind.DEVICE, "HiperSockets"),
        ("NMGBR95O", Kind.RUN, "NMGBR950"),
        ("geust lan", Kind.DEVICE, "Guest LAN"),
        ("sprnig", Kind.STUDY, "Spring"),
        ("dedciated", Kind.STUDY, "Spring"),
        ("clinet.awm", Kind.FILE, "night/client.awm.log"),
        ("procesor", Kind.NOTE, "The second processor was varied off."),
        ("tunde", Kind.TAG, "tuned"),
    ],
)
def test_a_slip_of_the_fingers_is_forgiven(archive: Run, typed: str, kind: Kind, meant: str) -> None:
    assert meant in found(typed)[kind]


def test_what_is_only_alike_says_so_and_never_stands_beside_what_fits(archive: Run) -> None:
    assert name_search.search_names("NMGBR95O", 10).near
    assert not name_search.search_names("NMGBR950", 10).near
    assert found("NMGBR950") == {Kind.RUN: ["NMGBR950"]}


def test_nothing_like_it_is_nothing(archive: Run) -> None:
    assert found("qqqqzzzz") == {}
    assert found("") == {}
    assert found(" \0 ") == {}
    assert found("%") == {}
    assert found("_") == {}


def test_short_words_must_begin_one(archive: Run) -> None:
    assert found("lan") == {Kind.DEVICE: ["Guest LAN"]}
    assert found("la") == {Kind.DEVICE: ["Guest LAN"], Kind.REPORT: ["Streams gain most"]}
    assert found("an") == {}


def test_a_run_id_leads_to_its_run_or_to_several(archive: Run) -> None:
    assert hit("awmx110", Kind.RUN).about["pk"] == archive.pk
    assert not hit("awmx110", Kind.RUN).about["several"]

    make_run("AWMX110", study=make_study("spring"))

    assert hit("awmx110", Kind.RUN).about["several"]


def test_the_name_of_runs_that_are_gone_is_not_found(archive: Run) -> None:
    Run.objects.filter(run_id="NMGBR951").update(status=Run.Status.WITHDRAWN)
    archive.delete()

    assert found("awmx110") == {}
    assert found("tuned") == {}
    assert found("nmgbr951") == {Kind.RUN: ["NMGBR950"]}


def test_somebody_s_inbox_is_not_found() -> None:
    make_study("inbox")

    assert found("inbox") == {}


def test_a_long_text_is_cut_to_its_first_words() -> None:
    assert name_search.split_words("a " * 50) == ["A"] * name_search.MOST_WORDS
    assert found("x" * 100_000) == {}


def test_a_search_takes_as_many_sql_queries_however_much_is_found(
    archive: Run, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(12):
        make_run(f"NMGBR{number}", study=make_study(f"study-{number}"), device=f"NMG{number}")

    with django_assert_num_queries(2):
        assert len(found("nmg")[Kind.RUN]) == 10
    with django_assert_num_queries(7):
        name_search.search_names("nothing is like it", 10)
