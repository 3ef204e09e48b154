"""A running perfdb with a synthetic archive of a given size.

Archives are kept in the benchmark's folder and used again while ``archive.py`` and the migrations stay the same.
"""

import hashlib
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from bench.client import Client
from perfdb.embedded.home import Home
from perfdb.embedded.postgres import postgres_folder
from perfdb.embedded.servers import build_environment, find_running_servers

ROOT = Path(__file__).parent.parent
_START_LIMIT_S = 300


def archive_version() -> str:
    """Return a digest of everything that decides how an archive is stored."""
    parts = [ROOT / "bench" / "archive.py", *sorted((ROOT / "perfdb" / "results" / "migrations").glob("0*.py"))]
    return hashlib.sha256(b"".join(path.read_bytes() for path in parts)).hexdigest()[:16]


class Instance:
    """Context manager that starts perfdb with ``runs`` runs in ``folder``, and stops it."""

    def __init__(self, folder: Path, runs: int) -> None:
        self.runs = runs
        self.home = Home(folder / f"{runs}-{archive_version()}")
        self.port = _free_port()
        self.client = Client(self.port)
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        self.home.create()
        env = {**os.environ, "PERFDB_HOME": str(self.home.path), "PORT": str(self.port)}
        argv = [sys.executable, "-m", "perfdb.embedded", "up"]
        self._process = subprocess.Popen(argv, env=env, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        self._wait_for_start(self._process)
        self.client = Client(self.port, (self.home.path / "token").read_text(encoding="ascii").strip())
        fill = [sys.executable, "-m", "bench.archive", str(self.runs)]
        subprocess.run(fill, env=self.environment, cwd=ROOT, check=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait()

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment of perfdb's own processes, with PostgreSQL's programs on the path."""
        env = build_environment(self.home, self.port, find_running_servers(self.home))
        return env | {"PATH": f"{postgres_folder()}{os.pathsep}{env.get('PATH', os.defpath)}"}

    @property
    def database(self) -> str:
        """Return the connection string of its database, for psycopg."""
        env = self.environment
        return f"host={env['PGHOST']} port={env['PGPORT']} user={env['PGUSER']} dbname={env['PGDATABASE']}"

    def _wait_for_start(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        deadline = time.monotonic() + _START_LIMIT_S
        for line in process.stdout:
            if "running on" in line or time.monotonic() > deadline:
                return
        raise RuntimeError(f"perfdb did not start; see {self.home.log}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
