"""Celery tasks: fetch a job by id, run it, record failures."""

import logging
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial

from celery import shared_task
from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.utils import timezone
from psycopg.errors import DeadlockDetected

from perfdb.results.bundles import load_bundle
from perfdb.results.changes.alias_changes import run_alias
from perfdb.results.changes.move_runs import KIND as MOVE
from perfdb.results.changes.move_runs import run_move
from perfdb.results.changes.reparse import run_reparse
from perfdb.results.changes.undo import run_undo
from perfdb.results.ingest import chunked_upload, jobs, stored_evidence
from perfdb.results.ingest.import_job import run_import
from perfdb.results.models import Job, Upload
from perfdb.results.studies.load_document import KIND, run_studies
from perfdb.results.trends import deliver, look

logger = logging.getLogger(__name__)

# Each ends its job in the transaction of its last writes.
HANDLERS: dict[str, Callable[[Job], None]] = {
    "import": partial(run_import, recognise=load_bundle.recognise),
    "undo": run_undo,
    "reparse": run_reparse,
    "alias": run_alias,
    KIND: run_studies,
    MOVE: run_move,
    look.KIND: look.run_look,
}


@shared_task
def run_job(job_id: int) -> None:
    """Run one job; a lost database leaves it to the next attempt."""
    job = jobs.claim(job_id)
    if job is None:
        return
    try:
        with jobs.keep_lease(job), stored_evidence.caching_files():
            HANDLERS[job.kind](job)
    except jobs.LeaseLostError:
        logger.warning("%s was taken over by another worker", job)
    except (OperationalError, InterfaceError) as error:
        logger.warning("%s lost the database; it will be tried again", job, exc_info=True)
        if isinstance(error.__cause__, DeadlockDetected):
            # Of two that waited for each other PostgreSQL has ended this one.
            jobs.give_back(job)
    except Exception as error:
        logger.exception("%s failed", job)
        jobs.fail(job, f"{type(error).__name__}: {error}")
    with suppress(OperationalError, InterfaceError):
        if jobs.is_bulk(job):
            jobs.send_bulk()
        look.send_due_looks()


@shared_task
def deliver_message(pk: int) -> None:
    """Send one message of a subscription."""
    deliver.deliver(pk)


@shared_task
def sweep() -> None:
    """Resend lost jobs and due messages, look at changed studies, and expire old previews and unfinished files."""
    jobs.sweep()
    look.send_due_looks()
    deliver.send_due()
    chunked_upload.expire()
    oldest = timezone.now() - timedelta(days=settings.PREVIEW_DAYS)
    Upload.objects.filter(state=Upload.State.PREVIEW, settled__lt=oldest).update(state=Upload.State.EXPIRED)
