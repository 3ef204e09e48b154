"""The search page, its suggestions, and words that choose runs."""

import re

import pytest
from django.core.files.base import ContentFile
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from perfdb.results.ingest import uploads
from perfdb.results.models import Note, ReportItem, Run, SavedQuery, Study, UploadFile
from perfdb.results.runs import access
from perfdb.results.tests.builders import make_run, make_study
from perfdb.web.home.search_views import mark_words, parse_run_filters
from perfdb.web.tests.pages import inline_code, text_of


@pytest.fixture
def archive(db: None) -> Run:
    """A run, and something of each other kind that has an address of its own."""
    study = make_study("spring", purpose=f"{'Long before it. ' * 8}Whether the adapter beats the switch.")
    run = make_run("NMGBR950", study=study, device="Guest LAN", mtu=8992, level="z/VM 5.2")
    Run.objects.filter(pk=run.pk).update(tags=["tuned"])
    Note.objects.create(run=run, text="The second processor was varied off.")
    SavedQuery.objects.create(name="Jumbo frames", page="compare", query="dimension=mtu", owner=access.find_owner())
    ReportItem.objects.create(study=study, kind="table", position=1, number="3", title="Cost of streams")
    uploads.receive(access.find_owner(), [("night/client.awm.log", ContentFile(b"a log"))], study=study)
    return run


def found(web: Client, text: str) -> str:
    response = web.get(reverse("web:search"), {"q": text})
    assert response.status_code == 200
    assert inline_code(response) == []
    return response.content.decode()


def first_address(source: str) -> str:
    """Where the first hit leads."""
    address: str = re.findall(r'<a class="hit-name" href="([^"]+)"', source)[0]
    return address.replace("&amp;", "&")


@pytest.mark.parametrize(
    "text", ["spring", "NMGBR950", "guest lan", "RR", "2064", "z/VM", "tuned", "jumbo", "streams", "varied", "awm.log"]
)
def test_a_hit_leads_to_a_page_that_is_there(web: Client, archive: Run, text: str) -> None:
    address = first_address(found(web, text))

    assert web.get(address).status_code == 200


def test_a_run_id_leads_to_its_run_and_one_of_several_to_their_list(web: Client, archive: Run) -> None:
    assert first_address(found(web, "nmgbr950")) == f"/runs/{archive.pk}/"

    make_run("NMGBR950", study=make_study("autumn"))

    source = found(web, "nmgbr950")
    assert first_address(source) == "/runs/?run_id=NMGBR950"
    assert "several runs" in source


def test_a_table_of_a_report_leads_to_its_place_on_the_page(web: Client, archive: Run) -> None:
    address = first_address(found(web, "cost of streams"))

    assert address == "/studies/spring/#table-3"
    assert 'id="table-3"' in web.get(address).content.decode()


def test_a_finding_leads_to_its_place_whatever_was_taken_out_before_it(web: Client, archive: Run) -> None:
    for position, title in ((3, "Guests win"), (7, "Cards cost less")):
        ReportItem.objects.create(study=archive.study, kind="finding", position=position, title=title, prose="So.")

    address = first_address(found(web, "cards cost"))

    assert address == "/studies/spring/#finding-2"
    assert 'id="finding-2"' in web.get(address).content.decode()


def test_a_file_leads_to_the_artifact(web: Client, archive: Run) -> None:
    file = UploadFile.objects.get()

    assert first_address(found(web, "client.awm")) == f"/artifacts/{file.artifact_id}/"


def test_what_fits_is_marked_and_what_is_not_the_name_is_quoted(web: Client, archive: Run) -> None:
    assert "<mark>Guest</mark> <mark>LAN</mark>" in found(web, "guest lan")

    source = found(web, "adapter")

    assert "purpose or source:" in source
    assert re.search(r"…[^<]*Whether the <mark>adapter</mark> beats the switch\.", source)


def test_what_is_only_alike_is_said_and_marked(web: Client, archive: Run) -> None:
    source = found(web, "NMGBR95O")

    assert "Similar:" in source
    assert "<mark>NMGBR950</mark>" in source


def test_nothing_found_says_what_to_try(web: Client, archive: Run) -> None:
    assert "Try fewer letters" in found(web, "qqqqzzzz")


def test_without_words_it_says_what_it_finds(web: Client) -> None:
    assert "mtu:8992" in found(web, "")


def test_what_is_typed_stays_text(web: Client) -> None:
    source = found(web, "<script>alert(1)</script>")

    assert "<script>alert" not in source
    assert "&lt;script&gt;" in source


def test_suggestions_are_options_that_lead_somewhere(web: Client, archive: Run) -> None:
    source = web.get(reverse("web:search-suggestions"), {"q": "nmg"}).content.decode()

    addresses = re.findall(r'role="option" data-href="([^"]+)"', source)
    assert addresses == [f"/runs/{archive.pk}/", "/search/?q=nmg"]
    assert "<html" not in source
    assert web.get(reverse("web:search-suggestions")).content.decode().strip() == ""


def test_as_many_sql_queries_for_one_hit_as_for_twenty(
    web: Client, archive: Run, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(20):
        make_run(f"NMG{number}", device=f"NMG {number}")

    # Two of them are the session and its user.
    with django_assert_num_queries(4):
        web.get(reverse("web:search"), {"q": "nmg"})


@pytest.mark.parametrize(
    ("typed", "address", "rest"),
    [
        ("mtu:8992 users:50", "mtu=8992&users=50", ""),
        ("MTU:8K", "mtu=8192", ""),
        ("mtu:1500 mtu=8992", "mtu=1500&mtu=8992", ""),
        ('nmg device:"guest lan"950', "device=Guest%20LAN", "nmg 950"),
        ("factor.kernel:6.4", "factor.kernel=6.4", ""),
        ("tag:tuned", "tag=tuned", ""),
        ("device:guest", "device=Guest%20LAN", ""),
        ("device:gues workload:rr", "workload=RR&device=Guest%20LAN", ""),
        ("device:osa", "device=osa", ""),
    ],
)
def test_words_choose_runs(archive: Run, typed: str, address: str, rest: str) -> None:
    chosen, left = parse_run_filters(typed)

    assert chosen is not None
    assert chosen.runs == f"/runs/?{address}"
    assert left == rest


def test_words_that_no_run_has_lead_to_no_empty_list(web: Client, archive: Run) -> None:
    assert "no run fits" in text_of(web.get("/search/", {"q": "tag:nosuch"}))
    assert "tag=nosuch" not in web.get("/search/", {"q": "tag:nosuch"}).content.decode()
    assert "no run fits" not in text_of(web.get("/search/", {"q": f'device:"{archive.device}"'}))


@pytest.mark.parametrize("typed", ["mtu:wide", "colour:red", "users:", "10:20:30", "factor.:x", "a:b"])
def test_other_words_are_searched_for(db: None, typed: str) -> None:
    assert parse_run_filters(typed) == (None, typed)


def test_the_runs_that_words_choose_come_first(web: Client, archive: Run) -> None:
    Study.objects.create(slug="empty", title="Of 8992 bytes")

    source = found(web, "mtu:8992 device:guest")

    assert '<a href="/runs/?device=Guest%20LAN&amp;mtu=8992">list</a>' in source


@pytest.mark.parametrize(
    ("text", "words", "fits"),
    [
        ("HiperSockets", ["HIPER"], ["Hiper"]),
        ("Guest LAN", ["LAN", "GUEST"], ["Guest", "LAN"]),
        ("a+b (c)", ["A+B", "(C)"], ["a+b", "(c)"]),
        ("Spring", ["AUTUMN"], []),
        ("The same", ["OSA"], []),
        ("", ["X"], []),
    ],
)
def test_pieces_that_fit(text: str, words: list[str], fits: list[str]) -> None:
    cut = mark_words(text, words, near=False)

    assert "".join(part for part, _ in cut) == text
    assert [part for part, fitting in cut if fitting] == fits


def test_the_piece_that_was_mistyped() -> None:
    assert mark_words("The HiperSockets win", ["HYPERSCOKETS"], near=True)[1] == ("HiperSockets", True)
    assert mark_words("The HiperSockets win", ["HYPERSCOKETS"], near=False) == [("The HiperSockets win", False)]
    assert mark_words("Autumn", ["SPRING"], near=True) == [("Autumn", False)]
