"""Editing reports: prose, versions of items, and what was taken out of a report."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("results", "0008_status_before"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="reportitem",
            name="version",
            field=models.IntegerField(default=1),
        ),
        migrations.AddField(
            model_name="reportitem",
            name="written_with",
            field=models.IntegerField(null=True),
        ),
        migrations.AlterField(
            model_name="reportitem",
            name="kind",
            field=models.CharField(
                choices=[("table", "Table"), ("figure", "Figure"), ("finding", "Finding"), ("prose", "Prose")],
                max_length=7,
            ),
        ),
        migrations.CreateModel(
            name="RemovedItem",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("columns", models.JSONField()),
                ("removed", models.DateTimeField(auto_now_add=True)),
                (
                    "removed_by",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="removed_items", to="results.study"
                    ),
                ),
            ],
            options={
                "db_table": "removed_item",
                "ordering": ["-removed", "-pk"],
            },
        ),
    ]
