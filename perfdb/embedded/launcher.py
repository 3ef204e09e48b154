"""The launcher's command `up`, which starts, watches, restarts and stops all services."""

import contextlib
import hashlib
import http.client
import os
import select
import socket
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial

from perfdb.embedded import ROOT, LauncherError
from perfdb.embedded.home import Home
from perfdb.embedded.processes import Child, Interrupted, Processes, Service
from perfdb.embedded.servers import Servers, build_environment

ADDRESS = "127.0.0.1"
# A service that dies so often within so many seconds is not restarted.
DEATHS, DEATHS_WITHIN_S = 5, 60.0
READY_LIMIT_S = 120.0
# The files that decide the static files: our own, the pinned packages with files, and the code that handles them.
STATIC_SOURCES = (
    "frontend/static/**/*",
    "perfdb/*/static/**/*",
    "requirements.txt",
    "perfdb/settings.py",
    "perfdb/staticfiles.py",
)


class Launcher:
    """One run of one instance, from its start to its end."""

    def __init__(self, home: Home, port: int) -> None:
        self.home = home
        self.port = port
        self.address = f"http://{ADDRESS}:{port}"
        self.processes = Processes(home)
        self.static_stamp = home.path / "static.stamp"
        self.starts: dict[str, Callable[[], Child]] = {}
        self.deaths: dict[str, deque[float]] = {}

    def up(self, *, with_parent: bool) -> None:
        """Run until interrupted, or with `with_parent` until the parent process has gone.

        Raise LauncherError if a service does not start or keeps dying.
        """
        parent = os.getppid() if with_parent else None
        self.processes.listen_to_signals()
        try:
            if not self.processes.lock_home():
                holder = self.home.read_announcement()[0] or "this PERFDB_HOME and is starting"
                raise LauncherError(f"another perfdb runs on {holder}, with the data in {self.home.path}")
            with listen(self.port) as listener:
                self._start(listener)
                self._watch(parent)
        except Interrupted:
            print_line("stopping")
        finally:
            self.processes.stop()
            self.home.unlock()

    def _start(self, listener: socket.socket) -> None:
        servers = Servers(self.processes)
        env = build_environment(self.home, self.port, servers.environment)
        collecting = self._collect_static(env)
        self.starts.update(servers.start())
        self.home.announce(self.address, {**servers.environment, "SITE_URL": env["SITE_URL"]})
        link = self._prepare(env, alone=servers.alone)
        if collecting:
            self.processes.finish(collecting)
            self.static_stamp.write_text(digest_static_sources(), encoding="ascii")
        own = list_services(env, listener.fileno())
        self.starts.update((service.name, partial(self.processes.start, service)) for service in own)
        web, *_ = [self.processes.start(service) for service in own]
        self.processes.wait_until(web, self._answers, READY_LIMIT_S)
        print_line(f"running on {self.address}")
        print_line(f"to sign in, open this once: {link}")
        print_line(f"data and logs are in {self.home.path}; Ctrl-C stops")

    def _collect_static(self, env: Mapping[str, str]) -> Child | None:
        """Start collecting and compressing static files, if changed; do not wait."""
        if self.static_stamp.exists() and self.static_stamp.read_text(encoding="ascii") == digest_static_sources():
            return None
        self.static_stamp.unlink(missing_ok=True)
        argv = [sys.executable, "manage.py", "collectstatic", "--noinput", "--clear", "--verbosity=0"]
        return self.processes.start(Service(name="static", argv=argv, env=env, cwd=ROOT))

    def _prepare(self, env: Mapping[str, str], *, alone: bool) -> str:
        """Prepare the database; return a one-time sign-in link."""
        link = self.home.run / "signinlink"
        argv = [sys.executable, "-m", "perfdb.embedded", "prepare", str(link), *(["--alone"] if alone else [])]
        self.processes.run(Service(name="prepare", argv=argv, env=env, cwd=ROOT))
        text = link.read_text(encoding="utf-8").strip()
        link.unlink()
        return text

    def _answers(self) -> bool:
        with contextlib.closing(http.client.HTTPConnection(ADDRESS, self.port, timeout=10)) as connection:
            try:
                connection.request("GET", "/healthz")
                return connection.getresponse().status == http.client.OK
            except (OSError, http.client.HTTPException):
                return False

    def _watch(self, parent: int | None) -> None:
        while parent is None or (os.getppid() == parent and not is_terminal_lost(parent)):
            for child in list(self.processes.children):
                if not child.alive:
                    self._restart(child)
            self.processes.pause(0.25)
        print_line("what started perfdb has gone; stopping")

    def _restart(self, child: Child) -> None:
        name, status = child.service.name, child.process.returncode
        self.processes.forget(child)
        deaths = self.deaths.setdefault(name, deque(maxlen=DEATHS))
        deaths.append(time.monotonic())
        if len(deaths) == DEATHS and deaths[-1] - deaths[0] < DEATHS_WITHIN_S:
            raise LauncherError(f"{name} keeps ending: {child.last_line()} (all of it: {child.log})")
        how = f"killed by signal {-status}" if status < 0 else f"exit status {status}"
        print_line(f"{name} ended by itself ({how}) and is started again; see {child.log}")
        # At once the first time, then with a growing delay.
        self.processes.pause(0.5 * (len(deaths) - 1))
        self.starts[name]()


def print_line(line: str) -> None:
    """Print a line; ignore a terminal that is gone."""
    with contextlib.suppress(OSError):
        print(f"perfdb: {line}", flush=True)


def is_terminal_lost(parent: int) -> bool:
    """Return whether our parent's terminal has gone, as in `ssh -t`.

    The kernel notifies only that process; make waits for us and does not pass the signal on.
    """
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    hung_up = any(event & select.POLLHUP for _, event in poll.poll(0))
    return hung_up and os.getsid(0) == parent


def listen(port: int) -> socket.socket:
    """Return the web server's listening socket, opened first.

    While the web server restarts, the socket keeps browsers waiting instead of refusing them.
    Raise LauncherError if the port is taken or cannot be bound.
    """
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((ADDRESS, port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise LauncherError(
            f"port {port} cannot be used ({error.strerror}): choose another, as in `make run PORT={port + 1}`"
        ) from error
    return listener


def list_services(env: Mapping[str, str], listener: int) -> list[Service]:
    """Return the services of perfdb, the web server first."""
    web = [sys.executable, "-m", "gunicorn", "perfdb.wsgi", "--bind", f"fd://{listener}", "--no-control-socket"]
    web += ["--worker-class", "gthread", "--workers", "2", "--threads", "4", "--timeout", "120"]
    web += ["--access-logfile", "-"]
    celery = [sys.executable, "-m", "celery", "-A", "perfdb.celery"]
    # Pages come before bulk imports.
    polite = ["nice", "-n", "10"]
    # A single worker needs no gossip. Each of its processes takes 100 MB.
    worker = [*polite, *celery, "worker", "--loglevel", "INFO"]
    worker += ["--concurrency", str(max(2, min(4, os.cpu_count() or 2)))]
    worker += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    # The schedule is fixed, so beat needs no state file, which a hard end could corrupt.
    beat = [*celery, "beat", "--loglevel", "INFO", "--scheduler", "celery.beat:Scheduler", "--pidfile", ""]
    return [
        Service(name="web", argv=web, env=env, cwd=ROOT, pass_fds=(listener,)),
        Service(name="worker", argv=worker, env=env, cwd=ROOT),
        Service(name="beat", argv=beat, env=env, cwd=ROOT),
    ]


def digest_static_sources() -> str:
    """Return a digest of names, sizes and times of the sources of static files."""
    digest = hashlib.sha256(sys.prefix.encode())
    for path in sorted(path for pattern in STATIC_SOURCES for path in ROOT.glob(pattern) if path.is_file()):
        found = path.stat()
        digest.update(f"{path}\0{found.st_size}\0{found.st_mtime_ns}\0".encode())
    return digest.hexdigest()
