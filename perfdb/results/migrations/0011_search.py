"""Search that forgives mistyping, and what the start page says of each study without counting its runs."""

import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.functions.text
from django.contrib.postgres.operations import TrigramExtension
from django.db import migrations, models

# Triggers, since runs come by COPY and by SQL, too. Names are put in by order: two imports wait and do not deadlock.
TRIGGERS = """
CREATE FUNCTION keep_names() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO search_name (kind, text)
    SELECT DISTINCT 'run', run_id FROM added
    UNION SELECT 'tag', unnest(tags) FROM added WHERE tags IS NOT NULL
    ORDER BY 1, 2 ON CONFLICT DO NOTHING;
    INSERT INTO study_activity (study_id, runs, changed)
    SELECT study_id, count(*) FILTER (WHERE status <> 'withdrawn'), now() FROM added GROUP BY study_id ORDER BY study_id
    ON CONFLICT (study_id) DO UPDATE SET runs = study_activity.runs + EXCLUDED.runs, changed = now();
    RETURN NULL;
END $$;
CREATE TRIGGER run_added AFTER INSERT ON run REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION keep_names();

CREATE FUNCTION keep_changed_name() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO search_name (kind, text)
    SELECT 'run', NEW.run_id UNION SELECT 'tag', unnest(NEW.tags) ORDER BY 1, 2 ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER run_renamed AFTER UPDATE OF run_id, tags ON run
FOR EACH ROW WHEN (OLD.run_id <> NEW.run_id OR OLD.tags IS DISTINCT FROM NEW.tags)
EXECUTE FUNCTION keep_changed_name();

CREATE FUNCTION count_changed_status() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE study_activity SET changed = now(), runs = runs + CASE WHEN NEW.status = 'withdrawn' THEN -1 ELSE 1 END
    WHERE study_id = NEW.study_id;
    RETURN NULL;
END $$;
CREATE TRIGGER run_withdrawn AFTER UPDATE OF status ON run
FOR EACH ROW WHEN ((OLD.status = 'withdrawn') <> (NEW.status = 'withdrawn'))
EXECUTE FUNCTION count_changed_status();

CREATE FUNCTION count_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE study_activity SET runs = runs - gone.number, changed = now()
    FROM (SELECT study_id, count(*) AS number FROM removed WHERE status <> 'withdrawn' GROUP BY study_id) AS gone
    WHERE study_activity.study_id = gone.study_id;
    RETURN NULL;
END $$;
CREATE TRIGGER run_removed AFTER DELETE ON run REFERENCING OLD TABLE AS removed
FOR EACH STATEMENT EXECUTE FUNCTION count_removed();
"""
NO_TRIGGERS = """
DROP TRIGGER run_added ON run;
DROP TRIGGER run_renamed ON run;
DROP TRIGGER run_withdrawn ON run;
DROP TRIGGER run_removed ON run;
DROP FUNCTION keep_names, keep_changed_name, count_changed_status, count_removed;
"""
STORED = """
INSERT INTO search_name (kind, text)
SELECT DISTINCT 'run', run_id FROM run UNION SELECT 'tag', unnest(tags) FROM run WHERE tags IS NOT NULL;
INSERT INTO study_activity (study_id, runs, changed)
SELECT study.id, count(*) FILTER (WHERE run.status <> 'withdrawn'),
       coalesce((SELECT max(settled) FROM upload WHERE study_id = study.id), study.created)
FROM study JOIN run ON run.study_id = study.id GROUP BY study.id;
"""


class Migration(migrations.Migration):

    dependencies = [("results", "0010_corrections")]

    operations = [
        TrigramExtension(),
        migrations.CreateModel(
            name="StudyActivity",
            fields=[
                (
                    "study",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="activity",
                        serialize=False,
                        to="results.study",
                    ),
                ),
                ("runs", models.BigIntegerField(default=0)),
                ("changed", models.DateTimeField()),
            ],
            options={"db_table": "study_activity"},
        ),
        migrations.CreateModel(
            name="SearchName",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(choices=[("run", "Run"), ("tag", "Tag")], max_length=3)),
                ("text", models.TextField()),
            ],
            options={"db_table": "search_name"},
        ),
        migrations.RunSQL(TRIGGERS, NO_TRIGGERS),
        migrations.RunSQL(STORED, migrations.RunSQL.noop),
        migrations.AddConstraint(
            model_name="searchname",
            constraint=models.UniqueConstraint(fields=("kind", "text"), name="search_name_once"),
        ),
        migrations.AddIndex(
            model_name="searchname",
            index=models.Index(
                models.F("kind"),
                django.contrib.postgres.indexes.OpClass(
                    django.db.models.functions.text.Upper("text"), name="text_pattern_ops"
                ),
                name="search_name_begins",
            ),
        ),
        migrations.AddIndex(
            model_name="searchname",
            index=django.contrib.postgres.indexes.GinIndex(
                django.contrib.postgres.indexes.OpClass(
                    django.db.models.functions.text.Upper("text"), name="gin_trgm_ops"
                ),
                name="search_name_like",
            ),
        ),
        migrations.AddIndex(
            model_name="uploadfile",
            index=django.contrib.postgres.indexes.GinIndex(
                django.contrib.postgres.indexes.OpClass(
                    django.db.models.functions.text.Upper("path"), name="gin_trgm_ops"
                ),
                name="upload_file_like",
            ),
        ),
        migrations.AddIndex(
            model_name="note",
            index=django.contrib.postgres.indexes.GinIndex(
                django.contrib.postgres.indexes.OpClass(
                    django.db.models.functions.text.Upper("text"), name="gin_trgm_ops"
                ),
                name="note_like",
            ),
        ),
    ]
