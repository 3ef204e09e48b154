"""Statements that may not take longer than somebody is willing to wait."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import OperationalError, connection, transaction
from psycopg.errors import QueryCanceled


class TooLongError(Exception):
    """A statement took longer than it may, and was given up."""


@contextmanager
def in_time(milliseconds: int) -> Iterator[None]:
    """Within, PostgreSQL gives up each statement that takes longer; raises TooLongError then."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT set_config('statement_timeout', %s, true)", [str(milliseconds)])
            yield
            cursor.execute("SET LOCAL statement_timeout TO DEFAULT")
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            raise TooLongError from error
        raise
