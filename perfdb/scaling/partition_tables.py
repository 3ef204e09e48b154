"""Partitioning the tables of runs: each table becomes *the rest*, and no row moves.

The id of a run alone is no key of a partitioned table, so triggers keep the references to runs. Statements that add
references check, and lock, the runs as a foreign key does; statements that delete runs check for references. Both see
all rows of a statement, and only statements on the whole table: moving rows between parts costs nothing.
"""

from django.db import transaction

from perfdb.results.models import Run
from perfdb.scaling import catalogue
from perfdb.scaling.catalogue import RUN, TABLES, execute, fetch, rest_of

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
        views = catalogue.read_views()
        for view in views:
            execute(f"DROP VIEW {view.name}")
        _drop_references()
        for table in TABLES:
            _convert(table)
        for view in views:
            execute(view.text)
        keep_references()


def keep_references() -> None:
    """Create triggers that keep all references to runs valid.

    A further call adds those of tables that were created later.
    """
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


def _drop_references() -> None:
    keys = fetch(
        "SELECT conrelid::regclass::text, conname FROM pg_constraint WHERE contype = 'f' AND confrelid = %s::regclass",
        RUN,
    )
    for table, name in keys:
        execute(f'ALTER TABLE {table} DROP CONSTRAINT "{name}"')


def _convert(table: str) -> None:
    """Make a table the default partition of a new table with its name."""
    rest, number = rest_of(table), catalogue.next_id(table)
    keys, foreign = catalogue.read_keys(table), catalogue.read_foreign_keys(table)
    indexes, triggers = catalogue.read_indexes(table), catalogue.read_triggers(table)
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
