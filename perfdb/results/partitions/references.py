"""References to runs. In one table most are foreign keys; in partitions the id alone is no key, and triggers keep them.

A partitioned table has no unique id, only unique pairs of id and study, and what people attach to runs does not say the
study. So statements that make references look whether the runs are there, and lock them as a foreign key does;
statements that delete runs look whether anything is left that refers to them. Both work on all rows of a statement at
once, and only on statements to the whole table: moving rows between its parts costs nothing.
"""

from django.db import connection

from perfdb.results.models import Run
from perfdb.results.partitions import RUN, TABLES, is_partitioned

# Composed as text, since each table refers by another column. The second argument, where there is one, is the column
# that has to agree with the run's study. Two looks, since the run may have gone from one part to another meanwhile.
FUNCTIONS = f"""
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

CREATE OR REPLACE FUNCTION is_referred_to() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    reference record;
    kept bigint;
BEGIN
    IF NOT EXISTS (SELECT FROM removed) THEN
        RETURN NULL;
    END IF;
    FOR reference IN
        SELECT tgrelid::regclass AS referring, split_part(encode(tgargs, 'escape'), '\\000', 1) AS attribute
        FROM pg_trigger WHERE tgfoid = 'refers_to_run'::regproc AND tgname LIKE '%\\_added'
    LOOP
        EXECUTE format('SELECT %1$I FROM %2$s WHERE %1$I IN (SELECT id FROM removed) LIMIT 1',
                       reference.attribute, reference.referring) INTO kept;
        IF kept IS NOT NULL THEN
            RAISE foreign_key_violation USING TABLE = TG_TABLE_NAME,
                MESSAGE = format('%s refers to run %s', reference.referring, kept);
        END IF;
    END LOOP;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER run_referred_to AFTER DELETE ON {RUN} REFERENCING OLD TABLE AS removed
FOR EACH STATEMENT EXECUTE FUNCTION is_referred_to();
"""


def to_runs() -> list[tuple[str, str]]:
    """Every table and column that refers to runs."""
    fields = [each.field for each in Run._meta.related_objects]
    return sorted((field.model._meta.db_table, str(field.column)) for field in fields)


def refer(table: str, column: str) -> None:
    """Keep a column to ids of runs, in whichever form the tables have: a migration that adds one calls it."""
    if is_partitioned():
        refer_once_a_statement(table, column)
        return
    with connection.cursor() as cursor:
        cursor.execute(
            f'ALTER TABLE "{table}" ADD CONSTRAINT {table}_{column}_fk_run_id '
            f'FOREIGN KEY ("{column}") REFERENCES {RUN} (id) DEFERRABLE INITIALLY DEFERRED'
        )


def refer_once_a_statement(table: str, column: str) -> None:
    """Keep a column to ids of runs by triggers: in either form where a row or more comes with each run."""
    arguments = f"'{column}', 'study_id'" if table in TABLES else f"'{column}'"
    with connection.cursor() as cursor:
        for event, name in (("INSERT", "added"), ("UPDATE", "changed")):
            cursor.execute(
                f"CREATE OR REPLACE TRIGGER refers_by_{column}_{name} AFTER {event} ON {table} "
                f"REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION refers_to_run({arguments})"
            )


def drop_keys() -> None:
    """Take the foreign keys to runs away."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT conrelid::regclass::text, conname FROM pg_constraint "
            "WHERE contype = 'f' AND confrelid = %s::regclass AND conparentid = 0",
            [RUN],
        )
        for table, name in cursor.fetchall():
            cursor.execute(f'ALTER TABLE {table} DROP CONSTRAINT "{name}"')


def keep_by_triggers() -> None:
    """Keep all references to runs by triggers."""
    with connection.cursor() as cursor:
        cursor.execute(FUNCTIONS)
    for table, column in to_runs():
        refer(table, column)
