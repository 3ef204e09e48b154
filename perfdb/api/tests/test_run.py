"""GET /api/v1/runs/ID/"""

from typing import Any

import pytest
from rest_framework.test import APIClient

from perfdb.api.tests.answers import check, problem
from perfdb.api.tests.files import case, post_files
from perfdb.api.tests.test_upload import settled
from perfdb.results.models import Problem, Run
from perfdb.results.tests.builders import make_run

PATH = "/api/v1/runs/{id}/"


@pytest.fixture
def body(worker: None, api: APIClient) -> Any:
    """A run that was imported with all its captures."""
    upload = settled(api, post_files(api, case("cp_query/NMGBR950"), facts='{"processors": 2}'))
    return check(api.get(PATH.format(id=upload["runs"][0]["id"])), PATH)


def measurement(body: Any, metric: str, role: str = "total") -> Any:
    (found,) = [each for each in body["measurements"] if (each["metric"], each["role"]) == (metric, role)]
    return found


def line_of(body: Any, artifact: int, line: int) -> str:
    """A line of the fixture that an artifact was made of."""
    (name,) = [each["name"] for each in body["artifacts"] if each["id"] == artifact]
    return case("cp_query/NMGBR950")[name].decode().splitlines()[line - 1]


def test_it_works(body: Any) -> None:
    run = Run.objects.get()
    named = ("id", "run_id", "trial", "study", "workload", "mtu", "users", "status")
    assert [body[name] for name in named] == [run.pk, "NMGBR950", 1, "inbox", "RR", 9000, 50, "complete"]
    assert {each["name"] for each in body["artifacts"]} == set(case("cp_query/NMGBR950"))
    assert body["facts"]["users"]["text"] == "50"


def test_a_reported_value_has_its_line(body: Any) -> None:
    found = measurement(body, "transactions")
    assert (found["origin"], found["unit"], found["formula"]) == ("reported", "trans", None)
    assert found["printed"] in line_of(body, found["artifact"], found["line"])
    assert float(found["printed"]) == found["value"]


def test_a_derived_value_has_its_formula_and_the_lines_of_its_inputs(body: Any) -> None:
    found = measurement(body, "cpu_ms_per_trans")
    assert found["origin"] == "derived"
    formula = found["formula"]
    assert formula["id"].startswith("cpu_ms_per_trans.")
    assert formula["text"]
    assert formula["worked"]
    counters = [each for each in formula["inputs"] if "counter" in each]
    assert counters
    for each in counters:
        assert each["value"] == pytest.approx(each["after"] - each["before"])
        assert each["artifact"] != each["before_place"]["artifact"]
        assert line_of(body, each["artifact"], each["line"])
        assert line_of(body, each["before_place"]["artifact"], each["before_place"]["line"])
    assert [each["metric"] for each in formula["inputs"] if "metric" in each]


def test_counters_stand_before_and_after(body: Any) -> None:
    assert {each["role"] for each in body["counters"]} >= {"client", "server", "lpar"}
    for each in body["counters"]:
        assert each["before_artifact"] != each["after_artifact"]
        for reading in each["readings"]:
            assert reading["before"] <= reading["after"], reading
            assert line_of(body, each["before_artifact"], reading["before_line"])
            assert line_of(body, each["after_artifact"], reading["after_line"])
    readings = [reading for each in body["counters"] for reading in each["readings"]]
    # Nothing was paged while this run lasted, but CPU time and the clock went on.
    went_on = {reading["counter"] for reading in readings if reading["before"] < reading["after"]}
    assert {"totcpu", "virtcpu", "time"} <= went_on


def test_problems_are_listed(reader: APIClient) -> None:
    run = make_run()
    given = {"severity": "warning", "code": "awm.cut-off", "message": "Cut off.", "remedy": "Send it again."}
    Problem.objects.create(run=run, file="cut.log", line=13, run_label="R", **given)
    body = check(reader.get(PATH.format(id=run.pk)), PATH)
    assert body["problems"] == [given | {"file": "cut.log", "line": 13, "run_id": "R"}]


def test_a_withdrawn_run_can_still_be_read(reader: APIClient) -> None:
    assert check(reader.get(PATH.format(id=make_run(status="withdrawn").pk)), PATH)["status"] == "withdrawn"


def test_what_is_not_known_is_null(reader: APIClient) -> None:
    run = make_run(device=None, mtu=None, users=None, workload=None, machine="", values={})
    body = check(reader.get(PATH.format(id=run.pk)), PATH)
    assert {body[name] for name in ("device", "mtu", "users", "layer", "workload", "system", "level", "campaign")} == {
        None
    }
    assert body["measurements"] == []


@pytest.mark.parametrize("pk", ["0", str(10**30)])
def test_a_run_that_does_not_exist(reader: APIClient, pk: str) -> None:
    problem(reader.get(PATH.format(id=pk)), 404)


def test_reading_may_need_a_token(stranger: APIClient) -> None:
    problem(stranger.get(PATH.format(id=make_run().pk)), 401)


def test_writing_is_refused(api: APIClient) -> None:
    problem(api.delete(PATH.format(id=make_run().pk)), 405)
