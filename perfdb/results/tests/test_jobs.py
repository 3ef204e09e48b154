"""Jobs survive lost messages, lost workers and second deliveries."""

from datetime import timedelta
from io import StringIO
from time import monotonic, sleep

import pytest
from celery import Celery
from django.core.files.base import ContentFile
from django.core.management import call_command
from django.db import OperationalError, connection
from django.utils import timezone

from perfdb.results import tasks
from perfdb.results.ingest import import_job, jobs, store, uploads
from perfdb.results.models import Job, Run, Upload, UploadRun
from perfdb.results.runs import access
from perfdb.results.tests.conftest import LOGS, Bring, Work, case

pytestmark = pytest.mark.django_db


@pytest.fixture
def waiting(bring: Bring, owner: object, monkeypatch: pytest.MonkeyPatch) -> Upload:
    """An upload whose job nobody has taken."""
    monkeypatch.setattr(tasks, "run_job", lambda job_id: None)
    upload = bring(*case("cp_query/NMGBR950"))
    monkeypatch.undo()
    assert upload.state == "received"
    return upload


def the_job(upload: Upload) -> Job:
    return upload.jobs.get()


def test_a_job_is_done_once(waiting: Upload) -> None:
    job = the_job(waiting)
    tasks.run_job(job.pk)
    tasks.run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.attempt, Run.objects.count()) == ("done", 1, 1)


def test_a_job_under_lease_is_left_alone(waiting: Upload) -> None:
    job = jobs.claim(the_job(waiting).pk)
    assert job is not None
    assert jobs.claim(job.pk) is None


def test_a_job_whose_lease_ran_out_is_taken_over_and_its_old_worker_writes_nothing(waiting: Upload) -> None:
    slow = jobs.claim(the_job(waiting).pk)
    assert slow is not None
    Job.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    tasks.run_job(slow.pk)
    assert Run.objects.count() == 1
    with pytest.raises(jobs.LeaseLostError):
        import_job.run_import(slow)
    jobs.finish(slow, {"late": True})
    assert the_job(waiting).outcome != {"late": True}
    assert Run.objects.count() == 1


def test_the_next_attempt_goes_on_where_the_last_one_died(
    bring: Bring, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker dies after the first chunk: its runs are whole, and each run is stored once in the end."""
    monkeypatch.setattr(store, "CHUNK", 1)
    load_chunk = store.load_chunk
    done: list[object] = []

    def dying(*args: object) -> set[UploadRun.Outcome]:
        if done:
            raise OperationalError("the server closed the connection")
        done.append(args)
        return load_chunk(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(import_job, "load_chunk", dying)
    upload = bring(*case("awm/three_runs"))
    assert (upload.state, Run.objects.count()) == ("loading", 1)
    monkeypatch.setattr(import_job, "load_chunk", load_chunk)
    Job.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    tasks.run_job(the_job(upload).pk)
    upload.refresh_from_db()
    assert (upload.state, upload.runs_loaded) == ("done", 3)
    assert [row.outcome for row in upload.runs.order_by("number")] == ["new", "new", "new"]
    assert Run.objects.count() == 3


def test_a_job_that_a_deadlock_ended_is_tried_again_at_once(waiting: Upload, monkeypatch: pytest.MonkeyPatch) -> None:
    def deadlock(*_: object) -> None:
        with connection.cursor() as cursor:
            cursor.execute("DO $$ BEGIN RAISE SQLSTATE '40P01'; END $$")

    sent: list[int] = []
    monkeypatch.setattr(jobs, "send", sent.append)
    with monkeypatch.context() as patch:
        patch.setattr(import_job, "load_chunk", deadlock)
        tasks.run_job(the_job(waiting).pk)
    assert (sent, Run.objects.count()) == ([the_job(waiting).pk], 0)
    tasks.run_job(sent[0])
    waiting.refresh_from_db()
    assert (waiting.state, Run.objects.count()) == ("done", 1)


def test_a_fault_of_ours_fails_the_job_with_its_reason(waiting: Upload, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(job: Job) -> dict[str, object]:
        raise ZeroDivisionError("a fault")

    monkeypatch.setitem(tasks.HANDLERS, "import", broken)
    tasks.run_job(the_job(waiting).pk)
    job = the_job(waiting)
    waiting.refresh_from_db()
    assert (job.state, waiting.state) == ("failed", "failed")
    assert job.outcome == {"error": "ZeroDivisionError: a fault"}


def test_a_job_ends_with_its_last_write(waiting: Upload, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that dies while it ends its job leaves the upload open too; the next one settles both."""
    finish = jobs.finish

    def dying(*args: object) -> None:
        raise OperationalError("the server closed the connection")

    monkeypatch.setattr(jobs, "finish", dying)
    tasks.run_job(the_job(waiting).pk)
    waiting.refresh_from_db()
    assert (the_job(waiting).state, waiting.state, Run.objects.count()) == ("running", "loading", 1)
    monkeypatch.setattr(jobs, "finish", finish)
    Job.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    tasks.run_job(the_job(waiting).pk)
    waiting.refresh_from_db()
    assert (the_job(waiting).state, waiting.state, waiting.runs.get().outcome) == ("done", "done", "new")


def test_a_worker_that_lost_its_job_does_not_fail_the_upload(waiting: Upload) -> None:
    slow = jobs.claim(the_job(waiting).pk)
    assert slow is not None
    Job.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert jobs.claim(slow.pk) is not None
    jobs.fail(slow, "too late")
    waiting.refresh_from_db()
    assert (the_job(waiting).state, waiting.state) == ("running", "received")


def test_an_upload_is_taken_while_the_broker_is_away(owner: object, monkeypatch: pytest.MonkeyPatch) -> None:
    with Celery(broker="redis+socket:///nowhere/broker.sock") as elsewhere:
        monkeypatch.setattr(jobs, "current_app", elsewhere)
        jobs.send(1)


def test_a_bulk_job_waits_for_another_and_a_small_one_does_not(bring: Bring, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "BULK_BYTES", 1000)
    monkeypatch.setattr(tasks, "run_job", lambda job_id: None)
    first, second = bring(*case("cp_query/NMGBR950")), bring(*case("awm/three_runs"))
    small = bring(("notes.txt", b"nothing that a format knows"))
    monkeypatch.undo()
    monkeypatch.setattr(jobs, "BULK_BYTES", 1000)
    running = jobs.claim(the_job(first).pk)
    assert running is not None
    assert jobs.claim(the_job(second).pk) is None
    assert jobs.claim(the_job(small).pk) is not None
    sent: list[int] = []
    monkeypatch.setattr(jobs, "send", sent.append)
    Job.objects.filter(pk=running.pk).update(state=Job.State.QUEUED)
    tasks.run_job(running.pk)
    assert sent == [the_job(second).pk]
    assert jobs.claim(the_job(second).pk) is not None


def test_sweep_sends_what_nobody_works_on(waiting: Upload, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []
    monkeypatch.setattr(jobs, "send", sent.append)
    assert jobs.sweep() == 0
    Job.objects.update(sent=timezone.now() - timedelta(minutes=2))
    assert jobs.sweep() == 1
    # Not again by the next sweep: a long queue would fill the broker.
    assert jobs.sweep() == 0
    assert sent == [the_job(waiting).pk]


def test_a_lease_is_renewed_while_the_work_lasts(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "LEASE", timedelta(milliseconds=300))
    upload = Upload.objects.create(owner=access.find_owner(), study=uploads.inbox_of(access.find_owner()))
    job = jobs.claim(jobs.enqueue("import", upload).pk)
    assert job is not None
    with jobs.keep_lease(job):
        sleep(1)
        assert jobs.claim(job.pk) is None
    sleep(0.4)
    assert jobs.claim(job.pk) is not None


def test_an_instance_that_starts_takes_up_what_was_running(waiting: Upload, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []
    monkeypatch.setattr(jobs, "send", sent.append)
    assert jobs.claim(the_job(waiting).pk) is not None
    call_command("releasejobs", stdout=StringIO())
    assert sent == [the_job(waiting).pk]
    assert jobs.claim(sent[0]) is not None


def test_sweep_gives_up_a_job_that_kills_its_workers(waiting: Upload) -> None:
    Job.objects.update(
        state=Job.State.RUNNING, attempt=jobs.ATTEMPTS, lease_until=timezone.now() - timedelta(seconds=1)
    )
    jobs.sweep()
    waiting.refresh_from_db()
    assert (the_job(waiting).state, waiting.state) == ("failed", "failed")
    assert "given up" in the_job(waiting).outcome["error"]


def test_an_old_preview_expires(bring: Bring) -> None:
    upload = bring(*case("awm/both_sides"), preview=True)
    tasks.sweep()
    upload.refresh_from_db()
    assert upload.state == "preview"
    Upload.objects.update(settled=timezone.now() - timedelta(days=8))
    tasks.sweep()
    upload.refresh_from_db()
    assert upload.state == "expired"
    with pytest.raises(uploads.IntakeError, match="expired"):
        uploads.accept(upload)


@pytest.mark.django_db(transaction=True)
def test_a_real_worker_takes_the_job_from_the_real_broker(celery_worker_running: None) -> None:
    """Intake, broker, worker, database: nothing is called by hand."""
    files = [(name, ContentFile((LOGS / name).read_bytes())) for name in case("cp_query/NMGBR950")]
    upload = uploads.receive(access.find_owner(), files)
    limit = monotonic() + 30
    while upload.state not in Upload.SETTLED and monotonic() < limit:
        sleep(0.1)
        upload.refresh_from_db()
    assert upload.state == "done"
    assert Run.objects.get().cpu_util == pytest.approx(96.76028481012658)
