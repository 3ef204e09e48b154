"""Imports through web server and worker, beside COPY of the same rows."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from tempfile import TemporaryFile
from typing import Any, BinaryIO
from uuid import uuid4

import psycopg
from psycopg import sql

from bench import inputs
from bench.instance import Instance
from bench.measure import Bar, Case

RUNS, RECORDS, FEW = 1500, 10_000, 3
_TURNS = 5
_TABLES = {
    "run": "id",
    "run_evidence": "run_id",
    "counter_set": "run_id",
    "trace": "run_id",
    "run_source": "run_id",
    "problem": "run_id",
}
"""Tables that an import fills, with the column of the run's id."""

Connection = psycopg.Connection[tuple[Any, ...]]
Send = Callable[[bytes, str], int]


def import_cases(instance: Instance, stack: ExitStack) -> Iterator[Case]:
    """Yield the cases; ``instance`` must be empty."""
    connection = stack.enter_context(psycopg.connect(instance.database, autocommit=True))
    log, records = instance.client.send_log, instance.client.send_records
    yield _import_case(connection, "a small upload", inputs.log(FEW), log, Bar(seconds=1))
    yield _import_case(connection, f"{RUNS:,} runs of a log", inputs.log(RUNS), log, Bar(seconds=3))
    yield _import_case(connection, f"{RECORDS:,} JSON records", inputs.records(RECORDS), records, Bar(seconds=8))


def _import_case(connection: Connection, name: str, data: bytes, send: Send, bar: Bar) -> Case:
    copies = _Copies(connection)

    def work() -> int:
        return send(data, f"bench-{uuid4().hex[:12]}")

    return Case("imports", name, work, copies.write, bar, lambda: copies.read(work()) > 0, turns=_TURNS)


class _Copies:
    """Rows of an upload in binary form, and tables to write the rows to."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._rows: dict[str, BinaryIO] = {}

    def read(self, upload: int) -> int:
        """Read the rows of an upload and return how many runs there are."""
        for table, column in _TABLES.items():
            copy, source = sql.Identifier(f"bench_{table}"), sql.Identifier(table)
            self._connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(copy))
            self._connection.execute(sql.SQL("CREATE TABLE {} (LIKE {} INCLUDING ALL)").format(copy, source))
            query = sql.SQL(
                "COPY (SELECT * FROM {} WHERE {} IN (SELECT run_id FROM upload_run WHERE upload_id = {})) "
                "TO STDOUT (FORMAT BINARY)"
            ).format(source, sql.Identifier(column), upload)
            self._rows[table] = TemporaryFile()  # noqa: SIM115 - it stays open for all turns
            with self._connection.cursor() as cursor, cursor.copy(query) as rows:
                for block in rows:
                    self._rows[table].write(block)
        self.write()
        count = self._connection.execute("SELECT count(*) FROM bench_run").fetchone()
        return int(count[0]) if count else 0

    def write(self) -> None:
        """Write all rows in one transaction, into tables that are emptied before."""
        with self._connection.transaction(), self._connection.cursor() as cursor:
            for table, content in self._rows.items():
                copy = sql.Identifier(f"bench_{table}")
                cursor.execute(sql.SQL("TRUNCATE {}").format(copy))
                content.seek(0)
                with cursor.copy(sql.SQL("COPY {} FROM STDIN (FORMAT BINARY)").format(copy)) as target:
                    while block := content.read(1 << 20):
                        target.write(block)
