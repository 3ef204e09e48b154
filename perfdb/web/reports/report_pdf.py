"""Reports as PDF, printed by a headless Chromium in a job.

There is one file for each state of a study, kept until the study changes.
"""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from threading import Lock

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction

from perfdb.analysis.query.parameters import QueryError
from perfdb.results.ingest import jobs
from perfdb.results.models import Job, Study
from perfdb.results.runs.bulk_changes import lock_study
from perfdb.web.reports.standalone_page import render_report_file
from perfdb.web.studies.views import contents

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_SECONDS = 90
# Virtual time for drawing charts after loading.
_DRAWING_MS = 15_000
# A browser takes hundreds of megabytes.
_ONE_AT_A_TIME = Lock()


class NoBrowserError(Exception):
    """Error of printing on a server without a browser."""


class PrintingError(Exception):
    """Error of a browser that did not print; the message is its output."""


def find_browser() -> str | None:
    """Return the browser of PERFDB_CHROMIUM, else the first on the path."""
    named = os.environ.get("PERFDB_CHROMIUM")
    return named or next((found for name in _NAMES if (found := shutil.which(name))), None)


def print_to_pdf(html: str) -> bytes:
    """Print a self-contained page. Raise NoBrowserError or PrintingError."""
    program = find_browser()
    if program is None:
        raise NoBrowserError
    with _ONE_AT_A_TIME, tempfile.TemporaryDirectory(prefix="perfdb-pdf-") as folder:
        page, out = Path(folder, "page.html"), Path(folder, "page.pdf")
        page.write_text(html, encoding="utf-8")
        said = _run(program, folder, page, out)
        if not out.exists():
            raise PrintingError(said)
        return out.read_bytes()


def _run(program: str, folder: str, page: Path, out: Path) -> str:
    command = [
        program,
        "--headless",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        # The page is trusted and loads nothing; containers offer no sandbox.
        "--no-sandbox",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        f"--user-data-dir={folder}/profile",
        "--no-pdf-header-footer",
        f"--virtual-time-budget={_DRAWING_MS}",
        f"--print-to-pdf={out}",
        page.as_uri(),
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise PrintingError(f"the browser had not printed after {_SECONDS} s") from None
    except OSError as error:
        raise PrintingError(f"{program} cannot be run: {error.strerror}") from None
    return done.stderr[-2000:]


KIND = "pdf"


def request_pdf(study: Study, server: str, token: str = "", *, again: bool = False) -> Job:
    """Return the print job of the study's current state, enqueued if there is none.

    ``token``: that of a published report. ``again``: also enqueue a job after a failure.
    """
    with transaction.atomic():
        lock_study(study)
        about = {"version": study.version, "token": token}
        job = Job.objects.filter(kind=KIND, study=study, about__contains=about).order_by("-pk").first()
        if job is None or (again and failure_reason(job) is not None):
            job = jobs.enqueue(KIND, study=study, about=about | {"server": server})
    return job


def failure_reason(job: Job) -> str | None:
    """Return why printing failed; None if not failed, "" without a browser."""
    if job.state == Job.State.FAILED:
        return str(job.outcome["error"])
    return str(job.outcome["said"]) if "said" in job.outcome else None


def read_pdf(job: Job) -> bytes | None:
    """Return the printed file, or None if not printed yet or deleted."""
    path = job.outcome.get("file", "")
    if not path or not default_storage.exists(path):
        return None
    with default_storage.open(path) as file:
        return bytes(file.read())


def run_pdf(job: Job) -> None:
    """Print a report and delete files of earlier jobs."""
    study, token = Study.objects.get(jobs=job), job.about["token"]
    try:
        page = render_report_file(study, contents(study, {}), job.about["server"], token)
        outcome: dict[str, object] = {
            "file": default_storage.save(f"printed/{job.pk}.pdf", ContentFile(print_to_pdf(page)))
        }
    except NoBrowserError:
        outcome = {"said": ""}
    except (PrintingError, QueryError) as error:
        outcome = {"said": str(error) or "nothing"}
    with transaction.atomic():
        jobs.finish(job, outcome)
    _delete_earlier(job, study, token)


def _delete_earlier(job: Job, study: Study, token: str) -> None:
    earlier = Job.objects.filter(kind=KIND, study=study, about__token=token, pk__lt=job.pk, finished__isnull=False)
    for each in earlier:
        if path := each.outcome.get("file"):
            default_storage.delete(path)
        each.delete()
