"""Named queries, frozen links and explanations by the REST API."""

import io

import pytest
from django.contrib.auth.models import User
from pyarrow import parquet
from rest_framework.test import APIClient

from perfdb.api.tests.answers import check, problem
from perfdb.api.tests.conftest import client_of
from perfdb.results.models import Run, SavedQuery
from perfdb.results.runs.bulk_changes import touch_study
from perfdb.results.tests.builders import make_run

SAVED, ONE = "/api/v1/saved-queries/", "/api/v1/saved-queries/{id}/"
FREEZE, FROZEN = "/api/v1/frozen/", "/api/v1/frozen/{token}/"
CHART = {"page": "charts", "query": "metric=trans_per_s&rows=users&columns=device"}
COMPARE = {"page": "compare", "query": "dimension=device&old=QDIO&new=HiperSockets"}
MAXIMUM = {"page": "maximum", "query": "workload=RR"}


@pytest.fixture
def runs(db: None) -> list[Run]:
    """Two devices with two trials of 10 users."""
    return [
        make_run("R", device=device, trial=trial, values={"trans_per_s": rate + trial / 7})
        for device, rate in (("QDIO", 100.0), ("HiperSockets", 130.0))
        for trial in (1, 2)
    ]


def test_a_question_is_named_changed_and_forgotten(api: APIClient, runs: list[Run]) -> None:
    made = check(api.post(SAVED, CHART | {"name": "Rates"}, format="json"), SAVED, 201, "post")
    assert (made["name"], made["page"], made["error"], made["study"]) == ("Rates", "charts", None, None)
    assert check(api.get(SAVED), SAVED)["results"] == [made]
    address = f"{SAVED}{made['id']}/"

    changed = check(api.patch(address, {"name": "Best", **MAXIMUM}, format="json"), ONE, method="patch")
    assert (changed["name"], changed["page"]) == ("Best", "maximum")
    problem(api.patch(address, {"query": "workload=RR&workload=CRR"}, format="json"), 400)
    problem(api.post(SAVED, CHART | {"name": "Best"}, format="json"), 409)
    replaced = check(api.post(SAVED, CHART | {"name": "Best", "replace": True}, format="json"), SAVED, 201, "post")
    assert (replaced["id"], replaced["page"]) == (made["id"], "charts")

    other = client_of(User.objects.create_user("bob"))
    assert check(other.get(address), ONE)["owner"] == "ada"
    problem(other.delete(address), 403)
    assert api.delete(address).status_code == 204
    problem(api.get(address), 404)


def test_what_is_not_understood_any_more_says_why(api: APIClient, runs: list[Run]) -> None:
    made = check(api.post(SAVED, CHART | {"name": "Rates"}, format="json"), SAVED, 201, "post")
    SavedQuery.objects.update(query="metric=furlongs")
    assert "furlongs" in check(api.get(f"{SAVED}{made['id']}/"), ONE)["error"]


@pytest.mark.parametrize("asked", [CHART, COMPARE, MAXIMUM])
def test_a_frozen_answer_stays(api: APIClient, runs: list[Run], asked: dict[str, str]) -> None:
    link = check(api.post(FREEZE, asked, format="json"), FREEZE, 201, "post")
    address = f"{FREEZE}{link['token']}/"
    before = check(api.get(address), FROZEN)
    assert before["made_by"] == "ada"
    assert before["changes"] is None
    living = api.get(
        f"/api/v1/tables/?{before['query']}" if asked is not COMPARE else f"/api/v1/comparisons/?{COMPARE['query']}"
    )
    assert living.json() == (before["comparison"] if asked is COMPARE else before["tables"])

    Run.objects.filter(pk=runs[0].pk).update(status=Run.Status.WITHDRAWN)
    new = make_run("NEW", device="QDIO", users=10, trial=3)
    touch_study(runs[0].study)

    after = check(api.get(address), FROZEN)
    assert after["changes"] == {"added": [new.pk], "gone": [runs[0].pk], "altered": []}
    assert after | {"changes": None} == before


def test_its_tables_come_in_other_forms(api: APIClient, runs: list[Run]) -> None:
    token = api.post(FREEZE, CHART, format="json").json()["token"]
    living = api.get(f"/api/v1/tables.csv?{CHART['query']}").content
    Run.objects.all().delete()
    base = f"{FREEZE}{token}/tables"

    assert api.get(f"{base}.csv").content == living
    assert b"QDIO" in api.get(f"{base}.md").content
    assert b"tabular" in api.get(f"{base}.tex").content
    assert b"QDIO" in api.get(f"{base}.txt").content
    assert parquet.read_table(io.BytesIO(api.get(f"{base}.parquet").content)).num_rows == 2
    problem(api.get(f"{base}.doc"), 404)


def test_what_cannot_be_kept_is_refused(api: APIClient, stranger: APIClient, runs: list[Run]) -> None:
    assert (
        problem(api.post(FREEZE, {"page": "charts", "query": "colour=red"}, format="json"), 400)["parameter"]
        == "colour"
    )
    problem(api.post(FREEZE, {"page": "elsewhere", "query": "x=y"}, format="json"), 400)
    problem(api.get(f"{FREEZE}nothing/"), 404)
    problem(stranger.post(FREEZE, CHART, format="json"), 401)
    problem(stranger.get(SAVED), 401)


def test_a_difference_is_explained(api: APIClient, runs: list[Run]) -> None:
    path = "/api/v1/explanations/"
    asked = CHART["query"] + "&baseline=device:QDIO&of=trans_per_s&at=users:10&at=device:HiperSockets"
    cell = check(api.get(f"{path}?{asked}"), path)
    assert cell["compared"] == [{"dimension": "device", "old": "QDIO", "new": "HiperSockets"}]
    assert cell["where"] == {"users": 10}
    assert [value["run"] for value in cell["new"]["values"]] == [runs[2].pk, runs[3].pk]
    table = api.get(f"/api/v1/tables/?{CHART['query']}&baseline=device:QDIO").json()["tables"][0]
    assert cell["diff"] in [each["diff"] for each in table["cells"]]

    two = check(api.get(path, {"old": runs[0].pk, "new": runs[2].pk}), path)
    assert [each["key"] for each in two["differs"]] == ["device"]
    assert problem(api.get(path, {"old": runs[0].pk}), 400)["parameter"] == "new"
