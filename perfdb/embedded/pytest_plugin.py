"""Gives the tests their own PostgreSQL and Valkey, unless DATABASE_URL and REDIS_URL name some.

A plugin loaded with `-p`, not a conftest: pytest-django reads the settings before any conftest is found.

With `-n`, the tests run in several processes on the servers of the first: each with a database of its own, as
pytest-django has it, and with a database of the broker and a folder of its own, as said here.
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
        _write_below(self.home.path)

    def pytest_unconfigure(self) -> None:
        self.processes.stop()
        self.home.unlock()
        shutil.rmtree(self.home.path)


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Iterator[None]:
    if worker := os.environ.get("PYTEST_XDIST_WORKER"):
        take_part(worker)
    else:
        early_config.pluginmanager.register(EmbeddedServers(), "perfdb-embedded-servers")
    return (yield)


def pytest_configure(config: pytest.Config) -> None:
    """Each of several processes keeps its pictures in a folder of its own: it empties that when it begins."""
    if worker := os.environ.get("PYTEST_XDIST_WORKER"):
        config.option.output = str(Path(config.option.output) / worker)


def take_part(worker: str) -> None:
    """Make ready one of several processes, `gw0`, `gw1` and so on, that share the servers of the first."""
    os.environ["REDIS_URL"] = with_database(os.environ["REDIS_URL"], int(worker.removeprefix("gw")))
    home = Path(os.environ["PERFDB_HOME"], worker)
    home.mkdir()
    _write_below(home)


def with_database(url: str, number: int) -> str:
    """A broker's address with the number of another of its databases."""
    if url.startswith("unix:"):
        return f"{url.partition('?')[0]}?db={number}"
    return urlunsplit(urlsplit(url)._replace(path=f"/{number}"))


def _write_below(home: Path) -> None:
    os.environ["PERFDB_HOME"] = str(home)
    (home / "static").mkdir()


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
    # It takes the log of the whole process for its own, of which later tests want to see something, too.
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    try:
        with start_worker(app, pool="solo", perform_ping_check=False):
            yield
    finally:
        root.setLevel(level)
        root.handlers = handlers
