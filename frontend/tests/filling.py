"""A filled database, restored in a moment, since imports take longer than the tests."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from django.conf import settings
from django.core.files.base import ContentFile
from django.db import connection, transaction

from fixtures.demo import demo_files
from perfdb.results import tasks
from perfdb.results.ingest import uploads
from perfdb.results.models import Job, Run, RunSource, Upload
from perfdb.results.runs import access

BAD = Path(__file__).resolve().parents[2] / "fixtures" / "logs" / "bad"


def bring(files: dict[str, bytes], *, preview: bool = False) -> Upload:
    """Upload files as the owner and do the job."""
    content = [(name, ContentFile(data)) for name, data in files.items()]
    upload = uploads.receive(access.find_owner(), content, preview=preview)
    for job in Job.objects.filter(upload=upload):
        tasks.run_job(job.pk)
    return upload


def fill() -> dict[str, int]:
    """Fill the database; return ids and addresses."""
    bring(dict(demo_files()))
    names = ("awm_mixed_units", "unknown_format")
    files = {
        path.name: path.read_bytes() for name in names for path in (BAD / name).iterdir() if path.suffix != ".json"
    }
    upload = bring(files, preview=True)
    run = Run.objects.latest("pk")
    return {
        "run": run.pk,
        "upload": upload.pk,
        "artifact": RunSource.objects.filter(run=run).earliest("pk").artifact_id,
    }


@dataclass(frozen=True)
class Kept:
    """Saved content of tables and of the folder of artifacts.

    Attributes:
        tables: The rows of each table, as written by COPY.
        counters: The value of each sequence, since ids must not be reused.
        files: The artifacts.
    """

    tables: dict[str, bytes]
    counters: dict[str, int]
    files: dict[Path, bytes]

    @classmethod
    def of_now(cls) -> Self:
        """Save the present content."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
            names = sorted(name for (name,) in cursor.fetchall() if name != "django_migrations")
            cursor.execute("SELECT sequencename, last_value FROM pg_sequences WHERE last_value IS NOT NULL")
            counters = dict(cursor.fetchall())
        files = {path: path.read_bytes() for path in Path(settings.MEDIA_ROOT).rglob("*") if path.is_file()}
        return cls({name: _rows(name) for name in names}, counters, files)

    def put_back(self) -> None:
        """Restore the saved content, and nothing else."""
        for path, content in self.files.items():
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"TRUNCATE {', '.join(self.tables)}")
            # What triggers write is among the rows, and what they look for may come later.
            cursor.execute("SELECT DISTINCT tgrelid::regclass::text FROM pg_trigger WHERE NOT tgisinternal")
            triggering = [name for (name,) in cursor.fetchall()]
            for name in triggering:
                cursor.execute(f"ALTER TABLE {name} DISABLE TRIGGER USER")
            for name, rows in self.tables.items():
                with cursor.copy(f"COPY {name} FROM STDIN") as copy:
                    copy.write(rows)
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            for name in triggering:
                cursor.execute(f"ALTER TABLE {name} ENABLE TRIGGER USER")
            for name, value in self.counters.items():
                cursor.execute("SELECT setval(%s, %s)", [name, value])


def _rows(table: str) -> bytes:
    with connection.cursor() as cursor, cursor.copy(f"COPY {table} TO STDOUT") as copy:
        return b"".join(copy)
