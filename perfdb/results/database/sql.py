"""Helpers for SQL: statements, locks, lookup by array, alternatives, time limit, SQL of a query set."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from operator import or_
from typing import Any

from django.db import OperationalError, connection, connections, transaction
from django.db.models import Lookup, Q, QuerySet
from psycopg.errors import QueryCanceled

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def is_storable(text: str) -> bool:
    """Return whether PostgreSQL can store a text: no NUL, no lone surrogate."""
    return not _UNSTORABLE.search(text)


def execute(statement: str, *parameters: str | int) -> None:
    """Execute a statement without result."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters or None)


def fetch(query: str, *parameters: str | int) -> list[tuple[Any, ...]]:
    """Return the rows of a query."""
    with connection.cursor() as cursor:
        cursor.execute(query, parameters or None)
        return list(cursor.fetchall())


def take_lock(*numbers: int) -> None:
    """Take PostgreSQL's advisory lock of one or two numbers until the transaction ends."""
    execute(f"SELECT pg_advisory_xact_lock({', '.join(['%s'] * len(numbers))})", *numbers)


class Among(Lookup):
    """A lookup ``among``: one of very many numbers or texts, sent as one array.

    ``in`` makes a parameter of each value, which takes longer than the search for two thousand. Raise ValueError for a
    text with a NUL.
    """

    lookup_name = "among"

    def get_prep_lookup(self) -> str:
        """Return the prepared values as the text of an array."""
        return _array([str(value) for value in map(self.lhs.output_field.get_prep_value, self.rhs)])

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, Any]:
        """Return the condition and the parameters."""
        column, parameters = self.process_lhs(compiler, connection)
        # With the column's own type, PostgreSQL does not compare each row with the values one by one.
        kind = self.lhs.output_field.cast_db_type(connection)
        return f"{column} = ANY(%s::{kind}[])", (*parameters, self.rhs)


def _array(texts: Sequence[str]) -> str:
    """Return the text of a PostgreSQL array, which psycopg would make value by value."""
    together = "\0".join(texts)
    if together.count("\0") >= max(len(texts), 1):
        raise ValueError("a text with a NUL in it is asked for")
    elements = together.replace("\\", "\\\\").replace('"', '\\"').replace("\0", '","')
    return f'{{"{elements}"}}' if texts else "{}"


def any_of(conditions: Iterable[Q]) -> Q:
    """Return the condition that one of the conditions holds; without any, none does."""
    return reduce(or_, conditions, Q(pk__in=[]))


class TooLongError(Exception):
    """A statement exceeded the time limit."""


@contextmanager
def in_time(milliseconds: int, using: str) -> Iterator[None]:
    """Limit the time of each statement on a database within the block. Raise TooLongError."""
    try:
        with transaction.atomic(using), connections[using].cursor() as cursor:
            cursor.execute("SELECT set_config('statement_timeout', %s, true)", [str(milliseconds)])
            yield
            cursor.execute("SET LOCAL statement_timeout TO DEFAULT")
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            raise TooLongError from error
        raise


def compile_query(rows: QuerySet[Any]) -> tuple[str, list[Any]]:
    """Return SQL and parameters of a query set, even of an empty one."""
    sql, parameters = rows.query.get_compiler(connection=connection, elide_empty=False).as_sql()
    return sql, list(parameters)
