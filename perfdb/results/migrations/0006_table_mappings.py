"""How published tables of each shape are read, remembered per study."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("results", "0005_reports"),
    ]

    operations = [
        migrations.CreateModel(
            name="TableMapping",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("shape", models.CharField(max_length=64)),
                ("title", models.TextField(blank=True)),
                ("mapping", models.JSONField()),
                ("changed", models.DateTimeField(auto_now=True)),
                (
                    "made_by",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="table_mappings",
                        to="results.study",
                    ),
                ),
            ],
            options={
                "db_table": "table_mapping",
                "constraints": [models.UniqueConstraint(fields=("study", "shape"), name="table_mapping_shape")],
            },
        ),
    ]
