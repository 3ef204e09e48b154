"""The page of a study's aliases: what is printed, a preview, making and undoing."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from perfdb.results import tasks
from perfdb.results.changes import alias_changes
from perfdb.results.models import Alias, Job, Run, Study
from perfdb.results.tests.builders import make_run, make_study
from perfdb.web.tests.pages import inline_code, text_of

ADDRESS = "/studies/guest-lan/aliases/"
QDIO = {"dimension": "device", "printed": "qdio gbe", "meaning": "QDIO"}


@pytest.fixture
def study(ada: User) -> Study:
    """A study of Ada's that spells a device in two ways."""
    study = make_study(owner=ada)
    make_run("A", study=study, device="QDIO")
    make_run("B", study=study, device="QDIO GBE")
    return study


def do_jobs() -> None:
    for job in Job.objects.filter(state="queued"):
        tasks.run_job(job.pk)


def test_it_shows_what_is_printed_for_each_value(web: Client, study: Study) -> None:
    response = web.get(ADDRESS)
    text = text_of(response)
    assert "Aliases of Guest Lan" in text
    assert "Device QDIO QDIO 1 QDIO GBE QDIO GBE 1 MTU" in text
    assert inline_code(response) == []


def test_it_works_without_scripts_from_preview_to_undo(web: Client, study: Study) -> None:
    preview = web.get(ADDRESS, QDIO)
    text = text_of(preview)
    assert "Make qdio gbe an alias of QDIO?" in text
    assert "1 run would get device QDIO, which 1 other run has already. Nothing is changed yet." in text
    assert inline_code(preview) == []
    assert not Alias.objects.exists()
    made = web.post(ADDRESS, QDIO, follow=True)
    assert "Runs are being moved" in text_of(made)
    do_jobs()
    text = text_of(web.get(ADDRESS))
    assert "Runs are being moved" not in text
    assert "Device QDIO QDIO 1 QDIO GBE 1 ada, " in text
    assert "printed as QDIO GBE" in text_of(web.get(f"/runs/{Run.objects.get(run_id='B').pk}/"))
    assert "printed as QDIO" not in text_of(web.get(f"/runs/{Run.objects.get(run_id='A').pk}/"))
    web.post(f"{ADDRESS}{Alias.objects.get().pk}/undo/")
    do_jobs()
    assert "QDIO GBE QDIO GBE 1" in text_of(web.get(ADDRESS))
    assert "printed as QDIO" not in text_of(web.get(f"/runs/{Run.objects.get(run_id='B').pk}/"))


def test_the_preview_says_which_runs_would_be_there_twice(web: Client, study: Study) -> None:
    make_run("A", study=study, device="QDIO GBE")
    text = text_of(web.get(ADDRESS, QDIO))
    assert "1 run would be there twice. Nothing is merged" in text
    assert "A, trial 1: run " in text


def test_likely_aliases_are_offered(web: Client, study: Study) -> None:
    make_run("C", study=study, device="QDIO-GBE")
    page = web.get(ADDRESS).content.decode()
    assert "differ in capitals, blanks and punctuation only" in page
    assert "dimension=device&amp;printed=QDIO-GBE&amp;meaning=QDIO+GBE#preview" in page


def test_what_may_be_no_alias_is_said(web: Client, study: Study) -> None:
    response = web.get(ADDRESS, {"dimension": "mtu", "printed": "jumbo", "meaning": "large"})
    assert response.status_code == 400
    assert "'large' is no value of mtu" in text_of(response)
    response = web.post(ADDRESS, {"dimension": "mtu", "printed": "jumbo", "meaning": "large"}, follow=True)
    assert "'large' is no value of mtu" in text_of(response)
    assert not Alias.objects.exists()


def test_a_word_that_is_not_understood_is_shown(web: Client, ada: User, study: Study) -> None:
    alias_changes.add_alias(study, "mtu", "jumbo", "9000", ada)
    assert "9000 jumbo 0 ada, " in text_of(web.get(ADDRESS))


def test_others_look_and_change_nothing(study: Study) -> None:
    grace = Client()
    grace.force_login(User.objects.create_user("grace"))
    assert "Only the owner of the study or a member of staff may say so" in text_of(grace.get(ADDRESS, QDIO))
    assert grace.post(ADDRESS, QDIO).status_code == 403
    staff = Client()
    staff.force_login(User.objects.create_user("alan", is_staff=True))
    assert staff.post(ADDRESS, QDIO).status_code == 302
    assert Alias.objects.count() == 1


def test_a_stranger_is_asked_to_sign_in_unless_reading_is_open(
    stranger: Client, study: Study, settings: Settings
) -> None:
    settings.PUBLIC_READ = False
    assert stranger.get(ADDRESS).status_code == 302
    settings.PUBLIC_READ = True
    assert stranger.get(ADDRESS).status_code == 200
    assert stranger.post(ADDRESS, QDIO).status_code == 302
    assert not Alias.objects.exists()


def test_a_study_that_is_not_there(web: Client) -> None:
    assert web.get("/studies/nothing/aliases/").status_code == 404
