"""Gives the tests their own PostgreSQL and Valkey, unless DATABASE_URL and REDIS_URL name some.

A plugin loaded with `-p`, not a conftest: pytest-django reads the settings before any conftest is found.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from celery.contrib.testing.worker import start_worker
from hypothesis import settings

from perfdb.celery import app
from perfdb.embedded.home import Home
from perfdb.embedded.processes import Processes
from perfdb.embedded.servers import UNWANTED, Servers

PREFIX = "perfdb-test-"

# A property holds or not; how long a machine takes to try it says nothing about it.
settings.register_profile("perfdb", deadline=None)
settings.load_profile("perfdb")


class EmbeddedServers:
    """Holds the servers of one test run and what is to be undone at its end."""

    def __init__(self) -> None:
        _remove_abandoned_homes()
        self.home = Home(Path(tempfile.mkdtemp(prefix=PREFIX)))
        self.home.create()
        self.home.lock()
        self.processes = Processes(self.home)
        servers = Servers(self.processes, durable=False)
        servers.start()
        for name in UNWANTED:
            os.environ.pop(name, None)
        os.environ.update(servers.environment)
        os.environ.setdefault("SECRET_KEY", "only-for-the-tests")
        # Plain names, so that no test needs collectstatic.
        os.environ["STATIC_HASHED_NAMES"] = "0"
        os.environ["PERFDB_HOME"] = str(self.home.path)
        (self.home.path / "static").mkdir()

    def pytest_unconfigure(self) -> None:
        self.processes.stop()
        self.home.unlock()
        shutil.rmtree(self.home.path)


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Iterator[None]:
    early_config.pluginmanager.register(EmbeddedServers(), "perfdb-embedded-servers")
    return (yield)


def _remove_abandoned_homes() -> None:
    """Remove the homes of test runs that were killed: those whose lock nobody holds."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/lock"):
        try:
            with path.open("a") as handle:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            continue
        shutil.rmtree(path.parent, ignore_errors=True)


@pytest.fixture
def celery_worker_running() -> Iterator[None]:
    """A real Celery worker in this process, fed by the broker.

    For tests that commit: those marked `django_db(transaction=True)` and those with `live_server`.
    """
    with start_worker(app, pool="solo", perform_ping_check=False):
        yield
