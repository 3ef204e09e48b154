"""A fact that stands where all values of its run do is kept as its text alone; what is there is right as it is."""

from django.db import migrations

# The keys of rows that the same transaction has made are looked at before other migrations change the table.
_LONG = """
UPDATE run_evidence SET facts = (
    SELECT jsonb_object_agg(key, CASE jsonb_typeof(value)
        WHEN 'string' THEN jsonb_build_object('text', value, 'artifact', artifacts[1], 'line', lines[1])
        ELSE value END)
    FROM jsonb_each(facts)
) WHERE EXISTS (SELECT FROM jsonb_each(facts) WHERE jsonb_typeof(value) = 'string');
SET CONSTRAINTS ALL IMMEDIATE;
SET CONSTRAINTS ALL DEFERRED;
"""


class Migration(migrations.Migration):
    dependencies = [("results", "0020_references_to_few")]

    operations = [migrations.RunSQL(migrations.RunSQL.noop, _LONG)]
