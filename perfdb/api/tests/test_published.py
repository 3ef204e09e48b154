"""Published tables over REST: guessed, previewed, loaded, refused."""

import pytest
from rest_framework.test import APIClient

from importers.tests.test_published_tables import BLOCKS
from perfdb.results.models import Run, Study, Upload

ADDRESS = "/api/v1/published-tables/"


def test_a_preview_says_what_would_be_stored_and_why(api: APIClient) -> None:
    text = BLOCKS.replace("| 25% | 10% | |", "| 25% | 20% | |")
    answer = api.post(f"{ADDRESS}?preview=1", {"text": text, "study": "our-tables"})
    assert answer.status_code == 200
    body = answer.json()
    (table,) = body["tables"]
    assert (body["format"], table["title"], table["open"]) == ("markdown", "Table 7. STR - 8992", [])
    assert table["mapping"]["compared"] == "OSA"
    assert table["why"]["fixed.mtu"]["reason"] == "the title says 8992"
    run = body["runs"][4]
    assert (run["run_id"], run["outcome"], run["dimensions"]["users"]) == ("cd4sn102", "new", 10)
    assert run["figures"][1] == {
        "measure": "cpu_ms_per_mb",
        "printed": "4.50*",
        "unit": "msec/MB",
        "value": 4.5,
        "table": "Table 7",
        "line": 11,
    }
    assert body["differences"][0]["baseline"] == "ab4sn013/1"
    assert [(each["code"], each["run_id"]) for each in body["problems"]] == [("audit.percent", "cd4sn102")]
    assert not Upload.objects.exists() and not Study.objects.exists()


def test_a_mapping_from_the_preview_loads_the_tables(api: APIClient) -> None:
    text = "Flavour,sweet,sour\nMB/sec,10.5,11.5\n"
    (table,) = api.post(ADDRESS, {"text": text, "preview": True}).json()["tables"]
    assert table["open"] == ["top.0"]
    mapping = table["mapping"] | {"top": ["factor.flavour"]}
    answer = api.post(ADDRESS, {"text": text, "study": "our-tables", "mapping": [mapping]})
    assert answer.status_code == 201
    assert answer.json()["state"] == "done"
    upload = api.get(answer.headers["Location"]).json()
    assert (upload["study"], [run["outcome"] for run in upload["runs"]]) == ("our-tables", ["new", "new"])
    assert set(Run.objects.values_list("factors__flavour", "mb_per_s")) == {("sweet", 10.5), ("sour", 11.5)}


def test_conflicts_are_asked_about(api: APIClient) -> None:
    given = {"text": BLOCKS, "study": "our-tables"}
    api.post(ADDRESS, given)
    given["text"] = BLOCKS.replace("| 88.0 |", "| 99.0 |")
    answer = api.post(ADDRESS, given)
    assert (answer.status_code, "cd4sn102/1" in answer.json()["detail"]) == (409, True)
    answer = api.post(ADDRESS, given | {"decisions": {"cd4sn102/1": "replace"}})
    assert answer.status_code == 201
    assert Run.objects.get(run_id="cd4sn102", status="complete").mb_per_s == 99


@pytest.mark.parametrize(
    ("given", "status", "parameter"),
    [
        ({}, 400, "text"),
        ({"text": "prose"}, 400, "text"),
        ({"text": BLOCKS, "format": "pdf"}, 400, "format"),
        ({"text": BLOCKS, "mapping": [{"head": "two"}]}, 400, "mapping.0"),
        ({"text": BLOCKS, "study": "nothing", "create_study": False}, 400, "study"),
        ({"text": BLOCKS, "decisions": {"a/1": "burn"}}, 400, "decisions.a/1"),
        ({"text": "Flavour,sweet\nGrumbles,1\n", "study": "nothing"}, 409, None),
    ],
)
def test_refusals(api: APIClient, given: dict[str, object], status: int, parameter: str | None) -> None:
    answer = api.post(ADDRESS, given)
    assert (answer.status_code, answer.json().get("parameter")) == (status, parameter)
    assert not Upload.objects.exists() and not Study.objects.exists()


def test_a_token_is_needed(reader: APIClient) -> None:
    assert reader.post(ADDRESS, {"text": BLOCKS, "preview": True}).status_code == 401
