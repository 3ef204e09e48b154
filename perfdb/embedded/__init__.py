"""Launcher behind `make run`, `make manage` and `make test`: PostgreSQL, Valkey and perfdb's processes.

The servers' programs come from wheels or from the system; everything written is in PERFDB_HOME; neither root nor a
configured database is needed. docs/running.md has the details.
"""


class LauncherError(Exception):
    """Error that a person can correct; its message is one line."""
