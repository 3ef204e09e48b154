"""Runs of a list as files."""

import csv
import io
import json
import zipfile
from datetime import UTC, datetime

import pytest
from pyarrow import parquet

from perfdb.analysis.query.parameters import QueryError
from perfdb.results.models import Run
from perfdb.results.queries.run_list import columns, export
from perfdb.results.queries.run_list.filters import choose_runs
from perfdb.results.tests.builders import make_run
from perfdb.results.tests.conftest import LOGS, Bring, case

pytestmark = pytest.mark.django_db
SHOWN = columns.parse_columns(["device,users,factor.kernel,started,tags,trans_per_s,cpu_util@client"])
HEADER = ["run", "run_id", "status", *(each.name for each in SHOWN)]


@pytest.fixture
def two() -> tuple[Run, Run]:
    """Two runs, the second without most of what can be shown."""
    first = make_run("A", factors={"kernel": "6.4"}, values={"trans_per_s": 9077.29, "cpu_util@client": 41.5})
    second = make_run("=B", device=None, users=None, values={}, status="failed")
    Run.objects.filter(pk=first.pk).update(tags=["odd", "even"])
    return first, second


def test_as_csv(two: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "CHUNK", 1)
    first, second = two
    lines = list(csv.reader(io.StringIO("".join(export.render_csv(Run.objects.all(), SHOWN)))))
    started = "2003-04-01T12:00:00+00:00"
    assert lines == [
        HEADER,
        [str(first.pk), "A", "complete", "QDIO", "10", "6.4", started, "odd;even", "9077.29", "41.5"],
        [str(second.pk), "'=B", "failed", "", "", "", started, "", "", ""],
    ]


@pytest.mark.parametrize("chunk", [1, 2, 5])
def test_as_json(two: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    monkeypatch.setattr(export, "CHUNK", chunk)
    first, second = json.loads("".join(export.render_json(Run.objects.all(), SHOWN)))
    assert list(first) == HEADER
    assert (first["run"], first["tags"], first["cpu_util@client"]) == (two[0].pk, ["odd", "even"], 41.5)
    assert (second["run_id"], second["device"], second["trans_per_s"]) == ("=B", None, None)


def test_no_runs_are_an_empty_list() -> None:
    assert json.loads("".join(export.render_json(Run.objects.none(), SHOWN))) == []


def test_to_parquet(two: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "CHUNK", 1)
    out = io.BytesIO()
    export.write_parquet(Run.objects.all(), SHOWN, out)
    table = parquet.read_table(io.BytesIO(out.getvalue()))
    assert table.column_names == HEADER
    first, second = table.to_pylist()
    assert first["started"] == datetime(2003, 4, 1, 12, tzinfo=UTC)
    assert (first["users"], first["tags"], first["trans_per_s"]) == (10, ["odd", "even"], 9077.29)
    assert (second["users"], second["tags"], second["trans_per_s"]) == (None, None, None)


def test_the_logs_of_runs_as_received(bring: Bring) -> None:
    bring(*case("awm/three_runs"))
    bring(*case("cp_query/NMGBR950"))
    out = io.BytesIO()
    number = export.write_logs_zip(choose_runs([], "q=nmgbr950"), out)
    with zipfile.ZipFile(out) as archive:
        files = {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}
    assert files == {name: (LOGS / name).read_bytes() for name in case("cp_query/NMGBR950")}
    assert number == len(files)


def test_logs_of_too_many_runs_are_refused(two: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "MOST_LOGGED", 1)
    with pytest.raises(QueryError, match="at most 1"):
        export.write_logs_zip(Run.objects.all(), io.BytesIO())


def test_runs_are_chosen_by_number_or_by_filter(two: tuple[Run, Run]) -> None:
    first, second = two
    assert list(choose_runs([str(first.pk)])) == [first]
    assert list(choose_runs([], "?status=failed&columns=users&sort=users")) == [second]
    assert set(choose_runs([], "")) == {first, second}


@pytest.mark.parametrize("numbers", [[], ["x"], ["-1"], ["9" * 30], ["1"] * 10_001])
def test_what_chooses_no_runs_is_refused(numbers: list[str]) -> None:
    with pytest.raises(QueryError) as caught:
        choose_runs(numbers)
    assert caught.value.parameter == "run"


def test_a_wrong_filter_is_refused() -> None:
    with pytest.raises(QueryError, match="colour"):
        choose_runs([], "colour=red")
