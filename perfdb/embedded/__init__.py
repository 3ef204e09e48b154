"""The launcher behind `make run`, `make manage` and `make test`: PostgreSQL, Valkey and perfdb's own processes.

It takes the servers' programs out of wheels (or from the system), keeps everything it writes in PERFDB_HOME and
needs neither root nor a configured database. docs/running.md describes what it promises.
"""


class LauncherError(Exception):
    """Something a person has to mend; the message is the one line that tells what."""
