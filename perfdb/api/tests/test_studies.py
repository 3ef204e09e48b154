"""GET /api/v1/studies/ and /api/v1/studies/SLUG/"""

from django.contrib.auth.models import User
from rest_framework.test import APIClient

from perfdb.api.tests.answers import check, problem
from perfdb.api.tests.conftest import client_of
from perfdb.results.ingest.uploads import inbox_of
from perfdb.results.tests.builders import make_run, make_study

PATH = "/api/v1/studies/"
ONE = "/api/v1/studies/{slug}/"


def test_it_works(reader: APIClient) -> None:
    make_study("guest-lan", title="Guest LAN")
    make_study("b", title="A first title")
    assert [study["slug"] for study in check(reader.get(PATH), PATH)["results"]] == ["b", "guest-lan"]
    study = check(reader.get(ONE.format(slug="guest-lan")), ONE)
    assert (study["title"], study["owner"]) == ("Guest LAN", None)


def test_runs_is_the_address_of_its_runs(reader: APIClient) -> None:
    make_run("A", study=make_study("a"))
    make_run("B", study=make_study("b"))
    runs = reader.get(ONE.format(slug="b")).json()["runs"]
    assert [run["run_id"] for run in reader.get(runs).json()["results"]] == ["B"]


def test_everybody_sees_their_own_inbox_only(ada: User, api: APIClient, reader: APIClient) -> None:
    grace = User.objects.create_user("grace")
    inbox_of(ada)
    inbox_of(grace)
    assert [study["owner"] for study in api.get(PATH).json()["results"]] == ["ada"]
    assert check(client_of(grace).get(ONE.format(slug="inbox")), ONE)["owner"] == "grace"
    assert reader.get(PATH).json()["results"] == []
    problem(reader.get(ONE.format(slug="inbox")), 404)


def test_a_study_that_does_not_exist(reader: APIClient) -> None:
    problem(reader.get(ONE.format(slug="nothing")), 404)


def test_reading_may_need_a_token(stranger: APIClient) -> None:
    make_study("a")
    problem(stranger.get(PATH), 401)
    problem(stranger.get(ONE.format(slug="a")), 401)
