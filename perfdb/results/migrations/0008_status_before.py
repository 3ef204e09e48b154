"""The status that a run had before a person withdrew it."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('results', '0007_annotations'),
    ]

    operations = [
        migrations.AddField(
            model_name='runchange',
            name='status_before',
            field=models.CharField(blank=True, default='', max_length=10),
            preserve_default=False,
        ),
    ]
