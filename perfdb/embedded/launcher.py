"""Launcher `up`: starts, restarts and stops all services in order."""

import http.client
import os
import select
import socket
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import closing
from functools import partial

from perfdb.embedded import LauncherError
from perfdb.embedded.home import Home
from perfdb.embedded.instance import ADDRESS, environment, lock_home, say
from perfdb.embedded.processes import Child, Interrupted, Processes, Service
from perfdb.embedded.servers import Servers
from perfdb.embedded.static import ROOT, collect_static, mark_collected

# So many deaths of one process within so many seconds, and starting it again is not the remedy.
DEATHS, DEATHS_WITHIN_S = 5, 60.0
READY_LIMIT_S = 120.0


class Launcher:
    """One start of one instance."""

    def __init__(self, home: Home, port: int) -> None:
        self.home = home
        self.port = port
        self.address = f"http://{ADDRESS}:{port}"
        self.processes = Processes(home)
        self.starts: dict[str, Callable[[], Child]] = {}
        self.deaths: dict[str, deque[float]] = {}

    def up(self, *, with_parent: bool) -> None:
        """Run until interrupted, or with `with_parent` until the parent process has gone.

        Raise LauncherError if a service does not start or keeps dying.
        """
        parent = os.getppid() if with_parent else None
        self.processes.listen_to_signals()
        try:
            if not lock_home(self.home, self.processes):
                holder = self.home.announced()[0] or "this PERFDB_HOME and is starting"
                raise LauncherError(f"another perfdb runs on {holder}, with the data in {self.home.path}")
            with listen(self.port) as listener:
                self._start(listener)
                self._watch(parent)
        except Interrupted:
            say("stopping")
        finally:
            self.processes.stop()
            self.home.unlock()

    def _start(self, listener: socket.socket) -> None:
        servers = Servers(self.processes)
        env = environment(self.home, self.port, servers.environment)
        collecting = collect_static(self.processes, env)
        self.starts.update(servers.start())
        self.home.announce(self.address, servers.environment)
        link = self._prepare(env, alone=servers.alone)
        if collecting:
            self.processes.finish(collecting)
            mark_collected(self.home)
        own = services(env, listener.fileno())
        self.starts.update((service.name, partial(self.processes.start, service)) for service in own)
        web, *_ = [self.processes.start(service) for service in own]
        self.processes.wait_until(web, self._answers, READY_LIMIT_S)
        say(f"running on {self.address}")
        say(f"to sign in, open this once: {self.address}{link}")
        say(f"data and logs are in {self.home.path}; Ctrl-C stops")

    def _prepare(self, env: dict[str, str], *, alone: bool) -> str:
        """Migrate the database, load the demo, return a sign-in link's path."""
        link = self.home.run / "signinlink"
        argv = [sys.executable, "-m", "perfdb.embedded.prepare", str(link), *(["--alone"] if alone else [])]
        self.processes.run(Service(name="prepare", argv=argv, env=env, cwd=ROOT))
        path = link.read_text(encoding="utf-8").strip()
        link.unlink()
        return path

    def _answers(self) -> bool:
        with closing(http.client.HTTPConnection(ADDRESS, self.port, timeout=10)) as connection:
            try:
                connection.request("GET", "/healthz")
                return connection.getresponse().status == http.client.OK
            except (OSError, http.client.HTTPException):
                return False

    def _watch(self, parent: int | None) -> None:
        while parent is None or (os.getppid() == parent and not is_terminal_lost(parent)):
            for child in list(self.processes.children):
                if not child.alive:
                    self._start_again(child)
            self.processes.pause(0.25)
        say("what started perfdb has gone; stopping")

    def _start_again(self, child: Child) -> None:
        name, status = child.service.name, child.process.returncode
        self.processes.forget(child)
        deaths = self.deaths.setdefault(name, deque(maxlen=DEATHS))
        deaths.append(time.monotonic())
        if len(deaths) == DEATHS and deaths[-1] - deaths[0] < DEATHS_WITHIN_S:
            raise LauncherError(f"{name} keeps ending: {child.last_line()} (all of it: {child.log})")
        how = f"killed by signal {-status}" if status < 0 else f"exit status {status}"
        say(f"{name} ended by itself ({how}) and is started again; see {child.log}")
        # At once the first time, then ever slower.
        self.processes.pause(0.5 * (len(deaths) - 1))
        self.starts[name]()


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


def services(env: dict[str, str], listener: int) -> list[Service]:
    """Return the services of perfdb, the web server first."""
    web = [sys.executable, "-m", "gunicorn", "perfdb.wsgi", "--bind", f"fd://{listener}", "--no-control-socket"]
    web += ["--worker-class", "gthread", "--workers", "2", "--threads", "4", "--timeout", "120"]
    web += ["--access-logfile", "-"]
    celery = [sys.executable, "-m", "celery", "-A", "perfdb.celery"]
    # Whoever looks at a page waits for it, and nobody for the last run of a bulk import.
    polite = ["nice", "-n", "10"]
    # With one worker there is nobody to gossip with. Its processes take 100 MB each.
    worker = [*polite, *celery, "worker", "--loglevel", "INFO"]
    worker += ["--concurrency", str(max(2, min(4, os.cpu_count() or 2)))]
    worker += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    # The schedule is fixed, so beat needs no file to remember it in, which a hard end could spoil.
    beat = [*celery, "beat", "--loglevel", "INFO", "--scheduler", "celery.beat:Scheduler", "--pidfile", ""]
    return [
        Service(name="web", argv=web, env=env, cwd=ROOT, pass_fds=(listener,)),
        Service(name="worker", argv=worker, env=env, cwd=ROOT),
        Service(name="beat", argv=beat, env=env, cwd=ROOT),
    ]
