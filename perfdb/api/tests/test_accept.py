"""POST /api/v1/uploads/ID/accept/"""

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from perfdb.api.tests.answers import check, problem
from perfdb.api.tests.conftest import client_of
from perfdb.api.tests.files import case, post_files
from perfdb.api.tests.test_upload import make_upload, settled
from perfdb.results.models import Run, Upload

PATH = "/api/v1/uploads/{id}/accept/"


def test_it_works(worker: None, api: APIClient) -> None:
    shown = settled(api, post_files(api, case("cp_query/NMGBR950"), preview="1"))
    response = api.post(f"{shown['url']}accept/")
    body = check(response, PATH, 202, "post")
    assert (body["id"], body["url"]) == (shown["id"], shown["url"])
    assert settled(api, response)["state"] == "done"
    assert Run.objects.get().run_id == "NMGBR950"


def test_a_conflict_is_decided(worker: None, api: APIClient) -> None:
    first, second = case("bad/same_run_id").items()
    settled(api, post_files(api, [first]))
    shown = settled(api, post_files(api, [second]))
    assert (shown["state"], shown["runs"][0]["outcome"]) == ("preview", "conflict")
    response = api.post(f"{shown['url']}accept/", {"decisions": {"NMGBR950/1": "trial"}}, format="json")
    assert settled(api, response)["state"] == "done"
    assert sorted(Run.objects.values_list("run_id", "trial")) == [("NMGBR950", 1), ("NMGBR950", 2)]


def test_only_a_preview_can_be_accepted(ada: User, api: APIClient) -> None:
    upload = make_upload(ada, "done")
    assert "done" in problem(api.post(PATH.format(id=upload.pk)), 409)["detail"]


@pytest.mark.parametrize("body", [{"decisions": {"R/1": "maybe"}}, {"decisions": "keep"}, {"decisions": ["keep"]}, [1]])
def test_wrong_decisions_are_refused(ada: User, api: APIClient, body: object) -> None:
    upload = make_upload(ada, "preview")
    problem(api.post(PATH.format(id=upload.pk), body, format="json"), 400)
    assert Upload.objects.get().state == "preview"


def test_a_damaged_body_is_refused(ada: User, api: APIClient) -> None:
    upload = make_upload(ada, "preview")
    problem(api.post(PATH.format(id=upload.pk), "{", content_type="application/json"), 400)


def test_only_the_owner_or_staff_may_accept(ada: User) -> None:
    upload = make_upload(ada, "preview")
    grace = User.objects.create_user("grace")
    assert "ada" in problem(client_of(grace).post(PATH.format(id=upload.pk)), 403)["detail"]
    staff = User.objects.create_user("alan", is_staff=True)
    check(client_of(staff).post(PATH.format(id=upload.pk)), PATH, 202, "post")


def test_accepting_needs_a_token(ada: User, reader: APIClient) -> None:
    problem(reader.post(PATH.format(id=make_upload(ada, "preview").pk)), 401)


def test_an_upload_that_does_not_exist(api: APIClient) -> None:
    problem(api.post(PATH.format(id=0)), 404)
