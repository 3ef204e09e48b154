"""Child processes that never outlive the launcher.

On Linux the kernel kills the children of a killed launcher (PR_SET_PDEATHSIG). Elsewhere, and for a child just being
started, each is recorded with its start time and stopped at the next start.
"""

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from perfdb.embedded import LauncherError
from perfdb.embedded.home import Home

PR_SET_PDEATHSIG = 1
LOG_LIMIT_BYTES = 10_000_000
# Start times come from a clock that may be set; a process id is not reused within seconds.
START_TOLERANCE_S = 2.0

_LIBC = ctypes.CDLL(None, use_errno=True)


class Interrupted(Exception):  # noqa: N818 - not an error
    """Request of a person or the system to stop the launcher."""


def do_nothing() -> None:
    """Do nothing: the default of an optional step."""


@dataclass(frozen=True)
class Service:
    """Settings to start and stop one process."""

    name: str
    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: Path
    before: Callable[[], None] = do_nothing  # Called in the launcher before each start.
    become: Callable[[], None] = do_nothing  # Called in the child before the program starts, to drop rights.
    pass_fds: tuple[int, ...] = ()
    stop_signal: signal.Signals = signal.SIGTERM  # For an orderly stop.
    death_signal: signal.Signals = signal.SIGKILL  # From the kernel when the launcher is killed.
    grace: float = 10.0  # Seconds from the stop signal to the kill.
    outlives_others: bool = False  # Whether the other services need this one until they have stopped.


@dataclass
class Child:
    """A started service."""

    service: Service
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def last_line(self) -> str:
        """Return the log's last non-empty line."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").split("\n")[-200:]
        return next((line.strip() for line in reversed(lines) if line.strip()), "no output")


class Processes:
    """All processes of one instance, recorded in PERFDB_HOME/run/processes.json."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.children: list[Child] = []
        self._record = home.run / "processes.json"
        self._interruption = threading.Event()

    def lock_home(self) -> bool:
        """Lock the home and stop orphans; return False if an instance runs there."""
        self.home.create()
        if not self.home.lock():
            return False
        self.end_orphans()
        return True

    def listen_to_signals(self) -> None:
        """Make SIGINT, SIGTERM and SIGHUP interrupt the next `pause`."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: self._interruption.set())

    def pause(self, seconds: float) -> None:
        """Sleep. Raise Interrupted as soon as the launcher shall stop."""
        if self._interruption.wait(seconds):
            raise Interrupted

    def start(self, service: Service) -> Child:
        """Start the service; append the output to log/NAME.log, which is rotated when large."""
        service.before()
        log = self.home.log / f"{service.name}.log"
        if log.exists() and log.stat().st_size > LOG_LIMIT_BYTES:
            log.rename(log.with_suffix(".log.1"))
        with log.open("ab") as output:
            process = subprocess.Popen(
                service.argv,
                env=dict(service.env),
                cwd=service.cwd,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=service.pass_fds,
                start_new_session=True,
                preexec_fn=die_with_parent(service.death_signal, service.become),  # noqa: PLW1509 - before any thread
            )
        child = Child(service, process, log)
        self.children.append(child)
        self._write_record()
        return child

    def run(self, service: Service) -> None:
        """Start the service and wait until it ends. Raise LauncherError on failure."""
        self.finish(self.start(service))

    def finish(self, child: Child) -> None:
        """Wait until the child ends. Raise LauncherError with the log's last line on failure."""
        while child.alive:
            self.pause(0.02)
        self.forget(child)
        if child.process.returncode:
            raise LauncherError(f"{child.service.name} failed: {child.last_line()} (all of it: {child.log})")

    def wait_until(self, child: Child, ready: Callable[[], bool], limit: float) -> None:
        """Wait until the child is ready. Raise LauncherError if the child ends, or after `limit` seconds."""
        name, deadline = child.service.name, time.monotonic() + limit
        while not ready():
            if not child.alive:
                raise LauncherError(f"{name} ended at its start: {child.last_line()} (all of it: {child.log})")
            if time.monotonic() > deadline:
                raise LauncherError(f"{name} is not ready after {limit:.0f} s; see {child.log}")
            self.pause(0.02)

    def forget(self, child: Child) -> None:
        """Remove an ended child, and kill the rest of its process group."""
        _signal_group(child.process.pid, signal.SIGKILL)
        self.children.remove(child)
        self._write_record()

    def stop(self) -> None:
        """Stop all children in reverse order; services that others need come last."""
        self._stop([child for child in reversed(self.children) if not child.service.outlives_others])
        for child in reversed([*self.children]):
            self._stop([child])

    def _stop(self, children: Sequence[Child]) -> None:
        """Stop children at the same time; kill each that is left after its grace."""
        asked = time.monotonic()
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                child.process.send_signal(child.service.stop_signal)
        for child in children:
            try:
                child.process.wait(max(0.0, asked + child.service.grace - time.monotonic()))
            except subprocess.TimeoutExpired:
                _signal_group(child.process.pid, signal.SIGKILL)
                child.process.wait()
            self.forget(child)

    def end_orphans(self) -> None:
        """Stop processes that an earlier launcher left; the caller holds the lock."""
        try:
            recorded = json.loads(self._record.read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return
        leaders = {each["pid"]: each["stop_signal"] for each in recorded if _is_ours(each["pid"], each["created"])}
        for pid, stop_signal in reversed(leaders.items()):
            try:
                os.kill(pid, stop_signal)
            except ProcessLookupError:
                _signal_group(pid, signal.SIGKILL)
        deadline = time.monotonic() + 10
        while any(map(_list_group, leaders)) and time.monotonic() < deadline:
            self.pause(0.05)
        for pid in leaders:
            _signal_group(pid, signal.SIGKILL)
        self._record.unlink()

    def _write_record(self) -> None:
        entries = [
            {
                "name": child.service.name,
                "pid": child.process.pid,
                "created": _created(child.process.pid),
                "stop_signal": int(child.service.stop_signal),
            }
            for child in self.children
        ]
        fresh = self._record.with_suffix(".new")
        fresh.write_text(json.dumps(entries), encoding="utf-8")
        fresh.rename(self._record)


def die_with_parent(death_signal: signal.Signals, become: Callable[[], None] = do_nothing) -> Callable[[], None]:
    """Return a function to call in a child, which then dies with this process."""
    parent = os.getpid()

    def prepare() -> None:
        become()
        if sys.platform == "linux":
            _LIBC.prctl(PR_SET_PDEATHSIG, int(death_signal))
            if os.getppid() != parent:
                # The launcher was killed before the call.
                os._exit(1)

    return prepare


def _created(pid: int) -> float:
    try:
        return psutil.Process(pid).create_time()
    except psutil.NoSuchProcess:
        return 0.0


def _is_ours(pid: int, created: float) -> bool:
    """Return whether process group `pid` is the recorded one.

    The kernel reuses the number of a group only when the group is empty, so a dead leader is ours unless the members
    are older than the record.
    """
    leader = _created(pid)
    if leader:
        return abs(leader - created) < START_TOLERANCE_S
    return any(member > created - START_TOLERANCE_S for member in _list_group(pid))


def _list_group(pid: int) -> list[float]:
    """Return the creation times of the group's running members, in seconds since 1970."""
    members = []
    for process in psutil.process_iter():
        # A process may end between two calls.
        with contextlib.suppress(ProcessLookupError, PermissionError, psutil.Error):
            if os.getpgid(process.pid) == pid and process.status() != psutil.STATUS_ZOMBIE:
                members.append(process.create_time())
    return members


def _signal_group(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)
