"""Servers of an instance: embedded ones, unless DATABASE_URL or REDIS_URL name others."""

import os
from collections.abc import Callable, Mapping
from typing import Protocol

from perfdb.embedded.broker import Broker
from perfdb.embedded.postgres import Postgres
from perfdb.embedded.processes import Child, Processes

# With PYTHONDONTWRITEBYTECODE each process would compile Django anew: a start of 30 s instead of 3.
# libpq and Celery let their variables overrule what the launcher decides.
UNWANTED = ("PYTHONDONTWRITEBYTECODE", "PGHOST", "PGPORT", "PGUSER", "PGDATABASE", "PGOPTIONS", "PGSERVICE", "PGDATA")
UNWANTED_PREFIX = "CELERY_"


class Server(Protocol):
    """An embedded server."""

    @property
    def environment(self) -> dict[str, str]:
        """Return the variables that lead to the server."""

    def start(self) -> Child:
        """Start the server without waiting."""

    def wait(self, child: Child) -> None:
        """Wait until the server answers."""


def clean_environment(given: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for child processes, without variables that would change PostgreSQL's behaviour."""
    return {
        name: value for name, value in given.items() if name not in UNWANTED and not name.startswith(UNWANTED_PREFIX)
    }


class Servers:
    """Servers of one instance; `durable=False` is for tests.

    Attributes:
        environment: Variables that lead to the servers, such as DATABASE_URL and REDIS_URL.
        alone: Whether only this instance uses the database.
    """

    def __init__(self, processes: Processes, *, durable: bool = True) -> None:
        self.environment: dict[str, str] = {}
        self.alone = not os.environ.get("DATABASE_URL")
        self._embedded: list[Server] = []
        env = clean_environment(os.environ)
        self._take("DATABASE_URL", lambda: Postgres(processes, env, durable=durable))
        self._take("REDIS_URL", lambda: Broker(processes, env, durable=durable))

    def _take(self, variable: str, embedded: Callable[[], Server]) -> None:
        given = os.environ.get(variable)
        if given:
            self.environment[variable] = given
            return
        server = embedded()
        self._embedded.append(server)
        self.environment.update(server.environment)

    def start(self) -> dict[str, Callable[[], Child]]:
        """Start the embedded servers and wait; return a function to restart each, by name.

        Raise LauncherError on failure.
        """
        started = [(server, server.start()) for server in self._embedded]
        for server, child in started:
            server.wait(child)
        return {child.service.name: server.start for server, child in started}
