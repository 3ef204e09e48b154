"""What is done with chosen runs of the list."""

import csv
import io
import json
import zipfile
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pyarrow import parquet

from perfdb.results.models import Run
from perfdb.results.runs import tags as tagging
from perfdb.results.tests.builders import make_run, make_study
from perfdb.web.runs import views
from perfdb.web.tests.conftest import Bring
from perfdb.web.tests.pages import text_of

ADDRESS = "/runs/chosen/"


@pytest.fixture
def hers(ada: User) -> list[Run]:
    """Three runs of Ada's study: other users, and another device."""
    study = make_study("hers", owner=ada)
    return [
        make_run("A", study=study, users=10),
        make_run("B", study=study, users=50),
        make_run("C", study=study, users=50, device="HiperSockets"),
    ]


def body(answer: Any) -> bytes:
    return b"".join(answer.streaming_content)


def picked_ids(runs: list[Run]) -> list[str]:
    return [str(run.pk) for run in runs]


def tags() -> dict[str, list[str] | None]:
    return dict(Run.objects.values_list("run_id", "tags"))


def test_tags_are_put_on_and_taken_off(web: Client, hers: list[Run]) -> None:
    given = {"run": picked_ids(hers[:2]), "tag": "Odd", "query": "users=10&users=50"}

    answer = web.post(ADDRESS, given | {"act": "tag"}, follow=True)

    assert answer.redirect_chain == [("/runs/?users=10&users=50", 302)]
    assert "Tag odd added to 2 runs." in text_of(answer)
    assert tags() == {"A": ["odd"], "B": ["odd"], "C": None}
    assert "Tag odd removed from 2 runs." in text_of(web.post(ADDRESS, given | {"act": "untag"}, follow=True))
    assert tags() == {"A": None, "B": None, "C": None}


def test_all_that_match_are_taken_by_their_filter(web: Client, hers: list[Run]) -> None:
    web.post(ADDRESS, {"all": "1", "query": "users=50&sort=device&columns=mtu", "tag": "odd", "act": "tag"})

    assert tags() == {"A": None, "B": ["odd"], "C": ["odd"]}
    assert "2 runs" in text_of(web.get("/runs/", {"tag": "odd"}))


def test_runs_are_withdrawn_with_a_reason_and_restored(web: Client, hers: list[Run]) -> None:
    given = {"run": picked_ids(hers[:1]), "query": ""}

    assert "give the reason" in text_of(web.post(ADDRESS, given | {"act": "withdraw", "reason": " "}, follow=True))
    answer = web.post(ADDRESS, given | {"act": "withdraw", "reason": "wrong kernel"}, follow=True)
    assert "1 run withdrawn" in text_of(answer)
    assert 'title="A"' not in answer.content.decode()
    assert 'title="A"' in web.get("/runs/", {"status": "withdrawn"}).content.decode()

    assert "1 run restored." in text_of(web.post(ADDRESS, given | {"act": "restore"}, follow=True))
    assert 'title="A"' in web.get("/runs/").content.decode()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"act": "tag", "tag": "odd"}, "no run is chosen"),
        ({"act": "tag", "tag": "two words", "all": "1"}, "is not a tag"),
        ({"act": "dance", "all": "1"}, "nothing that can be done"),
        ({"act": "compare"}, "no run is chosen"),
        ({"act": "csv", "run": "x"}, "by their numbers"),
        ({"act": "csv", "all": "1", "columns": "colour"}, "is not a column"),
        ({"act": "csv", "all": "1", "query": "colour=red"}, "is not a parameter"),
        ({"act": "compare", "all": "1", "query": "users=10"}, "at least two runs"),
    ],
)
def test_what_cannot_be_done_is_said_on_the_list(
    web: Client, hers: list[Run], given: dict[str, str], said: str
) -> None:
    answer = web.post(ADDRESS, given, follow=True)

    assert said in text_of(answer)
    assert tags() == {"A": None, "B": None, "C": None}


def test_only_who_may_change_the_study_can(web: Client, stranger: Client, hers: list[Run], settings: object) -> None:
    Run.objects.filter(run_id="C").update(study=make_study("theirs"))

    answer = web.post(ADDRESS, {"all": "1", "act": "tag", "tag": "odd"}, follow=True)
    assert "theirs is somebody else" in text_of(answer)

    settings.PUBLIC_READ = True  # type: ignore[attr-defined]
    assert 'name="reason"' in web.get("/runs/").content.decode()
    assert 'name="reason"' not in stranger.get("/runs/").content.decode()
    answer = stranger.post(ADDRESS, {"all": "1", "act": "tag", "tag": "odd"})
    assert answer["Location"].startswith("/sign-in/")
    assert tags() == {"A": None, "B": None, "C": None}


def test_they_are_exported_with_the_columns_of_the_list(web: Client, hers: list[Run]) -> None:
    given = {"run": picked_ids(hers[1:]), "columns": ["device", "trans_per_s"]}
    expected = [("B", "QDIO", 100.0), ("C", "HiperSockets", 100.0)]

    answer = web.post(ADDRESS, given | {"act": "csv"})
    assert answer["Content-Disposition"] == 'attachment; filename="runs.csv"'
    lines = list(csv.DictReader(io.StringIO(body(answer).decode())))
    assert [(line["run_id"], line["device"], float(line["trans_per_s"])) for line in lines] == expected

    rows = json.loads(body(web.post(ADDRESS, given | {"act": "json"})))
    assert [(row["run_id"], row["device"], row["trans_per_s"]) for row in rows] == expected

    table = parquet.read_table(io.BytesIO(body(web.post(ADDRESS, given | {"act": "parquet"})))).to_pylist()
    assert [(row["run_id"], row["device"], row["trans_per_s"]) for row in table] == expected


def test_their_logs_are_exported(web: Client, bring: Bring) -> None:
    bring("awm/three_runs")
    one = Run.objects.order_by("pk")[0]

    answer = web.post(ADDRESS, {"run": str(one.pk), "act": "zip"})

    with zipfile.ZipFile(io.BytesIO(body(answer))) as archive:
        assert len(archive.namelist()) == one.sources.count()


def test_two_runs_are_explained(web: Client, hers: list[Run]) -> None:
    answer = web.post(ADDRESS, {"run": picked_ids(hers[:2]), "act": "compare"})
    assert answer["Location"] == f"/explain/?old={hers[0].pk}&new={hers[1].pk}"
    assert web.get(answer["Location"]).status_code == 200


def test_several_runs_are_drawn_by_what_they_differ_in(web: Client, hers: list[Run]) -> None:
    answer = web.post(ADDRESS, {"run": picked_ids(hers), "act": "compare"})
    address = answer["Location"]
    assert "rows=users" in address
    assert "columns=device" in address
    assert all(f"run={run.pk}" in address for run in hers)
    assert web.get(address).status_code == 200


def test_runs_of_one_experiment_stand_side_by_side(web: Client, ada: User) -> None:
    study = make_study("hers", owner=ada)
    runs = [make_run("A", study=study, trial=trial) for trial in (1, 2, 3)]
    assert "rows=trial" in web.post(ADDRESS, {"run": picked_ids(runs), "act": "compare"})["Location"]


def test_many_runs_are_compared_by_their_filters(
    web: Client, hers: list[Run], ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "MOST_NAMED", 2)
    given = {"all": "1", "act": "compare", "query": "study=hers&mtu=1492&sort=mtu"}
    address = web.post(ADDRESS, given)["Location"]
    assert "study=hers&mtu=1492" in address
    assert "run=" not in address

    refused = web.post(ADDRESS, given | {"query": "status=complete&mtu=1492"}, follow=True)
    assert "put a tag on these runs" in text_of(refused)
    tagging.add_tag(ada, Run.objects.all(), "odd")
    assert "tag=odd" in web.post(ADDRESS, given | {"query": "tag=odd"})["Location"]
