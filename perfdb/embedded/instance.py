"""Shared steps of `up`, `manage` and `exec`: lock a PERFDB_HOME, set up the environment."""

import contextlib
import os
import time
from collections.abc import Mapping

from perfdb.embedded import LauncherError
from perfdb.embedded.home import Home
from perfdb.embedded.processes import Processes
from perfdb.embedded.servers import clean_environment

ADDRESS = "127.0.0.1"
STARTING_LIMIT_S = 120.0


def say(line: str) -> None:
    """Print a line; ignore a terminal that is gone."""
    with contextlib.suppress(OSError):
        print(f"perfdb: {line}", flush=True)


def lock_home(home: Home, processes: Processes) -> bool:
    """Create and lock the home; return False if an instance runs there."""
    home.create()
    if not home.lock():
        return False
    processes.end_orphans()
    return True


def environment(home: Home, port: int, reach: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of perfdb's processes: the user's, completed.

    Args:
        home: The instance's folder.
        port: The instance's port, also part of cookie names, since two instances on one host would share cookies.
        reach: Variables that lead to the servers, such as DATABASE_URL.
    """
    defaults = {"PUBLIC_READ": "1", "SESSION_COOKIE_NAME": f"perfdb_session_{port}"}
    given = clean_environment(os.environ)
    fixed = {"PERFDB_HOME": str(home.path), "DJANGO_SETTINGS_MODULE": "perfdb.settings", "PYTHONUNBUFFERED": "1"}
    secret = {"SECRET_KEY": given.get("SECRET_KEY") or home.secret_key()}
    return defaults | given | fixed | secret | dict(reach)


def running_environment(home: Home) -> dict[str, str]:
    """Wait for the running instance and return its servers' variables.

    Raise LauncherError if the instance does not start.
    """
    deadline = time.monotonic() + STARTING_LIMIT_S
    while time.monotonic() < deadline:
        _, reach = home.announced()
        if reach:
            return reach
        time.sleep(0.1)
    raise LauncherError(f"the perfdb that is starting on {home.path} does not get ready")
