"""Files of stored runs are read once for all runs of a job that they tell about."""

import json

import pytest

from perfdb.results.ingest import stored_evidence, uploads
from perfdb.results.models import Artifact, RunSource
from perfdb.results.tests.conftest import Bring, Work

pytestmark = pytest.mark.django_db


def _records(count: int, errors: int = 0) -> bytes:
    about = ({"run_id": f"A{number}", "trial": 1, "metrics": {"errors": number + errors}} for number in range(count))
    return "".join(f"{json.dumps(each)}\n" for each in about).encode()


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that are read again."""
    found: list[str] = []
    read = stored_evidence._parse

    def noted(artifact: Artifact, name: str, form: str) -> stored_evidence.Parsed:
        found.append(name)
        return read(artifact, name, form)

    monkeypatch.setattr(stored_evidence, "_parse", noted)
    return found


@pytest.mark.parametrize("room", [stored_evidence._IN_MEMORY, 0])
def test_a_file_is_read_once_for_all_runs_that_are_in_conflict(
    bring: Bring, reads: list[str], monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    monkeypatch.setattr(stored_evidence, "_IN_MEMORY", room)
    bring(("old.ndjson", _records(250)))
    upload = bring(("new.ndjson", _records(250, errors=1000)))
    assert (upload.state, set(upload.runs.values_list("outcome", flat=True))) == ("preview", {"conflict"})
    assert reads == ["old.ndjson"]
    messages = upload.problems.order_by("pk").values_list("message", flat=True)
    said = [f"is already stored with {number} errors; this file says {number + 1000}." for number in range(250)]
    assert [expected in each for expected, each in zip(said, messages, strict=True)] == [True] * 250


def test_a_file_is_read_once_for_all_runs_that_are_rebuilt(bring: Bring, work: Work, reads: list[str]) -> None:
    first = bring(("old.ndjson", _records(40)))
    bring(("new.ndjson", _records(50)))
    uploads.undo(first)
    work(first)
    assert first.state == "undone"
    assert reads == ["new.ndjson"]


def test_what_is_cached_goes_with_the_job(bring: Bring, reads: list[str]) -> None:
    bring(("old.ndjson", _records(20)))
    for errors in (100, 200):
        bring(("new.ndjson", _records(20, errors)))
    assert reads == ["old.ndjson"] * 2


def test_no_more_than_some_files_are_cached(bring: Bring, reads: list[str]) -> None:
    bring(("old.ndjson", _records(1)))
    artifact = RunSource.objects.select_related("artifact").latest("pk").artifact
    with stored_evidence.caching_files():
        found = [
            stored_evidence.parse_again(artifact, f"{number}.ndjson", "run_records") for number in (*range(12), 11, 0)
        ]
    assert found[11] is found[12]
    assert found[0] is not found[13]
    assert len(reads) == 13
