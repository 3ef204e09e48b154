"""Add subscriptions to events, and the messages sent."""

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
            name='Subscription',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('effect', models.CharField(blank=True, choices=[('', 'any change'), ('regressed', 'regressions'), ('improved', 'improvements')], max_length=9)),
                ('query', models.TextField(blank=True)),
                ('address', models.TextField()),
                ('secret', models.TextField(blank=True)),
                ('created', models.DateTimeField(auto_now_add=True)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='subscriptions', to=settings.AUTH_USER_MODEL)),
                ('study', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='subscriptions', to='results.study')),
            ],
            options={
                'db_table': 'subscription',
                'ordering': ['-created', '-pk'],
            },
        ),
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
                ('event', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='results.trendevent')),
                ('subscription', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='results.subscription')),
            ],
            options={
                'db_table': 'delivery',
                'ordering': ['-created', '-pk'],
                'indexes': [models.Index(condition=models.Q(('state', 'waiting')), fields=['due'], name='delivery_due')],
                'constraints': [models.UniqueConstraint(fields=('subscription', 'event'), name='delivery_once_an_event')],
            },
        ),
    ]
