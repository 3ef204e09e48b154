"""Notes, tags and changes of runs; named queries and frozen links; files that arrive in pieces; shared reports."""

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('results', '0006_table_mappings'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='FrozenLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token', models.CharField(max_length=22, unique=True)),
                ('page', models.CharField(choices=[('charts', 'Charts'), ('compare', 'Compare'), ('maximum', 'Maximum')], max_length=7)),
                ('query', models.TextField()),
                ('rows', models.BinaryField()),
                ('digest', models.CharField(max_length=64)),
                ('created', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'db_table': 'frozen_link',
            },
        ),
        migrations.CreateModel(
            name='Note',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('text', models.TextField()),
                ('created', models.DateTimeField(auto_now_add=True)),
                ('edited', models.DateTimeField(null=True)),
            ],
            options={
                'db_table': 'note',
                'ordering': ['created', 'pk'],
            },
        ),
        migrations.CreateModel(
            name='PartialFile',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token', models.CharField(max_length=22, unique=True)),
                ('path', models.TextField()),
                ('fingerprint', models.TextField()),
                ('size', models.BigIntegerField()),
                ('received', models.BigIntegerField(default=0)),
                ('created', models.DateTimeField(auto_now_add=True)),
                ('touched', models.DateTimeField(auto_now=True)),
            ],
            options={
                'db_table': 'partial_file',
            },
        ),
        migrations.CreateModel(
            name='RunChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('extended', 'Extended'), ('rebuilt', 'Rebuilt'), ('withdrawn', 'Withdrawn'), ('restored', 'Restored'), ('tagged', 'Tagged'), ('untagged', 'Untagged'), ('noted', 'Noted'), ('note-edited', 'Note Edited'), ('note-removed', 'Note Removed')], max_length=12)),
                ('detail', models.TextField(blank=True)),
                ('made', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'db_table': 'run_change',
                'ordering': ['made', 'pk'],
            },
        ),
        migrations.CreateModel(
            name='SavedQuery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=200)),
                ('page', models.CharField(choices=[('charts', 'Charts'), ('compare', 'Compare'), ('maximum', 'Maximum')], max_length=7)),
                ('query', models.TextField()),
                ('created', models.DateTimeField(auto_now_add=True)),
                ('changed', models.DateTimeField(auto_now=True)),
            ],
            options={
                'db_table': 'saved_query',
                'ordering': ['name'],
            },
        ),
        migrations.AddField(
            model_name='run',
            name='tags',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), null=True, size=None),
        ),
        migrations.AddField(
            model_name='study',
            name='share_token',
            field=models.CharField(max_length=22, null=True, unique=True),
        ),
        migrations.AddIndex(
            model_name='run',
            index=django.contrib.postgres.indexes.GinIndex(condition=models.Q(('tags__isnull', False)), fields=['tags'], name='run_tags'),
        ),
        migrations.AddField(
            model_name='frozenlink',
            name='made_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='note',
            name='author',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='note',
            name='run',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='notes', to='results.run'),
        ),
        migrations.AddField(
            model_name='partialfile',
            name='owner',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='runchange',
            name='made_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='runchange',
            name='run',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='changes', to='results.run'),
        ),
        migrations.AddField(
            model_name='savedquery',
            name='owner',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='savedquery',
            name='study',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='saved_queries', to='results.study'),
        ),
        migrations.AddConstraint(
            model_name='note',
            constraint=models.CheckConstraint(condition=models.Q(('text', ''), _negated=True), name='note_not_empty'),
        ),
        migrations.AddConstraint(
            model_name='partialfile',
            constraint=models.CheckConstraint(condition=models.Q(('received__gte', 0), ('received__lte', models.F('size'))), name='partial_bounds'),
        ),
        migrations.AddConstraint(
            model_name='savedquery',
            constraint=models.UniqueConstraint(fields=('owner', 'name'), name='saved_query_name'),
        ),
    ]
