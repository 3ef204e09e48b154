"""The Celery application; `perfdb.results.apps` imports it, so that the package itself stays empty."""

import os
import sys

from celery import Celery
from celery.signals import worker_process_init

from perfdb.garbage import collect_seldom

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "perfdb.settings")

_TURN_S = 0.0005
"""How long a thread works before another one may; Python's own is ten times as long."""

app = Celery("perfdb")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_process_init.connect
def _prepare(**_: object) -> None:
    # An import has more at hand at once than an answer.
    collect_seldom(200_000)
    # What waits for the database goes on soon after it has answered, although another thread works out what comes next.
    sys.setswitchinterval(_TURN_S)
