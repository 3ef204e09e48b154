"""Reading from a streaming replica, for everybody but who would miss there what is known to be written.

After each act of writing, a person's or a job's, the position of the primary's write-ahead log goes to the broker. A
page may be read from the replica once the replica has replayed up to there; else the primary serves it. So who uploads
sees the runs as soon as the upload says that they are there, whichever web answers.

While a page is served by the replica, the thread's ``default`` connection is the replica's: nothing that reads has
to know. What then wants to write is refused by PostgreSQL, and the page is made once more, on the primary.
"""

import logging
from collections.abc import Callable
from typing import Any

import redis
from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.db import DEFAULT_DB_ALIAS, DatabaseError, InternalError, connection, connections
from django.http import HttpRequest, HttpResponseBase
from psycopg.errors import ReadOnlySqlTransaction

from perfdb.results import broker

ALIAS = "replica"
_SAFE = frozenset({"GET", "HEAD"})
_KEY = "perfdb:written"
_logger = logging.getLogger(__name__)

Handler = Callable[[HttpRequest], HttpResponseBase]
View = Callable[..., HttpResponseBase]


def is_there() -> bool:
    """Whether a replica is configured."""
    return ALIAS in settings.DATABASES


def on_primary(view: View) -> View:
    """Mark a view that is never to be served by the replica."""
    view.on_primary = True  # type: ignore[attr-defined] # a mark, as Django's own csrf_exempt
    return view


def mark_written(**_: object) -> None:
    """Say how far the primary's log is: who reads from now on must see what was committed until now."""
    if not is_there():
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn")
        position = int(cursor.fetchone()[0])
    try:
        # The highest stays, whoever comes last.
        broker.connected().zadd(_KEY, {"primary": position}, gt=True)
    except redis.RedisError as error:
        # While it is away nothing is read from the replica either.
        _logger.warning("how far the log is cannot be said, for the broker is away: %s", error)


def has_all() -> bool:
    """Whether the replica answers and has replayed all that was said to be written."""
    try:
        written = broker.connected().zscore(_KEY, "primary") or 0
        with connections[ALIAS].cursor() as cursor:
            cursor.execute("SELECT pg_last_wal_replay_lsn() - '0/0'::pg_lsn")
            replayed = cursor.fetchone()[0]
    except (DatabaseError, redis.RedisError) as error:
        _logger.warning("the primary serves, for the replica or the broker is away: %s", str(error).partition("\n")[0])
        return False
    # None where it is no replica, or is one no more.
    return replayed is not None and replayed >= written


def is_refused_write(error: Exception) -> bool:
    """Whether something wanted to write on the replica."""
    return isinstance(error, InternalError) and isinstance(error.__cause__, ReadOnlySqlTransaction)


class MarkWrites:
    """Outermost: once a request that may have written is done, whoever reads next sees it."""

    def __init__(self, get_response: Handler) -> None:
        if not is_there():
            raise MiddlewareNotUsed
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Serve, and say how far the log is where something may have been written."""
        response = self.get_response(request)
        if request.method not in _SAFE or hasattr(request, "wrote") or request.session.modified:
            mark_written()
        return response


class ReadFromReplica:
    """Innermost: serves pages from the replica where it has all that they may show."""

    def __init__(self, get_response: Handler) -> None:
        if not is_there():
            raise MiddlewareNotUsed
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Serve, and have the primary be this thread's database again afterwards."""
        primary = connections[DEFAULT_DB_ALIAS]
        try:
            return self.get_response(request)
        finally:
            connections[DEFAULT_DB_ALIAS] = primary

    def process_view(self, request: HttpRequest, view: View, *_: object) -> None:
        """Choose the database, once it is known which view is asked for."""
        if request.method in _SAFE and not hasattr(view, "on_primary") and has_all():
            request.primary = connections[DEFAULT_DB_ALIAS]  # type: ignore[attr-defined] # kept for the second attempt
            connections[DEFAULT_DB_ALIAS] = connections[ALIAS]

    def process_exception(self, request: Any, error: Exception) -> HttpResponseBase | None:
        """Make a page that wants to write once more, on the primary."""
        if not is_refused_write(error):
            return None
        connections[DEFAULT_DB_ALIAS] = request.primary
        request.wrote = True
        asked = request.resolver_match
        response: HttpResponseBase = asked.func(request, *asked.args, **asked.kwargs)
        return response
