"""Logs of very many runs are brought in a few runs at a time; run records all or none."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone

from perfdb.results import tasks
from perfdb.results.ingest import import_job, parse_files, store
from perfdb.results.models import Job, Problem, Run, RunEvidence, RunSource, Trace, UploadRun
from perfdb.results.runs.evidence import decode_facts
from perfdb.results.tests.conftest import LOGS, Bring, case

pytestmark = pytest.mark.django_db

THREE = "awm/three_runs/syvs100x.client.awm.log"


def content() -> Iterator[Any]:
    """All that is stored, without numbers that differ from one upload to the next."""
    for run in Run.objects.order_by("run_id", "trial"):
        evidence = RunEvidence.objects.get(run=run)
        yield run.run_id, run.trial, run.status, run.started, run.values, str(run.experiment)
        yield evidence.slots, evidence.printed, evidence.lines, evidence.formulas
        yield sorted((key, fact.text, fact.line) for key, fact in decode_facts(evidence).items())
        # As texts, for what is missing is not equal to itself.
        yield sorted(map(str, Trace.objects.filter(run=run).values_list("listing", "position", "samples")))
        yield sorted(RunSource.objects.filter(run=run).values_list("path", "digests", "spans", "driver"))
    yield sorted(Problem.objects.values_list("code", "message", "file", "line", "run_label"))


@pytest.mark.parametrize(
    "names",
    [
        [THREE],
        case("awm/both_sides"),
        ["bad/awm_no_end", "bad/awm_mixed_units", "bad/same_run_id"],
        [THREE, THREE],
        ["cp_query/NMGBR950", THREE, "cp_query/NMHIS310"],
        ["cp_query/one_file", THREE, "manifest/campaign"],
    ],
)
@pytest.mark.parametrize("kept", [0, 100])
def test_runs_a_few_at_a_time_are_the_same_runs(
    bring: Bring, monkeypatch: pytest.MonkeyPatch, names: list[str], kept: int
) -> None:
    files = [name for each in names for name in ([each] if each.endswith(".log") else case(each))]
    at_once = bring(*files)
    expected = list(content())
    rows = list(at_once.runs.order_by("number").values_list("number", "run_label", "outcome", "summary"))
    Run.objects.all().delete()
    Problem.objects.all().delete()
    monkeypatch.setattr(parse_files, "IN_MEMORY", 0)
    monkeypatch.setattr(parse_files, "TOGETHER", 0)
    monkeypatch.setattr(parse_files, "BATCH", 1)
    monkeypatch.setattr(import_job, "KEPT", kept)
    piecewise = bring(*files)
    assert list(content()) == expected
    assert list(piecewise.runs.order_by("number").values_list("number", "run_label", "outcome", "summary")) == rows


def test_evidence_without_a_run_id_still_finds_its_run_among_many(
    bring: Bring, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring(*case("cp_query/NMGBR950"))
    expected = list(content())
    Run.objects.all().delete()
    monkeypatch.setattr(parse_files, "IN_MEMORY", 0)
    monkeypatch.setattr(parse_files, "TOGETHER", 0)
    bring(*case("cp_query/NMGBR950"))
    assert list(content()) == expected


def records(count: int, **fields: Any) -> tuple[str, bytes]:
    lines = ({"run_id": f"JR{n}", "metrics": {"errors": n}} | fields for n in range(count))
    return "records.ndjson", "".join(f"{json.dumps(line)}\n" for line in lines).encode()


def test_run_records_are_all_there_or_none(bring: Bring, monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker dies after most of the runs: nothing of them is visible, and the next attempt brings them all."""
    monkeypatch.setattr(store, "CHUNK", 1)
    load_chunk = store.load_chunk
    done: list[object] = []

    def dying(*args: object) -> set[UploadRun.Outcome]:
        if len(done) == 3:
            raise OperationalError("the server closed the connection")
        done.append(args)
        return load_chunk(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(import_job, "load_chunk", dying)
    upload = bring(records(4))
    assert (upload.state, Run.objects.count()) == ("loading", 0)
    monkeypatch.setattr(import_job, "load_chunk", load_chunk)
    Job.objects.update(lease_until=timezone.now())
    tasks.run_job(upload.jobs.get().pk)
    upload.refresh_from_db()
    assert (upload.state, upload.runs_loaded, Run.objects.count()) == ("done", 4, 4)


def test_one_run_in_conflict_keeps_the_others_out(bring: Bring) -> None:
    bring(records(1))
    assert bring(records(3, metrics={"errors": 7})).state == "preview"
    assert Run.objects.count() == 1


def test_a_conflict_that_comes_up_while_loading_takes_everything_back(
    bring: Bring, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between reading and storing another upload has stored one of the runs."""
    load = import_job._load
    once = [True]

    def overtaken(*args: Any) -> None:
        if once:
            once.clear()
            bring(records(1))
        load(*args)

    monkeypatch.setattr(import_job, "_load", overtaken)
    upload = bring(records(3, metrics={"errors": 7}))
    assert (upload.state, Run.objects.count()) == ("preview", 1)
    assert sorted(upload.runs.values_list("outcome", flat=True)) == ["conflict", "new", "new"]


def test_a_log_of_several_runs_keeps_those_that_are_good(bring: Bring) -> None:
    data = (LOGS / THREE).read_bytes()
    bring((THREE, data))
    upload = bring(("again.awm.log", data.replace(b"resp_avg_ms=", b"resp_avg_s=", 1)))
    assert upload.state in {"done", "preview"}
    assert Run.objects.count() == 3
