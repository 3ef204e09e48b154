"""What an upload shows of its runs: kept for a preview, then read from the runs that say the same."""

from typing import Any

import pytest

from bench import archive
from perfdb.results.ingest import parse_files, uploads
from perfdb.results.ingest.upload_summary import NOTHING, Summary, fill_in
from perfdb.results.models import Run, Upload
from perfdb.results.tests.conftest import Bring, Work, case

pytestmark = pytest.mark.django_db

RECORDS = ("records.ndjson", archive.json_records(40))
AWM = "awm/three_runs/syvs100x.client.awm.log"


def _kept(upload: Upload) -> dict[int, Summary]:
    return dict(upload.runs.values_list("number", "summary"))


def _shown(upload: Upload) -> dict[int, Summary]:
    rows = list(upload.runs.all())
    fill_in(rows)
    return {row.number: row.summary for row in rows}


@pytest.mark.parametrize("files", [[RECORDS], [AWM]], ids=["records", "log"])
def test_a_run_says_the_same_as_its_preview(files: list[Any], bring: Bring, work: Work) -> None:
    upload = bring(*files, preview=True)
    before = _kept(upload)

    uploads.accept(upload)
    work(upload)

    assert set(map(str, _kept(upload).values())) == {"{}"}
    assert _shown(upload) == before


def test_so_does_one_of_very_many(bring: Bring, monkeypatch: pytest.MonkeyPatch) -> None:
    before = _kept(bring(RECORDS, preview=True))
    monkeypatch.setattr(parse_files, "TOGETHER", 0)

    upload = bring(RECORDS)

    assert set(map(str, _kept(upload).values())) == {"{}"}
    assert _shown(upload) == before


def test_what_a_person_gave_is_kept(bring: Bring) -> None:
    upload = bring(*case("ping/linux"), facts={"device": "OSA 7"})
    assert next(each["given"] for each in _kept(upload).values()) == {"device": "OSA 7"}
    assert _shown(upload) == _kept(upload)


def test_what_comes_of_several_files_is_kept(bring: Bring) -> None:
    upload = bring(*case("cp_query/NMGBR950"))
    assert all(len(each["files"]) > 1 for each in _kept(upload).values())


def test_what_was_taken_back_is_still_shown(bring: Bring, work: Work) -> None:
    upload = bring(AWM)
    before = _shown(upload)

    uploads.undo(upload)
    work(upload)

    assert not Run.objects.exists()
    assert _kept(upload) == before


def test_so_is_what_another_upload_still_tells(bring: Bring, work: Work) -> None:
    first, *others = case("cp_query/NMGBR950")[::-1]
    upload = bring(first)
    before = _shown(upload)
    bring(*others)
    assert Run.objects.count() == 1

    uploads.undo(upload)
    work(upload)

    assert (upload.state, Run.objects.count()) == ("undone", 1)
    assert _shown(upload) == before


def test_a_run_that_somebody_removed_is_shown_without_anything(bring: Bring) -> None:
    upload = bring(AWM)
    Run.objects.all().delete()
    assert set(map(str, _shown(upload).values())) == {str(NOTHING)}
