"""SQL of query sets, for statements that the ORM cannot express as a whole."""

from typing import Any

from django.db import connection
from django.db.models import QuerySet


def compile_query(rows: QuerySet[Any]) -> tuple[str, list[Any]]:
    """Return the SQL of a query set and its parameters, even where Django knows it to be empty."""
    sql, parameters = rows.query.get_compiler(connection=connection, elide_empty=False).as_sql()
    return sql, list(parameters)
