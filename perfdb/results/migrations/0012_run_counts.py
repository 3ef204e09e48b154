"""How many runs each experiment has, by status, so that no page counts runs."""

import django.db.models.deletion
from django.db import migrations, models

# Triggers, since runs come by COPY. Only additions make rows: when a study goes, its counts may go before its runs.
TRIGGERS = """
CREATE FUNCTION count_added_runs() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO run_count (experiment_id, status, runs)
    SELECT experiment_id, status, count(*) FROM added GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (experiment_id, status) DO UPDATE SET runs = run_count.runs + EXCLUDED.runs;
    RETURN NULL;
END $$;
CREATE TRIGGER run_count_added AFTER INSERT ON run REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION count_added_runs();

CREATE FUNCTION count_removed_runs() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE run_count SET runs = runs - gone.number
    FROM (SELECT experiment_id, status, count(*) AS number FROM removed GROUP BY 1, 2) AS gone
    WHERE run_count.experiment_id = gone.experiment_id AND run_count.status = gone.status;
    RETURN NULL;
END $$;
CREATE TRIGGER run_count_removed AFTER DELETE ON run REFERENCING OLD TABLE AS removed
FOR EACH STATEMENT EXECUTE FUNCTION count_removed_runs();

CREATE FUNCTION count_changed_runs() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    WITH change AS (
        SELECT experiment_id, status, sum(sign) AS number
        FROM (SELECT experiment_id, status, 1 AS sign FROM added
              UNION ALL SELECT experiment_id, status, -1 FROM removed) AS each
        GROUP BY 1, 2 HAVING sum(sign) <> 0
    ), fewer AS (
        UPDATE run_count SET runs = runs + change.number FROM change
        WHERE change.number < 0
          AND run_count.experiment_id = change.experiment_id AND run_count.status = change.status
    )
    INSERT INTO run_count (experiment_id, status, runs)
    SELECT experiment_id, status, number FROM change WHERE number > 0 ORDER BY 1, 2
    ON CONFLICT (experiment_id, status) DO UPDATE SET runs = run_count.runs + EXCLUDED.runs;
    RETURN NULL;
END $$;
CREATE TRIGGER run_count_changed AFTER UPDATE ON run REFERENCING OLD TABLE AS removed NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION count_changed_runs();
"""
NO_TRIGGERS = """
DROP TRIGGER run_count_added ON run;
DROP TRIGGER run_count_removed ON run;
DROP TRIGGER run_count_changed ON run;
DROP FUNCTION count_added_runs, count_removed_runs, count_changed_runs;
"""
STORED = """
INSERT INTO run_count (experiment_id, status, runs)
SELECT experiment_id, status, count(*) FROM run GROUP BY 1, 2;
-- The planner has to know that few runs have tags before it uses their index.
ANALYZE run;
"""


class Migration(migrations.Migration):

    dependencies = [("results", "0011_search")]

    operations = [
        migrations.CreateModel(
            name="RunCount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("status", models.CharField(max_length=10)),
                ("runs", models.BigIntegerField()),
                (
                    "experiment",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.experiment",
                    ),
                ),
            ],
            options={"db_table": "run_count"},
        ),
        migrations.AddConstraint(
            model_name="runcount",
            constraint=models.UniqueConstraint(fields=("experiment", "status"), name="run_count_once"),
        ),
        migrations.RunSQL(TRIGGERS, NO_TRIGGERS),
        migrations.RunSQL(STORED, migrations.RunSQL.noop),
    ]
