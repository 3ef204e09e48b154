"""Celery application; `perfdb.results.apps` imports it, so that `perfdb/__init__.py` stays empty."""

import os

from celery import Celery
from celery.signals import worker_process_init

from perfdb.garbage import collect_seldom

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "perfdb.settings")

app = Celery("perfdb")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_process_init.connect
def _prepare(**_: object) -> None:
    # An import has more at hand at once than an answer.
    collect_seldom(200_000)
