"""POST /api/v1/uploads/ID/undo/"""

from django.contrib.auth.models import User
from rest_framework.test import APIClient

from perfdb.api.tests.answers import check, problem
from perfdb.api.tests.conftest import client_of
from perfdb.api.tests.files import case, post_files
from perfdb.api.tests.test_upload import make_upload, settled
from perfdb.results.models import Run

PATH = "/api/v1/uploads/{id}/undo/"


def test_it_works(worker: None, api: APIClient) -> None:
    done = settled(api, post_files(api, case("cp_query/NMGBR950")))
    response = api.post(f"{done['url']}undo/")
    check(response, PATH, 202, "post")
    undone = settled(api, response)
    assert undone["state"] == "undone"
    assert not Run.objects.exclude(status="withdrawn").exists()
    assert api.get(undone["files"][0]["url"]).status_code == 200, "its files stay"


def test_a_list_that_showed_the_run_is_out_of_date(worker: None, api: APIClient) -> None:
    done = settled(api, post_files(api, case("cp_query/NMGBR950")))
    before = api.get("/api/v1/runs/")
    assert len(before.json()["results"]) == 1
    settled(api, api.post(f"{done['url']}undo/"))
    after = api.get("/api/v1/runs/", HTTP_IF_NONE_MATCH=before.headers["ETag"])
    assert after.json()["results"] == []


def test_what_is_being_worked_on_cannot_be_undone(ada: User, api: APIClient) -> None:
    upload = make_upload(ada, "parsing")
    assert "parsing" in problem(api.post(PATH.format(id=upload.pk)), 409)["detail"]


def test_only_the_owner_or_staff_may_undo(ada: User) -> None:
    upload = make_upload(ada, "preview")
    grace = User.objects.create_user("grace")
    problem(client_of(grace).post(PATH.format(id=upload.pk)), 403)
    staff = User.objects.create_user("alan", is_staff=True)
    check(client_of(staff).post(PATH.format(id=upload.pk)), PATH, 202, "post")


def test_undoing_needs_a_token(ada: User, reader: APIClient) -> None:
    problem(reader.post(PATH.format(id=make_upload(ada).pk)), 401)


def test_an_upload_that_does_not_exist(api: APIClient) -> None:
    problem(api.post(PATH.format(id=0)), 404)
