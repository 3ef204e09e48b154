"""The form of a study: trying a pattern, saving, and who may."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from importers.collate import RunIdPattern
from perfdb.results.models import Study
from perfdb.results.reading import pattern_of
from perfdb.results.tests.builders import make_run, make_study
from perfdb.web.study.editing import Written
from perfdb.web.tests.pages import inline_code, text_of
from perfdb.web.tests.test_studies import load

ADDRESS = "/studies/guest-lan/edit/"
CODES = '[device]\nGB = "QDIO GbE"'
PLAN = '[[part]]\nname = "sizes"\ntrials = 3\ndevice = ["QDIO GbE"]\nmtu = [1500, "8K"]'
FORM = {
    "title": "Guest LAN",
    "source": "",
    "purpose": "Why *not*?",
    "method": "Once.\r\n\r\nTwice.",
    "pattern": r"NM(?P<device>GB|HI)(?P<users>\d\d)",
    "codes": CODES,
    "plan": PLAN,
    "run_ids": "NMGB50\nNMHI01\nother",
}


@pytest.fixture
def study(ada: User) -> Study:
    return make_study(owner=ada)


def test_it_works(web: Client, study: Study) -> None:
    page = web.get(ADDRESS)
    assert page.status_code == 200
    assert inline_code(page) == []
    response = web.post(ADDRESS, FORM, follow=True)
    text = text_of(response)
    assert "The study was changed." in text
    assert "0 of 2 planned experiments measured; 6 trials are missing" in text
    assert "<em>not</em>" in response.content.decode()
    version = study.version
    study.refresh_from_db()
    assert (study.title, study.method, study.version) == ("Guest LAN", "Once.\n\nTwice.", version + 1)
    assert pattern_of(study) == RunIdPattern(FORM["pattern"], {"device": {"GB": "QDIO GbE"}})
    assert study.plan == [{"name": "sizes", "trials": 3, "device": ["QDIO GbE"], "mtu": [1500, "8K"]}]


def test_what_is_stored_comes_back_as_it_is_written(web: Client, study: Study) -> None:
    web.post(ADDRESS, FORM)
    study.refresh_from_db()
    shown = Written.of(study)
    assert (shown.codes.strip(), shown.plan.strip()) == (CODES, PLAN)
    web.post(ADDRESS, {**FORM, "codes": shown.codes, "plan": shown.plan})
    again = Study.objects.get(pk=study.pk)
    assert (again.plan, again.run_id_values) == (study.plan, study.run_id_values)


def test_trying_keeps_nothing(web: Client, study: Study) -> None:
    response = web.post(ADDRESS, {**FORM, "try": "1"})
    text = text_of(response)
    assert "NMGB50 Device QDIO GbE, Users 50" in text
    assert "NMHI01 Device HI, Users 01" in text
    assert "other does not fit" in text
    study.refresh_from_db()
    assert (study.run_id_pattern, study.version) == ("", 1)


def test_run_ids_of_the_study_are_there_to_try(web: Client, study: Study) -> None:
    make_run("NMGB10", study=study)
    assert "NMGB10" in text_of(web.get(ADDRESS))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"title": " "}, "a study needs a title"),
        ({"pattern": "(?P<device"}, "the run-id pattern is no regular expression"),
        ({"codes": "[device"}, "the codes cannot be read as TOML"),
        ({"codes": "[mtu]\n1 = 2"}, "the pattern has no group mtu"),
        ({"codes": "device = 1"}, "device must be a table of codes"),
        ({"plan": "[[part]"}, "the plan cannot be read as TOML"),
        ({"plan": "device = ['A']"}, "a plan is made of parts"),
        ({"plan": "[[part]]\nspeed = [1]"}, "'speed' is not a dimension"),
        ({"plan": "[[part]]\ndevice = 'A'"}, "device is not a list of values"),
        ({"plan": "[[part]]\nmtu = ['wide']"}, "'wide' is not a size"),
        ({"plan": "[[part]]\ndevice = ['A']\ntrials = 0"}, "trials must be a whole number above 0"),
        ({"plan": "[[part]]\nname = 2026-01-01\ndevice = ['A']"}, "the name of a part is a text"),
    ],
)
def test_what_is_not_understood_is_said_and_what_was_written_stays(
    web: Client, study: Study, change: dict[str, str], message: str
) -> None:
    response = web.post(ADDRESS, {**FORM, **change})
    assert response.status_code == 400
    assert message in text_of(response)
    assert "Why *not*?" in response.content.decode()
    study.refresh_from_db()
    assert study.title == "Guest Lan"


def test_dates_in_a_plan_are_taken_as_texts_are(web: Client, study: Study) -> None:
    response = web.post(ADDRESS, {**FORM, "plan": "[[part]]\nlevel = [2026-01-01]"})
    assert response.status_code == 400
    assert "level has a value that is neither text nor number" in text_of(response)


def test_what_a_document_brought_can_be_edited(ada: User) -> None:
    load("linux-networking-zvm52")
    staff = Client()
    staff.force_login(User.objects.create_user("alan", is_staff=True))
    address = "/studies/linux-networking-zvm52/edit/"
    page = staff.get(address)
    assert "Loaded from a document" in text_of(page)
    study = Study.objects.get(slug="linux-networking-zvm52")
    shown = Written.of(study)
    fields = {name: getattr(shown, name) for name in Written.__slots__}
    assert staff.post(address, {**fields, "title": "Mine"}).status_code == 302
    again = Study.objects.get(pk=study.pk)
    assert (again.title, again.plan, again.notes) == ("Mine", study.plan, study.notes)


def test_only_its_owner_and_staff_may(study: Study, stranger: Client) -> None:
    assert stranger.get(ADDRESS).status_code == 302
    grace = Client()
    grace.force_login(User.objects.create_user("grace"))
    assert grace.get(ADDRESS).status_code == 403
    assert grace.post(ADDRESS, FORM).status_code == 403
    assert "/edit/" not in grace.get("/studies/guest-lan/").content.decode()


def test_a_form_from_elsewhere_is_refused(ada: User, study: Study) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(ada)
    assert strict.post(ADDRESS, FORM).status_code == 403
