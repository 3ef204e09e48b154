"""Command line of the launcher: `up`, `manage ARGS...` or `exec PROGRAM ARGS...`."""

import argparse
import os
import signal
import subprocess
import sys
from pathlib import Path

from perfdb.embedded import LauncherError
from perfdb.embedded.binaries import postgres_folder
from perfdb.embedded.home import Home
from perfdb.embedded.instance import environment, lock_home, running_environment
from perfdb.embedded.launcher import Launcher
from perfdb.embedded.processes import Processes, dies_with_us
from perfdb.embedded.servers import Servers
from perfdb.embedded.static import ROOT

DEFAULT_PORT = "8000"


def main(argv: list[str]) -> int:
    """Run the command and return its exit status; print a LauncherError as one line."""
    options = _parser().parse_args(argv)
    try:
        home = Home(Path(os.environ.get("PERFDB_HOME") or ROOT / "var"))
        port = _port()
        if options.verb == "up":
            Launcher(home, port).up(with_parent=options.with_parent)
            return 0
        run = manage if options.verb == "manage" else execute
        return run(home, port, options.arguments)
    except LauncherError as error:
        print(f"perfdb: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m perfdb.embedded", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    up = verbs.add_parser("up", help="start everything and run until Ctrl-C")
    up.add_argument("--with-parent", action="store_true", help="end when the process that started this one has gone")
    for verb, summary in (("manage", "run a management command"), ("exec", "run a program, such as pg_dump")):
        verbs.add_parser(verb, help=summary).add_argument("arguments", nargs=argparse.REMAINDER)
    return parser


def _port() -> int:
    text = os.environ.get("PORT") or DEFAULT_PORT
    if not text.isdecimal() or not 0 < int(text) < 65536:
        raise LauncherError(f"PORT={text} is not a port: choose a number from 1024 to 65535")
    return int(text)


def manage(home: Home, port: int, arguments: list[str]) -> int:
    """Run `manage.py ARGUMENTS` against the instance and return its exit status."""
    return execute(home, port, [sys.executable, str(ROOT / "manage.py"), *arguments])


def execute(home: Home, port: int, argv: list[str]) -> int:
    """Run a program in the instance's environment and return its exit status.

    The servers of a running instance are used, else started for the command. Raise LauncherError on failure.
    """
    processes = Processes(home)
    try:
        if lock_home(home, processes):
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
    """Run in the foreground; Ctrl-C reaches the command alone, SIGTERM is passed on."""
    with subprocess.Popen(argv, env=env, preexec_fn=dies_with_us(signal.SIGTERM)) as process:  # noqa: PLW1509
        previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, lambda *_: process.terminate())
        try:
            return process.wait()
        finally:
            signal.signal(signal.SIGINT, previous)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
