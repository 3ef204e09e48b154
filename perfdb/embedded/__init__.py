"""Launcher behind `make run`, `make manage` and `make test`: PostgreSQL, Valkey and perfdb's processes.

The servers' programs come from wheels or from the system; everything written is in PERFDB_HOME; neither root nor a
configured database is needed. docs/running.md has the details.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class LauncherError(Exception):
    """An error that a person can correct, with a message of one line."""
