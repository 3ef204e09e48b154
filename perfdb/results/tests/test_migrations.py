"""Migrations of an archive that an earlier version made, and the schema they lead to.

The script ``make.py`` in ``archive_93ff53d.zip`` made that archive at commit 93ff53d, before the migrations were
squashed: two studies, uploads (stored, undone, in preview), an alias, a note, a tag, a withdrawn run, a saved query and
a frozen link. ``plain.sql`` and ``partitioned.sql`` are dumps of the database without and with partitions,
``artifacts`` are its files, ``answers`` the REST answers of that version at the addresses of ``addresses.json``.
"""

import csv
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from django.contrib.contenttypes.models import ContentType
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.db import connection
from django.test import Client
from pytest_django import Settings

from perfdb.results.changes import rebuild
from perfdb.results.ingest import uploads
from perfdb.results.models import Run, Upload, UploadRun
from perfdb.results.runs.read import read_record
from perfdb.results.tests.conftest import Work

pytestmark = pytest.mark.django_db
ARCHIVE = Path(__file__).parent / "archive_93ff53d.zip"
FORMS = ("plain", "partitioned")
SCHEMA = {
    "columns": "SELECT table_name, column_name, column_default, is_nullable, data_type, udt_name, is_identity, "
    "character_maximum_length FROM information_schema.columns WHERE table_schema = 'public'",
    "constraints": "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint "
    "WHERE connamespace = 'public'::regnamespace",
    "indexes": "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
    "triggers": "SELECT tgrelid::regclass::text, tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal",
    "functions": "SELECT proname, prosrc FROM pg_proc LEFT JOIN pg_depend ON objid = pg_proc.oid AND deptype = 'e' "
    "WHERE pronamespace = 'public'::regnamespace AND objid IS NULL",
    "views": "SELECT viewname, definition FROM pg_views WHERE schemaname = 'public'",
}

# A restored constraint is printed with its casts at other places.
_CASTS = re.compile(r"::[a-z ]+|[()\[\]\s]")


def schema() -> dict[str, set[tuple[str, ...]]]:
    """Read what PostgreSQL's catalogue holds of the schema."""
    found = {}
    with connection.cursor() as cursor:
        for name, statement in SCHEMA.items():
            cursor.execute(statement)
            found[name] = {tuple(_CASTS.sub("", str(text)) for text in row) for row in cursor.fetchall()}
    return found


def restore(form: str) -> None:
    """Put the archive in the place of the test's database and files, until the test's transaction ends."""
    with ZipFile(ARCHIVE) as archive, connection.cursor() as cursor:
        cursor.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        cursor.execute(archive.read(f"{form}.sql").decode(), None)
        for name in archive.namelist():
            folder, _, path = name.partition("/")
            if folder == "artifacts" and not default_storage.exists(path):
                default_storage.save(path, ContentFile(archive.read(name)))
    ContentType.objects.clear_cache()
    call_command("migrate", interactive=False, verbosity=0)


@pytest.fixture(params=FORMS)
def archive(request: pytest.FixtureRequest, settings: Settings) -> Iterator[ZipFile]:
    """The archive, restored in one of its forms and migrated."""
    settings.PUBLIC_READ = True
    restore(request.param)
    with ZipFile(ARCHIVE) as opened:
        yield opened
    ContentType.objects.clear_cache()


def test_a_migrated_database_has_the_schema_of_a_fresh_one() -> None:
    fresh = schema()
    restore("plain")
    migrated = schema()
    for kind, found in fresh.items():
        assert migrated[kind] ^ found == set(), kind


def test_models_and_migrations_agree() -> None:
    call_command("makemigrations", "--check", "--dry-run", verbosity=0)


# What verdicts rest on has changed since: intervals, and means of runs that did different work.
_STATISTICS = {"value", "low", "high", "ratio_low", "ratio_high", "base_mean", "diff_percent", "ratio"}
_VERDICTS = {"p", "q", "verdict", "effect", "noise"}


def facts(text: str, known: Sequence[str]) -> list[list[str]]:
    """Return the columns that no statistics decide."""
    lines = csv.DictReader(text.splitlines())
    return [[line[name] for name in known if name not in _STATISTICS | _VERDICTS] for line in lines]


def test_answers_are_those_of_the_earlier_version(archive: ZipFile, client: Client) -> None:
    for name, address in json.loads(archive.read("addresses.json")).items():
        answer: Any = client.get(address)
        body = b"".join(answer.streaming_content) if answer.streaming else answer.content
        before = archive.read(f"answers/{name}").decode()
        known = before.splitlines()[0].split(",")
        assert facts(body.decode(), known) == facts(before, known), name


def test_runs_are_read_and_explained(archive: ZipFile, client: Client) -> None:
    runs = Run.objects.filter(study__slug="demo", status="complete")
    (old,), (new,) = (runs.filter(run_id=f"DM{device}R110") for device in ("HI", "GL"))
    assert read_record(new).values
    for address in (
        f"runs/{new.pk}/",
        f"explanations/?old={old.pk}&new={new.pk}",
        "studies/osa-vs-vswitch-zvm520/report/",
    ):
        assert client.get(f"/api/v1/{address}").status_code == 200
    for address in (
        f"runs/{new.pk}/",
        f"explain/?old={old.pk}&new={new.pk}",
        f"uploads/{Upload.objects.latest('pk').pk}/",
    ):
        assert client.get(f"/{address}").status_code == 200


def test_files_that_come_again_are_already_there(archive: ZipFile, work: Work) -> None:
    upload = Upload.objects.order_by("pk")[0]
    files = [(file.path, default_storage.open(file.artifact.path)) for file in upload.files.select_related("artifact")]
    again = work(uploads.receive(upload.owner, files, study=upload.study))
    others = UploadRun.objects.filter(upload=again).exclude(outcome=UploadRun.Outcome.ALREADY_THERE)
    # A withdrawn run comes again as a new one.
    assert [(run.run_label, run.outcome) for run in others] == [("DMHIR120", UploadRun.Outcome.NEW)]


def test_runs_are_made_again_from_their_files(archive: ZipFile, sent: list[int]) -> None:
    runs = Run.objects.filter(study__slug="demo").exclude(status="withdrawn")
    for run in runs:
        assert rebuild.rebuild_run(run).record.values == read_record(run).values


def test_a_preview_is_accepted_and_an_upload_undone(archive: ZipFile, work: Work) -> None:
    preview = Upload.objects.get(state=Upload.State.PREVIEW)
    before = Run.objects.count()
    uploads.accept(preview)
    assert work(preview).state == Upload.State.DONE
    assert Run.objects.count() > before
    uploads.undo(preview)
    assert work(preview).state == Upload.State.UNDONE
    assert Run.objects.count() == before
