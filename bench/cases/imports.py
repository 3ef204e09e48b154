"""Bringing results in, through the web server and a real worker, beside a bare COPY of the same rows.

It is done in an instance of its own, which is thrown away: what it leaves there would change what others measure.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from tempfile import TemporaryFile
from typing import Any, BinaryIO
from uuid import uuid4

import psycopg
from psycopg import sql

from bench import inputs
from bench.case import Bar, Case
from bench.instance import Instance
from bench.sending import Sender

RUNS = 1500
RECORDS = 10_000
_TURNS = 7
_OF_LOGS, _OF_RECORDS = Bar(ratio=3.5), Bar(most_s=2.0)
# The column that leads to the run, and what else has to differ where a run is there twice.
_TABLES = {
    "run": ("id", {"trial": "trial + 20 * {copy}"}),
    "run_evidence": ("run_id", {}),
    "counter_set": ("run_id", {"id": "nextval(pg_get_serial_sequence('counter_set', 'id'))"}),
    "trace": ("run_id", {"id": "nextval(pg_get_serial_sequence('trace', 'id'))"}),
    "run_source": ("run_id", {"id": "nextval(pg_get_serial_sequence('run_source', 'id'))"}),
    "problem": ("run_id", {"id": "nextval(pg_get_serial_sequence('problem', 'id'))"}),
}
_APART = 10_000_000
"""Between the ids of a run and of its copy."""

Bring = Callable[[bytes, str], int]


def cases(instance: Instance, stack: ExitStack) -> Iterator[Case]:
    """All of them; ``instance`` is an empty one."""
    sender = Sender(instance)
    connection = psycopg.connect(instance.address, autocommit=True)
    stack.callback(connection.close)
    yield _import(connection, f"{RUNS:,} runs of a log", inputs.log(RUNS), sender.log, _OF_LOGS)
    contradicting = inputs.contradicting_log(RUNS)
    yield _import(connection, f"{RUNS:,} runs of a log that contradict themselves", contradicting, sender.log, _OF_LOGS)
    yield _import(connection, f"{RECORDS:,} JSON records", inputs.records(RECORDS), sender.records, _OF_RECORDS)


def _import(connection: "psycopg.Connection[tuple[Any, ...]]", name: str, data: bytes, bring: Bring, bar: Bar) -> Case:
    """Parse, prepare, derive, write and commit beside writing the rows that came of it."""
    copies = _Copies(connection)

    def brought() -> int:
        return bring(data, f"bench-{uuid4().hex[:12]}")

    return Case(
        "imports",
        name,
        "COPY of the same rows into the same tables",
        brought,
        copies.write,
        bar,
        lambda: copies.take(brought()),
        turns=_TURNS,
    )


class _Copies:
    """The rows of an upload under other numbers, in PostgreSQL's binary form: a set for each time they are written."""

    def __init__(self, connection: "psycopg.Connection[tuple[Any, ...]]") -> None:
        self._connection = connection
        self._sets: list[dict[str, BinaryIO]] = []
        self._written = count()

    def take(self, upload: int) -> bool:
        """Make the sets; whether one of them gives as many rows of each table as there were."""
        runs = sql.SQL("SELECT run_id FROM upload_run WHERE upload_id = {}").format(upload)
        before = self._counts(runs)
        for copy in range(1, 2 * _TURNS + 3):
            self._sets.append({table: self._taken(table, runs, copy) for table in _TABLES})
        self.write()
        return self._counts(_shifted(runs)) == before

    def write(self) -> None:
        """Write a set that was not written before, in one transaction."""
        rows = self._sets[next(self._written)]
        with self._connection.transaction(), self._connection.cursor() as cursor:
            for table, content in rows.items():
                content.seek(0)
                into = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT BINARY)")
                with cursor.copy(into.format(sql.Identifier(table), self._columns(table))) as copy:
                    while block := content.read(1 << 20):
                        copy.write(block)

    def _counts(self, runs: sql.Composable) -> list[object]:
        """How many rows of each table these runs have."""
        found: list[object] = []
        for table, (column, _) in _TABLES.items():
            query = sql.SQL("SELECT count(*) FROM {} WHERE {} IN ({})")
            row = self._connection.execute(query.format(sql.Identifier(table), sql.Identifier(column), runs)).fetchone()
            found.append(row)
        return found

    def _columns(self, table: str) -> sql.Composed:
        return sql.SQL(", ").join(map(sql.Identifier, self._names(table)))

    def _names(self, table: str) -> list[str]:
        query = "SELECT column_name FROM information_schema.columns WHERE table_name = %s ORDER BY ordinal_position"
        return [row[0] for row in self._connection.execute(query, [table])]

    def _taken(self, table: str, runs: sql.Composable, copy: int) -> BinaryIO:
        column, others = _TABLES[table]
        new = {column: f"{column} + {copy * _APART}"} | {name: text.format(copy=copy) for name, text in others.items()}
        chosen = sql.SQL(", ").join(
            sql.SQL(f"({new[name]})::{_TYPES.get(name, 'int8')}") if name in new else sql.Identifier(name)
            for name in self._names(table)
        )
        every = sql.SQL("COPY (SELECT {} FROM {} WHERE {} IN ({})) TO STDOUT (FORMAT BINARY)")
        content = TemporaryFile()  # noqa: SIM115 - it is read later
        query = every.format(chosen, sql.Identifier(table), sql.Identifier(column), runs)
        with self._connection.cursor() as cursor, cursor.copy(query) as rows:
            for block in rows:
                content.write(block)
        return content


_TYPES = {"trial": "int2"}


def _shifted(runs: sql.Composable) -> sql.Composed:
    """The same runs in the first set."""
    return sql.SQL("SELECT run_id + {} FROM ({}) AS brought").format(_APART, runs)
