"""Uploads for tests: the fixtures' logs through the real intake and the real job, without the broker between.

What loads, changes or removes runs is tried on both forms of the tables, in one piece and in partitions; with
``PARTITIONED=1`` in the environment everything is tried in partitions alone.
"""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile

from perfdb.results import tasks
from perfdb.results.ingest import jobs, uploads
from perfdb.results.models import Job, Study, Upload
from perfdb.results.runs import access
from perfdb.scaling.partitions import Part, convert, move_studies

LOGS = Path(__file__).resolve().parents[3] / "fixtures" / "logs"

Bring = Callable[..., Upload]
Work = Callable[[Upload], Upload]

_ON_BOTH_FORMS = frozenset(
    f"test_{name}"
    for name in (
        *("aliasing", "changes", "correcting", "importing", "notes", "run_counts", "search_tables"),
        *("study_of_evidence", "tags", "undoing", "withdrawing"),
    )
)
_STUDIES = 100
"""More than a test makes."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Try what changes runs on both forms of the tables."""
    if os.environ.get("PARTITIONED"):
        metafunc.parametrize("form", ["partitioned"], indirect=True)
    elif metafunc.module.__name__.rpartition(".")[2] in _ON_BOTH_FORMS:
        metafunc.parametrize("form", ["plain", "partitioned"], indirect=True)


@pytest.fixture(autouse=True)
def form(request: pytest.FixtureRequest) -> str:
    """The form of the tables: in partitions every other study of the test has its own, so that runs move between."""
    asked = str(getattr(request, "param", "plain"))
    if asked == "partitioned":
        request.getfixturevalue("db")
        convert()
        first = Study.objects.create(slug="before-all").pk + 1
        Study.objects.all().delete()
        move_studies(Part(tuple(range(first, first + _STUDIES, 2)), 0))
    return asked


@pytest.fixture
def owner(db: None) -> User:
    """The person who uploads."""
    return access.find_owner()


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The jobs of which any worker would be told."""
    found: list[int] = []
    monkeypatch.setattr(jobs, "send", found.append)
    return found


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
        return work(uploads.receive(owner, files, **more))  # type: ignore[arg-type] # keywords of receive

    return do


def case(name: str) -> list[str]:
    """The logs of a case."""
    return sorted(f"{name}/{path.name}" for path in (LOGS / name).iterdir() if path.name != "expected.json")
