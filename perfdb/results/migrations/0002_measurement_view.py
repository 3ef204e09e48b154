"""The view for people who use SQL: one row a measurement, with its origin and printed text."""

from django.db import migrations

CREATE = """
CREATE VIEW measurement AS
SELECT run.id AS run, measure.metric, measure.role, value.value, measure.unit,
       CASE evidence.origins[array_position(evidence.slots, measure.slot)]
            WHEN 'r' THEN 'reported' WHEN 'd' THEN 'derived' WHEN 'p' THEN 'published' WHEN 'g' THEN 'given'
       END AS origin,
       nullif(evidence.printed[array_position(evidence.slots, measure.slot)], '') AS printed
FROM run
CROSS JOIN LATERAL unnest(run."values") WITH ORDINALITY AS value (value, slot)
JOIN measure ON measure.slot = value.slot
LEFT JOIN run_evidence AS evidence ON evidence.run_id = run.id
WHERE value.value IS NOT NULL
"""


class Migration(migrations.Migration):
    dependencies = [("results", "0001_first")]

    operations = [migrations.RunSQL(CREATE, "DROP VIEW measurement")]
