"""What `up`, `manage` and `exec` share: taking hold of a PERFDB_HOME, and the environment of perfdb's processes."""

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
    """One line on the terminal, which may be gone by now."""
    with contextlib.suppress(OSError):
        print(f"perfdb: {line}", flush=True)


def take(home: Home, processes: Processes) -> bool:
    """Make the home and lock it, and end what a killed launcher left there; False when an instance runs on it."""
    home.create()
    if not home.lock():
        return False
    processes.end_orphans()
    return True


def environment(home: Home, port: int, reach: Mapping[str, str]) -> dict[str, str]:
    """The environment of perfdb's processes: that of the user, completed.

    Args:
        home: Where the instance keeps its data.
        port: Its port, which also names its cookies: those of two instances on one host would meet.
        reach: What reaches the servers, such as DATABASE_URL.
    """
    defaults = {"PUBLIC_READ": "1", "SESSION_COOKIE_NAME": f"perfdb_session_{port}"}
    given = clean_environment(os.environ)
    fixed = {"PERFDB_HOME": str(home.path), "DJANGO_SETTINGS_MODULE": "perfdb.settings", "PYTHONUNBUFFERED": "1"}
    secret = {"SECRET_KEY": given.get("SECRET_KEY") or home.secret_key()}
    return defaults | given | fixed | secret | dict(reach)


def running_environment(home: Home) -> dict[str, str]:
    """What reaches the servers of the instance that holds the lock, once it has them.

    Raises LauncherError when it does not get that far.
    """
    deadline = time.monotonic() + STARTING_LIMIT_S
    while time.monotonic() < deadline:
        _, reach = home.announced()
        if reach:
            return reach
        time.sleep(0.1)
    raise LauncherError(f"the perfdb that is starting on {home.path} does not get ready")
