"""Drop the count of renamings: no process remembers names any more."""

from django.db import migrations

NAMES = {"study": "slug", "system": "name", "level": "name", "workload": "name", "device": "name"}
DROP = "DROP FUNCTION IF EXISTS number_renaming CASCADE; DROP TABLE IF EXISTS renaming;"
CREATE = """
CREATE TABLE renaming (latest bigserial);
INSERT INTO renaming DEFAULT VALUES;
CREATE FUNCTION number_renaming() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE renaming SET latest = DEFAULT;
    RETURN NULL;
END $$;
""" + "".join(
    f"CREATE TRIGGER {table}_renamed AFTER UPDATE OF {name} ON {table} FOR EACH ROW"
    f" WHEN (OLD.{name} IS DISTINCT FROM NEW.{name}) EXECUTE FUNCTION number_renaming();"
    for table, name in NAMES.items()
)


class Migration(migrations.Migration):
    dependencies = [("results", "0002_foreign_keys")]
    operations = [migrations.RunSQL(DROP, CREATE)]
