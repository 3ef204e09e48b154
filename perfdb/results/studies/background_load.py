"""Loading the published studies as background work, so that nobody waits for it when an instance starts."""

from io import StringIO

from django.core.management import call_command

from perfdb.results.ingest import jobs
from perfdb.results.models import Job

KIND = "studies"


def enqueue_loading() -> None:
    """Have a worker load what is not loaded yet, unless one is about to."""
    if not Job.objects.filter(kind=KIND, state__in=[Job.State.QUEUED, Job.State.RUNNING]).exists():
        jobs.enqueue(KIND)


def run_studies(job: Job) -> None:
    """Load them; each is whole or not there, so that an interrupted job goes on where it was."""
    said = StringIO()
    call_command("loadstudies", stdout=said)
    jobs.finish(job, {"loaded": said.getvalue().split("\n")[:-1]})
