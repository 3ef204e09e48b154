"""The Celery application; `perfdb.results.apps` imports it, so that the package itself stays empty."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "perfdb.settings")

app = Celery("perfdb")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
