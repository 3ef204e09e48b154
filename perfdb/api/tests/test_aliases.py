"""GET and POST /api/v1/studies/SLUG/aliases/, DELETE /api/v1/studies/SLUG/aliases/ID/"""

from time import monotonic, sleep
from typing import Any

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from perfdb.api.tests.answers import check, problem
from perfdb.api.tests.conftest import client_of
from perfdb.results.models import Alias, Job, Run, Study
from perfdb.results.tests.builders import make_run, make_study

PATH = "/api/v1/studies/{slug}/aliases/"
ONE = "/api/v1/studies/{slug}/aliases/{id}/"
ADDRESS = PATH.format(slug="guest-lan")
QDIO = {"dimension": "device", "printed": "QDIO GBE", "meaning": "QDIO"}


@pytest.fixture
def study(ada: User) -> Study:
    """A study of Ada's that spells a device in two ways."""
    study = make_study(owner=ada)
    make_run("A", study=study, device="QDIO")
    make_run("B", study=study, device="QDIO GBE")
    return study


def post(client: APIClient, **about: object) -> Any:
    return client.post(ADDRESS, about, format="json")


def waited(api: APIClient) -> dict[str, Any]:
    """The list once nothing is being worked on."""
    limit = monotonic() + 30
    while True:
        body: dict[str, Any] = check(api.get(ADDRESS), PATH)
        if not body["working"] or monotonic() > limit:
            return body
        sleep(0.1)


def test_it_works(worker: None, api: APIClient, study: Study) -> None:
    made = check(post(api, **QDIO), PATH, 202, "post")
    assert (made["runs"], made["values"], made["there"]) == (1, [{"value": "QDIO GBE", "runs": 1}], 1)
    body = waited(api)
    assert [(each["printed"], each["meaning"], each["made_by"]) for each in body["results"]] == [
        ("QDIO GBE", "QDIO", "ada")
    ]
    (device,) = [each for each in body["dimensions"] if each["dimension"] == "device"]
    (value,) = device["values"]
    assert (value["value"], value["runs"]) == ("QDIO", 2)
    assert {(each["text"], each["alias"]) for each in value["printed"]} == {
        ("QDIO", None),
        ("QDIO GBE", made["alias"]["id"]),
    }
    assert [run["device"] for run in api.get("/api/v1/runs/").json()["results"]] == ["QDIO", "QDIO"]
    check(api.delete(made["alias"]["url"]), ONE, 202, "delete")
    assert waited(api)["results"] == []
    assert set(Run.objects.values_list("device__name", flat=True)) == {"QDIO", "QDIO GBE"}


def test_a_preview_changes_nothing(api: APIClient, study: Study) -> None:
    body = check(post(api, preview=True, **QDIO), PATH, 200, "post")
    assert (body["runs"], body["alias"]["id"], body["alias"]["url"]) == (1, None, None)
    assert not Alias.objects.exists()
    assert not Job.objects.exists()


def test_what_may_be_no_alias_names_its_parameter(api: APIClient, study: Study) -> None:
    found = problem(post(api, dimension="mtu", printed="jumbo", meaning="large"), 400)
    assert (found["type"], found["parameter"]) == ("urn:perfdb:parameter", "meaning")
    assert "device" in problem(post(api, dimension="trial", printed="1", meaning="2"), 400)["known"]
    problem(post(api, dimension="mtu"), 400)


def test_only_the_owner_or_staff_may_change_it(ada: User, api: APIClient, study: Study, reader: APIClient) -> None:
    grace = client_of(User.objects.create_user("grace"))
    problem(post(grace, **QDIO), 403)
    made = check(post(api, **QDIO), PATH, 202, "post")
    assert check(grace.get(made["alias"]["url"]), ONE) == made["alias"]
    problem(grace.delete(made["alias"]["url"]), 403)
    problem(reader.delete(made["alias"]["url"]), 401)
    staff = client_of(User.objects.create_user("alan", is_staff=True))
    check(staff.delete(made["alias"]["url"]), ONE, 202, "delete")


def test_everybody_may_read_where_reading_is_open(reader: APIClient, study: Study) -> None:
    check(reader.get(ADDRESS), PATH)


def test_reading_may_need_a_token(stranger: APIClient, study: Study) -> None:
    problem(stranger.get(ADDRESS), 401)


def test_what_does_not_exist(api: APIClient, study: Study) -> None:
    problem(api.get(PATH.format(slug="nothing")), 404)
    problem(api.delete(ONE.format(slug="guest-lan", id=0)), 404)
    problem(api.put(ADDRESS, {}, format="json"), 405)
