"""PostgreSQL's catalogue: the parts of a table as statements."""

import re
from dataclasses import dataclass
from typing import Any

from django.db import connection

RUN = "run"
TABLES = (RUN, "run_evidence", "counter_set", "trace", "run_source")
"""The partitioned tables, by their column ``study_id``; the others refer to the first."""
_KEY_COLUMNS = re.compile(r"(UNIQUE.*?|PRIMARY KEY )\(([^()]*)\)")


@dataclass(frozen=True, slots=True)
class Definition:
    """A named part of a table.

    ``text`` is a constraint's definition, or the statement that makes an index, trigger or view.
    """

    name: str
    text: str

    @property
    def with_study(self) -> str:
        """Return the text with the study in a unique key, as partitioned tables require."""
        return _KEY_COLUMNS.sub(r"\1(\2, study_id)", self.text, count=1)


def execute(statement: str) -> None:
    """Execute a statement without result."""
    with connection.cursor() as cursor:
        cursor.execute(statement)


def fetch(query: str, *parameters: str) -> list[tuple[Any, ...]]:
    """Return the rows of a query."""
    with connection.cursor() as cursor:
        cursor.execute(query, parameters)
        return list(cursor.fetchall())


def is_partitioned() -> bool:
    """Return whether the tables are partitioned."""
    return bool(fetch("SELECT relkind = 'p' FROM pg_class WHERE oid = %s::regclass", RUN)[0][0])


def rest_of(name: str) -> str:
    """Return the name of a table's or index's default partition: *the rest*."""
    return f"{name}_rest"


def _constraints(table: str, kinds: str) -> list[Definition]:
    return _definitions(
        "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint "
        "WHERE conrelid = %s::regclass AND strpos(%s, contype) > 0 ORDER BY conname",
        table,
        kinds,
    )


def _definitions(query: str, *parameters: str) -> list[Definition]:
    return [Definition(*row) for row in fetch(query, *parameters)]


def read_keys(table: str) -> list[Definition]:
    """Return the primary key and the unique constraints."""
    return _constraints(table, "pu")


def read_foreign_keys(table: str) -> list[Definition]:
    """Return the references of this table to others."""
    return _constraints(table, "f")


def read_indexes(table: str) -> list[Definition]:
    """Return the indexes that belong to no constraint."""
    return _definitions(
        "SELECT relname, pg_get_indexdef(indexrelid) FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid "
        "WHERE indrelid = %s::regclass AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid "
        "AND conrelid = indrelid) ORDER BY relname",
        table,
    )


def read_triggers(table: str) -> list[Definition]:
    """Return the triggers, without the triggers of constraints."""
    return _definitions(
        "SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = %s::regclass AND NOT tgisinternal "
        "ORDER BY tgname",
        table,
    )


def read_views() -> list[Definition]:
    """Return the views that read any of the partitioned tables."""
    return _definitions(
        "SELECT DISTINCT view.relname, format('CREATE VIEW %%I AS %%s', view.relname, pg_get_viewdef(view.oid)) "
        "FROM pg_depend JOIN pg_rewrite ON pg_rewrite.oid = objid JOIN pg_class AS view ON view.oid = ev_class "
        "WHERE classid = 'pg_rewrite'::regclass AND refobjid = ANY (%s::regclass[]) AND view.relkind = 'v'",
        f"{{{','.join(TABLES)}}}",
    )


def next_id(table: str) -> int | None:
    """Take the next number of a table's ids; None without an identity column."""
    sequence = fetch(
        "SELECT nextval(pg_get_serial_sequence(%s, attname)) FROM pg_attribute "
        "WHERE attrelid = %s::regclass AND attidentity <> ''",
        table,
        table,
    )
    return int(sequence[0][0]) if sequence else None
