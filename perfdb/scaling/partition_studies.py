"""Parts for studies: moving studies out of *the rest*, and dropping a study's part."""

from dataclasses import dataclass

from django.db import connection, transaction

from perfdb.results.models import DimensionCount, Experiment, RunCount, Study, StudyActivity
from perfdb.scaling import catalogue
from perfdb.scaling.catalogue import RUN, TABLES, execute, fetch, is_partitioned, rest_of
from perfdb.scaling.partition_tables import references_to_runs

MIN_RUNS, MAX_PARTS = 1_000_000, 16
"""The least runs of a part, and the most parts: each part makes planning longer for a query without a study."""


class SharedPartError(Exception):
    """Error of a study that has no part for itself."""


@dataclass(frozen=True, slots=True)
class Part:
    """Studies that share one part of each table, and the number of runs."""

    studies: tuple[int, ...]
    runs: int


@dataclass(frozen=True, slots=True)
class Plan:
    """The parts to make, and the studies that stay in *the rest*.

    ``bytes_a_run``: bytes of a run in all tables, with indexes.
    """

    parts: tuple[Part, ...]
    staying: Part
    bytes_a_run: float


def make_plan(min_runs: int | None = None) -> Plan:
    """Plan parts of at least ``min_runs`` runs, of the oldest studies first.

    By default `MIN_RUNS`, or more if all runs would need more than `MAX_PARTS` parts.
    """
    tables = [rest_of(table) if is_partitioned() else table for table in TABLES]
    counts = fetch(f"SELECT study_id, count(*) FROM {tables[0]} GROUP BY 1 ORDER BY 1")
    if min_runs is None:
        min_runs = max(MIN_RUNS, int(fetch("SELECT coalesce(sum(runs), 0) FROM run_count")[0][0]) // MAX_PARTS)
    parts, waiting, runs = [], [], 0
    for study, count in counts:
        if count >= min_runs:
            parts.append(Part((study,), count))
            continue
        waiting.append(study)
        runs += count
        if runs >= min_runs:
            parts.append(Part(tuple(waiting), runs))
            waiting, runs = [], 0
    size = sum(fetch("SELECT pg_total_relation_size(%s)", table)[0][0] for table in tables)
    return Plan(tuple(parts), Part(tuple(waiting), runs), size / max(sum(count for _, count in counts), 1))


def move_studies(part: Part) -> int:
    """Move studies into a new part of each table; return the part's number.

    All tables are changed or none. Others read meanwhile and wait with writing; reading waits too while the new parts
    are attached, which scans the rest once.
    """
    ((last,),) = fetch(
        f"SELECT max(substring(relname FROM '^{RUN}_([0-9]+)$')::int) FROM pg_inherits "
        "JOIN pg_class ON oid = inhrelid WHERE inhparent = %s::regclass",
        RUN,
    )
    number, studies = int(last or 0) + 1, ", ".join(map(str, part.studies))
    with transaction.atomic():
        execute(f"LOCK TABLE {', '.join(TABLES)} IN SHARE ROW EXCLUSIVE MODE")
        for table in TABLES:
            _move(table, number, studies)
        for table in TABLES:
            execute(f"ALTER TABLE {table} ATTACH PARTITION {table}_{number} FOR VALUES IN ({studies})")
    return number


def _move(table: str, number: int, studies: str) -> None:
    """Fill a new part from the rest, then build keys and indexes."""
    new = f"{table}_{number}"
    execute(f"CREATE TABLE {new} (LIKE {table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE)")
    with connection.cursor() as cursor:
        columns = connection.introspection.get_table_description(cursor, table)
    names = ", ".join(f'"{column.name}"' for column in columns)
    meant = f"study_id IN ({studies})"
    if table != RUN:
        # Evidence has no index by study, but one by run.
        meant += f" AND run_id IN (SELECT id FROM {RUN}_{number})"
    execute(f"INSERT INTO {new} ({names}) SELECT {names} FROM {rest_of(table)} WHERE {meant}")
    execute(f"DELETE FROM {rest_of(table)} WHERE {meant}")
    for key in [*catalogue.read_keys(table), *catalogue.read_foreign_keys(table)]:
        execute(f'ALTER TABLE {new} ADD CONSTRAINT "{key.name}_{number}" {key.text}')
    for index in catalogue.read_indexes(table):
        made = index.text.replace(f"INDEX {index.name} ON ONLY", f"INDEX {index.name}_{number} ON", 1)
        execute(made.replace(f".{table} USING", f".{new} USING", 1))
    execute(f"ANALYZE {new}")


def vacuum_rest() -> None:
    """Free the space of moved rows and refresh the planner's statistics.

    Call this outside of a transaction.
    """
    for table in TABLES:
        execute(f"VACUUM {rest_of(table)}")
        execute(f"ANALYZE {table}")


def drop_runs(study: Study) -> None:
    """Drop the runs of a study that has a part for itself.

    Evidence, notes, experiments and counts go too; the study and its uploads with files stay. Raise SharedPartError if
    other studies share the part.
    """
    found = fetch(
        "SELECT substring(relname FROM '[0-9]+$') FROM pg_inherits JOIN pg_class ON oid = inhrelid "
        "WHERE inhparent = %s::regclass AND pg_get_expr(relpartbound, oid) = %s",
        RUN,
        f"FOR VALUES IN ('{study.pk}')",
    )
    if not found:
        raise SharedPartError(f"{study.title} has no part of its own")
    part = found[0][0]
    with transaction.atomic():
        execute(f"LOCK TABLE {', '.join(TABLES)} IN ACCESS EXCLUSIVE MODE")
        for table, column in references_to_runs():
            if table not in TABLES:
                execute(f'DELETE FROM {table} WHERE "{column}" IN (SELECT id FROM {RUN}_{part})')
        for table in reversed(TABLES):
            execute(f"DROP TABLE {table}_{part}")
        RunCount.objects.filter(experiment__study=study).delete()
        Experiment.objects.filter(study=study).delete()
        DimensionCount.objects.filter(study=study).delete()
        StudyActivity.objects.filter(study=study).delete()
