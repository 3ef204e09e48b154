"""How many runs of each study have each value of each dimension: going through all experiments takes too long."""

from importlib import import_module

import django.db.models.deletion
from django.db import migrations, models

EARLIER = import_module("perfdb.results.migrations.0014_counts_in_one_place")

# The dimensions of experiments with their values; all of them under no name. Of factors those that there are.
VALUES = """
    JOIN experiment ON experiment.id = change.experiment_id
    LEFT JOIN system ON system.id = experiment.system_id
    LEFT JOIN level ON level.id = experiment.level_id
    LEFT JOIN workload ON workload.id = experiment.workload_id
    LEFT JOIN device ON device.id = experiment.device_id
    CROSS JOIN LATERAL (VALUES
        ('', NULL), ('campaign', campaign), ('system', system.name), ('level', level.name),
        ('workload', workload.name), ('device', device.name),
        ('mtu', mtu::text), ('users', users::text), ('layer', layer::text)
        UNION ALL SELECT 'factor.' || key, value FROM jsonb_each_text(experiment.factors)
    ) AS pair (name, value)
"""
COUNTED = f"""
    of_values AS (
        SELECT change.study_id, status, pair.name, coalesce(pair.value, '') AS value, sum(number) AS number
        FROM change {VALUES} GROUP BY 1, 2, 3, 4 HAVING sum(number) <> 0
    ), fewer_of_values AS (
        UPDATE dimension_count SET runs = runs + number FROM of_values
        WHERE number < 0 AND (dimension_count.study_id, dimension_count.status, dimension_count.name,
            dimension_count.value) = (of_values.study_id, of_values.status, of_values.name, of_values.value)
    ), more_of_values AS (
        INSERT INTO dimension_count (study_id, status, name, value, runs)
        SELECT study_id, status, name, value, number FROM of_values WHERE number > 0 ORDER BY 1, 2, 3, 4
        ON CONFLICT (study_id, status, name, value) DO UPDATE SET runs = dimension_count.runs + EXCLUDED.runs
    ), of_study AS ("""
_BEGIN, _END = "CREATE FUNCTION count_runs()", "END $$;"
_FUNCTION = EARLIER.TRIGGERS[EARLIER.TRIGGERS.index(_BEGIN) :]
BEFORE = _FUNCTION[: _FUNCTION.index(_END) + len(_END)].replace("CREATE", "CREATE OR REPLACE", 1)
AFTER = BEFORE.replace("of_study AS (", COUNTED.replace("'", "''"), 1)
STORED = f"""
INSERT INTO dimension_count (study_id, status, name, value, runs)
SELECT experiment.study_id, status, pair.name, coalesce(pair.value, ''), sum(runs) FROM run_count AS change {VALUES}
WHERE runs > 0 GROUP BY 1, 2, 3, 4;
"""


class Migration(migrations.Migration):

    dependencies = [("results", "0015_study_of_evidence")]

    operations = [
        migrations.CreateModel(
            name="DimensionCount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("status", models.CharField(max_length=10)),
                ("name", models.TextField()),
                ("value", models.TextField()),
                ("runs", models.BigIntegerField()),
                (
                    "study",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.study",
                    ),
                ),
            ],
            options={"db_table": "dimension_count"},
        ),
        migrations.AddConstraint(
            model_name="dimensioncount",
            constraint=models.UniqueConstraint(
                fields=("study", "status", "name", "value"), name="dimension_count_once"
            ),
        ),
        migrations.RunSQL(AFTER, BEFORE),
        migrations.RunSQL(STORED, migrations.RunSQL.noop),
    ]
