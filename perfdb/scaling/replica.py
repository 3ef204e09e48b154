"""Reading from a streaming replica that has replayed all known writes.

After a request or job that writes, the position of the primary's write-ahead log goes to the broker. The router lets a
request read from the replica once the replica has replayed up to that position; otherwise the primary serves the
request. A request that writes reads from the primary from then on.
"""

import logging
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass

import redis
from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections
from django.http import HttpRequest, HttpResponseBase

from perfdb.results.database.sql import fetch
from perfdb.results.ingest.notify import redis_client

REPLICA = "replica"
_SAFE = frozenset({"GET", "HEAD"})
_KEY = "perfdb:written"
_logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Request:
    """The state of a request; ``on_replica`` is None before the first read."""

    writes: bool
    on_replica: bool | None = None


_current: ContextVar[_Request | None] = ContextVar("request", default=None)


def is_configured() -> bool:
    """Return whether the settings name a replica."""
    return REPLICA in settings.DATABASES


class ReplicaRouter:
    """Database router that lets requests read from the replica."""

    def db_for_read(self, model: object, **hints: object) -> str:
        """Return the replica, once caught up, for reading requests; else the primary."""
        request = _current.get()
        if request is None or request.writes:
            return DEFAULT_DB_ALIAS
        if request.on_replica is None:
            request.on_replica = is_caught_up()
        return REPLICA if request.on_replica else DEFAULT_DB_ALIAS

    def db_for_write(self, model: object, **hints: object) -> str:
        """Return the primary, and note that the request writes."""
        if request := _current.get():
            request.writes = True
        return DEFAULT_DB_ALIAS

    def allow_relation(self, one: object, other: object, **hints: object) -> bool:
        """Allow relations between rows of primary and replica, which are one database."""
        return True


class ReadFromReplica:
    """Outermost middleware, which tells the router of each request, and notes writes."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        if not is_configured():
            raise MiddlewareNotUsed
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        state = _Request(writes=request.method not in _SAFE)
        token = _current.set(state)
        try:
            response = self.get_response(request)
        finally:
            _current.reset(token)
        if state.writes:
            note_writes()
        return response


def note_writes(**_: object) -> None:
    """Store the position of the primary's log that later reads must have reached."""
    ((position,),) = fetch("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn")
    try:
        # The highest position stays.
        redis_client().zadd(_KEY, {"primary": int(position)}, gt=True)
    except redis.RedisError as error:
        # Without the broker, nothing is read from the replica either.
        _logger.warning("cannot store the position of the log: %s", error)


def is_caught_up() -> bool:
    """Return whether the replica answers and has replayed all known writes."""
    try:
        written = redis_client().zscore(_KEY, "primary") or 0
        with connections[REPLICA].cursor() as cursor:
            cursor.execute("SELECT pg_last_wal_replay_lsn() - '0/0'::pg_lsn")
            replayed = cursor.fetchone()[0]
    except (DatabaseError, redis.RedisError) as error:
        _logger.warning("the primary serves the request: %s", str(error).partition("\n")[0])
        return False
    # None if the server is not, or no longer, a replica.
    return replayed is not None and replayed >= written
