"""`python -m perfdb.embedded up | manage ARGS... | exec PROGRAM ARGS...`, on PORT and PERFDB_HOME."""

import argparse
import os
import sys
from pathlib import Path

from perfdb.embedded import LauncherError
from perfdb.embedded.command import execute, manage
from perfdb.embedded.home import Home
from perfdb.embedded.launcher import Launcher
from perfdb.embedded.static import ROOT

DEFAULT_PORT = "8000"


def main(argv: list[str]) -> int:
    """Run the command; returns the exit status. What a person has to mend is one line on standard error."""
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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
