"""Corrections of a preview over REST: said of a place, listed, taken back, refused."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from perfdb.api.tests.answers import check, problem
from perfdb.api.tests.conftest import client_of
from perfdb.api.tests.files import case, post_files
from perfdb.api.tests.test_upload import settled

ONE = "/api/v1/uploads/{id}/"
MANY = "/api/v1/uploads/{id}/corrections/"


@pytest.fixture
def preview(worker: None, api: APIClient) -> dict[str, Any]:
    """A preview of three runs of which nobody says device and MTU."""
    body: dict[str, Any] = settled(api, post_files(api, case("ping/linux"), preview="1"))
    return body


def say(api: APIClient, upload: int, body: object) -> Any:
    """Say it."""
    return api.post(MANY.format(id=upload), json.dumps(body), content_type="application/json")


def devices(body: dict[str, Any]) -> dict[str, object]:
    """The device of each run."""
    return {run["run_id"]: run["summary"]["dimensions"].get("device") for run in body["runs"]}


def test_of_one_run_of_all_and_taken_back(api: APIClient, preview: dict[str, Any]) -> None:
    summary = preview["runs"][0]["summary"]
    path, first, last = summary["place"]
    place = {"path": path, "first": first, "last": last}
    assert summary["lacks"] == ["device", "mtu"]
    assert set(devices(settled(api, say(api, preview["id"], {"facts": {"device": "OSA"}}))).values()) == {"OSA"}
    body = settled(api, say(api, preview["id"], {"facts": {"device": "vCTC"}, "places": [place]}))
    assert sorted(map(str, devices(body).values())) == ["OSA", "OSA", "vCTC"]
    assert check(api.get(ONE.format(id=preview["id"])), ONE)["corrections"][1] == {
        "facts": {"device": "vCTC"},
        "places": [place],
    }
    body = settled(api, api.delete(f"{MANY.format(id=preview['id'])}0/"))
    assert sorted(map(str, devices(body).values())) == ["None", "None", "vCTC"]


def test_refusals(api: APIClient, preview: dict[str, Any]) -> None:
    for body, why in (
        ({"facts": {"mtu": "wide"}}, "no value of mtu"),
        ({"facts": {"colour": "red"}}, "Unknown fact"),
        ({"facts": {}}, "Nothing was entered"),
        ({"facts": {"mtu": "1"}, "places": [{"first": 1}]}, "path"),
        ({}, "facts"),
    ):
        assert why in problem(say(api, preview["id"], body), 400)["detail"]
    problem(api.delete(f"{MANY.format(id=preview['id'])}7/"), 400)
    other = client_of(User.objects.create_user("bob"))
    problem(say(other, preview["id"], {"facts": {"mtu": "1"}}), 403)
