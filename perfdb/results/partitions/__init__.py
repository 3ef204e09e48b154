"""Runs and their evidence in partitions by study, for installations that have grown large (docs/scaling.md).

`converting` turns the tables into partitioned ones whose only part, *the rest*, is the table that was there;
`splitting` moves studies out of the rest into parts of their own; `references` keeps what refers to runs whole.
Nothing else of perfdb knows which of the two forms its tables have.
"""

from django.db import connection

RUN = "run"
TABLES = (RUN, "run_evidence", "counter_set", "trace", "run_source")
"""What is partitioned: each has the study's id in ``study_id``. Runs come first, since the others refer to them."""


def is_partitioned() -> bool:
    """Whether the tables are partitioned already."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT relkind = 'p' FROM pg_class WHERE oid = %s::regclass", [RUN])
        return bool(cursor.fetchone()[0])


def rest_of(table: str) -> str:
    """The part of a table in which every study is that has none of its own."""
    return f"{table}_rest"


def execute(statement: str) -> None:
    """Send a statement that defines something."""
    with connection.cursor() as cursor:
        cursor.execute(statement)
