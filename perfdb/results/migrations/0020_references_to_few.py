"""References that each of very many rows makes to the same few: a statement looks at each of these once.

PostgreSQL looks at a foreign key row by row. Of a run that one log tells, three of seven looks were at the upload that
brought it and at its file; of an experiment all were at its study and at rows of the vocabulary. Triggers are as strict
but for one thing: they look at the end of the statement and not of the transaction. Besides, indexes go that another one
begins with, or that hold nothing but NULL.
"""

import django.db.models.deletion
from django.db import migrations, models

_FEW = {("run_source", "artifact_id"): "artifact", ("run_source", "upload_id"): "upload"} | {
    ("upload_run", "upload_id"): "upload"
}
_FEW |= {("experiment", f"{few}_id"): few for few in ("study", "system", "level", "workload", "device")}
FUNCTIONS = """
-- Arguments: the column that refers, and the table that it refers to. What is looked at is locked as by a foreign key.
CREATE FUNCTION refers_to_few() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    lacking bigint;
BEGIN
    EXECUTE format(
        'SELECT key FROM (SELECT DISTINCT %1$I AS key FROM added) AS few
         WHERE key IS NOT NULL AND NOT EXISTS (SELECT FROM %2$I WHERE id = key FOR KEY SHARE) LIMIT 1',
        TG_ARGV[0], TG_ARGV[1]) INTO lacking;
    IF lacking IS NOT NULL THEN
        RAISE foreign_key_violation USING TABLE = TG_TABLE_NAME,
            MESSAGE = format('%I.%I refers to %I %s, which is not there',
                             TG_TABLE_NAME, TG_ARGV[0], TG_ARGV[1], lacking);
    END IF;
    RETURN NULL;
END $$;

-- Arguments: the table that refers, and its column.
CREATE FUNCTION few_are_referred_to() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    kept bigint;
BEGIN
    -- One look by the index for each that goes: there may be very many rows that refer to none of them.
    EXECUTE format(
        'SELECT removed.id FROM removed
         CROSS JOIN LATERAL (SELECT FROM %2$I WHERE %1$I = removed.id LIMIT 1) AS one LIMIT 1',
        TG_ARGV[1], TG_ARGV[0]) INTO kept;
    IF kept IS NOT NULL THEN
        RAISE foreign_key_violation USING TABLE = TG_TABLE_NAME,
            MESSAGE = format('%I refers to %I %s', TG_ARGV[0], TG_TABLE_NAME, kept);
    END IF;
    RETURN NULL;
END $$;
"""
_ADDED = """
CREATE TRIGGER {column}_{name} AFTER {event} ON {table} REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION refers_to_few('{column}', '{few}');
"""
_REMOVED = """
CREATE TRIGGER {table}_{column}_kept AFTER DELETE ON {few} REFERENCING OLD TABLE AS removed
FOR EACH STATEMENT EXECUTE FUNCTION few_are_referred_to('{table}', '{column}');
"""
TRIGGERS = FUNCTIONS + "".join(
    template.format(table=table, column=column, few=few, event=event, name=name)
    for (table, column), few in _FEW.items()
    for template, event, name in ((_ADDED, "INSERT", "added"), (_ADDED, "UPDATE", "changed"), (_REMOVED, "", ""))
)
NO_TRIGGERS = (
    "".join(
        f"DROP TRIGGER {column}_added ON {table}; DROP TRIGGER {column}_changed ON {table};"
        f"DROP TRIGGER {table}_{column}_kept ON {few};"
        for (table, column), few in _FEW.items()
    )
    + "DROP FUNCTION refers_to_few, few_are_referred_to;"
)


class Migration(migrations.Migration):
    dependencies = [("results", "0019_short_evidence")]

    operations = [
        migrations.AlterField(
            "runsource",
            "artifact",
            models.ForeignKey(
                db_constraint=False, on_delete=django.db.models.deletion.PROTECT, to="results.artifact"
            ),
        ),
        migrations.AlterField(
            "runsource",
            "upload",
            models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, to="results.upload"),
        ),
        migrations.AlterField(
            "runsource",
            "run",
            models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="sources",
                to="results.run",
            ),
        ),
        migrations.AlterField(
            "uploadrun",
            "upload",
            models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="runs",
                to="results.upload",
            ),
        ),
        migrations.AlterField(
            "uploadrun",
            "replaced",
            models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="replaced_by",
                to="results.run",
            ),
        ),
        migrations.AddIndex(
            "uploadrun",
            models.Index(
                condition=models.Q(replaced__isnull=False), fields=["replaced"], name="upload_run_replaced"
            ),
        ),
        *(
            migrations.AlterField(
                "experiment",
                few,
                models.ForeignKey(
                    db_constraint=False,
                    db_index=few != "study",
                    null=few != "study",
                    on_delete=django.db.models.deletion.PROTECT,
                    to=f"results.{few}",
                ),
            )
            for few in ("study", "system", "level", "workload", "device")
        ),
        migrations.RunSQL(TRIGGERS, NO_TRIGGERS),
    ]
