"""What a web process reads of a file of run records, left at the broker for the worker that imports it.

It spares reading the same again. It is left portion by portion, so that a worker can work on the first ones while the
web process still checks the others (`results.early`). Nothing depends on it: where it is not there any more, or a
worker was cut off, the file is read.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from time import monotonic
from uuid import uuid4

import redis
from celery import current_app
from kombu.exceptions import OperationalError
from redis.client import Pipeline

from importers import run_records
from perfdb.results import broker
from perfdb.results.ingest import jobs
from perfdb.results.models import Artifact

LARGEST = 16 * 1024 * 1024
"""More than that is read again instead: the broker keeps it in memory."""

MUCH = 1024 * 1024
"""From so many bytes on a worker is called before they are checked."""

EARLY = "perfdb.results.tasks.work_early"
_KEPT = timedelta(minutes=2)
_EXPECTED_S = 5
"""A web process from which nothing came for so long has come to an end."""

_WAIT_S = 0.5
_MANY = 1000
_LAYOUT = f"{run_records.NAME}:{run_records.VERSION}.{run_records.LAYOUT}"
# Portions begin as JSON does.
_JOB, _END = b"job ", b"end"
_logger = logging.getLogger(__name__)


@contextmanager
def handing(body: bytes) -> "Iterator[Handover]":
    """Hand over what a request says; a worker is called at once where that is much."""
    over = Handover()
    if len(body) >= MUCH:
        over.call()
    try:
        yield over
    except BaseException:
        over.forget()
        raise


class Handover:
    """What one request says, on its way under its ``token``. Without the broker it goes nowhere."""

    def __init__(self) -> None:
        self.token = uuid4().hex
        self._room = LARGEST
        self._portions = 0
        self._is_known = False

    def call(self) -> None:
        """Have a worker that has nothing to do follow it while it comes."""
        self._is_known = True
        try:
            current_app.send_task(EARLY, [self.token], expires=_EXPECTED_S)
        except OperationalError as error:
            _logger.warning("nobody is called, for the broker is away: %s", error)

    def add(self, portion: bytes) -> None:
        """Leave the next portion."""
        if self._room < 0:
            return
        self._room -= len(portion)
        if self._room < 0:
            self.forget()
        else:
            self._say(portion)

    def forget(self) -> None:
        """Nothing is to come of it."""
        self._room = -1
        if not self._is_known:
            return
        try:
            if not self._close(_END):
                broker.connected().delete(_list_of(self.token))
        except redis.RedisError as error:
            _logger.warning("what was read stays for a while, for the broker is away: %s", error)

    def send(self, job_id: int) -> None:
        """Give the job of importing it to the worker that follows it, or else to any."""
        if self._room < 0 or not self._is_followed(job_id):
            jobs.send(job_id)

    def _is_followed(self, job_id: int) -> bool:
        """Whether a worker follows it, which is told the job; else it is kept for whoever does that."""
        artifact = Artifact.objects.get(uploadfile__upload__jobs=job_id)
        try:
            if self._close(b"%b%d %d" % (_JOB, job_id, self._portions)):
                return True
            broker.connected().rename(_list_of(self.token), _key(artifact))
        except redis.RedisError as error:
            _logger.warning("job %s will read its file, for the broker is away: %s", job_id, error)
        return False

    def _say(self, what: bytes) -> None:
        self._is_known = True
        self._portions += 1
        try:
            with broker.connected().pipeline() as asked:
                self._push(asked, what)
                asked.execute()
        except redis.RedisError as error:
            self._room = -1
            _logger.warning("what was read will be read again, for the broker is away: %s", error)

    def _close(self, last: bytes) -> bool:
        """Say the last thing; nobody can begin to follow it then. Whether somebody does."""
        with broker.connected().pipeline() as asked:
            asked.set(_mark_of(self.token), b"", ex=_KEPT, nx=True)
            self._push(asked, last)
            is_nobody_there = asked.execute()[0]
        return not is_nobody_there

    def _push(self, asked: Pipeline, what: bytes) -> None:
        asked.rpush(_list_of(self.token), what)
        asked.expire(_list_of(self.token), _KEPT)


def taken(artifact: Artifact) -> list[bytes]:
    """The portions that were left of a file, and are not any more; none unless all of them are there."""
    try:
        with broker.connected().pipeline() as asked:
            asked.lrange(_key(artifact), 0, -1)
            asked.delete(_key(artifact))
            *portions, last = asked.execute()[0] or [b""]
    except redis.RedisError:
        return []
    return portions if last.startswith(_JOB) and _told(last)[1] == len(portions) else []


class Following:
    """The same as it comes, for a worker that was called; nobody else gets it then. Raises redis.RedisError.

    ``is_over`` once nothing more will come; ``job`` is then that of importing it, None where there is nothing to import
    or somebody else has it, and ``is_whole`` tells whether all portions have come.
    """

    def __init__(self, token: str) -> None:
        self.job: int | None = None
        self.is_whole = False
        self._token = token
        self._portions = 0
        self._heard = monotonic()
        self.is_over = not broker.connected().set(_mark_of(token), b"", ex=_KEPT, nx=True)

    def came(self) -> list[bytes]:
        """The portions that have come since, waiting a little for one where there is none."""
        came = self._waiting() or self._next()
        if came:
            self._heard = monotonic()
        elif monotonic() - self._heard > _EXPECTED_S:
            self.give_up()
        return [each for each in came if self._is_portion(each)]

    def give_up(self) -> None:
        """Leave it to others, but for the job if that came in the very last moment."""
        self.is_over = True
        with broker.connected().pipeline() as asked:
            asked.lrange(_list_of(self._token), 0, -1)
            asked.delete(_list_of(self._token), _mark_of(self._token))
            left: list[bytes] = asked.execute()[0]
        for each in left:
            self._is_portion(each)
        self.is_whole = False

    def _waiting(self) -> list[bytes]:
        return _bytes_of(broker.connected().lpop(_list_of(self._token), _MANY))

    def _next(self) -> list[bytes]:
        # The list's name comes with it.
        return _bytes_of(broker.connected().blpop([_list_of(self._token)], _WAIT_S))[1:]

    def _is_portion(self, what: bytes) -> bool:
        if what.startswith(_JOB):
            self.job, portions = _told(what)
            self.is_whole = portions == self._portions
        elif what != _END:
            self._portions += 1
            return True
        self.is_over = True
        return False


def _told(last: bytes) -> tuple[int, int]:
    """The job that is to be done, and how many portions there were."""
    job, portions = last.removeprefix(_JOB).split()
    return int(job), int(portions)


def _bytes_of(answer: object) -> list[bytes]:
    """What the broker answers, if there is anything."""
    return [each for each in answer if isinstance(each, bytes)] if isinstance(answer, list | tuple) else []


def _list_of(token: str) -> str:
    return f"perfdb:coming:{_LAYOUT}:{token}"


def _mark_of(token: str) -> str:
    """What is there once somebody follows it, or nobody can any more."""
    return f"{_list_of(token)}:followed"


def _key(artifact: Artifact) -> str:
    """By what the file holds, and by what reads it."""
    return f"perfdb:read:{_LAYOUT}:{artifact.sha256}"
