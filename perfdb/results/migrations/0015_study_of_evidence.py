"""Evidence knows the study of its run, which it moves with: what partitions are made by.

Names and studies are kept by statements instead of rows: a row that moves to another partition changes in no trigger
of rows.
"""

from importlib import import_module

import django.db.models.deletion
from django.db import migrations, models

EARLIER = import_module("perfdb.results.migrations.0014_counts_in_one_place")
VIEW = import_module("perfdb.results.migrations.0002_measurement_view").CREATE
TABLES = {"runevidence": "run_evidence", "counterset": "counter_set", "trace": "trace", "runsource": "run_source"}

FILLED = "".join(
    f"UPDATE {table} SET study_id = run.study_id FROM run WHERE run.id = {table}.run_id;" for table in TABLES.values()
)
MOVES = "".join(
    f"""
    UPDATE {table} SET study_id = added.study_id FROM added JOIN removed USING (id)
    WHERE added.study_id <> removed.study_id AND {table}.run_id = added.id AND {table}.study_id = removed.study_id;"""
    for table in TABLES.values()
)
TRIGGERS = f"""
CREATE FUNCTION move_evidence() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM added JOIN removed USING (id) WHERE added.study_id <> removed.study_id) THEN
        RETURN NULL;
    END IF;{MOVES}
    RETURN NULL;
END $$;
CREATE TRIGGER run_moved AFTER UPDATE ON run REFERENCING OLD TABLE AS removed NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION move_evidence();

DROP TRIGGER run_renamed ON run;
DROP FUNCTION keep_changed_name;
CREATE FUNCTION keep_changed_names() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO search_name (kind, text)
    SELECT 'run', added.run_id FROM added JOIN removed USING (id) WHERE added.run_id <> removed.run_id
    UNION SELECT 'tag', unnest(added.tags) FROM added JOIN removed USING (id)
          WHERE added.tags IS DISTINCT FROM removed.tags
    ORDER BY 1, 2 ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER run_renamed AFTER UPDATE ON run REFERENCING OLD TABLE AS removed NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION keep_changed_names();
"""
NO_TRIGGERS = f"""
DROP TRIGGER run_moved ON run;
DROP TRIGGER run_renamed ON run;
DROP FUNCTION move_evidence, keep_changed_names;
{EARLIER.RENAMED}
"""
_JOIN = "ON evidence.run_id = run.id"


def _study(*, null: bool) -> "models.ForeignKey[models.Model]":
    return models.ForeignKey(
        db_constraint=False,
        db_index=False,
        null=null,
        on_delete=django.db.models.deletion.DO_NOTHING,
        related_name="+",
        to="results.study",
    )


class Migration(migrations.Migration):

    dependencies = [("results", "0014_counts_in_one_place")]

    operations = [
        *(migrations.AddField(model, "study", _study(null=True)) for model in TABLES),
        migrations.RunSQL(FILLED, migrations.RunSQL.noop),
        *(migrations.AlterField(model, "study", _study(null=False)) for model in TABLES),
        migrations.RunSQL(TRIGGERS, NO_TRIGGERS),
        migrations.RunSQL(
            f"DROP VIEW measurement; {VIEW.replace(_JOIN, _JOIN + ' AND evidence.study_id = run.study_id')}",
            f"DROP VIEW measurement; {VIEW}",
        ),
    ]
