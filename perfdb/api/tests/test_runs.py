"""GET /api/v1/runs/"""

from datetime import UTC, datetime, timedelta

import pytest
from rest_framework.test import APIClient

from perfdb.api.tests.answers import check, problem
from perfdb.results.runs.bulk_changes import touch_study
from perfdb.results.tests.builders import make_run, make_study

PATH = "/api/v1/runs/"


def test_it_works(reader: APIClient) -> None:
    run = make_run(values={"trans_per_s": 9077.29, "cpu_util@client": 41.5}, factors={"kernel": "2.4"})
    (row,) = check(reader.get(PATH), PATH)["results"]
    assert row == {
        "id": run.pk,
        "run_id": "NMGBR110",
        "trial": 1,
        "study": "guest-lan",
        "campaign": None,
        "system": "2064-109",
        "level": None,
        "workload": "RR",
        "device": "QDIO",
        "mtu": 1492,
        "users": 10,
        "layer": None,
        "factors": {"kernel": "2.4"},
        "tags": [],
        "notes": [],
        "status": "complete",
        "started": "2003-04-01T12:00:00Z",
        "values": {"trans_per_s": 9077.29},
        "url": f"http://testserver/api/v1/runs/{run.pk}/",
    }


def test_next_and_previous_are_addresses_that_keep_the_question(reader: APIClient) -> None:
    for n in range(5):
        make_run(f"R{n}", started=datetime(2003, 4, 1, tzinfo=UTC) + timedelta(hours=n))
    make_run("OTHER", users=99)
    first = check(reader.get(PATH, {"users": "10", "size": "2"}), PATH)
    assert [row["run_id"] for row in first["results"]] == ["R4", "R3"]
    assert first["previous"] is None
    second = check(reader.get(first["next"]), PATH)
    assert [row["run_id"] for row in second["results"]] == ["R2", "R1"]
    third = check(reader.get(second["next"]), PATH)
    assert [row["run_id"] for row in third["results"]] == ["R0"]
    assert third["next"] is None
    back = check(reader.get(third["previous"]), PATH)
    assert back["results"] == second["results"]


def test_sorts(reader: APIClient) -> None:
    make_run("A", values={"trans_per_s": 1.0})
    make_run("B", values={"trans_per_s": 3.0})
    make_run("C", values={})
    rows = reader.get(PATH, {"sort": "-trans_per_s"}).json()["results"]
    assert [row["run_id"] for row in rows] == ["B", "A", "C"]


def test_the_run_id_is_kept_as_printed(reader: APIClient) -> None:
    make_run("äö <&>\n1")
    assert reader.get(PATH).json()["results"][0]["run_id"] == "äö <&>\n1"


def test_an_unchanged_list_is_not_sent_again(reader: APIClient) -> None:
    run = make_run()
    tag = reader.get(PATH).headers["ETag"]
    assert tag.startswith('W/"')
    again = reader.get(PATH, HTTP_IF_NONE_MATCH=tag)
    assert (again.status_code, again.content) == (304, b"")
    assert reader.get(PATH, {"users": "10"}, HTTP_IF_NONE_MATCH=tag).status_code == 200
    touch_study(run.study)
    assert reader.get(PATH, HTTP_IF_NONE_MATCH=tag).status_code == 200


def test_a_new_study_is_a_change(reader: APIClient) -> None:
    tag = reader.get(PATH).headers["ETag"]
    make_run(study=make_study("new"))
    assert reader.get(PATH, HTTP_IF_NONE_MATCH=tag).status_code == 200


def test_a_wrong_question_is_refused_whatever_the_client_has(reader: APIClient) -> None:
    tag = reader.get(PATH, {"colour": "red"}).headers.get("ETag", "*")
    problem(reader.get(PATH, {"colour": "red"}, HTTP_IF_NONE_MATCH=tag), 400)


def test_reading_may_need_a_token(stranger: APIClient, api: APIClient) -> None:
    response = stranger.get(PATH)
    problem(response, 401)
    assert response.headers["WWW-Authenticate"] == 'Bearer realm="perfdb"'
    check(api.get(PATH), PATH)


def test_a_wrong_token_is_refused_even_where_reading_is_open(reader: APIClient) -> None:
    body = problem(reader.get(PATH, HTTP_AUTHORIZATION="Bearer nonsense"), 401)
    assert "manage.py apitoken" in body["detail"]


@pytest.mark.parametrize("header", ["Bearer", "Bearer ", "Bearer a b", "bearer \xff\x00"])
def test_a_damaged_header_is_refused(reader: APIClient, header: str) -> None:
    problem(reader.get(PATH, HTTP_AUTHORIZATION=header), 401)


def test_an_unknown_parameter_is_refused_with_the_known_ones(reader: APIClient) -> None:
    body = problem(reader.get(PATH, {"colour": "red"}), 400)
    assert body["type"] == "urn:perfdb:parameter"
    assert body["parameter"] == "colour"
    assert {"device", "mtu", "factor.NAME", "sort", "cursor", "size", "status"} <= set(body["known"])


@pytest.mark.parametrize(
    ("name", "text"),
    [("mtu", "jumbo"), ("users", "ten"), ("status", "lost"), ("sort", "colour"), ("cursor", "x"), ("size", "0")],
)
def test_wrong_values_are_refused(reader: APIClient, name: str, text: str) -> None:
    assert problem(reader.get(PATH, {name: text}), 400)["parameter"] == name


@pytest.mark.parametrize("method", ["put", "patch", "delete"])
def test_runs_are_added_and_not_replaced(api: APIClient, method: str) -> None:
    problem(getattr(api, method)(PATH), 405)


def test_the_slash_at_the_end_may_be_left_out(reader: APIClient) -> None:
    response = reader.get("/api/v1/runs?users=10")
    assert (response.status_code, response.headers["Location"]) == (301, "/api/v1/runs/?users=10")
