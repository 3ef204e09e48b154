"""What a person corrects in a preview, files left out of it, and what is known of a file that comes in pieces."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("results", "0009_report_editing"),
    ]

    operations = [
        migrations.AddField("upload", "corrections", models.JSONField(default=list)),
        migrations.AddField("uploadfile", "excluded", models.BooleanField(default=False)),
        migrations.AddField(
            "partialfile", "sha256", models.CharField(blank=True, default="", max_length=64), preserve_default=False
        ),
        migrations.AddField(
            "partialfile",
            "upload",
            models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, to="results.upload"),
        ),
    ]
