"""GET /api/v1/uploads/ID/, and what a real worker makes of what was sent."""

import threading
import time
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from rest_framework.test import APIClient

from perfdb.api.runs import run_data
from perfdb.api.tests.answers import check, problem
from perfdb.api.tests.files import case, post_files
from perfdb.results.models import Run, Upload
from perfdb.results.tests.builders import make_study

PATH = "/api/v1/uploads/{id}/"


def settled(client: APIClient, response: Any) -> Any:
    """The upload that was just sent, once it has settled."""
    return check(client.get(response.json()["url"], {"wait": "30"}), PATH)


def make_upload(owner: User, state: str = "done") -> Upload:
    return Upload.objects.create(owner=owner, study=make_study(), state=state)


def test_it_works(worker: None, api: APIClient) -> None:
    files = case("cp_query/NMGBR950")
    body = settled(api, post_files(api, files, study="linux"))
    assert (body["state"], body["study"], body["owner"], body["error"]) == ("done", "linux", "ada", None)
    assert body["progress"] == {"files": len(files), "files_read": len(files), "runs": 1, "runs_loaded": 1}
    assert {file["name"]: file["size"] for file in body["files"]} == {name: len(data) for name, data in files.items()}
    assert {file["format"] for file in body["files"]} == {"awm", "cp_query"}
    (run,) = body["runs"]
    assert (run["run_id"], run["trial"], run["outcome"]) == ("NMGBR950", 1, "new")
    assert run["id"] == Run.objects.get().pk


def test_the_same_again_is_already_there(worker: None, api: APIClient) -> None:
    files = case("cp_query/NMGBR950")
    settled(api, post_files(api, files))
    (run,) = settled(api, post_files(api, files))["runs"]
    assert run["outcome"] == "already-there"
    assert Run.objects.count() == 1


def test_of_very_many_runs_the_first_are_listed(worker: None, api: APIClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_data, "MOST_LISTED", 2)
    body = settled(api, post_files(api, case("awm/three_runs")))
    assert (len(body["runs"]), body["progress"]["runs"]) == (2, 3)
    assert len(api.get(f"/api/v1/runs/?upload={body['id']}").json()["results"]) == 3


def test_a_preview_stores_no_run(worker: None, api: APIClient) -> None:
    body = settled(api, post_files(api, case("cp_query/NMGBR950"), preview="1"))
    assert (body["state"], body["preview"]) == ("preview", True)
    (run,) = body["runs"]
    assert (run["id"], run["outcome"]) == (None, "new")
    assert run["summary"]["dimensions"]["workload"] == "RR"
    assert not Run.objects.exists()


def test_what_no_format_knows_is_a_problem(worker: None, api: APIClient) -> None:
    body = settled(api, post_files(api, case("bad/unknown_format")))
    assert (body["state"], body["runs"]) == ("failed", [])
    (found,) = [each for each in body["problems"] if each["severity"] == "error"]
    assert found["file"] == "notes.txt"
    assert found["message"]
    assert found["remedy"]


def test_waiting_ends_when_the_upload_settles(transactional_db: None, ada: User, api: APIClient) -> None:
    upload = make_upload(ada, "loading")

    def settle() -> None:
        time.sleep(0.5)
        Upload.objects.filter(pk=upload.pk).update(state="done")
        connection.close()

    thread = threading.Thread(target=settle)
    thread.start()
    try:
        body = check(api.get(PATH.format(id=upload.pk), {"wait": "30"}), PATH)
    finally:
        thread.join()
    assert body["state"] == "done"


def test_without_waiting_the_state_is_as_it_is(ada: User, api: APIClient) -> None:
    upload = make_upload(ada, "loading")
    assert check(api.get(PATH.format(id=upload.pk)), PATH)["state"] == "loading"


def test_waiting_ends_when_the_time_is_over(ada: User, api: APIClient) -> None:
    upload = make_upload(ada, "loading")
    assert check(api.get(PATH.format(id=upload.pk), {"wait": "1"}), PATH)["state"] == "loading"


@pytest.mark.parametrize("text", ["ten", "-1", "1.5", "²"])
def test_a_wrong_wait_is_refused(ada: User, api: APIClient, text: str) -> None:
    upload = make_upload(ada)
    assert problem(api.get(PATH.format(id=upload.pk), {"wait": text}), 400)["parameter"] == "wait"


def test_an_unknown_parameter_is_refused(ada: User, api: APIClient) -> None:
    upload = make_upload(ada)
    assert problem(api.get(PATH.format(id=upload.pk), {"colour": "red"}), 400)["known"] == ["wait"]


@pytest.mark.parametrize("pk", ["0", str(10**30)])
def test_an_upload_that_does_not_exist(api: APIClient, pk: str) -> None:
    problem(api.get(PATH.format(id=pk), {"wait": "30"}), 404)


def test_reading_may_need_a_token(ada: User, stranger: APIClient) -> None:
    problem(stranger.get(PATH.format(id=make_upload(ada).pk)), 401)
