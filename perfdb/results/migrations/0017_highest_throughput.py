"""The highest throughputs of a workload and device first, as transaction rates already have them."""

from django.db import migrations, models
from django.db.models import F


class Migration(migrations.Migration):
    dependencies = [("results", "0016_dimension_counts")]

    operations = [
        migrations.AddIndex(
            model_name="run",
            index=models.Index("workload", "device", F("mb_per_s").desc(nulls_last=True), name="run_best_throughput"),
        ),
    ]
