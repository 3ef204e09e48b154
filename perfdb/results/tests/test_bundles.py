"""Offline copies brought in again: the same runs, values and remarks, in an empty instance and in the same one."""

import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.management import call_command
from django.db import transaction
from django.test import Client
from pytest_django import DjangoDbBlocker

from fixtures.demo import PATTERN, demo_files
from perfdb.results import tasks
from perfdb.results.bundles import make_bundle
from perfdb.results.changes import alias_changes, withdraw
from perfdb.results.ingest import store, uploads
from perfdb.results.models import (
    Artifact,
    Disagreement,
    Experiment,
    Job,
    Note,
    PublishedFigure,
    ReportItem,
    Run,
    RunSource,
    Study,
    Upload,
    UploadRun,
)
from perfdb.results.runs import access, notes
from perfdb.results.runs import tags as tagging
from perfdb.results.studies import report_items
from perfdb.results.studies.report_items import ItemText
from perfdb.results.tests.builders import make_run, make_study
from perfdb.results.tests.conftest import LOGS

OSA = "osa-vs-vswitch-zvm520"
TABLES = (
    "metric=trans_per_s&metric=cpu_ms_per_trans&workload=RR&rows=users&columns=device,mtu",
    "metric=trans_per_s&metric=response_ms&workload=CRR&rows=users&columns=device,mtu",
    "metric=mb_per_s&metric=cpu_util&workload=STRG&rows=users&columns=device,mtu",
)
# What tells a run of one instance from the same run of another.
_OF_THE_INSTANCE = {"run", "runs", "url", "address", "link", "query", "version"}


@pytest.fixture(scope="module")
def demo(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[bytes]:
    """The bundle of the demonstration study with all that people can add to it; the study is stored, too."""
    with django_db_blocker.unblock(), transaction.atomic():
        owner = access.find_owner()
        about = {"run_id_pattern": PATTERN.regex, "run_id_values": PATTERN.values, "purpose": "To be taken along."}
        study = Study.objects.create(slug="demo", title="Demo", owner=owner, **about)
        files = [(name, ContentFile(data)) for name, data in demo_files()]
        worked(uploads.receive(owner, files, study=study, facts={"campaign": "spring"}))
        annotated(study, owner)
        content = packed(make_bundle.bundle_study(study))
        with django_db_blocker.block():
            yield content
        transaction.set_rollback(True)


def annotated(study: Study, owner: User) -> None:
    runs = Run.objects.filter(study=study).order_by("pk")
    first, second, third = runs[:3]
    notes.add_note(owner, first, "The switch was replaced before this run.")
    tagging.add_tag(owner, runs.filter(pk__in=[first.pk, second.pk]), "checked")
    withdraw.withdraw_runs(owner, runs.filter(pk=third.pk), "Somebody else was on the machine.")
    device = str(first.experiment.device)
    alias_changes.add_alias(study, "device", device, "The device", owner)
    for job in Job.objects.filter(kind=alias_changes.KIND, state=Job.State.QUEUED):
        tasks.run_job(job.pk)
    report_items.add_item(study, ItemText("table", "7", "Rates", TABLES[0], ""))
    report_items.add_item(study, ItemText("prose", "", "What it says", "", "All is **well**."))


def worked(upload: Upload) -> Upload:
    for job in Job.objects.filter(upload=upload, state=Job.State.QUEUED).order_by("pk"):
        tasks.run_job(job.pk)
    upload.refresh_from_db()
    return upload


def packed(bundle: make_bundle.Bundle) -> bytes:
    return b"".join(make_bundle.write_bundle(bundle, "<p>page</p>", "http://here/"))


def brought(person: User, content: bytes, study: Study | None = None, *, preview: bool = False) -> Upload:
    return worked(uploads.receive(person, [("demo.zip", ContentFile(content))], study=study, preview=preview))


def emptied() -> None:
    """Nothing is left of what the instance had, as if it were another one."""
    for model in (UploadRun, Note, Run, Experiment, Upload, Artifact, Study):
        model.objects.all().delete()


def altered(content: bytes, change: Callable[[dict[str, Any]], None], log: bytes | None = None) -> bytes:
    """The same bundle with another manifest, and other bytes of its first log."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for number, name in enumerate(old.namelist()):
            data = old.read(name)
            if name == make_bundle.MANIFEST:
                said = json.loads(data)
                change(said)
                data = json.dumps(said).encode()
            new.writestr(name, log if log is not None and number == 3 else data)
    return out.getvalue()


def plain(body: Any) -> Any:
    """An answer without what differs from instance to instance."""
    if isinstance(body, dict):
        kept = {name: plain(value) for name, value in body.items() if name not in _OF_THE_INSTANCE}
        # Curves come in the order in which their runs were stored.
        return kept | ({"curves": sorted(kept["curves"], key=str)} if "curves" in kept else {})
    return [plain(each) for each in body] if isinstance(body, list) else body


def answers(person: User, study: str) -> list[Any]:
    client = Client()
    client.force_login(person)
    bodies = [client.get(f"/api/v1/tables/?{asked}&study={study}").json() for asked in TABLES]
    assert all(body["tables"] for body in bodies)
    return [plain(body["tables"]) for body in bodies]


def stored(study: str) -> list[Any]:
    """The runs of a study with their values, what is printed of them and what people added."""
    found = Run.objects.filter(study__slug=study).select_related("evidence", "device", "workload")
    rows = [
        (
            *(run.run_id, run.trial, run.status, run.started, str(run.device), str(run.workload), run.mtu, run.users),
            *(run.campaign, run.values, run.evidence.printed, run.tags or []),
            [note.text for note in run.notes.all()],
        )
        for run in found
    ]
    return sorted(rows, key=str)


def test_the_same_comes_out_in_an_empty_instance(demo: bytes, db: None) -> None:
    owner = access.find_owner()
    tables, runs, items_before = answers(owner, "demo"), stored("demo"), Study.objects.get(slug="demo")
    report = [ItemText.from_item(item) for item in report_items.list_items(items_before)]
    said = Note.objects.get()
    emptied()
    preview = brought(owner, demo, preview=True)
    assert preview.state == Upload.State.PREVIEW
    assert "offline bundle of the study Demo" in str(preview.problems.get(code="bundle.recognised"))
    assert not Run.objects.exists()
    uploads.accept(preview)
    upload = worked(preview)
    study = Study.objects.get(slug="demo")
    assert (upload.state, upload.study) == (Upload.State.DONE, study)
    assert set(upload.runs.values_list("outcome", flat=True)) == {"new"}
    assert answers(owner, "demo") == tables
    assert stored("demo") == runs
    assert study.purpose == "To be taken along."
    assert [ItemText.from_item(item) for item in report_items.list_items(study)] == report
    note = Note.objects.get()
    assert (note.text, note.author, note.created) == (said.text, owner, said.created)


def test_in_the_same_instance_nothing_is_doubled(demo: bytes, db: None) -> None:
    runs, report = stored("demo"), Study.objects.get(slug="demo").report_items.count()
    upload = brought(access.find_owner(), demo)
    assert upload.study.slug == "demo"
    assert set(upload.runs.values_list("outcome", flat=True)) == {"already-there"}
    assert stored("demo") == runs
    assert Study.objects.get(slug="demo").report_items.count() == report
    assert Note.objects.count() == 1


def test_beside_another_study_of_that_name_it_gets_its_own(demo: bytes, db: None) -> None:
    emptied()
    Study.objects.create(slug="demo", title="Something else", owner=access.find_owner())
    upload = brought(access.find_owner(), demo)
    assert upload.study.slug == "demo-2"
    assert Run.objects.filter(study__slug="demo-2").count() == len(json_of(demo)["runs"])
    assert not Run.objects.filter(study__slug="demo").exists()
    assert brought(access.find_owner(), demo).study.slug == "demo-2"
    assert Run.objects.count() == len(json_of(demo)["runs"])


def json_of(content: bytes) -> dict[str, Any]:
    with zipfile.ZipFile(io.BytesIO(content)) as bundle:
        said: dict[str, Any] = json.loads(bundle.read(make_bundle.MANIFEST))
    return said


def test_a_selection(demo: bytes, db: None) -> None:
    chosen = Run.objects.filter(study__slug="demo", workload__name="RR", status="complete", trial=1)
    content = packed(make_bundle.bundle_runs(chosen.values_list("pk", flat=True), "workload=RR&trial=1"))
    expected = [row for row in stored("demo") if row[5] == "RR" and row[2] == "complete" and row[1] == 1]
    emptied()
    upload = brought(access.find_owner(), content)
    assert stored(upload.study.slug) == expected
    assert len(expected) > 5


def test_a_published_study_without_logs(db: None) -> None:
    call_command("loadstudies", OSA)
    owner = access.find_owner()
    study = Study.objects.get(slug=OSA)
    content = packed(make_bundle.bundle_study(study))
    wrong = list(Disagreement.objects.order_by("message").values_list("message", flat=True))
    client = Client()
    client.force_login(owner)
    numbers = list(study.report_items.filter(kind="table").values_list("number", flat=True))
    before = [plain(client.get(f"/api/v1/studies/{OSA}/tables/{number}.json").json()) for number in numbers]
    runs = stored(OSA)
    again = brought(owner, content)
    assert set(again.runs.values_list("outcome", flat=True)) == {"already-there"}
    assert stored(OSA) == runs
    emptied()
    preview = brought(owner, content, preview=True)
    assert set(preview.runs.values_list("outcome", flat=True)) == {"new"}
    assert not PublishedFigure.objects.exists()
    uploads.accept(preview)
    assert worked(preview).state == Upload.State.DONE
    assert [plain(client.get(f"/api/v1/studies/{OSA}/tables/{number}.json").json()) for number in numbers] == before
    assert stored(OSA) == runs
    assert list(Disagreement.objects.order_by("message").values_list("message", flat=True)) == wrong
    call_command("loadstudies", OSA)
    with pytest.raises(uploads.IntakeError, match="published document"):
        uploads.undo(preview)
    assert Run.objects.count() == len(runs)


def newer(said: dict[str, Any]) -> None:
    said["version"] = 99


def without_runs(said: dict[str, Any]) -> None:
    del said["runs"]


def foreign_fact(said: dict[str, Any]) -> None:
    said["uploads"][0]["facts"] = {"no such": "fact"}


def other_file(said: dict[str, Any]) -> None:
    said["runs"][0]["sources"][0][0] = "../../etc/passwd"


def bad_pattern(said: dict[str, Any]) -> None:
    said["study"]["run_id_pattern"] = "("


def nothing(said: dict[str, Any]) -> None:
    del said


@pytest.mark.parametrize(
    ("change", "log", "words"),
    [
        (newer, None, "version 99"),
        (without_runs, None, "no runs"),
        (foreign_fact, None, "no such"),
        (other_file, None, "etc/passwd"),
        (bad_pattern, None, "pattern"),
        (nothing, b"tampered", "was changed"),
    ],
)
def test_one_that_was_changed_or_is_newer_stores_nothing(
    demo: bytes, db: None, change: Callable[[dict[str, Any]], None], log: bytes | None, words: str
) -> None:
    emptied()
    upload = brought(access.find_owner(), altered(demo, change, log))
    assert upload.state == Upload.State.FAILED
    problem = upload.problems.get(code="bundle.refused")
    assert words in problem.message
    assert problem.file == "demo.zip/perfdb-bundle.json"
    assert problem.remedy
    assert not Run.objects.exists()
    assert not ReportItem.objects.exists()
    assert not Study.objects.exclude(slug="inbox").exists()


def test_another_persons_study_is_left_alone(demo: bytes, db: None) -> None:
    before = stored("demo")
    upload = brought(User.objects.create_user("eve"), demo)
    assert upload.state == Upload.State.FAILED
    assert "somebody else" in upload.problems.get(code="bundle.refused").message
    assert stored("demo") == before


def test_it_comes_by_itself(demo: bytes, db: None) -> None:
    emptied()
    files = [("demo.zip", ContentFile(demo)), ("more.log", ContentFile(b"more"))]
    upload = worked(uploads.receive(access.find_owner(), files))
    assert upload.state == Upload.State.FAILED
    assert upload.problems.get(code="bundle.refused").remedy == "Upload the bundle by itself."


def test_a_note_of_somebody_who_is_not_here_has_no_author(demo: bytes, db: None) -> None:
    def by_a_stranger(said: dict[str, Any]) -> None:
        said["runs"][0]["notes"] = [{"text": "Seen.", "author": "zoe", "created": "2024-05-06T07:08:09+00:00"}]
        said["runs"][0]["notes"][0]["edited"] = ""

    emptied()
    brought(access.find_owner(), altered(demo, by_a_stranger))
    note = Note.objects.get(text="Seen.")
    assert (note.author, note.created.isoformat()) == (None, "2024-05-06T07:08:09+00:00")


def test_a_study_that_has_no_runs_yet(db: None) -> None:
    owner = access.find_owner()
    study = Study.objects.create(slug="planned", title="Planned", owner=owner, plan=[{"name": "a", "device": ["B"]}],
                                 trend_order="kernel")  # fmt: skip
    report_items.add_item(study, ItemText("prose", "", "What for", "", "To know."))
    content = packed(make_bundle.bundle_study(study))
    study.report_items.all().delete()
    study.delete()
    assert brought(owner, content).state == Upload.State.DONE
    again = Study.objects.get(slug="planned")
    assert again.plan == [{"name": "a", "device": ["B"]}]
    assert again.trend_order == "kernel"
    assert again.report_items.get().prose == "To know."


def test_a_large_log_goes_through_in_pieces(db: None) -> None:
    owner = access.find_owner()
    run = make_run(study=make_study(owner=owner))
    large = bytes(Random(1).randbytes(8 * 1024 * 1024))
    upload = uploads.receive(owner, [("large.log", ContentFile(large))], study=run.study)
    file = upload.files.get()
    about = {"format": "x", "format_version": 1, "digests": [], "driver": True, "study": run.study}
    RunSource.objects.create(run=run, artifact=file.artifact, upload=upload, path=file.path, **about)
    pieces = list(make_bundle.write_bundle(make_bundle.bundle_study(run.study), "<p>page</p>", "http://here/"))
    assert max(map(len, pieces)) < 2 * 1024 * 1024
    with zipfile.ZipFile(io.BytesIO(b"".join(pieces))) as bundle:
        assert bundle.read("logs/large.log") == large


def test_trials_that_no_log_tells_apart_stay_as_they_were(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = access.find_owner()
    study = Study.objects.create(slug="twice", title="Twice", owner=owner)
    log = (LOGS / "qperf" / "exact" / "q.txt").read_bytes()
    for digit in (b"7", b"8"):
        path = f"{digit.decode()}/q.txt"
        content = re.sub(rb"(=\s+)[0-9]", rb"\g<1>" + digit, log)
        upload = worked(uploads.receive(owner, [(path, ContentFile(content))], study=study))
        if upload.state == Upload.State.PREVIEW:
            uploads.accept(upload, {f"{row.run_label}/{row.trial}": "trial" for row in upload.runs.all()})
            worked(upload)
    runs = stored("twice")
    content = packed(make_bundle.bundle_study(study))
    emptied()
    # Each by itself: the second finds the first one stored.
    monkeypatch.setattr(store, "CHUNK", 1)
    upload = brought(owner, content)
    assert {run[1] for run in runs} > {1}
    assert stored("twice") == runs
    assert not upload.runs.filter(outcome="conflict").exists()
