"""Those who wait for an upload are woken when a job of it has ended."""

from concurrent.futures import ThreadPoolExecutor
from time import monotonic

import pytest
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from perfdb.results.ingest import jobs, notify
from perfdb.results.ingest.notify import notify as notify_upload
from perfdb.results.ingest.notify import waiting
from perfdb.results.models import Upload
from perfdb.results.tests.conftest import Bring, Work, case

_LONG_S = 60.0
"""Longer than a test may take."""


def test_who_waits_is_woken() -> None:
    begun = monotonic()
    with waiting(7) as own, ThreadPoolExecutor(1) as other:
        told = other.submit(notify_upload, 7)
        own.wait(_LONG_S)
        told.result()
        # Where it cannot be seen yet it is worth looking again soon.
        own.wait(_LONG_S)
    assert monotonic() - begun < _LONG_S


def test_what_is_told_of_another_upload_wakes_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    with waiting(7) as own:
        notify_upload(8)
        own.wait(0.05)
        assert own._until == 0.0
        notify_upload(7)
        own.wait(_LONG_S)
        assert own._until > 0.0


def test_nothing_depends_on_the_broker(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    settings.REDIS_URL = "unix:///nowhere.sock"
    with waiting(7) as own:
        notify_upload(7)
        own.wait(0.01)
    assert "no notifications of upload 7" in caplog.text
    assert "are not notified" in caplog.text


@pytest.mark.django_db
def test_every_job_of_an_upload_tells_that_it_has_ended(
    bring: Bring,
    work: Work,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    told: list[int] = []
    monkeypatch.setattr(notify, "notify", told.append)
    with django_capture_on_commit_callbacks(execute=True):
        upload = bring(*case("cp_query/NMGBR950"))
    assert told == [upload.pk]
    job = jobs.enqueue("import", upload)
    claimed = jobs.claim(job.pk)
    assert claimed is not None
    with django_capture_on_commit_callbacks(execute=True):
        jobs.fail(claimed, "a fault of ours")
    assert told == [upload.pk, upload.pk]
    assert Upload.objects.get().state == upload.state
