import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import perfdb.results.models.run
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('auth', '__first__'),
    ]

    operations = [
        migrations.CreateModel(
            name='ApiToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
                ('name', models.TextField()),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('created', models.DateTimeField(auto_now_add=True)),
                ('last_used', models.DateTimeField(null=True)),
                ('revoked', models.DateTimeField(null=True)),
            ],
            options={
                'db_table': 'api_token',
            },
        ),
        migrations.CreateModel(
            name='Artifact',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('sha256', models.CharField(max_length=64, unique=True)),
                ('size', models.BigIntegerField()),
                ('created', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'db_table': 'artifact',
                'constraints': [models.CheckConstraint(condition=models.Q(('size__gte', 0)), name='artifact_size_not_negative')],
            },
        ),
        migrations.CreateModel(
            name='CounterLayout',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('names', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), size=None, unique=True)),
            ],
            options={
                'db_table': 'counter_layout',
            },
        ),
        migrations.CreateModel(
            name='Device',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.TextField(unique=True)),
                ('kind', models.CharField(choices=[('real', 'Real'), ('virtual', 'Virtual'), ('unknown', 'Unknown')], default='unknown', max_length=7)),
                ('speed_bits_per_s', models.BigIntegerField(null=True)),
            ],
            options={
                'db_table': 'device',
                'constraints': [models.CheckConstraint(condition=models.Q(('kind__in', ['real', 'virtual', 'unknown'])), name='device_kind')],
            },
        ),
        migrations.CreateModel(
            name='Level',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.TextField(unique=True)),
                ('facts', models.JSONField(default=dict)),
            ],
            options={
                'db_table': 'level',
            },
        ),
        migrations.CreateModel(
            name='Measure',
            fields=[
                ('slot', models.SmallIntegerField(primary_key=True, serialize=False)),
                ('metric', models.TextField()),
                ('role', models.TextField()),
                ('unit', models.TextField()),
                ('better', models.TextField()),
                ('decimals', models.SmallIntegerField()),
            ],
            options={
                'db_table': 'measure',
                'constraints': [models.UniqueConstraint(fields=('metric', 'role'), name='measure_metric_role'), models.CheckConstraint(condition=models.Q(('slot__gte', 1)), name='measure_slot_positive'), models.CheckConstraint(condition=models.Q(('better__in', ['higher', 'lower', 'neutral'])), name='measure_better')],
            },
        ),
        migrations.CreateModel(
            name='SignInLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('expires', models.DateTimeField()),
                ('used', models.DateTimeField(null=True)),
            ],
            options={
                'db_table': 'sign_in_link',
            },
        ),
        migrations.CreateModel(
            name='Study',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(max_length=80)),
                ('title', models.CharField(max_length=200)),
                ('purpose', models.TextField(blank=True)),
                ('owner', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, to=settings.AUTH_USER_MODEL)),
                ('run_id_pattern', models.TextField(blank=True)),
                ('run_id_values', models.JSONField(blank=True, default=dict)),
                ('version', models.BigIntegerField(default=1)),
                ('created', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'db_table': 'study',
            },
        ),
        migrations.CreateModel(
            name='System',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.TextField()),
                ('machine', models.TextField(blank=True)),
                ('host', models.TextField(blank=True)),
                ('processors', models.IntegerField(null=True)),
                ('memory_bytes', models.BigIntegerField(null=True)),
                ('facts', models.JSONField(default=dict)),
            ],
            options={
                'db_table': 'system',
                'constraints': [models.UniqueConstraint(fields=('machine', 'host', 'processors', 'memory_bytes'), name='system_identity', nulls_distinct=False)],
            },
        ),
        migrations.CreateModel(
            name='Workload',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.TextField(unique=True)),
                ('pattern', models.TextField()),
                ('request_bytes', models.BigIntegerField()),
                ('response_bytes', models.BigIntegerField()),
            ],
            options={
                'db_table': 'workload',
                'constraints': [models.UniqueConstraint(fields=('pattern', 'request_bytes', 'response_bytes'), name='workload_identity'), models.CheckConstraint(condition=models.Q(('request_bytes__gte', 0), ('response_bytes__gte', 0)), name='workload_sizes_not_negative')],
            },
        ),
        migrations.CreateModel(
            name='Experiment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='results.study')),
                ('system', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to='results.system')),
                ('level', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to='results.level')),
                ('workload', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to='results.workload')),
                ('device', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to='results.device')),
                ('key', models.BigIntegerField()),
                ('mtu', models.IntegerField(null=True)),
                ('users', models.IntegerField(null=True)),
                ('layer', models.SmallIntegerField(null=True)),
                ('campaign', models.TextField(blank=True)),
                ('factors', models.JSONField(default=dict)),
            ],
            options={
                'db_table': 'experiment',
            },
        ),
        migrations.CreateModel(
            name='Upload',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to=settings.AUTH_USER_MODEL)),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='results.study')),
                ('state', models.CharField(choices=[('received', 'Received'), ('parsing', 'Parsing'), ('preview', 'Preview'), ('loading', 'Loading'), ('done', 'Done'), ('failed', 'Failed'), ('undone', 'Undone'), ('expired', 'Expired')], default='received', max_length=8)),
                ('preview_asked', models.BooleanField(default=False)),
                ('facts', models.JSONField(default=dict)),
                ('decisions', models.JSONField(default=dict)),
                ('files_read', models.IntegerField(default=0)),
                ('runs_loaded', models.IntegerField(default=0)),
                ('runs_found', models.IntegerField(default=0)),
                ('created', models.DateTimeField(auto_now_add=True)),
                ('settled', models.DateTimeField(null=True)),
            ],
            options={
                'db_table': 'upload',
            },
        ),
        migrations.CreateModel(
            name='Job',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.TextField()),
                ('upload', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='jobs', to='results.upload')),
                ('state', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed')], default='queued', max_length=7)),
                ('attempt', models.IntegerField(default=0)),
                ('lease_until', models.DateTimeField(null=True)),
                ('created', models.DateTimeField(auto_now_add=True)),
                ('sent', models.DateTimeField()),
                ('started', models.DateTimeField(null=True)),
                ('finished', models.DateTimeField(null=True)),
                ('outcome', models.JSONField(default=dict)),
            ],
            options={
                'db_table': 'job',
            },
        ),
        migrations.CreateModel(
            name='Run',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('experiment', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='results.experiment')),
                ('study', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, to='results.study')),
                ('system', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, to='results.system')),
                ('level', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, to='results.level')),
                ('workload', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, to='results.workload')),
                ('device', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, to='results.device')),
                ('started', models.DateTimeField()),
                ('trans_per_s', models.FloatField(null=True)),
                ('mb_per_s', models.FloatField(null=True)),
                ('response_ms', models.FloatField(null=True)),
                ('elapsed_s', models.FloatField(null=True)),
                ('cpu_util', models.FloatField(null=True)),
                ('cpu_ms_per_trans', models.FloatField(null=True)),
                ('virtual_cpu_ms_per_trans', models.FloatField(null=True)),
                ('cp_cpu_ms_per_trans', models.FloatField(null=True)),
                ('cpu_ms_per_mb', models.FloatField(null=True)),
                ('mtu', models.IntegerField(null=True)),
                ('users', models.IntegerField(null=True)),
                ('layer', models.SmallIntegerField(null=True)),
                ('trial', models.SmallIntegerField()),
                ('status', models.CharField(choices=[('complete', 'Complete'), ('failed', 'Failed'), ('incomplete', 'Incomplete'), ('withdrawn', 'Withdrawn')], max_length=10)),
                ('run_id', models.TextField()),
                ('campaign', models.TextField(blank=True)),
                ('factors', models.JSONField(default=dict)),
                ('values', django.contrib.postgres.fields.ArrayField(base_field=models.FloatField(null=True), default=list, size=None)),
            ],
            options={
                'db_table': 'run',
            },
        ),
        migrations.CreateModel(
            name='UploadFile',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('upload', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='files', to='results.upload')),
                ('artifact', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='results.artifact')),
                ('container', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, to='results.uploadfile')),
                ('path', models.TextField()),
                ('format', models.TextField(blank=True)),
                ('forced_format', models.TextField(blank=True)),
                ('encoding', models.TextField(blank=True)),
            ],
            options={
                'db_table': 'upload_file',
            },
        ),
        migrations.CreateModel(
            name='CounterSet',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='counter_sets', to='results.run')),
                ('layout', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='results.counterlayout')),
                ('before_artifact', models.BigIntegerField()),
                ('after_artifact', models.BigIntegerField()),
                ('role', models.TextField()),
                ('subject', models.TextField(blank=True)),
                ('host', models.TextField(blank=True)),
                ('usable', models.BooleanField(default=True)),
                ('before', django.contrib.postgres.fields.ArrayField(base_field=models.FloatField(null=True), size=None)),
                ('after', django.contrib.postgres.fields.ArrayField(base_field=models.FloatField(null=True), size=None)),
                ('before_lines', django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), size=None)),
                ('after_lines', django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), size=None)),
            ],
            options={
                'db_table': 'counter_set',
                'constraints': [models.UniqueConstraint(fields=('run', 'role', 'subject'), name='counter_set_identity')],
            },
        ),
        migrations.CreateModel(
            name='MeasurementHistory',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='results.run')),
                ('measure', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='results.measure')),
                ('value', models.FloatField()),
                ('formula', models.TextField()),
                ('replaced', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'db_table': 'measurement_history',
            },
        ),
        migrations.CreateModel(
            name='Problem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('upload', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='problems', to='results.upload')),
                ('run', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='problems', to='results.run')),
                ('severity', models.CharField(choices=[('error', 'Error'), ('warning', 'Warning'), ('note', 'Note')], max_length=7)),
                ('code', models.TextField()),
                ('message', models.TextField()),
                ('remedy', models.TextField(blank=True)),
                ('file', models.TextField(blank=True)),
                ('line', models.IntegerField(null=True)),
                ('run_label', models.TextField(blank=True)),
            ],
            options={
                'db_table': 'problem',
            },
        ),
        migrations.CreateModel(
            name='RunEvidence',
            fields=[
                ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='evidence', serialize=False, to='results.run')),
                ('slots', django.contrib.postgres.fields.ArrayField(base_field=models.SmallIntegerField(), size=None)),
                ('origins', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), size=None)),
                ('printed', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), size=None)),
                ('artifacts', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None)),
                ('lines', django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), size=None)),
                ('formulas', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), size=None)),
                ('facts', models.JSONField(default=dict)),
            ],
            options={
                'db_table': 'run_evidence',
            },
        ),
        migrations.CreateModel(
            name='RunSource',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='sources', to='results.run')),
                ('artifact', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='results.artifact')),
                ('upload', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='results.upload')),
                ('path', models.TextField()),
                ('format', models.TextField()),
                ('format_version', models.SmallIntegerField()),
                ('digests', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), size=None)),
                ('driver', models.BooleanField()),
            ],
            options={
                'db_table': 'run_source',
            },
        ),
        migrations.CreateModel(
            name='Trace',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='traces', to='results.run')),
                ('artifact', models.BigIntegerField()),
                ('listing', models.TextField()),
                ('position', models.SmallIntegerField()),
                ('column', models.TextField()),
                ('unit', models.TextField(blank=True)),
                ('samples', django.contrib.postgres.fields.ArrayField(base_field=perfdb.results.models.run.RealField(), size=None)),
            ],
            options={
                'db_table': 'trace',
            },
        ),
        migrations.CreateModel(
            name='UploadRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('upload', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='runs', to='results.upload')),
                ('run', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='upload_runs', to='results.run')),
                ('replaced', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='replaced_by', to='results.run')),
                ('replaced_status', models.CharField(blank=True, max_length=10)),
                ('number', models.IntegerField()),
                ('loaded', models.BooleanField(default=False)),
                ('run_label', models.TextField()),
                ('trial', models.SmallIntegerField()),
                ('outcome', models.CharField(choices=[('new', 'New'), ('extended', 'Extended'), ('already-there', 'Already There'), ('conflict', 'Conflict'), ('rejected', 'Rejected')], max_length=13)),
                ('status', models.CharField(max_length=10)),
                ('summary', models.JSONField(default=dict)),
            ],
            options={
                'db_table': 'upload_run',
            },
        ),
        migrations.AddConstraint(
            model_name='study',
            constraint=models.UniqueConstraint(fields=('owner', 'slug'), name='study_owner_slug', nulls_distinct=False),
        ),
        migrations.AddConstraint(
            model_name='study',
            constraint=models.UniqueConstraint(condition=models.Q(('slug', 'inbox'), _negated=True), fields=('slug',), name='study_slug'),
        ),
        migrations.AddConstraint(
            model_name='trace',
            constraint=models.UniqueConstraint(fields=('run', 'listing', 'position'), name='trace_identity'),
        ),
        migrations.AddIndex(
            model_name='upload',
            index=models.Index(fields=['-created', '-id'], name='upload_newest'),
        ),
        migrations.AddConstraint(
            model_name='runsource',
            constraint=models.UniqueConstraint(fields=('run', 'artifact', 'upload', 'path'), name='run_source_identity'),
        ),
        migrations.AddConstraint(
            model_name='problem',
            constraint=models.CheckConstraint(condition=models.Q(('upload__isnull', False), ('run__isnull', False), _connector='OR'), name='problem_belongs_somewhere'),
        ),
        migrations.AddIndex(
            model_name='job',
            index=models.Index(condition=models.Q(('state__in', ['queued', 'running'])), fields=['state', 'lease_until'], name='job_open'),
        ),
        migrations.AddConstraint(
            model_name='uploadfile',
            constraint=models.UniqueConstraint(fields=('upload', 'path'), name='upload_file_path'),
        ),
        migrations.AddConstraint(
            model_name='uploadrun',
            constraint=models.UniqueConstraint(fields=('upload', 'number'), name='upload_run_number'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['study', 'workload', 'device'], name='run_study_workload_device'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['study', 'run_id'], name='run_study_run_id'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(models.F('workload'), models.F('device'), models.OrderBy(models.F('trans_per_s'), descending=True, nulls_last=True), name='run_best'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['-started', '-id'], name='run_newest'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=django.contrib.postgres.indexes.GinIndex(fields=['factors'], name='run_factors', opclasses=['jsonb_path_ops']),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.UniqueConstraint(condition=models.Q(('status', 'withdrawn'), _negated=True), fields=('experiment', 'run_id', 'trial'), name='run_identity'),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ['complete', 'failed', 'incomplete', 'withdrawn'])), name='run_status'),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.CheckConstraint(condition=models.Q(('trial__gte', 1)), name='run_trial_positive'),
        ),
        migrations.AddConstraint(
            model_name='experiment',
            constraint=models.UniqueConstraint(fields=('study', 'key'), name='experiment_study_key'),
        ),
        migrations.AddConstraint(
            model_name='experiment',
            constraint=models.CheckConstraint(condition=models.Q(('mtu__gt', 0)), name='experiment_mtu_positive'),
        ),
        migrations.AddConstraint(
            model_name='experiment',
            constraint=models.CheckConstraint(condition=models.Q(('users__gt', 0)), name='experiment_users_positive'),
        ),
    ]
