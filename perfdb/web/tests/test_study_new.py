"""Making and deleting a study, and its report by a published address."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from perfdb.results.ingest import uploads
from perfdb.results.models import Study
from perfdb.results.studies import study_details
from perfdb.results.tests.builders import make_run, make_study
from perfdb.web.tests.pages import inline_code, text_of
from perfdb.web.tests.test_studies import HIPERSOCKETS, load


def test_a_study_is_made_and_opened(web: Client, ada: User) -> None:
    assert inline_code(web.get("/studies/new/")) == []
    response = web.post(
        "/studies/new/", {"title": " OSA vs. virtual switch ", "purpose": "Which?\r\nWhy?"}, follow=True
    )
    assert "was made" in text_of(response)
    study = Study.objects.get()
    assert (study.slug, study.title, study.purpose) == (
        "osa-vs-virtual-switch",
        "OSA vs. virtual switch",
        "Which?\nWhy?",
    )
    assert study.owner == ada
    assert response.redirect_chain == [("/studies/osa-vs-virtual-switch/", 302)]
    # Its page leads on to its logs, and the form knows where they belong.
    assert "No runs yet: upload their logs" in text_of(response)
    assert 'href="/uploads/new/?study=osa-vs-virtual-switch"' in response.content.decode()
    form = web.get("/uploads/new/?study=osa-vs-virtual-switch").content.decode()
    assert '<option value="osa-vs-virtual-switch" selected>' in form


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"title": " "}, "a study needs a title"),
        ({"title": "x" * 201}, "a study needs a title"),
        ({"title": "x", "slug": "Not This"}, "is no slug"),
        ({"title": "x", "slug": "inbox"}, "the slug inbox is taken"),
        ({"title": "x", "slug": "guest-lan"}, "the slug guest-lan is taken"),
    ],
)
def test_what_is_no_study_is_said_and_stays_in_the_form(web: Client, form: dict[str, str], message: str) -> None:
    make_study()
    response = web.post("/studies/new/", {**form, "purpose": "Kept"})
    assert response.status_code == 400
    assert message in text_of(response)
    assert "Kept" in response.content.decode()
    assert Study.objects.count() == 1


def test_slugs_are_free_ones(ada: User) -> None:
    slugs = [study_details.create_study(ada, title).slug for title in ("New", "Lan", "lan!", "…", "Inbox")]
    assert slugs == ["new-2", "lan", "lan-2", "study", "inbox-2"]


def test_an_empty_study_can_be_deleted_and_a_full_one_says_why_not(web: Client, ada: User) -> None:
    make_study("empty", owner=ada)
    make_run("A", study=make_study(owner=ada))
    assert "was deleted" in text_of(web.post("/studies/empty/delete/", follow=True))
    assert "It has runs" in text_of(web.post("/studies/guest-lan/delete/", follow=True))
    assert [study.slug for study in Study.objects.all()] == ["guest-lan"]
    uploads.inbox_of(ada)
    assert "Everybody has an inbox" in text_of(web.post("/studies/inbox/delete/", follow=True))


def test_only_its_owner_and_staff_may(web: Client, stranger: Client) -> None:
    make_study(owner=User.objects.create_user("grace"))
    assert web.post("/studies/guest-lan/delete/").status_code == 403
    assert web.post("/studies/guest-lan/share/", {"do": "publish"}).status_code == 403
    assert web.get("/studies/guest-lan/share/").status_code == 403
    assert stranger.get("/studies/new/").status_code == 302


@pytest.fixture
def shared() -> str:
    """The published address of a study's report."""
    load(HIPERSOCKETS)
    return f"/shared/{study_details.publish_study(Study.objects.get(slug=HIPERSOCKETS))}/"


def test_the_report_is_read_without_signing_in_and_nothing_else(stranger: Client, shared: str) -> None:
    page = stranger.get(shared)
    source = page.content.decode()
    assert inline_code(page) == []
    assert "A read-only report, as of 20" in text_of(page)
    assert source.count('<perf-chart data-figure="figure-of') == 6
    links = set(re.findall(r'<a\b[^>]* href="([^"#][^"]*)"', source))
    assert links
    assert all(link.startswith(shared) for link in links)
    answers = {link.removeprefix(shared): stranger.get(link).status_code for link in links}
    assert answers.pop("report.pdf") == 202
    assert set(answers.values()) == {200}
    assert (page["X-Robots-Tag"], page["Referrer-Policy"]) == ("noindex, nofollow", "no-referrer")
    assert stranger.get(f"/studies/{HIPERSOCKETS}/").status_code == 302


def test_its_tables_are_taken_away_in_every_form(stranger: Client, shared: str) -> None:
    forms = {form: stranger.get(f"{shared}tables/1.{form}") for form in ("csv", "json", "md", "tex", "txt")}
    assert {form: answer.status_code for form, answer in forms.items()} == dict.fromkeys(forms, 200)
    assert forms["csv"]["Content-Type"] == "text/csv; charset=utf-8"
    assert len(forms["json"].json()["tables"]) > 1
    assert stranger.get(f"{shared}tables/1.exe").status_code == 404
    assert stranger.get(f"{shared}tables/99.csv").status_code == 404


def test_its_file_leads_nowhere_but_to_the_published_address(stranger: Client, shared: str) -> None:
    _, _, source = stranger.get(f"{shared}report.html").content.decode().partition("<body")
    assert set(re.findall(r'href="(http[^"]*)"', source)) <= {
        f"http://testserver{shared}",
        *re.findall(rf'href="(http://testserver{shared}tables/[^"]*)"', source),
    }


def test_a_withdrawn_or_renewed_address_shows_nothing(web: Client, ada: User, stranger: Client) -> None:
    study = make_study(owner=ada)
    web.post("/studies/guest-lan/share/", {"do": "publish"})
    study.refresh_from_db()
    first = f"/shared/{study.share_token}/"
    assert first in web.get("/studies/guest-lan/share/").content.decode()
    assert stranger.get(first).status_code == 200
    web.post("/studies/guest-lan/share/", {"do": "renew"})
    study.refresh_from_db()
    second = f"/shared/{study.share_token}/"
    assert (stranger.get(first).status_code, stranger.get(second).status_code) == (404, 200)
    web.post("/studies/guest-lan/share/", {"do": "withdraw"})
    assert stranger.get(second).status_code == 404
    assert stranger.get("/shared/None/").status_code == 404
