"""Moving studies out of the rest into parts of their own, so many runs together that a part is worth having."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection, transaction

from perfdb.results.partitions import RUN, TABLES, catalogue, execute, is_partitioned, rest_of

ENOUGH, MOST_PARTS = 1_000_000, 16
"""Runs that are worth a part, and how many parts: each makes planning longer where the study is not said."""


@dataclass(frozen=True, slots=True)
class Part:
    """Studies that are to stand in one part of each table, with how many runs they have."""

    studies: tuple[int, ...]
    runs: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What splitting would do: the parts it would make, and what would stay in the rest."""

    parts: tuple[Part, ...]
    staying: Part
    bytes_a_run: float
    """Of all partitioned tables with their indexes."""


def plan(enough: int | None = None) -> Plan:
    """Parts of at least so many runs each, of studies in the order in which they were made; the last ones wait.

    Without a number: as many that they are worth it, and that there are not too many parts of all runs.
    """
    parts, waiting, runs = [], [], 0
    counts = _counts()
    if enough is None:
        ((whole,),) = _rows("SELECT coalesce(sum(runs), 0) FROM run_count")
        enough = max(ENOUGH, int(whole) // MOST_PARTS)
    for study, count in counts:
        if count >= enough:
            parts.append(Part((study,), count))
            continue
        waiting.append(study)
        runs += count
        if runs >= enough:
            parts.append(Part(tuple(waiting), runs))
            waiting, runs = [], 0
    return Plan(tuple(parts), Part(tuple(waiting), runs), _size() / max(sum(count for _, count in counts), 1))


def split(part: Part) -> int:
    """Move these studies into a new part of each table, all or nothing; answers the part's number.

    Others read meanwhile and wait with writing; while the new parts are put in, which looks through the rest once,
    they wait with reading too.
    """
    number = _next_number()
    with transaction.atomic():
        execute(f"LOCK TABLE {', '.join(TABLES)} IN SHARE ROW EXCLUSIVE MODE")
        for table in TABLES:
            _move(table, number, part.studies)
        for table in TABLES:
            studies = ", ".join(map(str, part.studies))
            execute(f"ALTER TABLE {table} ATTACH PARTITION {table}_{number} FOR VALUES IN ({studies})")
    return number


def tidy() -> None:
    """Give back what has left the rest, and let the planner look at the whole; outside of any transaction."""
    for table in TABLES:
        execute(f"VACUUM {rest_of(table)}")
        execute(f"ANALYZE {table}")


def _move(table: str, number: int, studies: Sequence[int]) -> None:
    """Fill a new part from the rest; it gets its keys and indexes when the rows are there, which is faster."""
    new = f"{table}_{number}"
    execute(f"CREATE TABLE {new} (LIKE {table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE)")
    names = ", ".join(f'"{name}"' for name in _columns(table))
    meant = f"study_id IN ({', '.join(map(str, studies))})"
    if table != RUN:
        # Evidence has no index by study: its runs lead to it.
        meant += f" AND run_id IN (SELECT id FROM {RUN}_{number})"
    execute(f"INSERT INTO {new} ({names}) SELECT {names} FROM {rest_of(table)} WHERE {meant}")
    execute(f"DELETE FROM {rest_of(table)} WHERE {meant}")
    for key in [*catalogue.keys(table), *catalogue.foreign_keys(table)]:
        execute(f'ALTER TABLE {new} ADD CONSTRAINT "{key.name}_{number}" {key.text}')
    for index in catalogue.indexes(table):
        made = index.text.replace(f"INDEX {index.name} ON ONLY", f"INDEX {index.name}_{number} ON", 1)
        execute(made.replace(f".{table} USING", f".{new} USING", 1))
    execute(f"ANALYZE {new}")


def _columns(table: str) -> list[str]:
    with connection.cursor() as cursor:
        return [column.name for column in connection.introspection.get_table_description(cursor, table)]


def _counts() -> list[tuple[int, ...]]:
    """The studies in the rest with their runs, oldest first; before there is a rest, those of all."""
    return _rows(f"SELECT study_id, count(*) FROM {rest_of(RUN) if is_partitioned() else RUN} GROUP BY 1 ORDER BY 1")


def _size() -> int:
    """Bytes of the rest, of whatever kind."""
    tables = [rest_of(table) if is_partitioned() else table for table in TABLES]
    return sum(size for table in tables for (size,) in _rows(f"SELECT pg_total_relation_size('{table}')"))


def _next_number() -> int:
    """One more than the highest number of a part."""
    ((last,),) = _rows(
        f"SELECT max(substring(relname FROM '^{RUN}_([0-9]+)$')::int) FROM pg_inherits "
        f"JOIN pg_class ON oid = inhrelid WHERE inhparent = '{RUN}'::regclass"
    )
    return int(last or 0) + 1


def _rows(query: str) -> list[tuple[int, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query)
        return list(cursor.fetchall())
