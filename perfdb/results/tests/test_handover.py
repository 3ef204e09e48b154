"""What is read of run records when they come is left for the worker, which needs it no more than once."""

from collections.abc import Callable, Iterator

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from pytest_django import Settings
from redis import RedisError

from perfdb.results import broker, handover
from perfdb.results.handover import Following, Handover, handing
from perfdb.results.ingest import uploads
from perfdb.results.ingest.json_runs import FILE, understood
from perfdb.results.models import Artifact, Run, Upload
from perfdb.results.tests.conftest import Work

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sent")]

BODY = b'{"run_id": "JR1", "metrics": {"mb_per_s": 1.5}}\n{"run_id": "JR2", "metrics": {"mb_per_s": 2}}\n'
OTHER = b'{"run_id": "LEFT", "metrics": {"mb_per_s": 4.5}}\n'

Receive = Callable[[bytes], Upload]


@pytest.fixture
def receive(owner: User) -> Receive:
    return lambda body: uploads.receive(owner, [(FILE, ContentFile(understood(body).content))])


@pytest.fixture
def over() -> Iterator[Handover]:
    """A handover that leaves nothing behind."""
    yield (found := Handover())
    connection = broker.connected()
    connection.delete(*connection.keys(f"*{found.token}*") or ["nothing"])


def leave(upload: Upload, *portions: bytes) -> None:
    over = Handover()
    for portion in portions:
        over.add(portion)
    over.send(upload.jobs.get().pk)


def said(body: bytes) -> bytes:
    found: list[bytes] = []
    understood(body, found.append)
    return found[0]


def test_it_is_taken_once(receive: Receive, sent: list[int]) -> None:
    upload = receive(BODY)
    leave(upload, b"said", b"more")
    artifact = Artifact.objects.get()
    assert (handover.taken(artifact), handover.taken(artifact)) == ([b"said", b"more"], [])
    assert sent == [upload.jobs.get().pk]


def test_a_worker_reads_what_was_left_instead_of_the_file(receive: Receive, work: Work) -> None:
    upload = receive(BODY)
    leave(upload, said(OTHER))
    assert work(upload).state == Upload.State.DONE
    assert list(Run.objects.values_list("run_id", flat=True)) == ["LEFT"]
    assert upload.files.get().format == "run_records"


def test_it_is_that_of_a_file_and_not_of_an_upload(receive: Receive, work: Work) -> None:
    leave(receive(OTHER), said(OTHER))
    assert work(receive(BODY)).state == Upload.State.DONE
    assert set(Run.objects.values_list("run_id", flat=True)) == {"JR1", "JR2"}


def test_without_it_the_file_is_read(receive: Receive, work: Work) -> None:
    assert work(receive(BODY)).state == Upload.State.DONE
    assert Run.objects.count() == 2


def test_nothing_depends_on_the_broker(
    receive: Receive, work: Work, settings: Settings, sent: list[int], caplog: pytest.LogCaptureFixture
) -> None:
    settings.REDIS_URL = "unix:///nowhere.sock"
    upload = receive(BODY)
    leave(upload, b"said")
    assert "broker is away" in caplog.text
    assert sent == [upload.jobs.get().pk]
    assert work(upload).state == Upload.State.DONE


def test_it_may_go_away_in_between(
    receive: Receive, over: Handover, settings: Settings, sent: list[int], caplog: pytest.LogCaptureFixture
) -> None:
    over.add(b"said")
    settings.REDIS_URL = "unix:///nowhere.sock"
    over.send(job := receive(BODY).jobs.get().pk)
    assert "will read its file" in caplog.text
    assert sent == [job]


def test_much_is_not_left(receive: Receive, sent: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handover, "LARGEST", 6)
    over = Handover()
    over.add(b"said")
    following = Following(over.token)
    over.add(b"more")
    assert following.came() == [b"said"]
    assert (following.is_over, following.job) == (True, None)
    over.send(job := receive(BODY).jobs.get().pk)
    assert handover.taken(Artifact.objects.get()) == []
    assert sent == [job]


def test_who_follows_it_gets_the_job(receive: Receive, over: Handover, sent: list[int]) -> None:
    following = Following(over.token)
    assert following.came() == []
    over.add(b"one")
    assert following.came() == [b"one"]
    assert not following.is_over
    over.add(b"two")
    over.add(b"three")
    over.send(job := receive(BODY).jobs.get().pk)
    assert following.came() == [b"two", b"three"]
    assert (following.is_over, following.job, following.is_whole, sent) == (True, job, True, [])
    assert handover.taken(Artifact.objects.get()) == []


def test_who_follows_it_knows_that_a_portion_was_lost(receive: Receive, over: Handover) -> None:
    following = Following(over.token)
    over.add(b"one")
    broker.connected().delete(handover._list_of(over.token))
    over.add(b"two")
    over.send(job := receive(BODY).jobs.get().pk)
    assert following.came() == [b"two"]
    assert (following.is_over, following.job, following.is_whole) == (True, job, False)


def test_of_what_is_not_all_there_nothing_is_taken(receive: Receive, over: Handover, work: Work) -> None:
    upload = receive(BODY)
    over.add(b"one")
    broker.connected().delete(handover._list_of(over.token))
    over.add(said(OTHER))
    over.send(upload.jobs.get().pk)
    assert work(upload).state == Upload.State.DONE
    assert set(Run.objects.values_list("run_id", flat=True)) == {"JR1", "JR2"}


def test_nobody_else_follows_it(over: Handover) -> None:
    assert [Following(over.token).is_over, Following(over.token).is_over] == [False, True]


def test_who_comes_too_late_has_nothing_to_do(receive: Receive, over: Handover, sent: list[int]) -> None:
    over.add(b"said")
    over.send(job := receive(BODY).jobs.get().pk)
    assert Following(over.token).is_over
    assert handover.taken(Artifact.objects.get()) == [b"said"]
    assert sent == [job]


@pytest.mark.parametrize("much", [1, 100])
def test_of_what_is_refused_nothing_comes(much: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that was called knows at once; where none was, there is nothing at the broker."""
    monkeypatch.setattr(handover, "MUCH", much)
    with pytest.raises(ValueError, match="no"), handing(b"much") as over:
        following = Following(over.token)
        raise ValueError("no")
    assert following.came() == []
    assert (following.is_over, following.job) == (much == 1, None)


def test_what_is_refused_does_not_stay_at_the_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="no"), handing(b"few") as over:
        over.add(b"said")
        raise ValueError("no")
    connection = broker.connected()
    assert not connection.exists(handover._list_of(over.token))
    assert Following(over.token).is_over


def test_a_worker_does_not_wait_for_ever(
    receive: Receive, over: Handover, sent: list[int], work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    following = Following(over.token)
    over.add(b"what it has taken along")
    assert len(following.came()) == 1
    monkeypatch.setattr(handover, "_EXPECTED_S", 0)
    assert following.came() == []
    assert (following.is_over, following.job) == (True, None)
    over.add(said(OTHER))
    over.send((upload := receive(BODY)).jobs.get().pk)
    assert sent == [upload.jobs.get().pk]
    assert work(upload).state == Upload.State.DONE
    assert set(Run.objects.values_list("run_id", flat=True)) == {"JR1", "JR2"}


def test_a_job_that_comes_in_the_very_last_moment_is_its_own(receive: Receive, over: Handover, sent: list[int]) -> None:
    following = Following(over.token)
    over.add(b"said")
    over.send(job := receive(BODY).jobs.get().pk)
    following.give_up()
    assert (following.is_over, following.job, following.is_whole, sent) == (True, job, False, [])


def test_who_follows_says_that_the_broker_is_away(over: Handover, settings: Settings) -> None:
    following = Following(over.token)
    settings.REDIS_URL = "unix:///nowhere.sock"
    with pytest.raises(RedisError):
        following.came()
