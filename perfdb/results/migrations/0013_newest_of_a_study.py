"""The newest runs of a study and of a device, without going through all that came after them."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("results", "0012_run_counts")]

    operations = [
        migrations.AddIndex(
            model_name="run",
            index=models.Index(fields=["study", "-started", "-id"], name="run_study_newest"),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(fields=["device", "-started", "-id"], name="run_device_newest"),
        ),
    ]
