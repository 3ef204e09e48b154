"""Pytest plugin: PostgreSQL and Valkey for the tests.

The plugin is loaded with `-p`, since pytest-django reads the settings before any conftest. With `-n`, processes share
the servers of the first; each has its own database (by pytest-django), broker database and folder.
"""

import fcntl
import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest
from celery.contrib.testing.worker import start_worker
from hypothesis import settings

from perfdb.celery import app
from perfdb.embedded.home import Home
from perfdb.embedded.processes import Processes
from perfdb.embedded.servers import UNWANTED, Servers

PREFIX = "perfdb-test-"

# The speed of a machine is no reason for a property to fail.
settings.register_profile("perfdb", deadline=None)
settings.load_profile("perfdb")


class EmbeddedServers:
    """Servers of one test run, with the steps that undo the set-up."""

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
        _write_below(self.home.path)

    def pytest_unconfigure(self) -> None:
        self.processes.stop()
        self.home.unlock()
        shutil.rmtree(self.home.path)


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Iterator[None]:
    if worker := os.environ.get("PYTEST_XDIST_WORKER"):
        # Such as gw1, on the servers of the first process.
        os.environ["REDIS_URL"] = with_broker_database(os.environ["REDIS_URL"], int(worker.removeprefix("gw")))
        home = Path(os.environ["PERFDB_HOME"], worker)
        home.mkdir()
        _write_below(home)
    else:
        early_config.pluginmanager.register(EmbeddedServers(), "perfdb-embedded-servers")
    return (yield)


def pytest_configure(config: pytest.Config) -> None:
    """Give each test process a folder for pictures."""
    if worker := os.environ.get("PYTEST_XDIST_WORKER"):
        config.option.output = str(Path(config.option.output) / worker)


def with_broker_database(url: str, number: int) -> str:
    """Return a broker's URL with the number of another database."""
    if url.startswith("unix:"):
        return f"{url.partition('?')[0]}?db={number}"
    return urlunsplit(urlsplit(url)._replace(path=f"/{number}"))


def _write_below(home: Path) -> None:
    os.environ["PERFDB_HOME"] = str(home)
    (home / "static").mkdir()


def _remove_abandoned_homes() -> None:
    """Remove the homes of killed test runs, whose locks are free."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/lock"):
        try:
            with path.open("a") as handle:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            continue
        shutil.rmtree(path.parent, ignore_errors=True)


@pytest.fixture
def celery_worker_running() -> Iterator[None]:
    """Run a real Celery worker, for tests that commit: `transaction=True` or `live_server`."""
    # The worker replaces the handlers of the root logger, which later tests need.
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    try:
        with start_worker(app, pool="solo", perform_ping_check=False):
            yield
    finally:
        root.setLevel(level)
        root.handlers = handlers
