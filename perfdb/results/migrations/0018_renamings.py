"""How often a name was changed, so that a process knows whether those that it remembers still hold."""

from django.db import migrations

_NAMES = {"study": "slug", "system": "name", "level": "name", "workload": "name", "device": "name"}
_COUNT = """
CREATE TABLE renaming (times bigint NOT NULL);
INSERT INTO renaming VALUES (0);
CREATE FUNCTION count_renaming() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE renaming SET times = times + 1;
    RETURN NULL;
END $$;
"""
_TRIGGER = """
CREATE TRIGGER {table}_renamed AFTER UPDATE OF {name} ON {table} FOR EACH ROW
WHEN (OLD.{name} IS DISTINCT FROM NEW.{name}) EXECUTE FUNCTION count_renaming();
"""
_FORGET = "DROP TRIGGER {table}_renamed ON {table};"


def _each(statement: str) -> str:
    return "".join(statement.format(table=table, name=name) for table, name in _NAMES.items())


class Migration(migrations.Migration):
    dependencies = [("results", "0017_highest_throughput")]

    operations = [
        migrations.RunSQL(
            _COUNT + _each(_TRIGGER), _each(_FORGET) + "DROP FUNCTION count_renaming; DROP TABLE renaming;"
        ),
    ]
