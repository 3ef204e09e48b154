"""Making and editing studies and their reports by the REST API."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from perfdb.api.tests.answers import check, problem
from perfdb.api.tests.conftest import client_of
from perfdb.api.tests.files import case, post_files
from perfdb.results import tasks
from perfdb.results.models import Job, Run, Study
from perfdb.results.tests.builders import make_run, make_study

ALL = "/api/v1/studies/"
ONE = "/api/v1/studies/{slug}/"
SHARE, PATTERN, APPLY, MOVE = (f"{ONE}{part}/" for part in ("share", "pattern", "apply", "move"))
ITEMS, ITEM = f"{ONE}report/items/", f"{ONE}report/items/{{id}}/"
BACK = f"{ONE}report/removed/{{id}}/"
HERE = "/api/v1/studies/guest-lan/"
RATE = "metric=trans_per_s&rows=users&columns=device"


def send(client: APIClient, method: str, address: str, **body: object) -> Any:
    return getattr(client, method)(address, body, format="json")


def work() -> None:
    for job in Job.objects.filter(state=Job.State.QUEUED):
        tasks.run_job(job.pk)


@pytest.fixture
def study(ada: User) -> Study:
    return make_study(owner=ada)


def test_a_study_is_made_changed_and_deleted(api: APIClient, ada: User) -> None:
    made = check(send(api, "post", ALL, title="OSA or not?", purpose="Why?"), ALL, 201, "post")
    assert (made["slug"], made["owner"], made["purpose"], made["shared"]) == ("osa-or-not", "ada", "Why?", None)
    changes: dict[str, Any] = {
        "title": "OSA",
        "notes": [{"text": "odd"}],
        "run_id_pattern": "NM{device:2}{users:2}",
        "run_id_values": {"device": {"GB": "QDIO GbE"}},
        "plan": [{"device": ["QDIO", "vCTC"], "trials": 3}],
    }
    body = check(send(api, "patch", made["url"], **changes), ONE, 200, "patch")
    assert body["run_id_pattern"] == "NM(?P<device>.{2})(?P<users>.{2})"
    assert body["notes"] == [{"tables": [], "text": "odd"}]
    assert check(api.get(made["url"]), ONE) == body
    assert api.delete(made["url"]).status_code == 204
    problem(api.get(made["url"]), 404)


@pytest.mark.parametrize(
    ("change", "parameter"),
    [
        ({"title": " "}, "title"),
        ({"run_id_pattern": "(a+)+b"}, "pattern"),
        ({"run_id_pattern": "{users:2}", "run_id_values": {"mtu": {"1": "1500"}}}, "values"),
        ({"plan": [{"speed": ["fast"]}]}, "plan"),
        ({"plan": [{"device": "OSA"}]}, "plan"),
        ({"notes": [{"tables": ["1"]}]}, "notes.0.text"),
    ],
)
def test_what_is_not_understood_names_its_parameter(
    api: APIClient, study: Study, change: dict[str, Any], parameter: str
) -> None:
    assert problem(send(api, "patch", HERE, **change), 400)["parameter"] == parameter
    assert Study.objects.get(pk=study.pk).version == study.version


def test_a_change_of_an_older_state_is_a_conflict(api: APIClient, study: Study) -> None:
    state = api.get(HERE).json()["state"]
    body = check(send(api, "patch", HERE, title="One", state=state), ONE, 200, "patch")
    problem(send(api, "patch", HERE, title="Two", state=state), 409)
    assert send(api, "patch", HERE, title="Two", state=body["state"]).status_code == 200


def test_a_study_with_runs_stays(api: APIClient, study: Study) -> None:
    make_run(study=study)
    assert "It has runs" in problem(api.delete(HERE), 409)["detail"]


def test_a_report_is_published_and_withdrawn(api: APIClient, stranger: APIClient, study: Study) -> None:
    shared = check(api.post(f"{HERE}share/"), SHARE, 200, "post")["shared"]
    assert stranger.get(shared).status_code == 200
    assert check(api.get(HERE), ONE)["shared"] == shared
    assert client_of(User.objects.create_user("grace")).get(HERE).json()["shared"] is None
    assert api.delete(f"{HERE}share/").status_code == 204
    assert stranger.get(shared).status_code == 404


def test_a_pattern_is_tried(api: APIClient, study: Study) -> None:
    make_run("NM50", study=study, users=10)
    asked = {"run_id_pattern": "NM{users:2}", "run_ids": ["NM50", "x"]}
    body = check(send(api, "post", f"{HERE}pattern/", **asked), PATTERN, 200, "post")
    assert body == {
        "regex": "NM(?P<users>.{2})",
        "results": [
            {"run_id": "NM50", "says": {"users": "50"}, "stored": {"users": "10"}, "runs": 1},
            {"run_id": "x", "says": None, "stored": {}, "runs": 0},
        ],
    }


def test_runs_are_moved_and_read_again(api: APIClient, study: Study) -> None:
    post_files(api, case("cp_query/NMGBR950"))
    work()
    inbox = "/api/v1/studies/inbox/"
    counted = check(send(api, "post", f"{inbox}move/", to="guest-lan", preview=True), MOVE, 200, "post")
    assert (counted["runs"], counted["state"]) == (1, None)
    problem(send(api, "post", f"{inbox}move/", to="guest-lan", runs="device=none"), 400)
    check(send(api, "post", f"{inbox}move/", to="guest-lan"), MOVE, 202, "post")
    work()
    moved = check(api.get(f"{inbox}move/"), MOVE)
    assert (moved["state"], moved["runs"], moved["changed"], moved["left"]) == ("done", 1, 1, [])
    send(api, "patch", HERE, run_id_pattern="NM(?P<campaign>..).*")
    assert check(api.post(f"{HERE}apply/"), APPLY, 202, "post")["state"] == "queued"
    problem(api.post(f"{HERE}apply/"), 409)
    work()
    assert check(api.get(f"{HERE}apply/"), APPLY)["changed"] == 1
    assert Run.objects.get().campaign == "GB"


def test_items_are_edited(api: APIClient, study: Study) -> None:
    first = check(send(api, "post", f"{HERE}report/items/", kind="prose", title="One", prose="x"), ITEMS, 201, "post")
    asked = {"kind": "table", "title": "Rates", "queries": [f"/charts/?{RATE}"], "before": first["id"]}
    table = check(send(api, "post", f"{HERE}report/items/", **asked), ITEMS, 201, "post")
    assert (table["number"], table["queries"], first["written_with"]) == ("1", [RATE], 0)
    listed = check(api.get(f"{HERE}report/items/"), ITEMS)
    assert [item["title"] for item in listed["results"]] == ["Rates", "One"]
    ordered = check(send(api, "put", f"{HERE}report/items/", order=[first["id"]]), ITEMS, 200, "put")
    assert [item["title"] for item in ordered["results"]] == ["One", "Rates"]
    body = check(send(api, "patch", first["url"], prose="y", version=1), ITEM, 200, "patch")
    assert (body["title"], body["prose"], body["version"]) == ("One", "y", 2)
    problem(send(api, "patch", first["url"], prose="z", version=1), 409)
    removed = check(api.delete(first["url"]), ITEM, 200, "delete")
    problem(api.get(first["url"]), 404)
    back = check(api.post(removed["put_back"]), BACK, 201, "post")
    assert (back["title"], back["prose"]) == ("One", "y")
    assert problem(send(api, "post", f"{HERE}report/items/", kind="table", title="x", queries=["rows=speed"]), 400)


def test_only_its_owner_and_staff_may(study: Study, stranger: APIClient) -> None:
    grace = client_of(User.objects.create_user("grace"))
    for method, part in (
        ("patch", ""),
        ("delete", ""),
        ("post", "share/"),
        ("post", "apply/"),
        ("post", "move/"),
        ("post", "report/items/"),
        ("put", "report/items/"),
    ):
        problem(send(grace, method, HERE + part), 403)
        problem(send(stranger, method, HERE + part), 401)
    problem(send(stranger, "post", ALL, title="x"), 401)
