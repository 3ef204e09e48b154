"""Embedded PostgreSQL: a cluster in PERFDB_HOME/postgres, on a socket in a private folder."""

import contextlib
import shutil
import signal
import sys
from collections.abc import Mapping

import psutil
import psycopg

from perfdb.embedded import LauncherError
from perfdb.embedded.binaries import postgres_folder, postgres_major
from perfdb.embedded.home import Home
from perfdb.embedded.processes import Child, Processes, Service
from perfdb.embedded.rights import database_rights, own

NAME = "perfdb"
PORT = 5432  # Only a part of the socket's name; nothing listens on it.
# Recovery after a hard end replays at most the write-ahead log since the last checkpoint; give slow disks time.
START_LIMIT_S = 300.0
# From this version on PostgreSQL has a locale of its own that sorts the same on every system.
BUILTIN_LOCALE_SINCE = 17
# For data that is thrown away: nothing waits for the disk.
THROW_AWAY = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")


class Postgres:
    """An embedded PostgreSQL; `durable=False` is for tests.

    Attributes:
        environment: Variables for Django (DATABASE_URL) and for PostgreSQL's own programs (PGHOST ...).
    """

    def __init__(self, processes: Processes, env: Mapping[str, str], *, durable: bool = True) -> None:
        self.processes = processes
        self.home: Home = processes.home
        self.data = self.home.path / "postgres"
        self.durable = durable
        self.env = env
        self.folder = postgres_folder()
        self.major = postgres_major(self.folder)
        self.sockets = self.home.sockets
        self.rights = database_rights((self.home.path, self.folder))
        self.environment = {
            "DATABASE_URL": f"postgres://{NAME}@/{self.sockets}/{NAME}",
            "PGHOST": str(self.sockets),
            "PGPORT": str(PORT),
            "PGUSER": NAME,
            "PGDATABASE": NAME,
        }

    def start(self) -> Child:
        """Start the server, after creating a missing cluster. Raise LauncherError on failure."""
        return self.processes.start(self._service())

    def wait(self, child: Child) -> None:
        """Wait until the server answers, and create a missing database."""
        self.processes.wait_until(child, self._answers, START_LIMIT_S)
        with self._connect() as connection:
            known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (NAME,)).fetchone()
            if known is None:
                connection.execute(f"CREATE DATABASE {NAME}")

    def _service(self) -> Service:
        settings = (
            "listen_addresses=",
            f"unix_socket_directories={self.sockets}",
            "unix_socket_permissions=0700",
            f"port={PORT}",
            # Shown in the title of each of its processes, by which strays are known.
            f"cluster_name={self.home.identity}",
            *(() if self.durable else THROW_AWAY),
        )
        options = [part for setting in settings for part in ("-c", setting)]
        return Service(
            name="postgres",
            argv=[*self.rights.prefix, str(self.folder / "postgres"), "-D", str(self.data), *options],
            env=self.env,
            cwd=self.home.path,
            before=self._prepare,
            become=self.rights.become,
            stop_signal=signal.SIGINT,  # "Fast": ends sessions, then writes a checkpoint.
            death_signal=signal.SIGQUIT,  # "Immediate": takes its children along.
            grace=30.0,
            outlives_others=True,
        )

    def _prepare(self) -> None:
        if not self.data.exists():
            self._make_cluster()
        self._check_major()
        own(self.data, self.rights.owner)
        self._end_strays()
        # No process of this cluster is left, so what these files say is out of date; the process id in them
        # may by now be that of another program, which PostgreSQL would take for itself and refuse to start.
        stale = (self.data / "postmaster.pid", *self.sockets.glob(f".s.PGSQL.{PORT}*"))
        for path in stale:
            path.unlink(missing_ok=True)

    def _make_cluster(self) -> None:
        """Run initdb in another folder and rename it when complete."""
        fresh = self.home.path / "postgres.new"
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(mode=0o700)
        own(fresh, self.rights.owner)
        self.processes.run(
            Service(
                name="initdb",
                argv=[
                    *self.rights.prefix,
                    str(self.folder / "initdb"),
                    f"--pgdata={fresh}",
                    f"--username={NAME}",
                    "--auth=trust",
                    "--encoding=UTF8",
                    "--no-instructions",
                    *self._locale(),
                    *([] if self.durable else ["--no-sync"]),
                ],
                env=self.env,
                cwd=self.home.path,
                become=self.rights.become,
            )
        )
        fresh.rename(self.data)

    def _locale(self) -> list[str]:
        if self.major >= BUILTIN_LOCALE_SINCE:
            return ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]
        return ["--locale=C.UTF-8" if sys.platform == "linux" else "--locale=C"]

    def _check_major(self) -> None:
        made_by = int((self.data / "PG_VERSION").read_text(encoding="ascii"))
        if made_by != self.major:
            raise LauncherError(
                f"{self.data} was made by PostgreSQL {made_by}, and {self.folder} is {self.major}: "
                f"set PERFDB_PG_BIN to a PostgreSQL {made_by}, or dump and restore (docs/running.md)"
            )

    def _end_strays(self) -> None:
        """Kill processes of the cluster that outlived a killed postmaster."""
        strays = []
        for process in psutil.process_iter(["cmdline"]):
            command = process.info["cmdline"] or []
            if any(self.home.identity in part for part in command) and "postgres" in command[0]:
                strays.append(process)
        for process in strays:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(strays, timeout=10)

    def _answers(self) -> bool:
        try:
            self._connect().close()
        except psycopg.OperationalError:
            return False
        return True

    def _connect(self) -> psycopg.Connection:
        return psycopg.connect(
            host=str(self.sockets), port=PORT, user=NAME, dbname="postgres", autocommit=True, connect_timeout=5
        )
