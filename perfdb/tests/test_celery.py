"""Processes that serve for long look for garbage seldom."""

import subprocess
import sys

_SAID = """
import gc
from celery.signals import worker_process_init
import perfdb.celery
before = gc.get_threshold()[0]
worker_process_init.send(sender=None)
print(gc.get_threshold()[0] > 10 * before, gc.get_freeze_count() > 1000)
"""


def test_a_worker_process_looks_for_garbage_seldom() -> None:
    said = subprocess.run([sys.executable, "-c", _SAID], capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["True", "True"]
