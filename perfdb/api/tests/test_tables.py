"""GET /api/v1/tables/ and its other forms"""

import csv
import io
import re
from urllib.parse import parse_qsl

import pytest
from pyarrow import parquet
from rest_framework.test import APIClient

from perfdb.analysis.query.query import Query
from perfdb.api.tests.answers import check, problem
from perfdb.results.models import Run
from perfdb.results.runs.bulk_changes import touch_study
from perfdb.results.tests.builders import make_run, make_study

PATH = "/api/v1/tables/"
FORMS = [PATH, *(f"/api/v1/tables.{ending}" for ending in ("csv", "md", "txt", "tex", "parquet"))]
ASKED = {"metric": "trans_per_s", "rows": "device", "columns": "users"}


@pytest.fixture
def runs(db: None) -> list[Run]:
    """Two devices; one of them with two trials."""
    return [
        make_run("A", trial=1, values={"trans_per_s": 100.25}),
        make_run("A", trial=2, values={"trans_per_s": 101.25}),
        make_run("B", device="HiperSockets", users=20, values={"trans_per_s": 300.0}),
    ]


def test_it_works(reader: APIClient, runs: list[Run]) -> None:
    body = check(reader.get(PATH, ASKED), PATH)
    (table,) = body["tables"]
    assert (table["metric"], table["role"], table["unit"], table["better"]) == (
        "trans_per_s",
        "total",
        "trans/s",
        "higher",
    )
    assert table["rows"] == [{"device": "HiperSockets"}, {"device": "QDIO"}]
    assert table["columns"] == [{"users": 10}, {"users": 20}]
    cells = {(cell["row"], cell["column"]): cell for cell in table["cells"]}
    assert cells.keys() == {(0, 1), (1, 0)}
    cell = cells[1, 0]
    assert (cell["n"], cell["mean"]) == (2, 100.75)
    assert [(value["run"], value["value"]) for value in cell["values"]] == [
        (runs[0].pk, 100.25),
        (runs[1].pk, 101.25),
    ]


def test_the_query_comes_back_in_canonical_order(reader: APIClient, runs: list[Run]) -> None:
    asked = "columns=users&mtu=1492&rows=device&device=QDIO&metric=trans_per_s"
    body = check(reader.get(f"{PATH}?{asked}"), PATH)
    assert body["query"] == Query.parse(parse_qsl(asked)).encode()
    assert check(reader.get(f"{PATH}?{body['query']}"), PATH) == body


def test_without_a_metric_the_workloads_own_are_shown(reader: APIClient) -> None:
    make_run("A", workload="STRG", values={"mb_per_s": 50.0, "cpu_ms_per_mb": 3.0})
    tables = check(reader.get(PATH, {"rows": "device"}), PATH)["tables"]
    metrics = [table["metric"] for table in tables]
    assert metrics[0] == "mb_per_s"
    assert "trans_per_s" not in metrics


def test_a_comparison_comes_with_its_interval_and_verdict(reader: APIClient) -> None:
    for device, base in (("QDIO", 100.0), ("HiperSockets", 130.0)):
        for users in (1, 10, 20):
            for trial, change in enumerate((0.99, 1.0, 1.01), start=1):
                values = {"trans_per_s": base * users * change}
                make_run(f"{device}{users}", device=device, users=users, trial=trial, values=values)
    asked = {"metric": "trans_per_s", "rows": "users", "columns": "device", "baseline": "device:QDIO"}
    (table,) = check(reader.get(PATH, asked), PATH)["tables"]
    assert table["columns"] == [{"device": "QDIO"}, {"device": "HiperSockets"}]
    diffs = [cell["diff"] for cell in table["cells"] if cell["column"] == 1]
    assert [round(diff["percent"], 6) for diff in diffs] == [30.0] * 3
    said = {(diff["verdict"], diff["scope"], diff["effect"], diff["noise"]["source"]) for diff in diffs}
    assert said == {("higher", "these_runs", "better", "trials")}
    assert all(diff["interval"][0] < 1.3 < diff["interval"][1] and diff["q"] < 0.05 for diff in diffs)
    assert [cell["diff"] for cell in table["cells"] if cell["column"] == 0] == [None] * 3
    (summary,) = table["summary"]
    assert (summary["against"], summary["of"]) == ({"device": "QDIO"}, {"device": "HiperSockets"})
    assert (summary["verdicts"], summary["scope"]) == ({"higher": 3}, "these_runs")


def test_runs_that_differ_in_what_is_not_shown_have_a_range(reader: APIClient) -> None:
    for device, layer, rate in (("QDIO", 2, 100.0), ("QDIO", 3, 120.0), ("vCTC", 2, 90.0), ("vCTC", 3, 110.0)):
        make_run(f"{device}{layer}", device=device, layer=layer, values={"trans_per_s": rate})
    asked = {"metric": "trans_per_s", "columns": "device", "baseline": "device:QDIO"}
    (table,) = check(reader.get(PATH, asked), PATH)["tables"]
    for cell in table["cells"]:
        assert (cell["mean"], cell["interval"], cell["mixes"]) == (None, None, {"layer": [2, 3]})
    assert [cell["range"] for cell in table["cells"]] == [[100.0, 120.0], [90.0, 110.0]]
    (diff,) = [cell["diff"] for cell in table["cells"] if cell["diff"]]
    assert (diff["verdict"], diff["percent"], diff["interval"], diff["p"]) == ("mixed", None, None, None)
    assert diff["reason"] == "runs differ in Layer"


def test_only_the_runs_asked_for_count(reader: APIClient, runs: list[Run]) -> None:
    (table,) = check(reader.get(PATH, ASKED | {"users": "20"}), PATH)["tables"]
    assert [cell["values"][0]["run_id"] for cell in table["cells"]] == ["B"]


def test_nothing_found_is_an_empty_table(reader: APIClient) -> None:
    (table,) = check(reader.get(PATH, ASKED), PATH)["tables"]
    assert (table["rows"], table["cells"]) == ([], [])


def test_csv(reader: APIClient, runs: list[Run]) -> None:
    response = reader.get("/api/v1/tables.csv", ASKED, HTTP_ACCEPT="text/csv")
    assert response.headers["Content-Type"] == "text/csv; charset=utf-8"
    cells = [cell for line in csv.reader(io.StringIO(response.content.decode())) for cell in line]
    assert {"QDIO", "HiperSockets", "100.75"} <= set(cells)


def test_markdown(reader: APIClient, runs: list[Run]) -> None:
    response = reader.get("/api/v1/tables.md", ASKED)
    assert response.headers["Content-Type"] == "text/markdown; charset=utf-8"
    assert "| QDIO" in response.content.decode()


def test_text(reader: APIClient, runs: list[Run]) -> None:
    response = reader.get("/api/v1/tables.txt", ASKED)
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert re.search(r"^QDIO +100\.8", response.content.decode(), re.MULTILINE)


def test_latex(reader: APIClient, runs: list[Run]) -> None:
    response = reader.get("/api/v1/tables.tex", ASKED)
    assert response.headers["Content-Type"] == "application/x-tex; charset=utf-8"
    assert r"QDIO & 100.8" in response.content.decode()


def test_parquet(reader: APIClient, runs: list[Run]) -> None:
    response = reader.get("/api/v1/tables.parquet", ASKED | {"metric": ["trans_per_s", "cpu_util@client"]})
    assert response.headers["Content-Type"] == "application/vnd.apache.parquet"
    name = 'attachment; filename="perfdb-trans_per_s-cpu_util-client.parquet"'
    assert response.headers["Content-Disposition"] == name
    table = parquet.read_table(io.BytesIO(response.content))
    assert table.column("device").to_pylist()[:2] == ["HiperSockets", "QDIO"]
    assert table.column("value").to_pylist()[:2] == [300.0, 100.75]


@pytest.mark.parametrize("path", FORMS)
def test_how_a_page_draws_it_makes_no_difference(reader: APIClient, runs: list[Run], path: str) -> None:
    drawn = reader.get(path, ASKED | {"marks": "bars", "log": "both", "facets": "together"})
    assert (drawn.status_code, drawn.content) == (200, reader.get(path, ASKED).content)
    assert problem(reader.get(path, ASKED | {"marks": "dots"}), 400)["parameter"] == "marks"


def test_the_best_comes_with_its_evidence(reader: APIClient) -> None:
    for users, rates in ((1, (50.0, 50.5)), (10, (100.0, 102.0)), (20, (103.0, 101.0)), (50, (80.0, 80.4))):
        for trial, rate in enumerate(rates, start=1):
            make_run(f"U{users}", users=users, trial=trial, values={"trans_per_s": rate, "cpu_util": 96.0})
    asked = {"metric": "trans_per_s", "pick": "trans_per_s:device", "columns": "device"}

    (best,) = check(reader.get(PATH, asked), PATH)["best"]
    assert (best["of"], best["dimensions"]) == ({"device": "QDIO"}, {"users": 20})
    assert (best["curve"]["course"], best["curve"]["peak_users"], best["curve"]["edge"]) == ("falling", 20, None)
    assert best["limit"]["verdict"] == "processors"
    (other,) = best["runners_up"]
    assert (other["dimensions"], other["mean"], other["diff"]["verdict"]) == ({"users": 10}, 101.0, "cannot_tell")

    assert check(reader.get(PATH, asked | {"summary": "trial"}), PATH)["best"] == []
    assert check(reader.get(PATH, ASKED), PATH)["best"] == []


@pytest.mark.parametrize("path", FORMS)
def test_an_unchanged_answer_is_not_sent_again(reader: APIClient, runs: list[Run], path: str) -> None:
    other = make_study("other")
    asked = ASKED | {"study": "guest-lan"}
    tag = reader.get(path, asked).headers["ETag"]
    touch_study(other)
    assert reader.get(path, asked, HTTP_IF_NONE_MATCH=tag).status_code == 304
    touch_study(runs[0].study)
    assert reader.get(path, asked, HTTP_IF_NONE_MATCH=tag).status_code == 200


@pytest.mark.parametrize("path", FORMS)
def test_reading_may_need_a_token(stranger: APIClient, path: str) -> None:
    problem(stranger.get(path), 401)


@pytest.mark.parametrize("path", FORMS)
def test_an_unknown_parameter_is_refused_with_the_known_ones(reader: APIClient, path: str) -> None:
    body = problem(reader.get(path, {"colour": "red"}), 400)
    assert body["parameter"] == "colour"
    assert {"metric", "rows", "device", "factor.NAME"} <= set(body["known"])


@pytest.mark.parametrize(
    ("name", "text"),
    [("metric", "speed"), ("rows", "colour"), ("mtu", "jumbo"), ("pick", "trans_per_s"), ("summary", "best")],
)
def test_wrong_values_are_refused(reader: APIClient, name: str, text: str) -> None:
    assert problem(reader.get(PATH, {name: text}), 400)["parameter"] == name


@pytest.mark.parametrize(
    ("name", "text", "known"),
    [("baseline", "device:A", "users"), ("range", "device:A..B", "mtu"), ("exclude", "speed:1", "device")],
)
def test_what_contradicts_itself_is_refused(reader: APIClient, name: str, text: str, known: str) -> None:
    found = problem(reader.get(PATH, {"rows": "users", name: text}), 400)
    assert (found["parameter"], known in found["known"]) == (name, True)


def test_writing_is_refused(api: APIClient) -> None:
    problem(api.post(PATH), 405)
