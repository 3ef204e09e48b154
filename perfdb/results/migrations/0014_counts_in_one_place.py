"""One trigger counts runs, for experiments and for studies: a run that moves to another study is counted there too."""

from importlib import import_module

from django.db import migrations

EARLIER = [import_module(f"perfdb.results.migrations.{name}") for name in ("0011_search", "0012_run_counts")]

RENAMED = """
CREATE FUNCTION keep_changed_name() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO search_name (kind, text)
    SELECT 'run', NEW.run_id UNION SELECT 'tag', unnest(NEW.tags) ORDER BY 1, 2 ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER run_renamed AFTER UPDATE OF run_id, tags ON run
FOR EACH ROW WHEN (OLD.run_id <> NEW.run_id OR OLD.tags IS DISTINCT FROM NEW.tags)
EXECUTE FUNCTION keep_changed_name();
"""
TRIGGERS = """
CREATE FUNCTION keep_names() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO search_name (kind, text)
    SELECT DISTINCT 'run', run_id FROM added
    UNION SELECT 'tag', unnest(tags) FROM added WHERE tags IS NOT NULL
    ORDER BY 1, 2 ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER run_named AFTER INSERT ON run REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION keep_names();

-- Composed as text, since each kind of statement has other transition tables. Only additions make rows: when a study
-- goes, its counts may go before its runs.
CREATE FUNCTION count_runs() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    came CONSTANT text := 'SELECT study_id, experiment_id, status, 1 AS sign FROM added';
    went CONSTANT text := 'SELECT study_id, experiment_id, status, -1 AS sign FROM removed';
BEGIN
    EXECUTE 'WITH change AS (
        SELECT study_id, experiment_id, status, sum(sign) AS number FROM ('
        || CASE TG_OP WHEN 'INSERT' THEN came WHEN 'DELETE' THEN went ELSE came || ' UNION ALL ' || went END
        || ') AS each GROUP BY 1, 2, 3 HAVING sum(sign) <> 0
    ), of_study AS (
        SELECT study_id, coalesce(sum(number) FILTER (WHERE status <> ''withdrawn''), 0) AS number,
               bool_or(number > 0) AS grew
        FROM change GROUP BY 1
    ), fewer AS (
        UPDATE run_count SET runs = runs + number FROM change
        WHERE number < 0 AND run_count.experiment_id = change.experiment_id AND run_count.status = change.status
    ), more AS (
        INSERT INTO run_count (experiment_id, status, runs)
        SELECT experiment_id, status, number FROM change WHERE number > 0 ORDER BY 1, 2
        ON CONFLICT (experiment_id, status) DO UPDATE SET runs = run_count.runs + EXCLUDED.runs
    ), fewer_of_study AS (
        UPDATE study_activity SET runs = runs + number, changed = now() FROM of_study
        WHERE NOT grew AND study_activity.study_id = of_study.study_id
    )
    INSERT INTO study_activity (study_id, runs, changed)
    SELECT study_id, number, now() FROM of_study WHERE grew ORDER BY 1
    ON CONFLICT (study_id) DO UPDATE SET runs = study_activity.runs + EXCLUDED.runs, changed = now()';
    RETURN NULL;
END $$;
CREATE TRIGGER run_added AFTER INSERT ON run REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION count_runs();
CREATE TRIGGER run_removed AFTER DELETE ON run REFERENCING OLD TABLE AS removed
FOR EACH STATEMENT EXECUTE FUNCTION count_runs();
CREATE TRIGGER run_changed AFTER UPDATE ON run REFERENCING OLD TABLE AS removed NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION count_runs();
"""
NO_TRIGGERS = """
DROP TRIGGER run_named ON run;
DROP TRIGGER run_renamed ON run;
DROP TRIGGER run_added ON run;
DROP TRIGGER run_removed ON run;
DROP TRIGGER run_changed ON run;
DROP FUNCTION keep_names, keep_changed_name, count_runs;
"""
RECOUNTED = """
UPDATE study_activity SET runs = coalesce(
    (SELECT sum(run_count.runs) FROM run_count JOIN experiment ON experiment.id = run_count.experiment_id
     WHERE experiment.study_id = study_activity.study_id AND run_count.status <> 'withdrawn'), 0);
INSERT INTO study_activity (study_id, runs, changed)
SELECT experiment.study_id, sum(run_count.runs) FILTER (WHERE run_count.status <> 'withdrawn'), now()
FROM run_count JOIN experiment ON experiment.id = run_count.experiment_id
GROUP BY 1 HAVING sum(run_count.runs) FILTER (WHERE run_count.status <> 'withdrawn') > 0
ON CONFLICT DO NOTHING;
"""


class Migration(migrations.Migration):

    dependencies = [("results", "0013_newest_of_a_study")]

    operations = [
        migrations.RunSQL(
            "".join(each.NO_TRIGGERS for each in EARLIER) + TRIGGERS + RENAMED,
            NO_TRIGGERS + "".join(each.TRIGGERS for each in EARLIER),
        ),
        migrations.RunSQL(RECOUNTED, migrations.RunSQL.noop),
    ]
