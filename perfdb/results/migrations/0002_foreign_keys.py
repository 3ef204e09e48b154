"""Foreign keys instead of the triggers for references in databases of earlier versions.

A partitioned database keeps the triggers for references to runs, since ``run`` has no unique ``id`` there. The count of
renamings goes too: no process remembers names any more.
"""

from copy import copy

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

KEYS = {
    "experiment": ("study", "system", "level", "workload", "device"),
    "run": ("experiment",),
    "runsource": ("run", "artifact", "upload"),
    "uploadrun": ("run", "upload"),
}
TRIGGERS = "refers_to_few(), few_are_referred_to()"
TRIGGERS_TO_RUNS = "refers_to_run(), is_referred_to()"


def add_keys(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Add the foreign keys to a database with triggers, and drop the functions."""
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SELECT to_regproc('refers_to_few') IS NULL, relkind = 'p' FROM pg_class WHERE oid = 'run'::regclass")
        fresh, partitioned = cursor.fetchone()
        if fresh:
            return
        cursor.execute(f"DROP FUNCTION {TRIGGERS if partitioned else f'{TRIGGERS}, {TRIGGERS_TO_RUNS}'} CASCADE")
    for name, fields in KEYS.items():
        model = apps.get_model("results", name)
        for field in map(model._meta.get_field, fields):
            if field.name == "run" and partitioned:
                continue
            without = copy(field)
            without.db_constraint = False
            schema_editor.alter_field(model, without, field)


class Migration(migrations.Migration):
    dependencies = [("results", "0001_schema")]
    operations = [
        migrations.RunPython(add_keys, migrations.RunPython.noop),
        migrations.RunSQL("DROP FUNCTION IF EXISTS number_renaming CASCADE; DROP TABLE IF EXISTS renaming"),
    ]
