"""Background jobs. A job is a row; the broker's message carries only the ID.

A message may be lost (a crash between commit and send) or delivered twice. Therefore a worker claims a job under a
lease, a sweep sends abandoned jobs again, and a worker writes results only while it holds the newest attempt.
"""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from threading import Event, Thread

from celery import current_app
from django.db import connection, transaction
from django.db.models import Q, QuerySet, Sum
from django.utils import timezone
from kombu.exceptions import OperationalError

from perfdb.results.database.sql import take_lock
from perfdb.results.ingest import notify
from perfdb.results.models import Job, Study, Upload

logger = logging.getLogger(__name__)

TASK = "perfdb.results.tasks.run_job"
LEASE = timedelta(seconds=15)
# After this time in the queue a message may be lost.
STALE = timedelta(minutes=1)
ATTEMPTS = 5
# Larger uploads are imported one at a time, so that small ones find a free worker.
BULK_BYTES = 8 * 1024 * 1024
BULK_AT_ONCE = 1
_BULK_LOCK = 0x4255_4C4B  # any number of our own: "BULK"


class LeaseLostError(Exception):
    """Another worker has taken the job over: this attempt must not write any more."""


def enqueue(
    kind: str, upload: Upload | None = None, *, study: Study | None = None, about: Mapping[str, object] | None = None
) -> Job:
    """Create a job with parameters ``about``, and send the ID after the commit."""
    job = Job.objects.create(kind=kind, upload=upload, study=study, about=dict(about or {}), sent=timezone.now())
    transaction.on_commit(lambda: send(job.pk))
    return job


def upload_of(job: Job) -> Upload:
    """Return the upload of a job, with its study."""
    return Upload.objects.select_related("study").get(jobs=job)


def send(job_id: int) -> None:
    """Send a job to the workers; if the broker is away, `sweep` does later."""
    try:
        current_app.send_task(TASK, [job_id])
    except OperationalError as error:
        logger.warning("job %s waits, for the broker is away: %s", job_id, error)


def claim(job_id: int) -> Job | None:
    """Claim a job that is queued or has an expired lease; return None otherwise.

    A bulk job waits while BULK_AT_ONCE others run; `send_bulk` sends it when another bulk job ends.
    """
    now = timezone.now()
    free = Q(state=Job.State.QUEUED) | Q(state=Job.State.RUNNING, lease_until__lt=now)
    with transaction.atomic():
        job = Job.objects.select_for_update(skip_locked=True).filter(free, pk=job_id).first()
        if job is None or (is_bulk(job) and not _has_room(job)):
            return None
        job.state = Job.State.RUNNING
        job.attempt += 1
        job.lease_until = now + LEASE
        job.started = job.started or now
        job.save(update_fields=["state", "attempt", "lease_until", "started"])
    return job


def _bulk(**which: object) -> QuerySet[Job]:
    jobs = Job.objects.filter(**which).annotate(bytes=Sum("upload__files__artifact__size"))
    return jobs.filter(bytes__gt=BULK_BYTES)


def is_bulk(job: Job) -> bool:
    """Return whether a job works on more than BULK_BYTES."""
    return _bulk(pk=job.pk).exists()


def _has_room(job: Job) -> bool:
    """Return whether a bulk job may start; a lock serialises bulk jobs."""
    take_lock(_BULK_LOCK)
    running = _bulk(state=Job.State.RUNNING, lease_until__gte=timezone.now()).exclude(pk=job.pk)
    return running.count() < BULK_AT_ONCE


def send_bulk() -> None:
    """Send the bulk job that has waited the longest."""
    waiting = _bulk(state=Job.State.QUEUED).order_by("created", "pk").first()
    if waiting is not None:
        send(waiting.pk)


def renew_lease(job: Job) -> None:
    """Renew the lease; effective with the commit. Raise LeaseLostError if taken over."""
    if not _mine(job).update(lease_until=timezone.now() + LEASE):
        raise LeaseLostError(f"{job} was taken over")


def _mine(job: Job) -> QuerySet[Job]:
    """Return the job, or nothing once another worker has claimed the job."""
    return Job.objects.filter(pk=job.pk, attempt=job.attempt, state=Job.State.RUNNING)


def give_back(job: Job) -> None:
    """Send a job again at once, unless another worker has claimed it."""
    if _mine(job).update(lease_until=timezone.now()):
        send(job.pk)


@contextmanager
def keep_lease(job: Job) -> Iterator[None]:
    """Renew the lease in the background during the block."""
    done = Event()
    keeper = Thread(target=_keep, args=(job, done), name=f"lease of job {job.pk}", daemon=True)
    keeper.start()
    try:
        yield
    finally:
        done.set()
        keeper.join()


def _keep(job: Job, done: Event) -> None:
    try:
        while not done.wait(LEASE / timedelta(seconds=3)):
            renew_lease(job)
    except LeaseLostError:
        # The block notices with its next write.
        return
    finally:
        connection.close()


def progress(job: Job, outcome: dict[str, object]) -> None:
    """Store progress with the work done. Raise LeaseLostError if taken over."""
    renew_lease(job)
    job.outcome = outcome
    job.save(update_fields=["outcome"])


def open_jobs(kind: str) -> QuerySet[Job]:
    """Return the queued and running jobs of a kind."""
    return Job.objects.filter(kind=kind, state__in=[Job.State.QUEUED, Job.State.RUNNING])


def fail(job: Job, reason: str) -> None:
    """Fail a job and its unsettled upload, unless another worker has claimed the job."""
    with transaction.atomic():
        if finish(job, {"error": reason}, Job.State.FAILED) and job.upload_id is not None:
            open_ = Upload.objects.filter(pk=job.upload_id).exclude(state__in=Upload.SETTLED)
            open_.update(state=Upload.State.FAILED, settled=timezone.now())


def finish(job: Job, outcome: dict[str, object], state: Job.State = Job.State.DONE) -> bool:
    """End a job in the transaction of the last writes; return False if another worker has claimed the job."""
    ended = bool(_mine(job).update(state=state, outcome=outcome, finished=timezone.now(), lease_until=None))
    if ended and job.upload_id is not None:
        transaction.on_commit(partial(notify.notify, job.upload_id))
    return ended


def release() -> int:
    """Send all open jobs again, while no worker runs; return their number."""
    Job.objects.filter(state=Job.State.RUNNING).update(lease_until=timezone.now())
    return _send_all(Q(state__in=[Job.State.QUEUED, Job.State.RUNNING]))


def sweep() -> int:
    """Send lost and abandoned jobs again, fail exhausted ones, and return the number sent."""
    now = timezone.now()
    waiting = Q(state=Job.State.QUEUED, sent__lt=now - STALE)
    abandoned = Q(state=Job.State.RUNNING, lease_until__lt=now)
    for job in Job.objects.filter(abandoned, attempt__gte=ATTEMPTS):
        fail(job, f"given up after {job.attempt} attempts that did not come to an end")
    return _send_all(waiting | abandoned & Q(sent__lt=now - LEASE))


def _send_all(which: Q) -> int:
    found = Job.objects.filter(which, attempt__lt=ATTEMPTS).order_by("created")
    job_ids = list(found.values_list("pk", flat=True))
    # Otherwise each sweep would send the jobs of a long queue again.
    Job.objects.filter(pk__in=job_ids).update(sent=timezone.now())
    for job_id in job_ids:
        send(job_id)
    return len(job_ids)
