"""A log of many runs is stored while it is read: the same runs come of it, or nothing before it was read as a whole."""

import gzip
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import DatabaseError, OperationalError, connection, transaction
from django.utils import timezone

from importers.model import Fragment, Kind
from perfdb.results import tasks, while_reading
from perfdb.results.ingest import batches as arriving
from perfdb.results.ingest import fragment_spool, import_job, jobs
from perfdb.results.ingest import store as storing
from perfdb.results.ingest.batches import Arrivals
from perfdb.results.ingest.fragment_spool import as_they_come
from perfdb.results.models import Job, Problem, Run, Upload
from perfdb.results.runs import write
from perfdb.results.tests.conftest import LOGS, Bring
from perfdb.results.tests.test_many_runs import THREE, content

pytestmark = pytest.mark.django_db

LOG = (LOGS / THREE).read_bytes()
FIRST = LOG[LOG.index(b"RUN ") : LOG.index(b"RUN ", LOG.index(b"RUN ") + 1)]
ENDS = b'rc=0 reason=complete end="2005-10-04 09:41:35"'


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[Arrivals | None]:
    """What became of each attempt, where a single run is many."""
    store = while_reading.stored
    found: list[Arrivals | None] = []

    def told(*args: Any) -> Arrivals | None:
        found.append(store(*args))
        return found[-1]

    monkeypatch.setattr(while_reading, "stored", told)
    monkeypatch.setattr(fragment_spool, "_SOON", 1)
    return found


def everything(upload: Upload) -> list[Any]:
    """All that is stored of an upload and its runs, without numbers that differ from one to the next."""
    about = upload.state, upload.runs_found, upload.runs_loaded, upload.files_read
    rows = upload.runs.order_by("number").values_list("number", "run_label", "trial", "outcome", "status", "summary")
    problems = sorted(upload.problems.values_list("code", "message", "line", "run_label"), key=str)
    files = list(upload.files.values_list("path", "format", "encoding"))
    return [about, list(rows), problems, files, *content()]


@pytest.fixture
def ordinarily(bring: Bring, monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], list[Any]]:
    """What comes of a log that is read before anything is stored; nothing of it stays."""

    def do(data: bytes) -> list[Any]:
        with monkeypatch.context() as patch:
            patch.setattr(while_reading, "_is_possible", lambda *_: False)
            found = everything(bring((THREE, data)))
        Run.objects.all().delete()
        Problem.objects.all().delete()
        return found

    return do


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"", b""),
        (ENDS, b'rc=8 reason=aborted end="2005-10-04 09:41:35"'),
        (b"trans_per_sec=13463.57", b"trans_per_sec=23463.57"),
        (b"SUM   trans=2694733", b"SUM   trans=many"),
        (b"trans=670848 errors=0 resp_avg_ms=", b"trans=670848 errors=0 resp_avg_s="),
        (b"mtu=1492", b"mtu=small"),
        (b"RUN   run_id=syvs1003", b"INT   n=9 t0=1 t1=2 trans=3\nRUN   run_id=syvs1003"),
        (b'\nEND   rc=0 reason=complete end="2005-10-04 09:49:35"', b""),
    ],
)
def test_the_same_runs_come_of_it(
    bring: Bring,
    answers: list[Arrivals | None],
    ordinarily: Callable[[bytes], list[Any]],
    before: bytes,
    after: bytes,
) -> None:
    data = LOG.replace(before, after)
    expected = ordinarily(data)
    answers.clear()
    assert everything(bring((THREE, data))) == expected
    assert len(answers) == 1
    assert answers[0] is not None


@pytest.mark.parametrize(
    "data",
    [
        # A run comes once more, as it was and with other figures.
        LOG + FIRST,
        LOG + FIRST.replace(b"trans=2690412", b"trans=2690413"),
        LOG + FIRST.replace(b"trial=1", b"trial=7"),
        # It cannot be read the second time, but something is said of it.
        LOG + FIRST.replace(b"trans=2690412", b"trans=many").replace(b"rc=0 reason=complete", b"rc=8 reason=aborted"),
        # The other end's log follows.
        LOG + LOG.replace(b"role=client", b"role=server"),
    ],
    ids=["twice", "again", "trial", "unreadable", "server"],
)
def test_what_turns_up_late_takes_all_back(
    bring: Bring, answers: list[Arrivals | None], ordinarily: Callable[[bytes], list[Any]], data: bytes
) -> None:
    expected = ordinarily(data)
    answers.clear()
    assert everything(bring((THREE, data))) == expected
    assert answers == [None]


def test_somebody_is_asked_about_runs_in_conflict(bring: Bring, answers: list[Arrivals | None]) -> None:
    bring((THREE, LOG))
    stored = list(content())
    upload = bring(("again.awm.log", LOG.replace(b"trans_per_sec=13483", b"trans_per_sec=23483")))
    assert (upload.state, upload.runs.filter(outcome="conflict").count()) == ("preview", 1)
    assert list(content())[:-1] == stored[:-1]
    assert answers[1:] == [None]


def test_runs_that_are_stored_already_are_noted(bring: Bring, answers: list[Arrivals | None]) -> None:
    bring((THREE, LOG))
    upload = bring(("again.awm.log", LOG))
    assert (upload.state, set(upload.runs.values_list("outcome", flat=True))) == ("done", {"already-there"})
    assert Run.objects.count() == 3
    assert None not in answers


def test_a_worker_that_dies_leaves_nothing(
    bring: Bring, answers: list[Arrivals | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    write = storing.load_alike
    done: list[object] = []

    def dying(*args: object) -> Any:
        if done:
            raise OperationalError("the server closed the connection")
        done.append(args)
        return write(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(while_reading, "load_alike", dying)
    upload = bring((THREE, LOG))
    assert (upload.state, len(done), Run.objects.count(), upload.runs.count()) == ("parsing", 1, 0, 0)
    monkeypatch.setattr(while_reading, "load_alike", write)
    Job.objects.update(lease_until=timezone.now())
    tasks.run_job(upload.jobs.get().pk)
    upload.refresh_from_db()
    assert (upload.state, upload.runs_found, upload.runs_loaded, Run.objects.count()) == ("done", 3, 3, 3)
    assert len(answers) == 1


def test_a_worker_that_dies_once_all_is_stored_leaves_the_end_to_the_next(
    bring: Bring,
    answers: list[Arrivals | None],
    ordinarily: Callable[[bytes], list[Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = LOG.replace(b"trans_per_sec=13463.57", b"trans_per_sec=23463.57")
    expected = ordinarily(data)

    def dying(*_: object, **__: object) -> None:
        raise OperationalError("the server closed the connection")

    with monkeypatch.context() as patch:
        patch.setattr(import_job, "_end", dying)
        upload = bring((THREE, data))
    assert (upload.state, upload.runs_found, Run.objects.count()) == ("loading", 3, 3)
    Job.objects.update(lease_until=timezone.now())
    tasks.run_job(upload.jobs.get().pk)
    upload.refresh_from_db()
    assert everything(upload) == expected


def _deadlock(*_: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DO $$ BEGIN RAISE SQLSTATE '40P01'; END $$")


def test_two_that_wait_for_each_other_go_the_ordinary_way(
    bring: Bring, answers: list[Arrivals | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL ends one of two transactions that do."""

    monkeypatch.setattr(while_reading, "load_alike", _deadlock)
    upload = bring((THREE, LOG))
    assert (upload.state, Run.objects.count(), answers) == ("done", 3, [None])


def test_a_job_that_was_ended_for_another_is_tried_again_at_once(
    bring: Bring, answers: list[Arrivals | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    once = [True]
    write = storing.load_alike

    def waiting(*args: object) -> Any:
        if once.pop():
            _deadlock()
        return write(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(while_reading, "_is_possible", lambda *_: False)
    monkeypatch.setattr(fragment_spool, "FEW", 0)
    monkeypatch.setattr(import_job, "load_alike", waiting)
    monkeypatch.setattr(arriving, "FEWEST", 1)
    upload = bring((THREE, LOG))
    assert (upload.state, Run.objects.count()) == ("loading", 0)
    once.append(False)
    tasks.run_job(upload.jobs.get().pk)
    upload.refresh_from_db()
    assert (upload.state, Run.objects.count()) == ("done", 3)


def test_what_copy_cannot_write_is_an_error_of_the_database() -> None:
    """Otherwise a lost database would fail the job for good."""
    with pytest.raises(DatabaseError), transaction.atomic():
        write.copy_bytes("run", ["id"], [b"nothing"])


def test_run_records_are_all_stored_or_none(bring: Bring, answers: list[Arrivals | None]) -> None:
    lines = [{"run_id": f"JR{number}", "metrics": {"errors": number}} for number in range(3)]
    unclear = [{"run_id": "JR0", "trial": trial, "metrics": {"errors": trial}} for trial in (1, 2)]
    bring(("before.ndjson", "".join(f"{json.dumps(line)}\n" for line in unclear).encode()))
    stored = Run.objects.count()
    upload = bring(("after.ndjson", "".join(f"{json.dumps(line)}\n" for line in lines).encode()))
    assert (upload.state, Run.objects.count()) == ("failed", stored)
    assert answers == [None, None]


@pytest.mark.parametrize("what", [b"run_id=syvs1002", b"host="])
def test_names_that_are_too_long_are_refused(
    bring: Bring, answers: list[Arrivals | None], ordinarily: Callable[[bytes], list[Any]], what: bytes
) -> None:
    data = LOG.replace(what, what + 201 * b"x")
    expected = ordinarily(data)
    assert everything(bring((THREE, data))) == expected


def test_very_many_runs_take_the_ordinary_way(
    bring: Bring, answers: list[Arrivals | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They may have come packed."""
    monkeypatch.setattr(while_reading, "MOST", 2)
    upload = bring(("packed.awm.log.gz", gzip.compress(LOG)))
    assert (upload.state, Run.objects.count(), answers) == ("done", 3, [None])


@pytest.mark.parametrize("more", [{"preview": True}, {"facts": {"mtu": 1500}}])
def test_what_is_given_or_asked_for_takes_the_ordinary_way(
    bring: Bring, answers: list[Arrivals | None], more: dict[str, Any]
) -> None:
    bring((THREE, LOG), **more)
    assert answers == [None]


def test_several_files_take_the_ordinary_way(bring: Bring, answers: list[Arrivals | None]) -> None:
    other = LOG.replace(b"run_id=syvs", b"run_id=sywt")
    bring((THREE, LOG), ("other.awm.log", other))
    assert (answers, Run.objects.count()) == ([None], 6)


def test_a_large_file_does_not_hold_its_study(
    bring: Bring, answers: list[Arrivals | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "BULK_BYTES", len(LOG) - 1)
    bring((THREE, LOG))
    assert (answers, Run.objects.count()) == ([None], 3)


def test_few_runs_take_the_ordinary_way(
    bring: Bring, answers: list[Arrivals | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fragment_spool, "_SOON", 3)
    bring((THREE, LOG))
    assert (answers, Run.objects.count()) == ([None], 3)


def _fragments(*names: str) -> Iterator[Fragment]:
    for name in names:
        yield Fragment("a.log", "awm", 1, Kind.DRIVER, 1, 1, run_id=name)


@pytest.mark.parametrize(
    ("names", "batches"),
    [("ab", []), ("aaa", []), ("abc", ["ab", "c"]), ("abbc", ["abb", "c"]), ("abcde", ["ab", "cd", "e"])],
)
def test_runs_of_one_name_stay_together(monkeypatch: pytest.MonkeyPatch, names: str, batches: list[str]) -> None:
    monkeypatch.setattr(fragment_spool, "_SOON", 2)
    found = as_they_come(_fragments(*names))
    assert ["".join(each.run_id or "" for each in batch) for batch in found] == batches
