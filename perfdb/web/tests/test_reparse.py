"""The page of runs that an older importer read: what would change, and applying it."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from django.contrib.auth.models import User
from django.test import Client

from importers.awm import log as awm
from importers.model import Fact, Fragment, ProblemLog, Text
from perfdb.results import tasks
from perfdb.results.models import Job, Run, RunSource
from perfdb.results.runs.evidence import decode_facts
from perfdb.web.tests.conftest import Bring
from perfdb.web.tests.pages import inline_code, text_of

ADDRESS = "/reparse/"


@pytest.fixture
def newer(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A stored run, and a newer importer that reads a fact more."""
    parse, version = awm.parse, awm.VERSION + 1

    def parse_more(text: Text, found: ProblemLog) -> Iterator[Fragment]:
        for each in parse(text, found):
            facts = (*each.facts, Fact("colour", "red", each.first_line))
            yield replace(each, format_version=version, facts=facts)

    monkeypatch.setattr(awm, "parse", parse_more)
    monkeypatch.setattr(awm, "VERSION", version)
    return run


@pytest.fixture
def staff(db: None) -> Client:
    """The browser of a member of staff."""
    client = Client()
    client.force_login(User.objects.create_user("alan", is_staff=True))
    return client


def test_there_is_nothing_to_do_while_importers_are_the_same(web: Client, run: Run) -> None:
    assert "There is nothing to read again" in text_of(web.get(ADDRESS))
    assert "older importer" not in text_of(web.get("/uploads/"))


def test_it_shows_what_would_change_and_changes_it(staff: Client, newer: Run) -> None:
    assert "1 run was read by an older importer. See what reading it again would change" in text_of(
        staff.get("/uploads/")
    )
    response = staff.get(ADDRESS)
    text = text_of(response)
    assert "NMGBR950, trial 1" in text
    assert "added fact colour – red" in text
    assert inline_code(response) == []
    newer.evidence.refresh_from_db()
    assert "colour" not in newer.evidence.facts
    assert "Runs are being read again. 0 done" in text_of(staff.post(ADDRESS, follow=True))
    assert "Runs are being read again already" in text_of(staff.post(ADDRESS, follow=True))
    tasks.run_job(Job.objects.get(kind="reparse").pk)
    text = text_of(staff.get(ADDRESS))
    assert "alan) 1 run was read again and 1 changed" in text
    assert "There is nothing to read again" in text
    newer.evidence.refresh_from_db()
    assert decode_facts(newer.evidence)["colour"].text == "red"
    assert "older importer" not in text_of(staff.get("/uploads/"))


def test_a_run_that_is_found_no_more_is_named(staff: Client, newer: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    newer.sources.exclude(format="awm").delete()
    monkeypatch.setattr(awm, "parse", lambda text, found: [])
    assert "left as it is Its files hold nothing" in text_of(staff.get(ADDRESS))
    staff.post(ADDRESS)
    tasks.run_job(Job.objects.get(kind="reparse").pk)
    assert "Left as they were: NMGBR950 : Its files hold nothing" in text_of(staff.get(ADDRESS))


def test_only_staff_may_apply(web: Client, newer: Run) -> None:
    assert "Only staff can have runs read again" in text_of(web.get(ADDRESS))
    assert web.post(ADDRESS).status_code == 403
    assert not Job.objects.filter(kind="reparse").exists()


def test_long_lists_come_in_pages(staff: Client, bring: Bring, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("perfdb.web.uploads.views.MOST_REVIEWED", 1)
    bring("awm/three_runs")
    RunSource.objects.update(format_version=0)
    total = Run.objects.count()
    assert total > 2
    assert f"1 to 1 of {total}" in text_of(staff.get(ADDRESS))
    second = staff.get(ADDRESS, {"page": "2"})
    assert f"2 to 2 of {total}" in text_of(second)
    assert inline_code(second) == []
    assert staff.get(ADDRESS, {"page": "x"}).status_code == 200
