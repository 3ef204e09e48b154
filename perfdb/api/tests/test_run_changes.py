"""POST /api/v1/runs/tags/, /withdraw/ and /restore/; GET /api/v1/runs.csv and its kin."""

import csv
import io
import json
import zipfile
from typing import Any

import pytest
from django.contrib.auth.models import User
from pyarrow import parquet
from rest_framework.test import APIClient

from perfdb.api.tests.answers import check as checked
from perfdb.api.tests.answers import problem
from perfdb.results.models import Run, Study
from perfdb.results.tests.builders import make_run, make_study

TAGS, WITHDRAW, RESTORE = (f"/api/v1/runs/{name}/" for name in ("tags", "withdraw", "restore"))


@pytest.fixture
def hers(ada: User) -> Study:
    return make_study("hers", owner=ada)


def sent(api: APIClient, path: str, body: dict[str, object]) -> Any:
    return checked(api.post(path, body, format="json"), path, method="post")


def tags() -> dict[str, list[str] | None]:
    return dict(Run.objects.values_list("run_id", "tags"))


def test_tags_by_number_and_by_query(api: APIClient, hers: Study) -> None:
    first = make_run("A", study=hers)
    make_run("B", study=hers, users=20)

    body = sent(api, TAGS, {"runs": [first.pk], "add": ["odd", "Even"]})
    assert body == {"added": {"odd": 1, "even": 1}, "removed": {}}
    body = sent(api, TAGS, {"query": "tag=odd", "remove": ["odd"], "add": ["even"]})
    assert body == {"added": {"even": 0}, "removed": {"odd": 1}}
    assert tags() == {"A": ["even"], "B": None}
    assert api.get("/api/v1/runs/", {"tag": "even"}).json()["results"][0]["tags"] == ["even"]
    sent(api, TAGS, {"query": "users=20", "add": ["x"]})
    assert tags()["B"] == ["x"]


@pytest.mark.parametrize(
    ("body", "parameter"),
    [
        ({"add": ["odd"]}, "runs"),
        ({"runs": [1], "query": "", "add": ["odd"]}, "runs"),
        ({"runs": [], "add": ["odd"]}, "run"),
        ({"runs": ["x"], "add": ["odd"]}, "runs.0"),
        ({"query": "colour=red", "add": ["odd"]}, "colour"),
        ({"query": "", "add": ["two words"]}, "tag"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_done(
    api: APIClient, hers: Study, body: dict[str, object], parameter: str
) -> None:
    make_run("A", study=hers)
    said = problem(api.post(TAGS, body, format="json"), 400)
    assert said["parameter"] == parameter
    assert tags() == {"A": None}


def test_one_wrong_tag_leaves_all(api: APIClient, hers: Study) -> None:
    make_run("A", study=hers)
    problem(api.post(TAGS, {"query": "", "add": ["odd", "two words"]}, format="json"), 400)
    assert tags() == {"A": None}


def test_withdrawing_and_restoring(api: APIClient, hers: Study) -> None:
    run = make_run("A", study=hers)
    make_run("B", study=hers)

    problem(api.post(WITHDRAW, {"runs": [run.pk]}, format="json"), 400)
    assert sent(api, WITHDRAW, {"runs": [run.pk], "reason": "wrong kernel"}) == {"runs": 1}
    assert [row["run_id"] for row in api.get("/api/v1/runs/").json()["results"]] == ["B"]

    assert sent(api, RESTORE, {"query": ""}) == {"runs": 0}
    assert sent(api, RESTORE, {"query": "status=withdrawn"}) == {"runs": 1}


@pytest.mark.parametrize("path", [TAGS, WITHDRAW, RESTORE])
def test_who_may(path: str, api: APIClient, reader: APIClient, hers: Study) -> None:
    make_run("A", study=make_study("theirs"), status="withdrawn" if path == RESTORE else "complete")
    body = {"query": "status=complete&status=withdrawn", "add": ["odd"], "reason": "wrong"}
    problem(reader.post(path, body, format="json"), 401)
    if path != RESTORE:
        assert "theirs" in problem(api.post(path, body, format="json"), 403)["detail"]
    assert tags() == {"A": None}


def test_the_list_as_files(reader: APIClient) -> None:
    make_run("A", values={"cpu_util@client": 41.5})
    make_run("B", users=20)
    asked = {"users": "10", "columns": "device,cpu_util@client"}

    def read(form: str) -> bytes:
        answer: Any = reader.get(f"/api/v1/runs.{form}", asked)
        return b"".join(answer.streaming_content)

    (line,) = csv.DictReader(io.StringIO(read("csv").decode()))
    assert (line["run_id"], line["device"], line["cpu_util@client"]) == ("A", "QDIO", "41.5")
    (row,) = json.loads(read("json"))
    assert (row["run_id"], row["device"], row["cpu_util@client"]) == ("A", "QDIO", 41.5)
    (row,) = parquet.read_table(io.BytesIO(read("parquet"))).to_pylist()
    assert (row["run_id"], row["device"], row["cpu_util@client"]) == ("A", "QDIO", 41.5)
    with zipfile.ZipFile(io.BytesIO(read("zip"))) as archive:
        assert archive.namelist() == []


@pytest.mark.parametrize("form", ["csv", "json", "parquet", "zip"])
def test_files_refuse_what_the_list_refuses(reader: APIClient, form: str) -> None:
    assert problem(reader.get(f"/api/v1/runs.{form}", {"colour": "red"}), 400)["parameter"] == "colour"
    assert problem(reader.get(f"/api/v1/runs.{form}", {"columns": "colour"}), 400)["parameter"] == "columns"
