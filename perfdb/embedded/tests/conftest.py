"""A PERFDB_HOME for each test of the launcher, and the command line."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from perfdb.embedded import ROOT
from perfdb.embedded.home import Home
from perfdb.embedded.processes import Processes
from perfdb.embedded.servers import clean_environment


@pytest.fixture
def home() -> Iterator[Home]:
    """Yield an empty home with a short path; end all processes at the end."""
    with tempfile.TemporaryDirectory(prefix="perfdb-embedded-") as folder:
        home = Home(Path(folder))
        home.create()
        yield home
        end_all(home)


@pytest.fixture
def processes(home: Home) -> Iterator[Processes]:
    """The processes of that home."""
    processes = Processes(home)
    yield processes
    processes.stop()


@pytest.fixture
def servers_of_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the servers that the other tests run on."""
    for name in ("DATABASE_URL", "REDIS_URL"):
        monkeypatch.delenv(name, raising=False)


class CommandLine:
    """Runs `python -m perfdb.embedded` on one home."""

    def __init__(self, home: Home, port: int) -> None:
        self.home = home
        self.port = port

    def start(self, *arguments: str, output: Path | None = None) -> subprocess.Popen[str]:
        """Start the command; write output to a new file `output`, else to a pipe."""
        unwanted = ("DATABASE_URL", "REDIS_URL", "STATIC_HASHED_NAMES", "SECRET_KEY")
        env = {name: value for name, value in clean_environment(os.environ).items() if name not in unwanted}
        env |= {"PERFDB_HOME": str(self.home.path), "PORT": str(self.port)}
        with contextlib.ExitStack() as stack:
            return subprocess.Popen(
                [sys.executable, "-m", "perfdb.embedded", *arguments],
                env=env,
                cwd=ROOT,
                text=True,
                stdin=subprocess.DEVNULL,
                stdout=stack.enter_context(output.open("w")) if output else subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def run(self, *arguments: str) -> tuple[int, str]:
        """The exit status and everything that was printed."""
        process = self.start(*arguments)
        output, _ = process.communicate(timeout=120)
        return process.returncode, output


@pytest.fixture
def command_line(home: Home, free_port: int) -> CommandLine:
    return CommandLine(home, free_port)


@pytest.fixture
def free_port() -> int:
    """A port that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def running(home: Home) -> list[psutil.Process]:
    """Return the processes of a home, by command line or environment.

    Processes may end at any time: `info` (name, cmdline, environ, status) is of one moment.
    """
    found = []
    for process in psutil.process_iter(["name", "cmdline", "environ", "status"]):
        command = " ".join(process.info["cmdline"] or [])
        place = (process.info["environ"] or {}).get("PERFDB_HOME")
        if process.info["status"] != psutil.STATUS_ZOMBIE and (
            str(home.path) in command or home.identity in command or place == str(home.path)
        ):
            found.append(process)
    return [process for process in found if process.pid != os.getpid()]


def end_all(home: Home) -> None:
    for process in running(home):
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(signal.SIGKILL)


def ended(process: psutil.Process) -> bool:
    """Return whether a process has ended, waited for or not."""
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def eventually(condition: Callable[[], bool], within: float = 120) -> bool:
    """Whether the condition comes true within so many seconds."""
    deadline = time.monotonic() + within
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
