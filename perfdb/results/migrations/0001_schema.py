"""The schema: tables, the triggers for counts and names, and the view ``measurement``.

The migration replaces all migrations of earlier versions. A database that has all of these goes on from here.
"""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.contrib.postgres.operations import TrigramExtension
from django.db import migrations, models
from django.db.models import F, Q
from django.db.models.functions import Upper

from perfdb.results.models.run import RealField

ID = ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"))
USER = settings.AUTH_USER_MODEL
EARLIER = (
    "0001_first 0002_measurement_view 0003_workload_sizes 0004_aliases_and_jobs 0005_reports 0006_table_mappings "
    "0007_annotations 0008_status_before 0009_report_editing 0010_corrections 0011_search 0012_run_counts "
    "0013_newest_of_a_study 0014_counts_in_one_place 0015_study_of_evidence 0016_dimension_counts "
    "0017_highest_throughput 0018_renamings 0019_short_evidence 0020_references_to_few 0021_short_facts "
    "0022_references_once_a_statement"
).split()

# Run ids and tags, each once, for the search. Ordered, so that two imports wait and do not deadlock.
NAMES = """
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

CREATE FUNCTION keep_changed_names() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO search_name (kind, text)
    SELECT 'run', added.run_id FROM added JOIN removed USING (id) WHERE added.run_id <> removed.run_id
    UNION SELECT 'tag', unnest(added.tags) FROM added JOIN removed USING (id)
          WHERE added.tags IS DISTINCT FROM removed.tags
    ORDER BY 1, 2 ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER run_renamed AFTER UPDATE ON run REFERENCING OLD TABLE AS removed NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION keep_changed_names();
"""

# Numbers of runs by experiment, study and dimension value. A statement's text, since each kind of statement has other
# transition tables. Only additions make rows: the counts of a study that is deleted may go before its runs.
COUNTS = """
CREATE FUNCTION count_runs() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    came CONSTANT text := 'SELECT study_id, experiment_id, status, 1 AS sign FROM added';
    went CONSTANT text := 'SELECT study_id, experiment_id, status, -1 AS sign FROM removed';
BEGIN
    EXECUTE 'WITH change AS (
        SELECT study_id, experiment_id, status, sum(sign) AS number FROM ('
        || CASE TG_OP WHEN 'INSERT' THEN came WHEN 'DELETE' THEN went ELSE came || ' UNION ALL ' || went END
        || ') AS each GROUP BY 1, 2, 3 HAVING sum(sign) <> 0
    ), of_values AS (
        SELECT change.study_id, status, pair.name, coalesce(pair.value, '''') AS value, sum(number) AS number
        FROM change
        JOIN experiment ON experiment.id = change.experiment_id
        LEFT JOIN system ON system.id = experiment.system_id
        LEFT JOIN level ON level.id = experiment.level_id
        LEFT JOIN workload ON workload.id = experiment.workload_id
        LEFT JOIN device ON device.id = experiment.device_id
        CROSS JOIN LATERAL (VALUES
            ('''', NULL), (''campaign'', campaign), (''system'', system.name), (''level'', level.name),
            (''workload'', workload.name), (''device'', device.name),
            (''mtu'', mtu::text), (''users'', users::text), (''layer'', layer::text)
            UNION ALL SELECT ''factor.'' || key, value FROM jsonb_each_text(experiment.factors)
        ) AS pair (name, value)
        GROUP BY 1, 2, 3, 4 HAVING sum(number) <> 0
    ), fewer_of_values AS (
        UPDATE dimension_count SET runs = runs + number FROM of_values
        WHERE number < 0 AND (dimension_count.study_id, dimension_count.status, dimension_count.name,
            dimension_count.value) = (of_values.study_id, of_values.status, of_values.name, of_values.value)
    ), more_of_values AS (
        INSERT INTO dimension_count (study_id, status, name, value, runs)
        SELECT study_id, status, name, value, number FROM of_values WHERE number > 0 ORDER BY 1, 2, 3, 4
        ON CONFLICT (study_id, status, name, value) DO UPDATE SET runs = dimension_count.runs + EXCLUDED.runs
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

# Evidence moves to another study with its run. By statement: no trigger of rows sees a row change its partition.
MOVED = "".join(
    f"""
    UPDATE {table} SET study_id = added.study_id FROM added JOIN removed USING (id)
    WHERE added.study_id <> removed.study_id AND {table}.run_id = added.id AND {table}.study_id = removed.study_id;"""
    for table in ("run_evidence", "counter_set", "trace", "run_source")
)
MOVES = f"""
CREATE FUNCTION move_evidence() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM added JOIN removed USING (id) WHERE added.study_id <> removed.study_id) THEN
        RETURN NULL;
    END IF;{MOVED}
    RETURN NULL;
END $$;
CREATE TRIGGER run_moved AFTER UPDATE ON run REFERENCING OLD TABLE AS removed NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION move_evidence();
"""

# For people who use SQL: one row a measurement, with its origin and printed text.
VIEW = """
CREATE VIEW measurement AS
SELECT run.id AS run, measure.metric, measure.role, value.value, measure.unit,
       CASE substr(evidence.origins, array_position(evidence.slots, measure.slot), 1)
            WHEN 'r' THEN 'reported' WHEN 'd' THEN 'derived' WHEN 'p' THEN 'published' WHEN 'g' THEN 'given'
       END AS origin,
       nullif(split_part(evidence.printed, E'\\n', array_position(evidence.slots, measure.slot)), '') AS printed
FROM run
CROSS JOIN LATERAL unnest(run."values") WITH ORDINALITY AS value (value, slot)
JOIN measure ON measure.slot = value.slot
LEFT JOIN run_evidence AS evidence ON evidence.run_id = run.id AND evidence.study_id = run.study_id
WHERE value.value IS NOT NULL
"""


class Migration(migrations.Migration):
    initial = True
    replaces = [("results", name) for name in EARLIER]
    dependencies = [migrations.swappable_dependency(USER)]
    operations = [
        TrigramExtension(),
        migrations.CreateModel("Study", [
            ID,
            ("slug", models.SlugField(max_length=80)),
            ("title", models.CharField(max_length=200)),
            ("purpose", models.TextField(blank=True)),
            ("owner", models.ForeignKey(blank=True, null=True, on_delete=models.PROTECT, to=USER)),
            ("run_id_pattern", models.TextField(blank=True)),
            ("run_id_values", models.JSONField(blank=True, default=dict)),
            ("method", models.TextField(blank=True)),
            ("source", models.TextField(blank=True)),
            ("notes", models.JSONField(blank=True, default=list)),
            ("plan", models.JSONField(blank=True, default=list)),
            ("share_token", models.CharField(max_length=22, null=True, unique=True)),
            ("document_digest", models.TextField(blank=True)),
            ("version", models.BigIntegerField(default=1)),
            ("created", models.DateTimeField(auto_now_add=True)),
        ], {"db_table": "study",
            "constraints": [
                models.UniqueConstraint(fields=("owner", "slug"), name="study_owner_slug", nulls_distinct=False),
                models.UniqueConstraint(condition=Q(("slug", "inbox"), _negated=True), fields=("slug",), name="study_slug"),
            ],
        }),
        migrations.CreateModel("System", [
            ID,
            ("name", models.TextField()),
            ("machine", models.TextField(blank=True)),
            ("host", models.TextField(blank=True)),
            ("processors", models.IntegerField(null=True)),
            ("memory_bytes", models.BigIntegerField(null=True)),
            ("facts", models.JSONField(default=dict)),
        ], {"db_table": "system",
            "constraints": [models.UniqueConstraint(fields=("machine", "host", "processors", "memory_bytes"), name="system_identity", nulls_distinct=False)],
        }),
        migrations.CreateModel("Level", [
            ID,
            ("name", models.TextField(unique=True)),
            ("facts", models.JSONField(default=dict)),
        ], {"db_table": "level"}),
        migrations.CreateModel("Device", [
            ID,
            ("name", models.TextField(unique=True)),
            ("kind", models.CharField(choices=[("real", "Real"), ("virtual", "Virtual"), ("unknown", "Unknown")], default="unknown", max_length=7)),
            ("speed_bits_per_s", models.BigIntegerField(null=True)),
        ], {"db_table": "device",
            "constraints": [models.CheckConstraint(condition=Q(("kind__in", ["real", "virtual", "unknown"])), name="device_kind")],
        }),
        migrations.CreateModel("Workload", [
            ID,
            ("name", models.TextField(unique=True)),
            ("pattern", models.TextField()),
            ("request_bytes", models.BigIntegerField(null=True)),
            ("response_bytes", models.BigIntegerField(null=True)),
        ], {"db_table": "workload",
            "constraints": [
                models.UniqueConstraint(fields=("pattern", "request_bytes", "response_bytes"), name="workload_identity"),
                models.CheckConstraint(condition=Q(("request_bytes__gte", 0), ("response_bytes__gte", 0)), name="workload_sizes_not_negative"),
            ],
        }),
        migrations.CreateModel("Alias", [
            ID,
            ("study", models.ForeignKey(on_delete=models.CASCADE, related_name="aliases", to="results.study")),
            ("dimension", models.TextField()),
            ("printed", models.TextField()),
            ("folded", models.TextField()),
            ("meaning", models.TextField()),
            ("made_by", models.ForeignKey(null=True, on_delete=models.SET_NULL, to=USER)),
            ("created", models.DateTimeField(auto_now_add=True)),
        ], {"db_table": "alias",
            "constraints": [models.UniqueConstraint(fields=("study", "dimension", "folded"), name="alias_printed")],
        }),
        migrations.CreateModel("Experiment", [
            ID,
            ("study", models.ForeignKey(db_index=False, on_delete=models.PROTECT, to="results.study")),
            ("system", models.ForeignKey(null=True, on_delete=models.PROTECT, to="results.system")),
            ("level", models.ForeignKey(null=True, on_delete=models.PROTECT, to="results.level")),
            ("workload", models.ForeignKey(null=True, on_delete=models.PROTECT, to="results.workload")),
            ("device", models.ForeignKey(null=True, on_delete=models.PROTECT, to="results.device")),
            ("key", models.BigIntegerField()),
            ("mtu", models.IntegerField(null=True)),
            ("users", models.IntegerField(null=True)),
            ("layer", models.SmallIntegerField(null=True)),
            ("campaign", models.TextField(blank=True)),
            ("factors", models.JSONField(default=dict)),
        ], {"db_table": "experiment",
            "constraints": [
                models.UniqueConstraint(fields=("study", "key"), name="experiment_study_key"),
                models.CheckConstraint(condition=Q(("mtu__gt", 0)), name="experiment_mtu_positive"),
                models.CheckConstraint(condition=Q(("users__gt", 0)), name="experiment_users_positive"),
            ],
        }),
        migrations.CreateModel("Artifact", [
            ID,
            ("sha256", models.CharField(max_length=64, unique=True)),
            ("size", models.BigIntegerField()),
            ("created", models.DateTimeField(auto_now_add=True)),
        ], {"db_table": "artifact",
            "constraints": [models.CheckConstraint(condition=Q(("size__gte", 0)), name="artifact_size_not_negative")],
        }),
        migrations.CreateModel("Upload", [
            ID,
            ("owner", models.ForeignKey(on_delete=models.PROTECT, to=USER)),
            ("study", models.ForeignKey(on_delete=models.PROTECT, to="results.study")),
            ("state", models.CharField(choices=[("received", "Received"), ("parsing", "Parsing"), ("preview", "Preview"), ("loading", "Loading"), ("done", "Done"), ("failed", "Failed"), ("undone", "Undone"), ("expired", "Expired")], default="received", max_length=8)),
            ("preview_asked", models.BooleanField(default=False)),
            ("facts", models.JSONField(default=dict)),
            ("corrections", models.JSONField(default=list)),
            ("decisions", models.JSONField(default=dict)),
            ("files_read", models.IntegerField(default=0)),
            ("runs_loaded", models.IntegerField(default=0)),
            ("runs_found", models.IntegerField(default=0)),
            ("created", models.DateTimeField(auto_now_add=True)),
            ("settled", models.DateTimeField(null=True)),
        ], {"db_table": "upload",
            "indexes": [models.Index(fields=["-created", "-id"], name="upload_newest")],
        }),
        migrations.CreateModel("PartialFile", [
            ID,
            ("token", models.CharField(max_length=22, unique=True)),
            ("owner", models.ForeignKey(on_delete=models.CASCADE, to=USER)),
            ("path", models.TextField()),
            ("fingerprint", models.TextField()),
            ("size", models.BigIntegerField()),
            ("received", models.BigIntegerField(default=0)),
            ("sha256", models.CharField(blank=True, max_length=64)),
            ("upload", models.ForeignKey(null=True, on_delete=models.CASCADE, to="results.upload")),
            ("created", models.DateTimeField(auto_now_add=True)),
            ("touched", models.DateTimeField(auto_now=True)),
        ], {"db_table": "partial_file",
            "constraints": [models.CheckConstraint(condition=Q(("received__gte", 0), ("received__lte", F("size"))), name="partial_bounds")],
        }),
        migrations.CreateModel("UploadFile", [
            ID,
            ("upload", models.ForeignKey(on_delete=models.CASCADE, related_name="files", to="results.upload")),
            ("artifact", models.ForeignKey(on_delete=models.PROTECT, to="results.artifact")),
            ("container", models.ForeignKey(null=True, on_delete=models.CASCADE, to="results.uploadfile")),
            ("path", models.TextField()),
            ("format", models.TextField(blank=True)),
            ("forced_format", models.TextField(blank=True)),
            ("encoding", models.TextField(blank=True)),
            ("excluded", models.BooleanField(default=False)),
        ], {"db_table": "upload_file",
            "indexes": [GinIndex(OpClass(Upper("path"), name="gin_trgm_ops"), name="upload_file_like")],
            "constraints": [models.UniqueConstraint(fields=("upload", "path"), name="upload_file_path")],
        }),
        migrations.CreateModel("Measure", [
            ("slot", models.SmallIntegerField(primary_key=True, serialize=False)),
            ("metric", models.TextField()),
            ("role", models.TextField()),
            ("unit", models.TextField()),
            ("better", models.TextField()),
            ("decimals", models.SmallIntegerField()),
        ], {"db_table": "measure",
            "constraints": [
                models.UniqueConstraint(fields=("metric", "role"), name="measure_metric_role"),
                models.CheckConstraint(condition=Q(("slot__gte", 1)), name="measure_slot_positive"),
                models.CheckConstraint(condition=Q(("better__in", ["higher", "lower", "neutral"])), name="measure_better"),
            ],
        }),
        migrations.CreateModel("CounterLayout", [
            ID,
            ("names", ArrayField(base_field=models.TextField(), size=None, unique=True)),
        ], {"db_table": "counter_layout"}),
        migrations.CreateModel("Run", [
            ID,
            ("experiment", models.ForeignKey(on_delete=models.PROTECT, to="results.experiment")),
            ("study", models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.DO_NOTHING, to="results.study")),
            ("system", models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=models.DO_NOTHING, to="results.system")),
            ("level", models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=models.DO_NOTHING, to="results.level")),
            ("workload", models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=models.DO_NOTHING, to="results.workload")),
            ("device", models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=models.DO_NOTHING, to="results.device")),
            ("started", models.DateTimeField()),
            ("trans_per_s", models.FloatField(null=True)),
            ("mb_per_s", models.FloatField(null=True)),
            ("response_ms", models.FloatField(null=True)),
            ("elapsed_s", models.FloatField(null=True)),
            ("cpu_util", models.FloatField(null=True)),
            ("cpu_ms_per_trans", models.FloatField(null=True)),
            ("virtual_cpu_ms_per_trans", models.FloatField(null=True)),
            ("cp_cpu_ms_per_trans", models.FloatField(null=True)),
            ("cpu_ms_per_mb", models.FloatField(null=True)),
            ("mtu", models.IntegerField(null=True)),
            ("users", models.IntegerField(null=True)),
            ("layer", models.SmallIntegerField(null=True)),
            ("trial", models.SmallIntegerField()),
            ("status", models.CharField(choices=[("complete", "Complete"), ("failed", "Failed"), ("incomplete", "Incomplete"), ("withdrawn", "Withdrawn")], max_length=10)),
            ("run_id", models.TextField()),
            ("campaign", models.TextField(blank=True)),
            ("factors", models.JSONField(default=dict)),
            ("values", ArrayField(base_field=models.FloatField(null=True), default=list)),
            ("tags", ArrayField(base_field=models.TextField(), null=True)),
        ], {"db_table": "run",
            "indexes": [
                models.Index(fields=["study", "workload", "device"], name="run_study_workload_device"),
                models.Index(fields=["study", "run_id"], name="run_study_run_id"),
                models.Index("workload", "device", F("trans_per_s").desc(nulls_last=True), name="run_best"),
                models.Index("workload", "device", F("mb_per_s").desc(nulls_last=True), name="run_best_throughput"),
                models.Index(fields=["-started", "-id"], name="run_newest"),
                models.Index(fields=["study", "-started", "-id"], name="run_study_newest"),
                models.Index(fields=["device", "-started", "-id"], name="run_device_newest"),
                GinIndex(fields=["factors"], name="run_factors", opclasses=["jsonb_path_ops"]),
                GinIndex(condition=Q(("tags__isnull", False)), fields=["tags"], name="run_tags"),
            ],
            "constraints": [
                models.UniqueConstraint(condition=Q(("status", "withdrawn"), _negated=True), fields=("experiment", "run_id", "trial"), name="run_identity"),
                models.CheckConstraint(condition=Q(("status__in", ["complete", "failed", "incomplete", "withdrawn"])), name="run_status"),
                models.CheckConstraint(condition=Q(("trial__gte", 1)), name="run_trial_positive"),
            ],
        }),
        migrations.CreateModel("RunEvidence", [
            ("run", models.OneToOneField(on_delete=models.CASCADE, primary_key=True, related_name="evidence", serialize=False, to="results.run")),
            ("study", models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.DO_NOTHING, related_name="+", to="results.study")),
            ("slots", ArrayField(base_field=models.SmallIntegerField())),
            ("origins", models.TextField()),
            ("printed", models.TextField()),
            ("artifacts", ArrayField(base_field=models.BigIntegerField())),
            ("lines", ArrayField(base_field=models.IntegerField())),
            ("formulas", ArrayField(base_field=models.TextField())),
            ("facts", models.JSONField(default=dict)),
        ], {"db_table": "run_evidence"}),
        migrations.CreateModel("RunSource", [
            ID,
            ("run", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="sources", to="results.run")),
            ("study", models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.DO_NOTHING, related_name="+", to="results.study")),
            ("artifact", models.ForeignKey(on_delete=models.PROTECT, to="results.artifact")),
            ("upload", models.ForeignKey(on_delete=models.PROTECT, to="results.upload")),
            ("path", models.TextField()),
            ("format", models.TextField()),
            ("format_version", models.SmallIntegerField()),
            ("digests", ArrayField(base_field=models.TextField())),
            ("spans", ArrayField(base_field=ArrayField(base_field=models.IntegerField(), size=2), default=list)),
            ("driver", models.BooleanField()),
        ], {"db_table": "run_source",
            "constraints": [models.UniqueConstraint(fields=("run", "artifact", "upload", "path"), name="run_source_identity")],
        }),
        migrations.CreateModel("CounterSet", [
            ID,
            ("run", models.ForeignKey(on_delete=models.CASCADE, related_name="counter_sets", to="results.run")),
            ("study", models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.DO_NOTHING, related_name="+", to="results.study")),
            ("layout", models.ForeignKey(on_delete=models.PROTECT, to="results.counterlayout")),
            ("before_artifact", models.BigIntegerField()),
            ("after_artifact", models.BigIntegerField()),
            ("role", models.TextField()),
            ("subject", models.TextField(blank=True)),
            ("host", models.TextField(blank=True)),
            ("usable", models.BooleanField(default=True)),
            ("before", ArrayField(base_field=models.FloatField(null=True))),
            ("after", ArrayField(base_field=models.FloatField(null=True))),
            ("before_lines", ArrayField(base_field=models.IntegerField())),
            ("after_lines", ArrayField(base_field=models.IntegerField())),
        ], {"db_table": "counter_set",
            "constraints": [models.UniqueConstraint(fields=("run", "role", "subject"), name="counter_set_identity")],
        }),
        migrations.CreateModel("Trace", [
            ID,
            ("run", models.ForeignKey(on_delete=models.CASCADE, related_name="traces", to="results.run")),
            ("study", models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.DO_NOTHING, related_name="+", to="results.study")),
            ("artifact", models.BigIntegerField()),
            ("listing", models.TextField()),
            ("position", models.SmallIntegerField()),
            ("column", models.TextField()),
            ("unit", models.TextField(blank=True)),
            ("samples", ArrayField(base_field=RealField())),
        ], {"db_table": "trace",
            "constraints": [models.UniqueConstraint(fields=("run", "listing", "position"), name="trace_identity")],
        }),
        migrations.CreateModel("MeasurementHistory", [
            ID,
            ("run", models.ForeignKey(on_delete=models.CASCADE, to="results.run")),
            ("measure", models.ForeignKey(on_delete=models.PROTECT, to="results.measure")),
            ("value", models.FloatField()),
            ("formula", models.TextField()),
            ("replaced", models.DateTimeField(auto_now_add=True)),
        ], {"db_table": "measurement_history"}),
        migrations.CreateModel("UploadRun", [
            ID,
            ("upload", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="runs", to="results.upload")),
            ("run", models.ForeignKey(null=True, on_delete=models.SET_NULL, related_name="upload_runs", to="results.run")),
            ("replaced", models.ForeignKey(db_index=False, null=True, on_delete=models.SET_NULL, related_name="replaced_by", to="results.run")),
            ("replaced_status", models.CharField(blank=True, max_length=10)),
            ("number", models.IntegerField()),
            ("loaded", models.BooleanField(default=False)),
            ("run_label", models.TextField()),
            ("trial", models.SmallIntegerField()),
            ("outcome", models.CharField(choices=[("new", "New"), ("extended", "Extended"), ("already-there", "Already There"), ("conflict", "Conflict"), ("rejected", "Rejected")], max_length=13)),
            ("status", models.CharField(max_length=10)),
            ("summary", models.JSONField(default=dict)),
        ], {"db_table": "upload_run",
            "indexes": [models.Index(condition=Q(("replaced__isnull", False)), fields=["replaced"], name="upload_run_replaced")],
            "constraints": [models.UniqueConstraint(fields=("upload", "number"), name="upload_run_number")],
        }),
        migrations.CreateModel("Problem", [
            ID,
            ("upload", models.ForeignKey(null=True, on_delete=models.CASCADE, related_name="problems", to="results.upload")),
            ("run", models.ForeignKey(null=True, on_delete=models.CASCADE, related_name="problems", to="results.run")),
            ("severity", models.CharField(choices=[("error", "Error"), ("warning", "Warning"), ("note", "Note")], max_length=7)),
            ("code", models.TextField()),
            ("message", models.TextField()),
            ("remedy", models.TextField(blank=True)),
            ("file", models.TextField(blank=True)),
            ("line", models.IntegerField(null=True)),
            ("run_label", models.TextField(blank=True)),
        ], {"db_table": "problem",
            "constraints": [models.CheckConstraint(condition=Q(("upload__isnull", False), ("run__isnull", False), _connector="OR"), name="problem_belongs_somewhere")],
        }),
        migrations.CreateModel("Job", [
            ID,
            ("kind", models.TextField()),
            ("upload", models.ForeignKey(null=True, on_delete=models.CASCADE, related_name="jobs", to="results.upload")),
            ("study", models.ForeignKey(null=True, on_delete=models.CASCADE, related_name="jobs", to="results.study")),
            ("about", models.JSONField(default=dict)),
            ("state", models.CharField(choices=[("queued", "Queued"), ("running", "Running"), ("done", "Done"), ("failed", "Failed")], default="queued", max_length=7)),
            ("attempt", models.IntegerField(default=0)),
            ("lease_until", models.DateTimeField(null=True)),
            ("created", models.DateTimeField(auto_now_add=True)),
            ("sent", models.DateTimeField()),
            ("started", models.DateTimeField(null=True)),
            ("finished", models.DateTimeField(null=True)),
            ("outcome", models.JSONField(default=dict)),
        ], {"db_table": "job",
            "indexes": [models.Index(condition=Q(("state__in", ["queued", "running"])), fields=["state", "lease_until"], name="job_open")],
        }),
        migrations.CreateModel("Note", [
            ID,
            ("run", models.ForeignKey(on_delete=models.CASCADE, related_name="notes", to="results.run")),
            ("text", models.TextField()),
            ("author", models.ForeignKey(null=True, on_delete=models.SET_NULL, to=USER)),
            ("created", models.DateTimeField(auto_now_add=True)),
            ("edited", models.DateTimeField(null=True)),
        ], {"db_table": "note", "ordering": ["created", "pk"],
            "indexes": [GinIndex(OpClass(Upper("text"), name="gin_trgm_ops"), name="note_like")],
            "constraints": [models.CheckConstraint(condition=Q(("text", ""), _negated=True), name="note_not_empty")],
        }),
        migrations.CreateModel("RunChange", [
            ID,
            ("run", models.ForeignKey(on_delete=models.CASCADE, related_name="changes", to="results.run")),
            ("kind", models.CharField(choices=[("extended", "Extended"), ("rebuilt", "Rebuilt"), ("withdrawn", "Withdrawn"), ("restored", "Restored"), ("tagged", "Tagged"), ("untagged", "Untagged"), ("noted", "Noted"), ("note-edited", "Note Edited"), ("note-removed", "Note Removed")], max_length=12)),
            ("detail", models.TextField(blank=True)),
            ("status_before", models.CharField(blank=True, max_length=10)),
            ("made_by", models.ForeignKey(null=True, on_delete=models.SET_NULL, to=USER)),
            ("made", models.DateTimeField(auto_now_add=True)),
        ], {"db_table": "run_change", "ordering": ["made", "pk"]}),
        migrations.CreateModel("ReportItem", [
            ID,
            ("study", models.ForeignKey(on_delete=models.CASCADE, related_name="report_items", to="results.study")),
            ("kind", models.CharField(choices=[("table", "Table"), ("figure", "Figure"), ("finding", "Finding"), ("prose", "Prose")], max_length=7)),
            ("position", models.IntegerField()),
            ("number", models.TextField(blank=True)),
            ("title", models.TextField()),
            ("queries", models.JSONField(default=list)),
            ("asks", models.TextField(blank=True)),
            ("prose", models.TextField(blank=True)),
            ("version", models.IntegerField(default=1)),
            ("written_with", models.IntegerField(null=True)),
        ], {"db_table": "report_item", "ordering": ["kind", "position"],
            "constraints": [
                models.UniqueConstraint(fields=("study", "kind", "position"), name="report_item_place"),
                models.UniqueConstraint(condition=Q(("number", ""), _negated=True), fields=("study", "kind", "number"), name="report_item_number"),
            ],
        }),
        migrations.CreateModel("RemovedItem", [
            ID,
            ("study", models.ForeignKey(on_delete=models.CASCADE, related_name="removed_items", to="results.study")),
            ("columns", models.JSONField()),
            ("removed_by", models.ForeignKey(null=True, on_delete=models.SET_NULL, to=USER)),
            ("removed", models.DateTimeField(auto_now_add=True)),
        ], {"db_table": "removed_item", "ordering": ["-removed", "-pk"]}),
        migrations.CreateModel("PublishedFigure", [
            ID,
            ("run", models.ForeignKey(on_delete=models.CASCADE, related_name="published_figures", to="results.run")),
            ("table", models.TextField()),
            ("line", models.IntegerField(null=True)),
            ("metric", models.TextField()),
            ("role", models.TextField()),
            ("printed", models.TextField()),
            ("unit", models.TextField(blank=True)),
            ("read_as", models.TextField()),
            ("row_label", models.TextField(blank=True)),
            ("column_label", models.TextField(blank=True)),
        ], {"db_table": "published_figure"}),
        migrations.CreateModel("PublishedPercent", [
            ID,
            ("run", models.ForeignKey(on_delete=models.CASCADE, related_name="published_percents", to="results.run")),
            ("baseline", models.ForeignKey(on_delete=models.CASCADE, related_name="+", to="results.run")),
            ("table", models.TextField()),
            ("line", models.IntegerField(null=True)),
            ("metric", models.TextField()),
            ("role", models.TextField()),
            ("printed", models.TextField()),
        ], {"db_table": "published_percent"}),
        migrations.CreateModel("Disagreement", [
            ID,
            ("run", models.ForeignKey(on_delete=models.CASCADE, related_name="disagreements", to="results.run")),
            ("kind", models.TextField()),
            ("severity", models.TextField()),
            ("table", models.TextField(blank=True)),
            ("line", models.IntegerField(null=True)),
            ("metric", models.TextField()),
            ("role", models.TextField()),
            ("printed", models.TextField()),
            ("recomputed", models.FloatField()),
            ("low", models.FloatField()),
            ("high", models.FloatField()),
            ("unit", models.TextField()),
            ("formula", models.TextField()),
            ("message", models.TextField()),
        ], {"db_table": "disagreement"}),
        migrations.CreateModel("Claim", [
            ID,
            ("study", models.ForeignKey(on_delete=models.CASCADE, related_name="claims", to="results.study")),
            ("name", models.TextField()),
            ("line", models.IntegerField(null=True)),
            ("printed", models.TextField()),
            ("relation", models.TextField()),
            ("value", models.FloatField()),
            ("unit", models.TextField()),
            ("metric", models.TextField(blank=True)),
            ("role", models.TextField(blank=True)),
            ("compared", models.TextField(blank=True)),
            ("baseline", models.TextField(blank=True)),
        ], {"db_table": "claim"}),
        migrations.CreateModel("TableMapping", [
            ID,
            ("study", models.ForeignKey(on_delete=models.CASCADE, related_name="table_mappings", to="results.study")),
            ("shape", models.CharField(max_length=64)),
            ("title", models.TextField(blank=True)),
            ("mapping", models.JSONField()),
            ("made_by", models.ForeignKey(null=True, on_delete=models.SET_NULL, to=USER)),
            ("changed", models.DateTimeField(auto_now=True)),
        ], {"db_table": "table_mapping",
            "constraints": [models.UniqueConstraint(fields=("study", "shape"), name="table_mapping_shape")],
        }),
        migrations.CreateModel("SavedQuery", [
            ID,
            ("name", models.CharField(max_length=200)),
            ("page", models.CharField(choices=[("charts", "Charts"), ("compare", "Compare"), ("maximum", "Maximum")], max_length=7)),
            ("query", models.TextField()),
            ("study", models.ForeignKey(null=True, on_delete=models.CASCADE, related_name="saved_queries", to="results.study")),
            ("owner", models.ForeignKey(on_delete=models.CASCADE, to=USER)),
            ("created", models.DateTimeField(auto_now_add=True)),
            ("changed", models.DateTimeField(auto_now=True)),
        ], {"db_table": "saved_query", "ordering": ["name"],
            "constraints": [models.UniqueConstraint(fields=("owner", "name"), name="saved_query_name")],
        }),
        migrations.CreateModel("FrozenLink", [
            ID,
            ("token", models.CharField(max_length=22, unique=True)),
            ("page", models.CharField(choices=[("charts", "Charts"), ("compare", "Compare"), ("maximum", "Maximum")], max_length=7)),
            ("query", models.TextField()),
            ("rows", models.BinaryField()),
            ("digest", models.CharField(max_length=64)),
            ("made_by", models.ForeignKey(null=True, on_delete=models.SET_NULL, to=USER)),
            ("created", models.DateTimeField(auto_now_add=True)),
        ], {"db_table": "frozen_link"}),
        migrations.CreateModel("RunCount", [
            ID,
            ("experiment", models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.CASCADE, related_name="+", to="results.experiment")),
            ("status", models.CharField(max_length=10)),
            ("runs", models.BigIntegerField()),
        ], {"db_table": "run_count",
            "constraints": [models.UniqueConstraint(fields=("experiment", "status"), name="run_count_once")],
        }),
        migrations.CreateModel("DimensionCount", [
            ID,
            ("study", models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.CASCADE, related_name="+", to="results.study")),
            ("status", models.CharField(max_length=10)),
            ("name", models.TextField()),
            ("value", models.TextField()),
            ("runs", models.BigIntegerField()),
        ], {"db_table": "dimension_count",
            "constraints": [models.UniqueConstraint(fields=("study", "status", "name", "value"), name="dimension_count_once")],
        }),
        migrations.CreateModel("StudyActivity", [
            ("study", models.OneToOneField(db_constraint=False, on_delete=models.CASCADE, primary_key=True, related_name="activity", serialize=False, to="results.study")),
            ("runs", models.BigIntegerField(default=0)),
            ("changed", models.DateTimeField()),
        ], {"db_table": "study_activity"}),
        migrations.CreateModel("SearchName", [
            ID,
            ("kind", models.CharField(choices=[("run", "Run"), ("tag", "Tag")], max_length=3)),
            ("text", models.TextField()),
        ], {"db_table": "search_name",
            "indexes": [
                models.Index("kind", OpClass(Upper("text"), name="text_pattern_ops"), name="search_name_begins"),
                GinIndex(OpClass(Upper("text"), name="gin_trgm_ops"), name="search_name_like"),
            ],
            "constraints": [models.UniqueConstraint(fields=("kind", "text"), name="search_name_once")],
        }),
        migrations.CreateModel("ApiToken", [
            ID,
            ("user", models.ForeignKey(on_delete=models.CASCADE, to=USER)),
            ("name", models.TextField()),
            ("digest", models.CharField(max_length=64, unique=True)),
            ("created", models.DateTimeField(auto_now_add=True)),
            ("last_used", models.DateTimeField(null=True)),
            ("revoked", models.DateTimeField(null=True)),
        ], {"db_table": "api_token"}),
        migrations.CreateModel("SignInLink", [
            ID,
            ("user", models.ForeignKey(on_delete=models.CASCADE, to=USER)),
            ("digest", models.CharField(max_length=64, unique=True)),
            ("expires", models.DateTimeField()),
            ("used", models.DateTimeField(null=True)),
        ], {"db_table": "sign_in_link"}),
        migrations.RunSQL(NAMES + COUNTS + MOVES + VIEW),
    ]
