"""Undoing in any order: with runs that replaced others, with what people gave, after a failure half-way."""

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from perfdb.results.changes import corrections
from perfdb.results.ingest import store, uploads
from perfdb.results.models import Experiment, Run, RunChange, RunSource, Upload
from perfdb.results.runs.bulk_changes import touch_study
from perfdb.results.tests.conftest import LOGS, Bring, Work, case

pytestmark = pytest.mark.django_db

FIRST, OTHER = case("bad/same_run_id")
NAMES = case("cp_query/NMGBR950")
DRIVER = [name for name in NAMES if "client.awm" in name]
CAPTURES = [name for name in NAMES if "client.txt" in name]


def driver(transactions: str) -> tuple[str, bytes]:
    """The driver's log of NMGBR950 with another summary."""
    text = (LOGS / DRIVER[0]).read_text()
    before, _, rest = text.partition("SUM   trans=")
    return f"{transactions}.log", f"{before}SUM   trans={transactions} {rest.partition(' ')[2]}".encode()


def stored() -> set[tuple[int, str, bool]]:
    """Each run: its key, status, and whether it has captures."""
    return {(run.pk, run.status, run.elapsed_s is not None) for run in Run.objects.all()}


@pytest.fixture
def replace(bring: Bring, work: Work) -> Bring:
    def do(*names: str | tuple[str, bytes], **more: object) -> Upload:
        upload = bring(*names, **more)
        assert upload.state == "preview"
        uploads.accept(upload, {row.run_label + "/1": "replace" for row in upload.runs.all()})
        return work(upload)

    return do


@pytest.fixture
def undo(work: Work) -> Work:
    def do(upload: Upload) -> Upload:
        uploads.undo(upload)
        work(upload)
        assert upload.state == "undone"
        return upload

    return do


def test_a_replacement_in_the_middle_of_a_chain_goes_first(bring: Bring, replace: Bring, undo: Work) -> None:
    bring(driver("5000000"))
    before = stored()
    second, third = replace(driver("5000001")), replace(driver("5000002"))
    undo(second)
    assert sorted(status for _, status, _ in stored()) == ["complete", "withdrawn"]
    undo(third)
    assert stored() == before


def test_a_withdrawn_run_stays_withdrawn_when_it_loses_evidence(bring: Bring, replace: Bring, undo: Work) -> None:
    bring(driver("5000000"))
    before = stored()
    captures = bring(*CAPTURES)
    replacement = replace(driver("5000001"))
    undo(captures)
    assert sorted(status for _, status, _ in stored()) == ["complete", "withdrawn"]
    undo(replacement)
    assert stored() == before


def test_what_joined_the_replacement_joins_the_run_that_returns(bring: Bring, replace: Bring, undo: Work) -> None:
    bring(driver("5000000"))
    replacement = replace(driver("5000001"))
    captures = bring(*CAPTURES)
    undo(replacement)
    assert replacement.runs.get().summary["files"] == [driver("5000001")[0]], "it says what it brought"
    assert [(status, captured) for _, status, captured in stored()] == [("complete", True)]
    assert captures.runs.get().run == Run.objects.get()
    undo(captures)
    assert [(status, captured) for _, status, captured in stored()] == [("complete", False)]


def test_what_does_not_go_with_the_run_that_returns_stays_by_itself(bring: Bring, replace: Bring, undo: Work) -> None:
    bring(driver("5000000"), *CAPTURES)
    replacement = replace(driver("5000001"))
    others = [(name, (LOGS / name).read_bytes().replace(b"TOTCPU= 0", b"TOTCPU= 1")) for name in CAPTURES]
    bring(*others)
    undo(replacement)
    found = Run.objects.order_by("pk").values_list("trial", "status", "elapsed_s")
    assert [(trial, status, elapsed is not None) for trial, status, elapsed in found] == [
        (1, "complete", True),
        (2, "incomplete", True),
    ]


def test_two_logs_of_one_upload_that_replaced_each_other_go_together(replace: Bring, undo: Work) -> None:
    upload = replace(FIRST, OTHER)
    assert sorted(Run.objects.values_list("status", flat=True)) == ["complete", "withdrawn"]
    undo(upload)
    assert Run.objects.count() == 0


def test_trials_that_lose_their_logs_stay_apart(bring: Bring, undo: Work) -> None:
    """What is left of both are captures of one run id, which say no trial."""
    drivers = []
    for trial, hour in ((b"trial=1", b" 14:"), (b"trial=2", b" 19:")):
        ((name, data),) = [(name, (LOGS / name).read_bytes()) for name in DRIVER]
        drivers.append(bring((name, data.replace(b"trial=1", trial).replace(b" 14:", hour))))
        captures = [(name, (LOGS / name).read_bytes().replace(b" 14:", hour)) for name in CAPTURES]
        bring(*captures)
    assert {(run.trial, run.elapsed_s) for run in Run.objects.all()} == {(1, 632.0), (2, 632.0)}
    for upload in drivers:
        undo(upload)
    assert {(run.trial, run.status) for run in Run.objects.all()} == {(1, "incomplete"), (2, "incomplete")}


def test_what_was_stored_before_a_failure_can_be_undone(
    bring: Bring, work: Work, undo: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "CHUNK", 1)
    touch = touch_study
    done: list[object] = []

    def failing(study: object) -> None:
        done.append(study)
        if len(done) > 1:
            raise ZeroDivisionError
        touch(study)  # type: ignore[arg-type] # a study

    monkeypatch.setattr(store, "touch_study", failing)
    upload = bring(*case("awm/three_runs"))
    assert (upload.state, Run.objects.count()) == ("failed", 1)
    with pytest.raises(uploads.IntakeError, match="Undo it"):
        corrections.choose_format(upload, upload.files.get().path, "awm")
    undo(upload)
    assert Run.objects.count() == RunSource.objects.count() == 0


def test_what_a_person_gave_later_counts_until_it_is_undone(bring: Bring, undo: Work) -> None:
    names = [name for name in NAMES if "lpar" not in name]
    bring(*names)
    later = bring(*names, facts={"processors": 2})
    assert later.runs.get().outcome == "extended"
    assert Run.objects.get().cpu_util == pytest.approx(96.76, abs=0.01)
    assert bring(*names, facts={"processors": 2}).runs.get().outcome == "already-there"
    undo(later)
    # The third upload says so too.
    assert Run.objects.get().cpu_util is not None
    undo(Upload.objects.latest("pk"))
    assert Run.objects.get().cpu_util is None


def _records(count: int) -> tuple[str, bytes]:
    lines = (json.dumps({"run_id": f"A{number}", "metrics": {"errors": number}}) for number in range(count))
    return "records.ndjson", "".join(f"{line}\n" for line in lines).encode()


def test_runs_that_came_twice_stay_until_both_uploads_are_undone(bring: Bring, undo: Work) -> None:
    first, second = bring(_records(20)), bring(_records(20))
    before = {run.pk: run.values for run in Run.objects.all()}
    undo(first)
    assert {run.pk: run.values for run in Run.objects.all()} == before
    assert set(RunSource.objects.values_list("upload", flat=True)) == {second.pk}
    assert not RunChange.objects.exists(), "nothing has become of them"
    assert {row.summary["place"][0] for row in first.runs.all()} == {"records.ndjson"}
    undo(second)
    assert Run.objects.count() == Experiment.objects.count() == 0


def test_undoing_more_runs_takes_no_more_statements(bring: Bring, work: Work) -> None:
    counts = []
    for runs in (20, 60):
        upload = bring(_records(runs))
        uploads.undo(upload)
        with CaptureQueriesContext(connection) as statements:
            work(upload)
        assert (upload.state, Run.objects.count()) == ("undone", 0)
        counts.append(len(statements))
    assert counts[0] == counts[1]
