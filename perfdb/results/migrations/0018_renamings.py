"""Which change of a name was the latest, so that a process knows whether those that it remembers still hold."""

from django.db import migrations

_NAMES = {"study": "slug", "system": "name", "level": "name", "workload": "name", "device": "name"}
_NUMBER = """
-- A number of its own for each change, also for those that are rolled back.
CREATE TABLE renaming (latest bigserial);
INSERT INTO renaming DEFAULT VALUES;
CREATE FUNCTION number_renaming() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE renaming SET latest = DEFAULT;
    RETURN NULL;
END $$;
"""
_TRIGGER = """
CREATE TRIGGER {table}_renamed AFTER UPDATE OF {name} ON {table} FOR EACH ROW
WHEN (OLD.{name} IS DISTINCT FROM NEW.{name}) EXECUTE FUNCTION number_renaming();
"""
_FORGET = "DROP TRIGGER {table}_renamed ON {table};"


def _each(statement: str) -> str:
    return "".join(statement.format(table=table, name=name) for table, name in _NAMES.items())


class Migration(migrations.Migration):
    dependencies = [("results", "0017_highest_throughput")]

    operations = [
        migrations.RunSQL(
            _NUMBER + _each(_TRIGGER), _each(_FORGET) + "DROP FUNCTION number_renaming; DROP TABLE renaming;"
        ),
    ]
