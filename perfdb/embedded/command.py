"""`manage` and `exec`: run one command on the terminal against an instance, whether it is running or not."""

import os
import signal
import subprocess
import sys

from perfdb.embedded.binaries import postgres_folder
from perfdb.embedded.home import Home
from perfdb.embedded.instance import environment, running_environment, take
from perfdb.embedded.processes import Processes, dies_with_us
from perfdb.embedded.servers import Servers
from perfdb.embedded.static import ROOT


def manage(home: Home, port: int, arguments: list[str]) -> int:
    """`manage.py ARGUMENTS` against the instance; returns its exit status."""
    return execute(home, port, [sys.executable, str(ROOT / "manage.py"), *arguments])


def execute(home: Home, port: int, argv: list[str]) -> int:
    """Any program in the environment of the instance; returns its exit status.

    A running instance's servers are used; else they are started for the command. Raises LauncherError.
    """
    processes = Processes(home)
    try:
        if take(home, processes):
            servers = Servers(processes)
            servers.start()
            home.announce("a command", servers.environment)
            reach = servers.environment
        else:
            reach = running_environment(home)
        env = environment(home, port, reach)
        # For dbshell, psql and pg_dump: the newest known, since an older pg_dump refuses a newer server.
        env["PATH"] = f"{postgres_folder()}{os.pathsep}{env.get('PATH', os.defpath)}"
        return _on_terminal(argv, env)
    finally:
        processes.stop()
        home.unlock()


def _on_terminal(argv: list[str], env: dict[str, str]) -> int:
    """Run in the foreground; Ctrl-C is for the command alone, and SIGTERM is passed on to it."""
    with subprocess.Popen(argv, env=env, preexec_fn=dies_with_us(signal.SIGTERM)) as process:  # noqa: PLW1509
        previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, lambda *_: process.terminate())
        try:
            return process.wait()
        finally:
            signal.signal(signal.SIGINT, previous)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
