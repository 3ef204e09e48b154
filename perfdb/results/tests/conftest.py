"""Uploads for tests: the fixtures' logs through the real intake and the real job, without the broker between."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile

from perfdb.results import access, intake, tasks
from perfdb.results.models import Job, Upload

LOGS = Path(__file__).resolve().parents[3] / "fixtures" / "logs"

Bring = Callable[..., Upload]
Work = Callable[[Upload], Upload]


@pytest.fixture
def owner(db: None) -> User:
    """The person who uploads."""
    return access.owner()


@pytest.fixture
def work() -> Work:
    """Do what jobs an upload has waiting, and answer it as it is then."""

    def do(upload: Upload) -> Upload:
        for job in Job.objects.filter(upload=upload, state=Job.State.QUEUED).order_by("pk"):
            tasks.run_job(job.pk)
        upload.refresh_from_db()
        return upload

    return do


@pytest.fixture
def bring(owner: User, work: Work) -> Bring:
    """Upload files of ``fixtures/logs`` (path, or path and bytes) and do the job."""

    def do(*names: str | tuple[str, bytes], **more: object) -> Upload:
        content = [name if isinstance(name, tuple) else (name, (LOGS / name).read_bytes()) for name in names]
        files = [(name, ContentFile(data)) for name, data in content]
        return work(intake.receive(owner, files, **more))  # type: ignore[arg-type] # keywords of receive

    return do


def case(name: str) -> list[str]:
    """The logs of a case."""
    return sorted(f"{name}/{path.name}" for path in (LOGS / name).iterdir() if path.name != "expected.json")
