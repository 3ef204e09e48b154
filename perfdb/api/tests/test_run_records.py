"""POST /api/v1/runs/: results as JSON, through a real worker; all of them or none."""

import json
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from perfdb.api.tests.answers import check, problem
from perfdb.results.ingest.json_runs import LARGEST, MOST
from perfdb.results.models import Artifact, Run, RunEvidence, Study, Upload

PATH = "/api/v1/runs/"
GOOD: dict[str, Any] = {
    "run_id": "JR1",
    "started": "2026-03-02T09:15:00+01:00",
    "dimensions": {"workload": "RR 200/1000", "device": "QDIO GBE", "mtu": 8992, "users": 10},
    "factors": {"kernel": "6.4"},
    "tags": ["Nightly"],
    "metrics": {"trans_per_s": 8123.50, "response_ms": {"value": 1231, "unit": "us"}, "cpu_util@client": 48.2},
}


def post(client: APIClient, records: object, address: str = PATH, media_type: str = "application/json") -> Any:
    body = records if isinstance(records, str | bytes) else json.dumps(records)
    return client.post(address, body, content_type=media_type)


def complaints(response: Any) -> list[tuple[str, str]]:
    body = problem(response, 400)
    assert body["type"] == "urn:perfdb:records"
    assert all(each["detail"] and each["remedy"] for each in body["errors"])
    assert not Run.objects.exists()
    assert not Upload.objects.exists()
    return [(each["record"], each["field"]) for each in body["errors"]]


def test_records_become_runs_with_what_follows_from_them(worker: None, api: APIClient) -> None:
    records = [GOOD, GOOD | {"trial": 2}]
    body = check(post(api, records, f"{PATH}?study=nightly"), PATH, 201, "post")
    assert [(run["run_id"], run["trial"], run["outcome"]) for run in body["runs"]] == [
        ("JR1", 1, "new"),
        ("JR1", 2, "new"),
    ]
    run = check(api.get(f"{PATH}{body['runs'][1]['id']}/"), f"{PATH}{{id}}/")
    assert (run["study"], run["started"], run["tags"]) == ("nightly", "2026-03-02T08:15:00Z", ["nightly"])
    assert (run["workload"], run["mtu"], run["users"]) == ("RR", 8992, 10)
    measured = {each["metric"]: each for each in run["measurements"]}
    assert (measured["response_ms"]["value"], measured["response_ms"]["printed"]) == (1.231, "1231")
    assert (measured["trans_per_s"]["line"], measured["trans_per_s"]["printed"]) == (2, "8123.5")
    assert measured["mb_per_s"]["origin"] == "derived"
    kept = Artifact.objects.get()
    said = b"".join(api.get(f"/api/v1/artifacts/{kept.pk}/").streaming_content).decode()  # type: ignore[attr-defined]
    assert [json.loads(line) for line in said.splitlines()] == records


def test_figures_keep_the_characters_in_which_they_came(worker: None, api: APIClient) -> None:
    second = '{"run_id": "JR2", "metrics": {"mb_per_s": 1e2}}'
    text = f'[\n  {{"run_id": "JR1",\n   "metrics": {{"mb_per_s": 1.10}}}},\r\n {second}\n]\n'
    assert post(api, text).status_code == 201
    found = {each.run.run_id: (each.printed, each.lines) for each in RunEvidence.objects.select_related("run")}
    assert found == {"JR1": ("1.10", [1]), "JR2": ("1e2", [2])}


def test_one_a_line(worker: None, api: APIClient) -> None:
    lines = "\n".join(json.dumps(GOOD | {"trial": trial, "study": "nightly"}) for trial in (1, 2, 3))
    body = check(post(api, lines, media_type="application/x-ndjson"), PATH, 201, "post")
    assert [run["trial"] for run in body["runs"]] == [1, 2, 3]
    assert set(Run.objects.values_list("study__slug", flat=True)) == {"nightly"}


def test_the_same_again_changes_nothing(worker: None, api: APIClient) -> None:
    first = check(post(api, [GOOD]), PATH, 201, "post")
    again = check(post(api, [GOOD]), PATH, 200, "post")
    assert [run["outcome"] for run in again["runs"]] == ["already-there"]
    assert [run["id"] for run in again["runs"]] == [run["id"] for run in first["runs"]]
    assert Run.objects.count() == 1


def test_other_numbers_of_a_stored_run_store_nothing(worker: None, api: APIClient) -> None:
    post(api, [GOOD])
    other = GOOD | {"metrics": {"trans_per_s": 1}}
    body = problem(post(api, [GOOD | {"run_id": "JR2"}, other]), 409)
    assert "/api/v1/uploads/" in body["detail"]
    assert [run.run_id for run in Run.objects.all()] == ["JR1"]


def test_the_upload_can_be_undone(worker: None, api: APIClient) -> None:
    body = check(post(api, [GOOD]), PATH, 201, "post")
    url = body["upload"]["url"]
    assert api.post(f"{url}undo/").status_code == 202
    assert api.get(url, {"wait": "30"}).json()["state"] == "undone"
    assert not Run.objects.exists()


def test_who_does_not_wait_is_told_where_to_look(worker: None, api: APIClient) -> None:
    body = check(post(api, [GOOD], f"{PATH}?wait=0"), PATH, 202, "post")
    assert api.get(body["url"], {"wait": "30"}).json()["state"] == "done"


@pytest.mark.parametrize(
    ("records", "found"),
    [
        ([GOOD, GOOD | {"metrics": {"speed": 1}}], [("2", "metrics.speed")]),
        ([GOOD | {"metrics": {"response_ms": {"value": 1, "unit": "MB"}}}], [("1", "metrics.response_ms.unit")]),
        ([GOOD | {"metrics": {"trans_per_s": 1e300}}, GOOD | {"trial": 2, "colour": 1}], [("2", "colour")]),
        ('[{"run_id": "a", "metrics": {"mb_per_s": 1e999}}]', [("1", "metrics.mb_per_s")]),
        ([GOOD | {"metrics": {"cpu_util": -5, "errors": 0}}], [("1", "metrics.cpu_util")]),
        ([GOOD | {"dimensions": {"mtu": "large"}}], [("1", "dimensions.mtu")]),
        ([GOOD | {"dimensions": {"users": 0}}], [("1", "dimensions.users")]),
        ([GOOD | {"tags": ["ä"]}], [("1", "tags")]),
        ([GOOD, GOOD], [("2", "trial")]),
        ([GOOD | {"study": "a"}, GOOD | {"trial": 2, "study": "b"}], [("2", "study")]),
        ([GOOD | {"run_id": ""}, GOOD | {"trial": -1}], [("1", "run_id"), ("2", "trial")]),
        ([], [("", "")]),
        ("", [("", "")]),
        (b"\xff\xfe", [("", "")]),
        ("[", [("1", "")]),
        ("[[", [("1", "")]),
        ("[" * 100_000, [("1", "")]),
        ('{"run_id": ' * 100_000, [("1", "")]),
        ('[{"run_id": "a", "metrics": {"errors": 1}} {}]', [("2", "")]),
        ('[{"run_id": "a", "metrics": {"errors": 1}}] {}', [("2", "")]),
        ('{"run_id": "a", "run_id": "b", "metrics": {"errors": 1}}', [("1", "")]),
        ('{"run_id": "a\\u0000", "metrics": {"errors": 1}}', [("1", "run_id")]),
        ('{"run_id": "\\ud800", "metrics": {"errors": 1}}', [("1", "run_id")]),
        ('{"run_id": "a", "metrics": {"errors": NaN}}', [("1", "")]),
    ],
)
def test_what_cannot_be_taken_is_said_and_nothing_is_stored(
    api: APIClient, records: object, found: list[tuple[str, str]]
) -> None:
    assert complaints(post(api, records)) == found


def test_complaints_come_to_an_end(api: APIClient) -> None:
    assert len(complaints(post(api, [{}] * 1000))) == 20


def test_too_many_records_are_refused(api: APIClient) -> None:
    lines = "".join(f'{{"run_id": "r{n}", "metrics": {{"errors": 1}}}}\n' for n in range(MOST + 1))
    assert complaints(post(api, lines, media_type="application/x-ndjson")) == [("", "")]


def test_too_many_bytes_are_refused(api: APIClient) -> None:
    problem(post(api, b" " * (LARGEST + 1)), 413)


@pytest.mark.parametrize("address", [f"{PATH}?study=no+slug", f"{PATH}?wait=soon", f"{PATH}?colour=red"])
def test_an_unknown_parameter_is_refused(api: APIClient, address: str) -> None:
    assert problem(post(api, [GOOD], address), 400)["type"] == "urn:perfdb:parameter"
    assert not Study.objects.exists()


def test_another_media_type_is_refused(api: APIClient) -> None:
    problem(post(api, "x", media_type="text/csv"), 415)


@pytest.mark.django_db
def test_writing_needs_a_token(client: Client) -> None:
    problem(client.post(PATH, json.dumps([GOOD]), content_type="application/json"), 401)
