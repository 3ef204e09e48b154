"""A time limit for SQL statements."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import OperationalError, connections, transaction
from psycopg.errors import QueryCanceled


class TooLongError(Exception):
    """A statement exceeded its time limit."""


@contextmanager
def in_time(milliseconds: int, using: str) -> Iterator[None]:
    """Limit the time of each statement on a database within the block. Raises TooLongError."""
    try:
        with transaction.atomic(using), connections[using].cursor() as cursor:
            cursor.execute("SELECT set_config('statement_timeout', %s, true)", [str(milliseconds)])
            yield
            cursor.execute("SET LOCAL statement_timeout TO DEFAULT")
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            raise TooLongError from error
        raise
