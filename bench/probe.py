"""What an instance's PostgreSQL does, in pages and bytes: ``python -m bench.probe``, in the instance's environment.

It counts and hardly times, so that a busy machine says the same as a quiet one. Prints JSON for `bench.simulate`.
"""

import json
import sys
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any

import django
from django.db import connection, transaction

_HOT, _COLD = ("run",), ("run_evidence", "counter_set", "trace", "run_source")
_WRITTEN = 1000
_OVER_ALL = "metric=trans_per_s&workload=CRR&rows=device&pick=trans_per_s:device"


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one archive. Pages are of 8 kB, counted however they were found; bytes are of tables and indexes."""

    runs: int
    hot_bytes: int
    """Of what questions read: runs with their indexes."""
    cold_bytes: int
    """Of the evidence."""
    key_pages: int
    """Read to find one run by its id: the levels of the index, and its row."""
    pages: dict[str, int]
    """Read by the statement of each question."""
    wal_bytes: float
    """Written to the log for each new run and its evidence."""
    write_ms: float
    """Taken by PostgreSQL for the same, triggers included."""
    vacuum_bytes_per_s: float
    """Looked through by VACUUM."""


def measure() -> Figures:
    """Ask the instance's database; changes nothing."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*), max(id) FROM run")
        runs, last = cursor.fetchone()
    wal, milliseconds = _writing()
    return Figures(
        runs,
        sum(map(_bytes, _HOT)),
        sum(map(_bytes, _COLD)),
        _pages(_explained(f"SELECT trial FROM run WHERE id = {last}")),
        {name: _pages(_explained(statement)) for name, statement in _statements().items()},
        wal,
        milliseconds,
        _vacuum(),
    )


def _statements() -> dict[str, str]:
    from bench.cases.queries import QUESTIONS, reading_statement

    newest = "SELECT id FROM run ORDER BY started DESC, id DESC LIMIT 50"
    questions = QUESTIONS | {"best per device over everything": _OVER_ALL}
    return {name: reading_statement(each) for name, each in questions.items()} | {"page 1 of the run list": newest}


def _bytes(table: str) -> int:
    """With its indexes, in one piece or in partitions."""
    parts = "SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree(%s)"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT coalesce(({parts}), pg_total_relation_size(%s))", [table, table])
        return int(cursor.fetchone()[0])


def _explained(statement: str) -> dict[str, Any]:
    """How a statement was run."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, WAL, TIMING OFF, FORMAT JSON) {statement}")
        found: dict[str, Any] = cursor.fetchone()[0][0]
    return found


def _pages(explained: dict[str, Any]) -> int:
    plan = explained["Plan"]
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])


def _writing() -> tuple[float, float]:
    """Bytes of log and milliseconds for each of some runs and their evidence, written once more and taken back."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            f"CREATE TEMP TABLE chosen ON COMMIT DROP AS SELECT * FROM run ORDER BY id DESC LIMIT {_WRITTEN}"
        )
        cursor.execute(
            "CREATE TEMP TABLE known ON COMMIT DROP AS "
            "SELECT run_evidence.* FROM run_evidence JOIN chosen ON chosen.id = run_evidence.run_id"
        )
        cursor.execute("UPDATE chosen SET id = id + 1000000000, trial = trial + 100")
        cursor.execute("UPDATE known SET run_id = run_id + 1000000000")
        written = [
            _explained(f"INSERT INTO {table} SELECT * FROM {source}")
            for table, source in (("run", "chosen"), ("run_evidence", "known"))
        ]
        transaction.set_rollback(True)
    wal = sum(each["Plan"]["WAL Bytes"] for each in written)
    return wal / _WRITTEN, sum(each["Execution Time"] for each in written) / _WRITTEN


def _vacuum() -> float:
    """Bytes a second, of runs with their indexes."""
    with connection.cursor() as cursor:
        start = perf_counter()
        cursor.execute("VACUUM (DISABLE_PAGE_SKIPPING) run")
    return sum(map(_bytes, _HOT)) / (perf_counter() - start)


def main() -> None:
    """Print the figures."""
    django.setup()
    json.dump(asdict(measure()), sys.stdout)


if __name__ == "__main__":
    main()
