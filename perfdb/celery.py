"""Celery application, imported by `perfdb.results.apps`, and garbage collection of long-running processes."""

import gc
import os

from celery import Celery
from celery.signals import worker_process_init

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "perfdb.settings")

app = Celery("perfdb")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


def collect_seldom(after: int = 50_000) -> None:
    """Freeze all present objects, and collect garbage less often from now on.

    Answers and import chunks are tens of thousands of small objects without cycles; looking for cycles after every 700
    takes a third of the time. Call once, when all code is loaded. At most ``after`` objects wait for a collection.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(after, 20, 20)


@worker_process_init.connect
def _prepare(**_: object) -> None:
    # An import holds more objects than an answer.
    collect_seldom(200_000)
