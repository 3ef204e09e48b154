"""A study's report as PDF, printed by a job: one file for each state of the study, kept until there is another."""

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction

from perfdb.analysis.query.parameters import QueryError
from perfdb.results.ingest import jobs
from perfdb.results.models import Job, Study
from perfdb.results.runs.bulk_changes import lock_study
from perfdb.web.bundles.standalone_page import report_file
from perfdb.web.shared import pdf
from perfdb.web.studies.views import contents

KIND = "pdf"


def last(study: Study, token: str = "") -> Job | None:
    """The job that prints, or has printed, the study as it is now; with ``token`` its published report."""
    about = {"version": study.version, "token": token}
    return Job.objects.filter(kind=KIND, study=study, about__contains=about).order_by("-pk").first()


def ask(study: Study, server: str, token: str = "", *, again: bool = False) -> Job:
    """Have the report printed, unless it is or is being; ``again``: also where that could not be done."""
    with transaction.atomic():
        lock_study(study)
        job = last(study, token)
        if job is None or (again and failure(job) is not None):
            job = jobs.enqueue(KIND, study=study, about={"version": study.version, "token": token, "server": server})
    return job


def failure(job: Job) -> str | None:
    """Why a job has printed nothing; None while it may, or where it has. Empty where there is no browser."""
    if job.state == Job.State.FAILED:
        return str(job.outcome["error"])
    return str(job.outcome["said"]) if "said" in job.outcome else None


def printed(job: Job) -> bytes | None:
    """What a job has printed; None before, and where the file is gone."""
    path = job.outcome.get("file", "")
    if not path or not default_storage.exists(path):
        return None
    with default_storage.open(path) as file:
        return bytes(file.read())


def run_pdf(job: Job) -> None:
    """Do a job: make the report's page and print it. What earlier jobs printed of this study is thrown away."""
    study, token = Study.objects.get(jobs=job), job.about["token"]
    try:
        page = report_file(study, contents(study, {}), job.about["server"], token)
        outcome: dict[str, object] = {"file": _kept(job, pdf.print_to_pdf(page))}
    except pdf.NoBrowserError:
        outcome = {"said": ""}
    except (pdf.PrintingError, QueryError) as error:
        outcome = {"said": str(error) or "nothing"}
    with transaction.atomic():
        jobs.finish(job, outcome)
    _throw_away(job, study, token)


def _kept(job: Job, content: bytes) -> str:
    return default_storage.save(f"printed/{job.pk}.pdf", ContentFile(content))


def _throw_away(job: Job, study: Study, token: str) -> None:
    """The files and rows of earlier jobs for the same address."""
    earlier = Job.objects.filter(kind=KIND, study=study, about__token=token, pk__lt=job.pk, finished__isnull=False)
    for each in earlier:
        if path := each.outcome.get("file"):
            default_storage.delete(path)
        each.delete()
