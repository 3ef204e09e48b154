"""The forms of a study: texts, the pattern of run ids, the plan, moving runs; saving, and who may."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from importers.collate.run_ids import RunIdPattern
from perfdb.results import tasks
from perfdb.results.ingest.make_records import pattern_of
from perfdb.results.models import Job, Run, RunChange, Study, Upload
from perfdb.results.tests.builders import make_run, make_study
from perfdb.web.studies.study_forms import Pattern, Texts, plan_of
from perfdb.web.tests.conftest import Bring
from perfdb.web.tests.pages import inline_code, text_of
from perfdb.web.tests.test_studies import load

BASE = "/studies/guest-lan/"
TEXTS = {
    "title": "Guest LAN",
    "source": "",
    "purpose": "Why *not*?",
    "method": "Once.\r\n\r\nTwice.",
    "notes": "[1, 2] the unit is wrong\r\n\r\nodd",
}
PATTERN: dict[str, Any] = {
    "pattern": r"NM(?P<device>GB|HI)(?P<users>\d\d)",
    "group": ["device", ""],
    "code": ["GB", ""],
    "means": ["QDIO GbE", ""],
    "run_ids": "NMGB50\nNMHI01\nother",
}
PLAN: dict[str, Any] = {
    "part": ["1", "2"],
    "name-1": "sizes",
    "trials-1": "3",
    "dimension-1": ["device", "mtu", ""],
    "values-1": ["QDIO GbE", "1500, 8K", ""],
    "name-2": "",
}


@pytest.fixture
def study(ada: User) -> Study:
    return make_study(owner=ada)


def work() -> None:
    for job in Job.objects.filter(state=Job.State.QUEUED).order_by("pk"):
        tasks.run_job(job.pk)


def test_texts_are_changed(web: Client, study: Study) -> None:
    assert inline_code(web.get(f"{BASE}edit/")) == []
    response = web.post(f"{BASE}edit/", TEXTS, follow=True)
    assert "The study was changed." in text_of(response)
    assert "<em>not</em>" in response.content.decode()
    version = study.version
    study.refresh_from_db()
    assert (study.title, study.method, study.version) == ("Guest LAN", "Once.\n\nTwice.", version + 1)
    assert study.notes == [{"tables": ["1", "2"], "text": "the unit is wrong"}, {"tables": [], "text": "odd"}]
    assert Texts.from_study(study).columns()["notes"] == study.notes


def test_a_study_needs_a_title(web: Client, study: Study) -> None:
    response = web.post(f"{BASE}edit/", {**TEXTS, "title": " "})
    assert response.status_code == 400
    assert "a study needs a title" in text_of(response)
    assert "Why *not*?" in response.content.decode()
    study.refresh_from_db()
    assert study.title == "Guest Lan"


@pytest.mark.parametrize(("part", "form"), [("edit", TEXTS), ("run-ids", PATTERN), ("plan", PLAN)])
def test_two_who_change_a_study_lose_nothing(web: Client, study: Study, part: str, form: dict[str, Any]) -> None:
    address = f"{BASE}{part}/"
    state = web.get(address).context["state"]
    Study.objects.filter(pk=study.pk).update(title="Theirs", run_id_pattern="THEIRS", plan=[{"device": ["Theirs"]}])
    response = web.post(address, {**form, "state": state})
    assert response.status_code == 409
    assert "Someone else changed this" in text_of(response)
    assert "theirs" in text_of(response).casefold()
    study.refresh_from_db()
    assert study.title == "Theirs"
    assert web.post(address, {**form, "state": response.context["state"]}).status_code == 302


def test_runs_that_come_in_are_no_conflict(web: Client, study: Study) -> None:
    state = web.get(f"{BASE}edit/").context["state"]
    make_run(study=study)
    Study.objects.filter(pk=study.pk).update(version=study.version + 1)
    assert web.post(f"{BASE}edit/", {**TEXTS, "state": state}).status_code == 302


def test_trying_a_pattern_keeps_nothing(web: Client, study: Study) -> None:
    response = web.post(f"{BASE}run-ids/", {**PATTERN, "try": "1"})
    text = text_of(response)
    assert "NMGB50 Device QDIO GbE, Users 50" in text
    assert "NMHI01 Device HI, Users 01" in text
    assert "other does not fit" in text
    # The code that was met has a row of its own now, and there are blank ones.
    assert [(row.group, row.code) for row in response.context["codes"]][:3] == [
        ("device", "GB"),
        ("device", "HI"),
        ("", ""),
    ]
    study.refresh_from_db()
    assert (study.run_id_pattern, study.version) == ("", 1)


def test_what_stored_runs_have_otherwise_is_marked(web: Client, study: Study) -> None:
    make_run("NMGB50", study=study, device="vCTC", users=50)
    form = {**PATTERN, "run_ids": "NMGB50"}
    text = text_of(web.post(f"{BASE}run-ids/", {**form, "try": "1"}))
    assert "Device QDIO GbE stored: vCTC , Users 50 1" in text


def test_run_ids_of_the_study_are_there_to_try(web: Client, study: Study) -> None:
    make_run("NMGB10", study=study)
    page = web.get(f"{BASE}run-ids/")
    assert inline_code(page) == []
    assert "NMGB10" in text_of(page)


def test_a_pattern_is_saved_and_comes_back(web: Client, study: Study) -> None:
    assert web.post(f"{BASE}run-ids/", PATTERN).headers["Location"] == f"{BASE}apply/"
    study.refresh_from_db()
    assert pattern_of(study) == RunIdPattern(PATTERN["pattern"], {"device": {"GB": "QDIO GbE"}})
    shown = Pattern.from_study(study)
    assert shown.values() == {"device": {"GB": "QDIO GbE"}}
    web.post(f"{BASE}run-ids/", {**PATTERN, "pattern": "NM{device:2}{users:2}"})
    study.refresh_from_db()
    assert study.run_id_pattern == "NM(?P<device>.{2})(?P<users>.{2})"
    web.post(f"{BASE}run-ids/", {"pattern": ""})
    study.refresh_from_db()
    assert (study.run_id_pattern, study.run_id_values) == ("", {})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pattern": "(?P<device"}, "is no regular expression"),
        ({"pattern": "(?P<device>(a+)+)b"}, "could take too long"),
        ({"pattern": "{device:2}{device:1}"}, "the template has device twice"),
        ({"group": "mtu"}, "he pattern has no group mtu"),
        ({"group": ["device"] * 2, "code": ["GB"] * 2, "means": ["A", "B"]}, "evice GB has two meanings"),
        ({"pattern": "x" * 1001}, "at most 1000 characters"),
    ],
)
def test_what_is_no_pattern_is_said_and_stays(web: Client, study: Study, change: dict[str, Any], message: str) -> None:
    response = web.post(f"{BASE}run-ids/", {**PATTERN, **change})
    assert response.status_code == 400
    assert message in text_of(response)
    study.refresh_from_db()
    assert study.run_id_pattern == ""


def test_a_pattern_is_applied_to_stored_runs(web: Client, ada: User, bring: Bring) -> None:
    study = make_study(owner=ada)
    bring(study=study)
    web.post(f"{BASE}run-ids/", {"pattern": "NM{campaign:2}.*"})
    web.post(f"{BASE}run-ids/", {"pattern": "NM(?P<campaign>..).*"})
    page = text_of(web.get(f"{BASE}apply/"))
    assert "campaign: none → GB" in page or "campaign:" in page.casefold()
    assert Run.objects.get().campaign == ""
    web.post(f"{BASE}apply/")
    assert "Runs are being read again" in text_of(web.get(f"{BASE}apply/"))
    work()
    assert Run.objects.get().campaign == "GB"
    assert "1 run was read again and 1 changed" in text_of(web.get(f"{BASE}apply/"))


def test_a_plan_is_written_as_a_form(web: Client, study: Study) -> None:
    response = web.post(f"{BASE}plan/", PLAN, follow=True)
    text = text_of(response)
    assert "0 of 2 planned experiments measured; 6 trials are missing" in text
    command = "sh record.sh --study guest-lan --repeat 3 'device=QDIO GbE' mtu=1500 -- COMMAND"
    assert command in text
    study.refresh_from_db()
    assert study.plan == [{"name": "sizes", "trials": 3, "device": ["QDIO GbE"], "mtu": [1500, "8K"]}]
    page = web.get(f"{BASE}plan/")
    assert inline_code(page) == []
    assert [part.stored() for part in plan_of(study)] == study.plan
    web.post(f"{BASE}plan/", {})
    study.refresh_from_db()
    assert study.plan == []


def test_a_value_with_a_comma_stays_one(web: Client, study: Study) -> None:
    web.post(f"{BASE}plan/", {**PLAN, "values-1": ["QDIO, old\r\nQDIO\r\n", "1500", ""]})
    study.refresh_from_db()
    assert study.plan[0]["device"] == ["QDIO, old", "QDIO"]
    assert [part.stored() for part in plan_of(study)] == study.plan


def test_a_part_may_begin_with_what_is_there(web: Client, study: Study) -> None:
    for device in ("QDIO", "vCTC"):
        make_run(device, study=study, device=device)
    response = web.post(f"{BASE}plan/", {**PLAN, "present": "1"})
    (_, _), (_, begun), _ = response.context["parts"]
    assert begun.stored() == {"name": "what is there", "device": ["QDIO", "vCTC"], "workload": ["RR"]}
    study.refresh_from_db()
    assert study.plan == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dimension-1": ["speed", "", ""]}, "'speed' is not a dimension"),
        ({"values-1": ["A", "wide", ""]}, "'wide' is not a size"),
        ({"trials-1": "0"}, "trials must be a whole number above 0"),
        ({"trials-1": "many"}, "trials must be a whole number above 0"),
        ({"dimension-1": ["trial", "", ""], "values-1": ["1", "", ""]}, "cannot be planned"),
        ({"dimension-1": [], "values-1": []}, "names no dimension"),
    ],
)
def test_what_is_no_plan_is_said_and_stays(web: Client, study: Study, change: dict[str, Any], message: str) -> None:
    response = web.post(f"{BASE}plan/", {**PLAN, **change})
    assert response.status_code == 400
    assert message in text_of(response)
    assert "sizes" in response.content.decode()


def test_runs_are_moved_with_their_upload(web: Client, ada: User, bring: Bring) -> None:
    upload = bring()
    inbox = upload.study
    target = make_study(owner=ada, run_id_pattern="NM(?P<campaign>..).*")
    page = web.get("/studies/inbox/move/", {"runs": f"http://testserver/runs/?upload={upload.pk}&sort=users"})
    assert inline_code(page) == []
    assert "Move 1 run" in text_of(page)
    run = Run.objects.get()
    assert web.post("/studies/inbox/move/", {"runs": f"upload={upload.pk}", "to": "guest-lan"}).status_code == 302
    assert "Runs are being moved" in text_of(web.get("/studies/inbox/move/"))
    work()
    moved = Run.objects.get(pk=run.pk)
    assert (moved.study, moved.campaign, moved.values) == (target, "GB", run.values)
    assert moved.experiment.study == target
    assert Upload.objects.get().study == target
    assert not Run.objects.filter(study=inbox).exists()
    assert "moved from study inbox to guest-lan" in RunChange.objects.get(run=run).detail
    assert "1 of 1 run moved" in text_of(web.get("/studies/inbox/move/"))


def test_what_cannot_be_moved_stays_and_is_said(web: Client, ada: User, bring: Bring) -> None:
    target = make_study(owner=ada)
    bring()
    bring(study=target)
    inbox = Study.objects.get(slug="inbox")
    make_run("B", study=inbox)
    web.post("/studies/inbox/move/", {"runs": "", "to": "guest-lan"})
    work()
    assert Run.objects.filter(study=inbox).count() == 2
    text = text_of(web.get("/studies/inbox/move/"))
    assert "has a run NMGBR950 of the same files already" in text
    assert "belongs to the study of that document" in text


def test_nothing_is_moved_where_one_may_not(web: Client, study: Study) -> None:
    make_run("A", study=study)
    other = make_study("other", owner=User.objects.create_user("grace"))
    assert web.post(f"{BASE}move/", {"to": other.slug}).status_code == 404
    assert web.post(f"{BASE}move/", {"to": "guest-lan"}).status_code == 404
    assert "not a parameter" in text_of(web.get(f"{BASE}move/", {"runs": "colour=red"}))
    assert not Job.objects.exists()


def test_what_a_document_brought_can_be_edited(ada: User) -> None:
    load("linux-networking-zvm52")
    staff = Client()
    staff.force_login(User.objects.create_user("alan", is_staff=True))
    address = "/studies/linux-networking-zvm52/edit/"
    assert "Loaded from a document" in text_of(staff.get(address))
    study = Study.objects.get(slug="linux-networking-zvm52")
    shown = Texts.from_study(study)
    fields = {name: getattr(shown, name) for name in Texts.__slots__}
    assert staff.post(address, {**fields, "title": "Mine"}).status_code == 302
    again = Study.objects.get(pk=study.pk)
    assert (again.title, again.plan, again.notes) == ("Mine", study.plan, study.notes)
    assert [part.stored() for part in plan_of(study)] == study.plan


@pytest.mark.parametrize("part", ["edit", "run-ids", "plan", "apply", "move"])
def test_only_its_owner_and_staff_may(study: Study, stranger: Client, part: str) -> None:
    assert stranger.get(f"{BASE}{part}/").status_code == 302
    grace = Client()
    grace.force_login(User.objects.create_user("grace"))
    assert grace.get(f"{BASE}{part}/").status_code == 403
    assert grace.post(f"{BASE}{part}/", TEXTS).status_code == 403
    assert f"/{part}/" not in grace.get(BASE).content.decode()


def test_a_form_from_elsewhere_is_refused(ada: User, study: Study) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(ada)
    assert strict.post(f"{BASE}edit/", TEXTS).status_code == 403
