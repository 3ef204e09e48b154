"""Correcting a preview by plain forms: in a row, for all that need it, for those chosen, and what is refused."""

import gzip
import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from perfdb.results.models import Device, Run, Study, Upload
from perfdb.web.tests.conftest import LOGS, Bring, work
from perfdb.web.tests.pages import text_of

PING = "ping/linux"


@pytest.fixture
def upload(bring: Bring) -> Upload:
    """A preview of three runs of which nobody says device and MTU: flood, plain, stamped."""
    return bring(PING, preview=True)


def page_of(web: Client, upload: Upload) -> str:
    """The source of the upload's page."""
    return web.get(reverse("web:upload", args=[upload.pk])).content.decode()


def correct(web: Client, upload: Upload, **fields: object) -> dict[str, object]:
    """Post corrections (``__`` stands for ``:``), do the work, and answer each run's device."""
    web.post(reverse("web:upload-correct", args=[upload.pk]), {k.replace("__", ":"): v for k, v in fields.items()})
    work(upload)
    return {run.run_label: run.summary["dimensions"].get("device") for run in upload.runs.all()}


def test_fields_stand_where_something_is_not_told(web: Client, upload: Upload) -> None:
    Device.objects.create(name="Hipersockets of old", kind="virtual")
    source = page_of(web, upload)
    assert re.findall(r'name="(fact:\d+:\w+)"', source) == [
        f"fact:{n}:{key}" for n in range(3) for key in ("device", "mtu")
    ]
    assert "Set for all 3" in source
    assert '<option value="Hipersockets of old">' in source


def test_what_is_written_in_rows_is_of_those_runs(web: Client, upload: Upload) -> None:
    devices = correct(web, upload, fact__0__device="OSA", fact__1__device=" vCTC ", fact__2__device="")
    assert devices == {"flood": "OSA", "plain": "vCTC", "stamped": None}
    assert "OSA given" in text_of(web.get(reverse("web:upload", args=[upload.pk])))


def test_all_runs_that_need_it(web: Client, upload: Upload) -> None:
    assert correct(web, upload, fact__0__device="OSA")["flood"] == "OSA"
    devices = correct(web, upload, fact__1__device="vCTC", fact__2__device="ignored", all="1:device")
    assert devices == {"flood": "OSA", "plain": "vCTC", "stamped": "vCTC"}
    assert "Device vCTC of 2 runs" in text_of(web.get(reverse("web:upload", args=[upload.pk])))


def test_the_runs_chosen_or_all_of_them(web: Client, upload: Upload) -> None:
    devices = correct(web, upload, say="1", about="chosen", said="device", value="OSA", run=["0", "2"])
    assert devices == {"flood": "OSA", "plain": None, "stamped": "OSA"}
    correct(web, upload, say="1", about="all", said="client_cpus", value="0 1")
    upload.refresh_from_db()
    assert upload.corrections[-1] == {"facts": {"client_cpus": "0 1"}, "places": []}


def test_a_wrong_value_is_answered_beside_its_field(web: Client, upload: Upload) -> None:
    address = reverse("web:upload-correct", args=[upload.pk])
    answer = web.post(address, {"fact:1:mtu": "wide", "fact:0:device": "OSA", "run": ["2"]})
    source = answer.content.decode()
    assert answer.status_code == 400
    assert re.search(
        r'name="fact:1:mtu"[^>]*value="wide"[^>]*aria-invalid="true" aria-describedby="error-1-mtu"', source
    )
    assert re.search(r'id="error-1-mtu">&#x27;wide&#x27; is not a size in bytes', source)
    assert re.search(r'name="fact:0:device"[^>]*value="OSA"', source)
    assert re.search(r'name="run" value="2"[^>]*checked', source)
    panel = web.post(address, {"say": "1", "about": "all", "said": "users", "value": "few"}).content.decode()
    assert re.search(r'id="value-error">&#x27;few&#x27; is not a whole number', panel)
    upload.refresh_from_db()
    assert (upload.state, upload.corrections) == ("preview", [])


@pytest.mark.parametrize("fields", [{"fact:99:mtu": "1"}, {"all": "0:mtu"}, {"say": "1", "value": "1"}, {}])
def test_what_makes_no_sense_changes_nothing(web: Client, upload: Upload, fields: dict[str, str]) -> None:
    answer = web.post(reverse("web:upload-correct", args=[upload.pk]), fields, follow=True)
    assert [message.level_tag for message in answer.context["messages"]] == ["error"]
    upload.refresh_from_db()
    assert upload.state == "preview"


def test_a_correction_is_undone(web: Client, upload: Upload) -> None:
    correct(web, upload, fact__0__device="OSA")
    # Nor is the list of corrections the title that other pages show.
    assert "og:title" not in page_of(web, upload)
    web.post(reverse("web:upload-take-back", args=[upload.pk, 0]))
    work(upload)
    assert upload.runs.get(run_label="flood").summary["dimensions"].get("device") is None


def test_a_file_is_left_out_and_read_after_all(web: Client, upload: Upload) -> None:
    address = reverse("web:upload-leave-out", args=[upload.pk])
    web.post(address, {"leave_out": "flood.txt"})
    work(upload)
    assert set(upload.runs.values_list("run_label", flat=True)) == {"plain", "stamped"}
    assert "Include" in page_of(web, upload)
    web.post(address, {"read": "flood.txt"})
    assert work(upload).runs.count() == 3


def test_a_preview_is_moved_to_a_known_or_a_new_study(web: Client, upload: Upload, ada: User) -> None:
    known = Study.objects.create(slug="known", title="Known", owner=ada)
    address = reverse("web:upload-move", args=[upload.pk])
    web.post(address, {"study": "known"})
    assert work(upload).study == known
    web.post(address, {"new_study": "Brand new"})
    assert work(upload).study.title == "Brand new"
    web.post(address, {"study": ""})
    assert work(upload).study.slug == "inbox"
    answer = web.post(address, {"study": "gone"}, follow=True)
    assert "no study" in text_of(answer)


def test_a_refused_move_leaves_no_study_behind(web: Client, bring: Bring) -> None:
    stored = bring(PING)
    web.post(reverse("web:upload-move", args=[stored.pk]), {"new_study": "Ghost"})
    assert not Study.objects.filter(title="Ghost").exists()


def test_what_is_stored_is_not_asked_for_any_more(web: Client, bring: Bring) -> None:
    source = page_of(web, bring(PING))
    assert 'name="fact:' not in source
    assert "Leave out" not in source


@pytest.mark.parametrize("action", ["correct", "move", "leave-out", "take-back"])
def test_only_the_owner_may(upload: Upload, action: str) -> None:
    other = Client()
    other.force_login(User.objects.create_user("bob"))
    address = reverse(f"web:upload-{action}", args=[upload.pk, 0] if action == "take-back" else [upload.pk])
    assert other.post(address, {"fact:0:device": "OSA"}).status_code == 403
    assert 'name="fact:' not in page_of(other, upload)


def test_the_same_files_again_bring_what_was_said(web: Client, upload: Upload) -> None:
    correct(web, upload, fact__0__device="OSA")
    web.post(reverse("web:upload-undo", args=[upload.pk]))
    web.post(reverse("web:upload-again", args=[upload.pk]))
    again = work(Upload.objects.latest("pk"))
    assert again.runs.get(run_label="flood").summary["dimensions"]["device"] == "OSA"
    assert not Run.objects.exists()


def test_a_pasted_text_is_recognised(web: Client) -> None:
    address = reverse("web:upload-recognise")
    log = (LOGS / PING / "plain.txt").read_bytes()
    assert web.post(address, log, content_type="text/plain").json()["format"] == "ping"
    nothing = web.post(address, b"shopping list\nmilk", content_type="text/plain").json()
    assert nothing == {"format": "", "title": ""}


def test_the_beginning_of_a_packed_file_is_recognised_by_its_name(web: Client) -> None:
    address = reverse("web:upload-recognise") + "?name=runs/plain.txt.gz"
    log = gzip.compress((LOGS / PING / "plain.txt").read_bytes())
    assert "ping" in web.post(address, log, content_type="application/octet-stream").json()["title"]
