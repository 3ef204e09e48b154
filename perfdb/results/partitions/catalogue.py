"""What PostgreSQL's catalogue says of a table, as the statements that make the same again."""

import re
from dataclasses import dataclass

from django.db import connection

_STUDY = "study_id"
_KEYS = re.compile(r"(UNIQUE.*?|PRIMARY KEY )\(([^()]*)\)")


@dataclass(frozen=True, slots=True)
class Definition:
    """A part of a table and what makes it: of a constraint what stands behind its name, of others a whole statement."""

    name: str
    text: str

    @property
    def widened(self) -> "Definition":
        """With the study as the last column of a unique key: unique in a partitioned table is what holds it."""
        return Definition(self.name, _KEYS.sub(rf"\1(\2, {_STUDY})", self.text, count=1))


def _definitions(query: str, table: str) -> list[Definition]:
    with connection.cursor() as cursor:
        cursor.execute(query, [table])
        return [Definition(*row) for row in cursor.fetchall()]


def keys(table: str) -> list[Definition]:
    """Primary key and unique constraints."""
    return _constraints(table, "pu")


def foreign_keys(table: str) -> list[Definition]:
    """References of this table to others."""
    return _constraints(table, "f")


def _constraints(table: str, kinds: str) -> list[Definition]:
    return _definitions(
        "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint "
        f"WHERE conrelid = %s::regclass AND contype = ANY ('{{{','.join(kinds)}}}') ORDER BY conname",
        table,
    )


def indexes(table: str) -> list[Definition]:
    """Indexes that are not part of a constraint."""
    return _definitions(
        "SELECT relname, pg_get_indexdef(indexrelid) FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid "
        "WHERE indrelid = %s::regclass AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid "
        "AND conrelid = indrelid) ORDER BY relname",
        table,
    )


def triggers(table: str) -> list[Definition]:
    """Triggers that somebody made."""
    return _definitions(
        "SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = %s::regclass AND NOT tgisinternal "
        "ORDER BY tgname",
        table,
    )


def views(table: str) -> list[Definition]:
    """Views that read the table, as the statements that make them."""
    return _definitions(
        "SELECT DISTINCT view.relname, format('CREATE VIEW %%I AS %%s', view.relname, pg_get_viewdef(view.oid)) "
        "FROM pg_depend JOIN pg_rewrite ON pg_rewrite.oid = objid JOIN pg_class AS view ON view.oid = ev_class "
        "WHERE classid = 'pg_rewrite'::regclass AND refobjid = %s::regclass AND view.relkind = 'v'",
        table,
    )


def next_id(table: str) -> int | None:
    """The number that the next row's id gets; None for a table whose rows are not numbered."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_attribute WHERE attrelid = %s::regclass AND attname = 'id' AND attidentity <> ''",
            [table],
        )
        if not cursor.fetchone()[0]:
            return None
        cursor.execute("SELECT nextval(pg_get_serial_sequence(%s, 'id'))", [table])
        return int(cursor.fetchone()[0])
