"""Visitors and uploads for the tests of the pages: the fixtures' logs through the real intake and the real jobs."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.test import Client

from perfdb.results import tasks
from perfdb.results.ingest import uploads
from perfdb.results.models import Job, Run, Study, Upload

LOGS = Path(__file__).resolve().parents[3] / "fixtures" / "logs"
CASE = "cp_query/NMGBR950"

Bring = Callable[..., Upload]


def case(name: str) -> list[Path]:
    """The logs of a case."""
    return sorted(path for path in (LOGS / name).iterdir() if path.name != "expected.json")


def work(upload: Upload) -> Upload:
    """Do the jobs that an upload has waiting, as a worker would, and answer it as it is then."""
    for job in Job.objects.filter(upload=upload, state=Job.State.QUEUED).order_by("pk"):
        tasks.run_job(job.pk)
    upload.refresh_from_db()
    return upload


@pytest.fixture
def ada(db: None) -> User:
    """An ordinary person."""
    return User.objects.create_user("ada")


@pytest.fixture
def web(ada: User) -> Client:
    """Ada's browser."""
    client = Client()
    client.force_login(ada)
    return client


@pytest.fixture
def stranger(db: None) -> Client:
    """A browser in which nobody has signed in."""
    return Client()


@pytest.fixture
def bring(ada: User) -> Bring:
    """Upload the logs of a case, or files given as path -> bytes, as Ada."""

    def do(files: str | dict[str, bytes] = CASE, *, study: Study | None = None, preview: bool = False) -> Upload:
        named = {path.name: path.read_bytes() for path in case(files)} if isinstance(files, str) else files
        content = [(name, ContentFile(data)) for name, data in named.items()]
        return work(uploads.receive(ada, content, study=study, preview=preview))

    return do


@pytest.fixture
def run(bring: Bring) -> Run:
    """The run of the published example, stored."""
    bring()
    return Run.objects.get(run_id="NMGBR950")
