"""References to runs from rows that come with each of them, and of runs to experiments: looked at once a statement.

They were foreign keys, at which PostgreSQL looks row by row: of a run that one log told, three of four looks that were
left. What refers to a run is kept by the triggers that keep it in partitioned tables, and experiments by those of other
references to few. These look at the end of the statement and not of the transaction. Evidence keeps its key: its rows are
so wide that a statement would take as long to keep them for a trigger.
"""

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import connection, migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from perfdb.results.partitions import is_partitioned, references

_TO_RUNS = (("run_source", "run_id"), ("upload_run", "run_id"))
# Qualified: experiments have a column that is called key, too.
_REFERS = """
CREATE OR REPLACE FUNCTION refers_to_few() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    lacking bigint;
BEGIN
    EXECUTE format(
        'SELECT few.key FROM (SELECT DISTINCT %1$I AS key FROM added) AS few
         WHERE few.key IS NOT NULL AND NOT EXISTS (SELECT FROM %2$I AS there WHERE there.id = few.key FOR KEY SHARE)
         LIMIT 1',
        TG_ARGV[0], TG_ARGV[1]) INTO lacking;
    IF lacking IS NOT NULL THEN
        RAISE foreign_key_violation USING TABLE = TG_TABLE_NAME,
            MESSAGE = format('%I.%I refers to %I %s, which is not there',
                             TG_TABLE_NAME, TG_ARGV[0], TG_ARGV[1], lacking);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER experiment_id_added AFTER INSERT ON run REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION refers_to_few('experiment_id', 'experiment');
CREATE TRIGGER experiment_id_changed AFTER UPDATE ON run REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION refers_to_few('experiment_id', 'experiment');
CREATE TRIGGER run_experiment_id_kept AFTER DELETE ON experiment REFERENCING OLD TABLE AS removed
FOR EACH STATEMENT EXECUTE FUNCTION few_are_referred_to('run', 'experiment_id');
"""
_NO_REFERS = """
DROP TRIGGER experiment_id_added ON run;
DROP TRIGGER experiment_id_changed ON run;
DROP TRIGGER run_experiment_id_kept ON experiment;
"""


_KEY = """
SELECT conname FROM pg_constraint JOIN pg_attribute ON attrelid = conrelid AND conkey = ARRAY[attnum]
WHERE contype = 'f' AND conrelid = %s::regclass AND attname = %s
"""


def _forward(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    with connection.cursor() as cursor:
        for table, column in _TO_RUNS:
            cursor.execute(_KEY, [table, column])
            # In partitions there is none.
            for (name,) in cursor.fetchall():
                cursor.execute(f'ALTER TABLE {table} DROP CONSTRAINT "{name}"')
        cursor.execute(references.FUNCTIONS)
    for table, column in _TO_RUNS:
        references.refer_once_a_statement(table, column)


def _backward(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Partitioned tables had these triggers before."""
    if is_partitioned():
        return
    with connection.cursor() as cursor:
        for table, column in _TO_RUNS:
            cursor.execute(f"DROP TRIGGER refers_by_{column}_added ON {table}")
            cursor.execute(f"DROP TRIGGER refers_by_{column}_changed ON {table}")
        cursor.execute("DROP TRIGGER run_referred_to ON run; DROP FUNCTION refers_to_run, is_referred_to;")
    for table, column in _TO_RUNS:
        references.refer(table, column)


class Migration(migrations.Migration):
    dependencies = [("results", "0021_short_facts")]

    operations = [
        migrations.AlterField(
            "run",
            "experiment",
            models.ForeignKey(
                db_constraint=False, on_delete=django.db.models.deletion.PROTECT, to="results.experiment"
            ),
        ),
        migrations.SeparateDatabaseAndState(
            [migrations.RunPython(_forward, _backward)],
            [
                migrations.AlterField(
                    "runsource",
                    "run",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sources",
                        to="results.run",
                    ),
                ),
                migrations.AlterField(
                    "uploadrun",
                    "run",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="upload_runs",
                        to="results.run",
                    ),
                ),
            ],
        ),
        migrations.RunSQL(_REFERS, _NO_REFERS),
    ]
