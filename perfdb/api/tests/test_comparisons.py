"""GET /api/v1/comparisons/"""

import pytest
from rest_framework.test import APIClient

from perfdb.api.tests.answers import check, problem
from perfdb.results.models import Run
from perfdb.results.runs.bulk_changes import touch_study
from perfdb.results.tests.builders import make_run, make_study

PATH = "/api/v1/comparisons/"
ASKED = {"dimension": "device", "old": "QDIO", "new": "HiperSockets"}


@pytest.fixture
def runs(db: None) -> list[Run]:
    """Two devices with three trials of 1, 10 and 20 users each; 50 users and a longer run on one of them only."""
    found = []
    for device, base, seconds in (("QDIO", 100.0, 60.0), ("HiperSockets", 130.0, 300.0)):
        for users in (1, 10, 20, 50) if device == "QDIO" else (1, 10, 20):
            for trial, change in enumerate((0.99, 1.0, 1.01), start=1):
                values = {"trans_per_s": base * users * change, "driver_s": seconds}
                found.append(make_run(f"{device}{users}", device=device, users=users, trial=trial, values=values))
    return found


def test_it_works(reader: APIClient, runs: list[Run]) -> None:
    body = check(reader.get(PATH, ASKED), PATH)

    assert [body[name] for name in ("dimension", "old", "new", "pairs")] == ["device", "QDIO", "HiperSockets", 3]
    assert body["sign"][0] == "+ is larger; larger is better for Transactions per second"
    rates = body["tables"][0]
    assert rates["columns"] == [{"device": "QDIO"}, {"device": "HiperSockets"}]
    assert rates["rows"] == [{"users": 1}, {"users": 10}, {"users": 20}]
    assert [round(cell["diff"]["percent"]) for cell in rates["cells"] if cell["diff"]] == [30, 30, 30]
    assert rates["summary"][0]["verdicts"] == {"higher": 3}
    assert (rates["shift"][0]["up"], rates["shift"][0]["allowance"]) == (3, None)


def test_it_says_what_else_differs_and_what_is_left_over(reader: APIClient, runs: list[Run]) -> None:
    body = check(reader.get(PATH, ASKED), PATH)

    assert body["looked_at"] == 18
    (difference,) = body["differs"]
    assert (difference["key"], difference["old"], difference["new"]) == ("driver_s", ["60.0"], ["300.0"])
    (left,) = body["left_over"]
    assert (left["side"], left["dimensions"]) == ("old", {"users": 50})
    assert left["reason"] == "no run with 50 users on HiperSockets"
    assert left["runs"] == [run.pk for run in runs if run.users == 50]


def test_swapped_it_is_the_other_way_round(reader: APIClient, runs: list[Run]) -> None:
    body = check(reader.get(PATH, ASKED | {"old": "HiperSockets", "new": "QDIO"}), PATH)

    assert (body["old"], body["left_over"][0]["side"]) == ("HiperSockets", "new")
    assert [round(cell["diff"]["percent"]) for cell in body["tables"][0]["cells"] if cell["diff"]] == [-23, -23, -23]


def test_only_the_runs_asked_for_are_compared(reader: APIClient, runs: list[Run]) -> None:
    body = check(reader.get(PATH, ASKED | {"users": ["1", "10"], "metric": "driver_s"}), PATH)

    assert (body["pairs"], body["left_over"]) == (2, [])
    assert [table["metric"] for table in body["tables"]] == ["driver_s"]


def test_its_query_asks_for_the_same_tables(reader: APIClient, runs: list[Run]) -> None:
    body = check(reader.get(PATH, ASKED | {"users": ["1", "10", "20"]}), PATH)

    tables = check(reader.get(f"/api/v1/tables/?{body['query']}"), "/api/v1/tables/")["tables"]
    assert tables == body["tables"]


def test_a_number_beyond_all_bounds_is_null(reader: APIClient) -> None:
    for device, value in (("QDIO", 1e-300), ("HiperSockets", 1e300)):
        make_run(device, device=device, values={"trans_per_s": value})
    (table,) = check(reader.get(PATH, ASKED | {"metric": "trans_per_s"}), PATH)["tables"]

    (diff,) = [cell["diff"] for cell in table["cells"] if cell["diff"]]
    assert (diff["n_base"], diff["ratio"], diff["percent"]) == (1, None, None)


@pytest.mark.parametrize(
    ("change", "parameter"),
    [
        ({"dimension": ""}, "dimension"),
        ({"dimension": "colour"}, "dimension"),
        ({"dimension": "trial", "old": "1", "new": "2"}, "dimension"),
        ({"old": ""}, "old"),
        ({"old": "HiperSockets"}, "new"),
        ({"new": ["QDIO", "HiperSockets"]}, "new"),
        ({"dimension": "mtu"}, "old"),
        ({"metric": "speed"}, "metric"),
        ({"colour": "red"}, "colour"),
        ({"marks": "dots"}, "marks"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    reader: APIClient, runs: list[Run], change: dict[str, str], parameter: str
) -> None:
    assert problem(reader.get(PATH, ASKED | change), 400)["parameter"] == parameter


def test_an_unchanged_answer_is_not_sent_again(reader: APIClient) -> None:
    studies = [make_study(name) for name in ("one", "two", "three")]
    asked = {"dimension": "study", "old": "one", "new": "two"}
    for study in studies:
        make_run("A", study=study)
    tag = reader.get(PATH, asked).headers["ETag"]
    touch_study(studies[2])
    assert reader.get(PATH, asked, HTTP_IF_NONE_MATCH=tag).status_code == 304
    touch_study(studies[0])
    assert reader.get(PATH, asked, HTTP_IF_NONE_MATCH=tag).status_code == 200


def test_reading_may_need_a_token(stranger: APIClient) -> None:
    problem(stranger.get(PATH, ASKED), 401)


def test_writing_is_refused(api: APIClient) -> None:
    problem(api.post(PATH), 405)
