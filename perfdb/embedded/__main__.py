"""Command line of the launcher: `up`, `manage ARGS...` or `exec PROGRAM ARGS...`."""

import argparse
import os
import signal
import subprocess
import sys
from pathlib import Path

from perfdb.embedded import ROOT, LauncherError
from perfdb.embedded.home import Home
from perfdb.embedded.launcher import Launcher
from perfdb.embedded.postgres import postgres_folder
from perfdb.embedded.processes import Processes, die_with_parent
from perfdb.embedded.servers import Servers, build_environment, find_running_servers


def main(argv: list[str]) -> int:
    """Run the command and return its exit status; print a LauncherError as one line."""
    options = _parser().parse_args(argv)
    try:
        if options.verb == "prepare":
            prepare(options.link, alone=options.alone)
            return 0
        home, port = Home(Path(os.environ.get("PERFDB_HOME") or ROOT / "var")), _port()
        if options.verb == "up":
            Launcher(home, port).up(with_parent=options.with_parent)
            return 0
        program = [sys.executable, str(ROOT / "manage.py")] if options.verb == "manage" else []
        return execute(home, port, [*program, *options.arguments])
    except LauncherError as error:
        print(f"perfdb: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m perfdb.embedded", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="{up,manage,exec}")
    up = verbs.add_parser("up", help="start everything and run until Ctrl-C")
    up.add_argument("--with-parent", action="store_true", help="end when the process that started this one has gone")
    for verb, summary in (("manage", "run a management command"), ("exec", "run a program, such as pg_dump")):
        verbs.add_parser(verb, help=summary).add_argument("arguments", nargs=argparse.REMAINDER)
    prepare = verbs.add_parser("prepare")
    prepare.add_argument("link", type=Path)
    prepare.add_argument("--alone", action="store_true")
    return parser


def _port() -> int:
    text = os.environ.get("PORT") or "8000"
    if not text.isdecimal() or not 0 < int(text) < 65536:
        raise LauncherError(f"PORT={text} is not a port: choose a number from 1024 to 65535")
    return int(text)


def execute(home: Home, port: int, argv: list[str]) -> int:
    """Run a program in the instance's environment and return its exit status.

    The servers of a running instance are used, else started for the command. Raise LauncherError on failure.
    """
    processes = Processes(home)
    try:
        if processes.lock_home():
            servers = Servers(processes)
            servers.start()
            home.announce("a command", servers.environment)
            reach = servers.environment
        else:
            reach = find_running_servers(home)
        env = build_environment(home, port, reach)
        # For dbshell, psql and pg_dump: the newest known, since an older pg_dump refuses a newer server.
        env["PATH"] = f"{postgres_folder()}{os.pathsep}{env.get('PATH', os.defpath)}"
        return _run_in_foreground(argv, env)
    finally:
        processes.stop()
        home.unlock()


def _run_in_foreground(argv: list[str], env: dict[str, str]) -> int:
    """Run a command on the terminal, with Ctrl-C for the command alone."""
    with subprocess.Popen(argv, env=env, preexec_fn=die_with_parent(signal.SIGTERM)) as process:  # noqa: PLW1509
        previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, lambda *_: process.terminate())
        try:
            return process.wait()
        finally:
            signal.signal(signal.SIGINT, previous)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def prepare(link: Path, *, alone: bool) -> None:
    """Migrate the database, load demo and studies, write a sign-in link.

    One process runs all steps, since starting Django takes longer than each step. The link goes to a file, not to the
    log. ``alone``: no worker can be alive, so interrupted jobs need not wait for their leases.
    """
    import django  # noqa: PLC0415 - the launcher itself runs without Django
    from django.core.management import call_command  # noqa: PLC0415

    django.setup()
    call_command("migrate", interactive=False)
    call_command("loaddemo", "--nights")
    call_command("loadstudies", "--background")
    if alone:
        call_command("releasejobs")
    link.touch(mode=0o600)
    with link.open("w", encoding="utf-8") as output:
        call_command("signinlink", stdout=output)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
