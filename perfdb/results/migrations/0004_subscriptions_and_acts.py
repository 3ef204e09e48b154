"""Add subscriptions to events with the messages sent, and acts on single changes."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('results', '0003_trends'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Delivery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('sent', 'Sent'), ('failed', 'Failed')], default='waiting', max_length=7)),
                ('message', models.JSONField()),
                ('attempts', models.IntegerField(default=0)),
                ('due', models.DateTimeField()),
                ('answer', models.TextField(blank=True)),
                ('created', models.DateTimeField(auto_now_add=True)),
                ('sent', models.DateTimeField(null=True)),
            ],
            options={
                'db_table': 'delivery',
                'ordering': ['-created', '-pk'],
            },
        ),
        migrations.CreateModel(
            name='Subscription',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('effect', models.CharField(blank=True, choices=[('', 'any change'), ('regressed', 'regressions'), ('improved', 'improvements')], max_length=9)),
                ('query', models.TextField(blank=True)),
                ('address', models.TextField()),
                ('secret', models.TextField(blank=True)),
                ('created', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'db_table': 'subscription',
                'ordering': ['-created', '-pk'],
            },
        ),
        migrations.AddField(
            model_name='trendact',
            name='change',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='acts', to='results.trendchange'),
        ),
        migrations.AlterField(
            model_name='trendact',
            name='event',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='acts', to='results.trendevent'),
        ),
        migrations.AddConstraint(
            model_name='trendact',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('change__isnull', True), ('event__isnull', False)), models.Q(('change__isnull', False), ('event__isnull', True)), _connector='OR'), name='trend_act_about_one'),
        ),
        migrations.AddField(
            model_name='delivery',
            name='event',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='results.trendevent'),
        ),
        migrations.AddField(
            model_name='subscription',
            name='owner',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='subscriptions', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='subscription',
            name='study',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='subscriptions', to='results.study'),
        ),
        migrations.AddField(
            model_name='delivery',
            name='subscription',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='results.subscription'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(condition=models.Q(('state', 'waiting')), fields=['due'], name='delivery_due'),
        ),
        migrations.AddConstraint(
            model_name='delivery',
            constraint=models.UniqueConstraint(fields=('subscription', 'event'), name='delivery_once_an_event'),
        ),
    ]
