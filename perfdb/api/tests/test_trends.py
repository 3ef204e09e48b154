"""Trends by the REST API."""

import csv
import io
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from rest_framework.test import APIClient

from perfdb.api.tests.answers import problem
from perfdb.results.models import Subscription, TrendChange, TrendEvent
from perfdb.results.tests.builders import make_run, make_study
from perfdb.results.trends.look import look_at
from perfdb.results.trends.subscriptions import send_test

PATH = "/api/v1/trends/"


@pytest.fixture
def nightly(ada: User) -> None:
    """20 nights of two devices; the rate of one falls by a fifth in the middle."""
    make_study("nightly", owner=ada)
    for night in range(20):
        for device, factor in (("OSA", 0.8), ("IUCV", 1.0)):
            make_run(
                f"{device}{night}",
                study=make_study("nightly"),
                device=device,
                campaign=f"night {night:02}",
                started=datetime(2026, 8, 1, tzinfo=UTC) + timedelta(days=night),
                values={"trans_per_s": 1000.0 * (factor if night >= 10 else 1.0) + night * 7 % 11},
            )
    with transaction.atomic():
        look_at(make_study("nightly"))


def test_series_have_their_points_and_changes(api: APIClient, nightly: None) -> None:
    body = api.get(PATH, {"study": "nightly"}).json()

    assert body["study"] == "nightly"
    still, fallen = body["series"]
    assert (still["metric"], still["dimensions"]["device"], still["changes"]) == ("trans_per_s", "IUCV", [])
    assert (still["n"], still["tail"]["suspect"]) == (20, False)
    (change,) = fallen["changes"]
    assert (change["k"], change["shape"], change["state"], change["small"]) == (10, "step", "confirmed", False)
    assert change["low"] < change["percent"] < change["high"]
    assert change["percent"] == pytest.approx(-20, abs=0.5)
    assert fallen["points"][10]["date"].startswith("2026-08-11")
    assert fallen["points"][0]["n"] == 1


def test_a_state_selects_series(api: APIClient, nightly: None) -> None:
    confirmed = api.get(PATH, {"study": "nightly", "state": "confirmed"}).json()["series"]

    assert [each["dimensions"]["device"] for each in confirmed] == ["OSA"]
    assert api.get(PATH, {"study": "nightly", "state": "suspect"}).json()["series"] == []


def test_metrics_and_dimensions_select_series_and_a_key_names_one(api: APIClient, nightly: None) -> None:
    (series,) = api.get(PATH, {"study": "nightly", "device": "OSA", "metric": "trans_per_s"}).json()["series"]
    assert series["dimensions"]["device"] == "OSA"
    assert api.get(PATH, {"study": "nightly", "metric": "mb_per_s"}).json()["series"] == []
    assert api.get(f"{PATH}series/{series['key']}/", {"study": "nightly"}).json() == series
    problem(api.get(f"{PATH}series/0/", {"study": "nightly"}), 404)
    assert "colour" in str(problem(api.get(PATH, {"study": "nightly", "colour": "red"}), 400))


def test_changes_are_lines_of_a_table(api: APIClient, nightly: None) -> None:
    answer = api.get("/api/v1/trends.csv", {"study": "nightly"})
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    still, fallen = csv.DictReader(io.StringIO(answer.content.decode()))
    assert (still["device"], still["campaigns"], still["state"], still["percent"]) == ("IUCV", "20", "", "")
    assert (fallen["device"], fallen["state"]) == ("OSA", "confirmed")
    assert fallen["campaign"].endswith("night 10")
    assert float(fallen["low"]) < float(fallen["percent"]) < float(fallen["high"]) < -19


def test_a_change_without_an_event_is_closed(api: APIClient, nightly: None) -> None:
    TrendEvent.objects.all().delete()
    change = TrendChange.objects.get()
    path = f"/api/v1/trends/changes/{change.pk}/acts/"
    assert "in a few words" in str(problem(api.post(path, {"act": "close", "reason": "fixed"}, "json"), 400))
    assert api.post(path, {"act": "close", "reason": "fixed", "note": "reverted"}, "json").status_code == 204
    change.refresh_from_db()
    assert (change.phase, change.reason, change.frozen) == ("closed", "fixed", True)
    problem(api.post("/api/v1/trends/changes/0/acts/", {"act": "acknowledge"}, "json"), 404)


def test_subscriptions_are_made_listed_and_deleted(api: APIClient, nightly: None) -> None:
    path = "/api/v1/subscriptions/"
    asked = {
        "address": "https://hooks.example.org/perfdb",
        "study": "nightly",
        "effect": "regressed",
        "only": "users:50",
    }

    made = api.post(path, asked, "json")

    assert made.status_code == 201
    found = made.json()
    assert {name: found[name] for name in asked} == asked
    assert found["secret"].startswith("whsec_")
    assert api.get(path).json()["results"] == [found]
    send_test(Subscription.objects.get())
    (message,) = api.get(f"{path}{found['id']}/").json()["messages"]
    assert (message["state"], message["event"], message["attempts"]) == ("waiting", None, 0)
    assert api.delete(f"{path}{found['id']}/").status_code == 204
    assert api.get(path).json()["results"] == []
    problem(api.get(f"{path}{found['id']}/"), 404)


def test_mistakes_of_a_subscription_are_named(api: APIClient) -> None:
    path, url = "/api/v1/subscriptions/", "https://hooks.example.org/perfdb"
    assert "mail address" in str(problem(api.post(path, {"address": "nobody"}, "json"), 400))
    assert "no study 'none'" in str(problem(api.post(path, {"address": url, "study": "none"}, "json"), 400))
    problem(api.post(path, {}, "json"), 400)
    api.credentials()
    assert api.get(path).status_code in {401, 403}


def test_short_series_are_not_judged(api: APIClient) -> None:
    make_run(study=make_study("short"))

    (series,) = api.get(PATH, {"study": "short"}).json()["series"]

    assert (series["n"], series["p"], series["q"], series["changes"]) == (1, None, None, [])


def test_mistakes_are_named(api: APIClient, nightly: None) -> None:
    assert "name one study" in str(problem(api.get(PATH), 400))
    assert "there is no state 'nosuch'" in str(problem(api.get(PATH, {"study": "nightly", "state": "nosuch"}), 400))
    problem(api.get(PATH, {"study": "none"}), 404)


def test_events_have_a_rule_a_size_and_acts(api: APIClient, nightly: None) -> None:
    (event,) = api.get("/api/v1/events/", {"study": "nightly", "state": "new", "since": "2026-08-11"}).json()["results"]

    assert event["began"].startswith("2026-08-11")
    assert (event["state"], event["late"]) == ("new", False)
    assert event["announced"]
    (part,) = event["parts"]
    assert (part["metric"], part["better"], part["rule"]["terms"]) == ("trans_per_s", False, [["device", "OSA"]])
    acts = f"{event['url']}acts/"
    problem(api.post(acts, {"act": "close", "reason": "fixed"}, "json"), 400)
    assert "no change 0" in str(problem(api.post(acts, {"act": "acknowledge", "changes": [0]}, "json"), 400))
    given = {"act": "close", "reason": "fixed", "note": "reverted", "version": event["version"]}
    closed = api.post(acts, given, "json").json()

    assert [(each["act"], each["reason"], each["note"]) for each in closed["acts"]] == [("close", "fixed", "reverted")]
    assert [each["state"] for each in closed["members"]] == ["closed"]
    problem(api.post(acts, given, "json"), 409)
    assert api.get("/api/v1/events/", {"state": "open"}).json()["results"] == []
    assert len(api.get("/api/v1/events/", {"state": "closed"}).json()["results"]) == 1
    assert api.get("/api/v1/events/", {"since": "2026-08-12"}).json()["results"] == []
    assert api.get("/api/v1/events/", {"mine": "1"}).json()["results"] == []
    problem(api.get("/api/v1/events/", {"since": "tomorrow"}), 400)
    problem(api.get("/api/v1/events/", {"state": "nosuch"}), 400)
    problem(api.get("/api/v1/events/", {"study": "nosuch"}), 400)


def test_a_study_is_judged_again(api: APIClient, nightly: None) -> None:
    body = api.post("/api/v1/trends/judge/", {"study": "nightly"}, "json").json()

    assert [each["state"] for series in body["series"] for each in series["changes"]] == ["confirmed"]
    problem(api.post("/api/v1/trends/judge/", {"study": "nosuch"}, "json"), 404)
