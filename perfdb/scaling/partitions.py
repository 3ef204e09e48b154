"""Partitioning the tables of runs: each table becomes *the rest*, from which studies move into parts.

The id of a run alone is no key of a partitioned table, so triggers keep the references to runs. Statements that add
references check, and lock, the runs as a foreign key does; statements that delete runs check for references. Both see
all rows of a statement, and only statements on the whole table: moving rows between parts costs nothing.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from django.db import connection, transaction

from perfdb.results.database.sql import execute, fetch
from perfdb.results.models import DimensionCount, Experiment, Run, RunCount, Study, StudyActivity

RUN = "run"
TABLES = (RUN, "run_evidence", "counter_set", "trace", "run_source")
"""The partitioned tables, by their column ``study_id``; the others refer to the first."""
_KEY_COLUMNS = re.compile(r"(UNIQUE.*?|PRIMARY KEY )\(([^()]*)\)")

# Arguments: the referring column, and for evidence the column that has to agree with the run's study. A missing run is
# looked for twice, since the run may have moved to another part meanwhile.
_REFERS = f"""
CREATE OR REPLACE FUNCTION refers_to_run() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    agreeing CONSTANT text := CASE TG_NARGS WHEN 2 THEN format(' AND study_id = added.%I', TG_ARGV[1]) ELSE '' END;
    look CONSTANT text := format('SELECT %1$I FROM added WHERE %1$I IS NOT NULL AND NOT EXISTS (
        SELECT FROM {RUN} WHERE id = added.%1$I%2$s FOR KEY SHARE) LIMIT 1', TG_ARGV[0], agreeing);
    lacking bigint;
BEGIN
    EXECUTE look INTO lacking;
    IF lacking IS NOT NULL THEN
        EXECUTE look INTO lacking;
    END IF;
    IF lacking IS NOT NULL THEN
        RAISE foreign_key_violation USING TABLE = TG_TABLE_NAME,
            MESSAGE = format('%I.%I refers to run %s, which is not there', TG_TABLE_NAME, TG_ARGV[0], lacking);
    END IF;
    RETURN NULL;
END $$;
"""
_REFERRED_TO = f"""
CREATE OR REPLACE FUNCTION is_referred_to() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM removed) THEN {{checks}}
    END IF;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER run_referred_to AFTER DELETE ON {RUN} REFERENCING OLD TABLE AS removed
FOR EACH STATEMENT EXECUTE FUNCTION is_referred_to();
"""
_CHECK = """
        IF EXISTS (SELECT FROM {table} WHERE {column} IN (SELECT id FROM removed)) THEN
            RAISE foreign_key_violation USING TABLE = TG_TABLE_NAME, MESSAGE = '{table} refers to a deleted run';
        END IF;"""


def convert() -> None:
    """Partition all tables, or none. Other sessions wait until the transaction ends."""
    with transaction.atomic():
        execute(f"LOCK TABLE {', '.join(TABLES)} IN ACCESS EXCLUSIVE MODE")
        views = _read_views(f"{{{','.join(TABLES)}}}")
        for view in views:
            execute(f"DROP VIEW {view.name}")
        for table, name in fetch(_REFERENCES, RUN):
            execute(f'ALTER TABLE {table} DROP CONSTRAINT "{name}"')
        for table in TABLES:
            _convert(table)
        for view in views:
            execute(view.text)
        keep_references()


def keep_references() -> None:
    """Create the triggers that keep references to runs valid, also those of later tables."""
    references = references_to_runs()
    execute(_REFERS)
    execute(_REFERRED_TO.format(checks="".join(_CHECK.format(table=table, column=name) for table, name in references)))
    for table, column in references:
        arguments = f"'{column}', 'study_id'" if table in TABLES else f"'{column}'"
        for event, name in (("INSERT", "added"), ("UPDATE", "changed")):
            execute(
                f"CREATE OR REPLACE TRIGGER refers_by_{column}_{name} AFTER {event} ON {table} "
                f"REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION refers_to_run({arguments})"
            )


def references_to_runs() -> list[tuple[str, str]]:
    """Return each table and column that refers to runs."""
    fields = [each.field for each in Run._meta.related_objects]
    return sorted((field.model._meta.db_table, str(field.column)) for field in fields)


def _convert(table: str) -> None:
    """Make a table the default partition of a new table with its name."""
    rest, number = rest_of(table), next_id(table)
    keys, foreign = read_keys(table), read_foreign_keys(table)
    indexes, triggers = read_indexes(table), read_triggers(table)
    execute(f"ALTER TABLE {table} RENAME TO {rest}")
    for key in keys:
        execute(f'ALTER TABLE {rest} DROP CONSTRAINT "{key.name}"')
    for index in indexes:
        is_unique = index.text.startswith("CREATE UNIQUE")
        execute(
            f'DROP INDEX "{index.name}"' if is_unique else f'ALTER INDEX "{index.name}" RENAME TO "{index.name}_rest"'
        )
    for trigger in triggers:
        execute(f'DROP TRIGGER "{trigger.name}" ON {rest}')
    if number is not None:
        execute(f"ALTER TABLE {rest} ALTER id DROP IDENTITY")
    execute(
        f"CREATE TABLE {table} (LIKE {rest} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE) "
        "PARTITION BY LIST (study_id)"
    )
    for each in [*keys, *foreign]:
        execute(f'ALTER TABLE {table} ADD CONSTRAINT "{each.name}" {each.with_study}')
    for index in indexes:
        execute(index.with_study)
    if number is not None:
        execute(f"ALTER TABLE {table} ALTER id ADD GENERATED BY DEFAULT AS IDENTITY (START WITH {number})")
    # Builds the indexes of the new keys, and takes over the other indexes and the foreign keys.
    execute(f"ALTER TABLE {table} ATTACH PARTITION {rest} DEFAULT")
    for trigger in triggers:
        execute(trigger.text)


# --- Parts for studies --------------------------------------------------------------------------------------------


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
    """Parts to make, and studies that stay in *the rest*; ``bytes_a_run`` includes indexes."""

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
    for key in [*read_keys(table), *read_foreign_keys(table)]:
        execute(f'ALTER TABLE {new} ADD CONSTRAINT "{key.name}_{number}" {key.text}')
    for index in read_indexes(table):
        made = index.text.replace(f"INDEX {index.name} ON ONLY", f"INDEX {index.name}_{number} ON", 1)
        execute(made.replace(f".{table} USING", f".{new} USING", 1))
    execute(f"ANALYZE {new}")


def vacuum_rest() -> None:
    """Free the space of moved rows and refresh statistics, outside of a transaction."""
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


# --- PostgreSQL's catalogue: the parts of a table as statements ----------------------------------------------------


@dataclass(frozen=True, slots=True)
class Definition:
    """A constraint's definition, or the statement that makes an index, trigger or view."""

    name: str
    text: str

    @property
    def with_study(self) -> str:
        """Return the text with the study in a unique key, as partitioned tables require."""
        return _KEY_COLUMNS.sub(r"\1(\2, study_id)", self.text, count=1)


def is_partitioned() -> bool:
    """Return whether the tables are partitioned."""
    return bool(fetch("SELECT relkind = 'p' FROM pg_class WHERE oid = %s::regclass", RUN)[0][0])


def rest_of(name: str) -> str:
    """Return the name of a table's or index's default partition: *the rest*."""
    return f"{name}_rest"


def _reader(query: str) -> Callable[[str], list[Definition]]:
    """Return a function from a table, or an array of tables, to the parts that a query finds."""
    return lambda table: [Definition(*row) for row in fetch(query, table)]


_CONSTRAINTS = "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = %s::regclass "
_REFERENCES = (
    "SELECT conrelid::regclass::text, conname FROM pg_constraint WHERE contype = 'f' AND confrelid = %s::regclass"
)
# The primary key and the unique constraints; the references of a table to others.
read_keys = _reader(_CONSTRAINTS + "AND contype IN ('p', 'u') ORDER BY conname")
read_foreign_keys = _reader(_CONSTRAINTS + "AND contype = 'f' ORDER BY conname")
# Indexes and triggers that belong to no constraint.
read_indexes = _reader(
    "SELECT relname, pg_get_indexdef(indexrelid) FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid "
    "WHERE indrelid = %s::regclass AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid "
    "AND conrelid = indrelid) ORDER BY relname"
)
read_triggers = _reader(
    "SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = %s::regclass AND NOT tgisinternal "
    "ORDER BY tgname"
)
_read_views = _reader(
    "SELECT DISTINCT view.relname, format('CREATE VIEW %%I AS %%s', view.relname, pg_get_viewdef(view.oid)) "
    "FROM pg_depend JOIN pg_rewrite ON pg_rewrite.oid = objid JOIN pg_class AS view ON view.oid = ev_class "
    "WHERE classid = 'pg_rewrite'::regclass AND refobjid = ANY (%s::regclass[]) AND view.relkind = 'v'"
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
