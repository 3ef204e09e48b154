"""Records are worked out while those behind them are still checked, and come out as they would otherwise."""

import json
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import sleep
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from pytest_django import Settings

from perfdb.results import broker, early, handover, tasks
from perfdb.results.early import Early
from perfdb.results.handover import Handover
from perfdb.results.ingest import jobs, uploads
from perfdb.results.ingest.json_runs import FILE, RecordsError, understood
from perfdb.results.models import Job, Run, RunEvidence, RunSource, Upload, UploadRun
from perfdb.results.tests.conftest import Work

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sent")]

RUNS = 1800
"""More than are worked out together, so that they come in several batches."""


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each batch of a job whether it was known early."""
    found: list[bool] = []
    known = Early.known

    def noted(self: Early, some: Any) -> Any:
        found.append((answer := known(self, some)) is not None)
        return answer

    monkeypatch.setattr(Early, "known", noted)
    return found


def record(number: int, trials: int = 3) -> dict[str, Any]:
    """The figures of some runs contradict themselves, some name no users, and the trials of a run stand together."""
    users = {} if number % 7 == 0 else {"users": 1 + number % 5}
    return {
        "run_id": f"R{number // trials}",
        "trial": 1 + number % trials,
        "dimensions": {"workload": "RR 200/1000", "device": f"D{number % 11}", "mtu": 1500} | users,
        "facts": {"note": f"of {number // 100}"},
        "tags": ["nightly"] if number % 2 else [],
        "metrics": {"trans_per_s": 1000 + number, "response_ms": 5.5, "transactions": 10 * number}
        | ({"mb_per_s": 1.5 + number} if number % 5 == 0 else {}),
    }


def body(records: Iterable[dict[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(each)}\n" for each in records).encode()


def receive(owner: User, content: bytes, over: Handover, study: str) -> Upload:
    """What a web process does."""
    records = understood(content, over.add)
    into = uploads.study_called(owner, study)
    upload = uploads.receive(owner, [(FILE, ContentFile(records.content))], study=into)
    over.send(upload.jobs.get().pk)
    return upload


def followed(over: Handover, meanwhile: Callable[[], object]) -> tuple[int, Early | None] | None:
    """What a worker does while a web process does this."""
    with ThreadPoolExecutor(1) as worker:
        found = worker.submit(early.followed, over.token)
        while not broker.connected().exists(handover._mark_of(over.token)):
            sleep(0.01)
        meanwhile()
        return found.result()


def do(found: tuple[int, Early | None] | None) -> Upload:
    """The job, as the task does it."""
    assert found is not None
    with early.at_hand(found[1]):
        tasks.run_job(found[0])
    return Upload.objects.get(jobs=found[0])


def stored(study: str) -> list[list[tuple[Any, ...]]]:
    """What is stored of a study's runs, but for numbers and times."""
    runs = Run.objects.filter(study__slug=study)
    own = ("run_id", "trial", "status", "mtu", "users", "layer", "campaign", "factors", "tags", "values", *Run.HOT)
    evidence, sources = RunEvidence.objects.filter(run__in=runs), RunSource.objects.filter(run__in=runs)
    outcomes = UploadRun.objects.filter(upload__study__slug=study).order_by("number")
    order = ("run__run_id", "run__trial")
    return [
        list(runs.order_by("run_id", "trial").values_list(*own, "device__name", "workload__name")),
        list(runs.order_by("run_id", "trial").values_list("disagreements__message", "problems__message")),
        list(
            evidence.order_by(*order).values_list(
                "slots", "origins", "printed", "artifacts", "lines", "formulas", "facts"
            )
        ),
        list(
            sources.order_by(*order).values_list(
                "artifact", "path", "format", "format_version", "digests", "spans", "driver"
            )
        ),
        list(outcomes.values_list("number", "run_label", "trial", "outcome", "status", "summary", "loaded")),
    ]


def test_what_was_worked_out_early_is_stored_as_what_was_not(
    owner: User, work: Work, used: list[bool], sent: list[int]
) -> None:
    content = body(record(number) for number in range(RUNS))
    over = Handover()
    upload = do(followed(over, lambda: receive(owner, content, over, "early")))
    assert (upload.state, upload.runs_found, upload.runs_loaded) == ("done", RUNS, RUNS)
    assert True in used
    assert sent == []
    other = receive(owner, content, Handover(), "other")
    assert sent == [other.jobs.get().pk]
    assert work(other).state == "done"
    assert upload.files.get().encoding == other.files.get().encoding == "ascii"
    assert stored("early") == stored("other")


def test_where_the_trials_of_runs_are_apart_nothing_is_known_early(owner: User, used: list[bool]) -> None:
    """Those of one run are stored together, which nobody knew when the first ones came."""
    records = [record(number) for number in range(RUNS)]
    over = Handover()
    content = body(sorted(records, key=lambda each: int(each["trial"])))
    assert do(followed(over, lambda: receive(owner, content, over, "apart"))).state == "done"
    assert used
    assert not any(used)
    assert Run.objects.count() == RUNS


def test_what_is_refused_leaves_nothing_to_do(owner: User) -> None:
    content = body([*(record(number) for number in range(RUNS)), {"run_id": "bad"}])

    def refused(over: Handover) -> None:
        with pytest.raises(RecordsError), handover.handing(content) as own:
            own.token = over.token
            receive(owner, content, own, "refused")

    over = Handover()
    assert followed(over, partial(refused, over)) is None
    assert not Job.objects.exists()


def test_few_records_are_as_good(owner: User, used: list[bool]) -> None:
    over = Handover()
    content = body(record(number) for number in range(30))
    assert do(followed(over, lambda: receive(owner, content, over, "few"))).state == "done"
    assert used == [False]
    assert Run.objects.count() == 30


def test_the_sweep_finds_a_job_whose_worker_came_to_its_end(owner: User, sent: list[int], work: Work) -> None:
    """It had taken the records, and then nobody else was told of the job."""
    over = Handover()
    assert not handover.Following(over.token).is_over
    upload = receive(owner, body(record(number) for number in range(30)), over, "lost")
    assert sent == []
    Job.objects.update(sent=upload.created - jobs.STALE)
    jobs.sweep()
    assert sent == [upload.jobs.get().pk]
    assert work(upload).state == "done"


def test_what_goes_wrong_early_does_not_keep_the_records_out(
    owner: User, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(self: Early, portion: bytes) -> None:
        raise ValueError("a fault of ours")

    monkeypatch.setattr(Early, "add", broken)
    content = body(record(number) for number in range(30))
    over = Handover()
    found = followed(over, lambda: receive(owner, content, over, "broken"))
    assert "a fault of ours" in caplog.text
    upload = Upload.objects.get()
    with early.at_hand(None):
        # It is this worker's, or any other is told: whether it came before the fault was seen.
        tasks.run_job(found[0] if found else upload.jobs.get().pk)
    upload.refresh_from_db()
    assert (upload.state, Run.objects.count()) == ("done", 30)


def test_no_worker_is_kept_while_a_bulk_job_goes_on(
    owner: User, sent: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "BULK_BYTES", 10)
    receive(owner, body([record(1)]), Handover(), "bulk")
    assert jobs.claim(sent[0]) is not None
    asked: list[str] = []
    monkeypatch.setattr(early, "followed", asked.append)
    tasks.work_early("token")
    assert asked == []
    Job.objects.update(state="done")
    tasks.work_early("token")
    assert asked == ["token"]


def test_a_worker_without_the_broker_says_so(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    settings.REDIS_URL = "unix:///nowhere.sock"
    tasks.work_early("token")
    assert "read again" in caplog.text
