"""What was read of run records when they came is left for the worker, which needs it no more than once."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from pytest_django import Settings

from perfdb.results import handover, intake
from perfdb.results.models import Artifact, Run, Upload
from perfdb.results.run_records import FILE, understood
from perfdb.results.tests.conftest import Work

pytestmark = pytest.mark.django_db

BODY = b'{"run_id": "JR1", "metrics": {"mb_per_s": 1.5}}\n{"run_id": "JR2", "metrics": {"mb_per_s": 2}}\n'
OTHER = b'{"run_id": "LEFT", "metrics": {"mb_per_s": 4.5}}\n'

Receive = Callable[[bytes], Upload]


@pytest.fixture
def receive(owner: User) -> Receive:
    return lambda body: intake.receive(owner, [(FILE, ContentFile(understood(body).content))])


def test_it_is_taken_once(receive: Receive) -> None:
    upload = receive(BODY)
    handover.leave(upload, b"said")
    artifact = Artifact.objects.get()
    assert (handover.taken(artifact), handover.taken(artifact)) == (b"said", None)


def test_a_worker_reads_what_was_left_instead_of_the_file(receive: Receive, work: Work) -> None:
    upload = receive(BODY)
    handover.leave(upload, understood(OTHER).packed)
    assert work(upload).state == Upload.State.DONE
    assert list(Run.objects.values_list("run_id", flat=True)) == ["LEFT"]
    assert upload.files.get().format == "run_records"


def test_it_is_that_of_a_file_and_not_of_an_upload(receive: Receive, work: Work) -> None:
    handover.leave(receive(OTHER), understood(OTHER).packed)
    assert work(receive(BODY)).state == Upload.State.DONE
    assert set(Run.objects.values_list("run_id", flat=True)) == {"JR1", "JR2"}


def test_without_it_the_file_is_read(receive: Receive, work: Work) -> None:
    assert work(receive(BODY)).state == Upload.State.DONE
    assert Run.objects.count() == 2


def test_nothing_depends_on_the_broker(
    receive: Receive, work: Work, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.REDIS_URL = "unix:///nowhere.sock"
    upload = receive(BODY)
    handover.leave(upload, b"said")
    assert "broker is away" in caplog.text
    assert work(upload).state == Upload.State.DONE


def test_much_is_not_left(receive: Receive, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handover, "LARGEST", 3)
    handover.leave(receive(BODY), b"said")
    assert handover.taken(Artifact.objects.get()) is None
