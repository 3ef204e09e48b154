"""A perfdb of its own for the benchmark: really started, with a synthetic archive of a given size in it.

Archives are kept in the benchmark's folder and used again while ``archive.py`` and the migrations stay the same.
"""

import hashlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from perfdb.embedded.binaries import postgres_folder
from perfdb.embedded.home import Home
from perfdb.embedded.instance import environment, running_environment

ROOT = Path(__file__).parent.parent
_START_LIMIT_S = 300
_JSON = {"Accept": "application/json"}


def fingerprint() -> str:
    """Changes with everything that decides what an archive looks like in the database."""
    parts = [ROOT / "bench" / "archive.py", *sorted((ROOT / "perfdb" / "results" / "migrations").glob("0*.py"))]
    return hashlib.sha256(b"".join(path.read_bytes() for path in parts)).hexdigest()[:16]


class Instance:
    """A running perfdb with so many runs; a context manager that ends it."""

    def __init__(self, folder: Path, runs: int) -> None:
        self.runs = runs
        self.home = Home(folder / f"{runs}-{fingerprint()}")
        self.port = _free_port()
        self._process: subprocess.Popen[str] | None = None
        self._http: http.client.HTTPConnection | None = None

    def __enter__(self) -> Self:
        self.home.create()
        env = {**os.environ, "PERFDB_HOME": str(self.home.path), "PORT": str(self.port)}
        argv = [sys.executable, "-m", "perfdb.embedded", "up"]
        self._process = subprocess.Popen(argv, env=env, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        self._wait()
        self.command("bench.fill", str(self.runs))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait()

    @property
    def environment(self) -> dict[str, str]:
        """What perfdb's own processes run with."""
        env = environment(self.home, self.port, running_environment(self.home))
        return env | {"PATH": f"{postgres_folder()}{os.pathsep}{env.get('PATH', os.defpath)}"}

    @property
    def address(self) -> str:
        """Its database, for psycopg."""
        env = self.environment
        return f"host={env['PGHOST']} port={env['PGPORT']} user={env['PGUSER']} dbname={env['PGDATABASE']}"

    def command(self, module: str, *arguments: str) -> str:
        """Run a module of the benchmark against this instance; answers what it prints."""
        argv = [sys.executable, "-m", module, *arguments]
        return subprocess.run(
            argv, env=self.environment, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
        ).stdout

    def get(self, address: str, headers: Mapping[str, str] = _JSON) -> bytes:
        """The body of an answer, over a connection that stays open; raises RuntimeError for any but 200 and 304."""
        answer, body = self._answer(address, headers)
        if answer.status not in (200, 304):
            raise RuntimeError(f"{address} answered {answer.status}: {body[:300]!r}")
        return body

    def _answer(self, address: str, headers: Mapping[str, str]) -> tuple[http.client.HTTPResponse, bytes]:
        """An answer, over a new connection where the server has closed the one that was open."""
        for attempt in range(2):
            if self._http is None:
                self._http = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
            try:
                self._http.request("GET", address, headers=dict(headers))
                answer = self._http.getresponse()
                return answer, answer.read()
            except http.client.RemoteDisconnected:
                self._http = None
                if attempt:
                    raise
        raise AssertionError

    def etag(self, address: str) -> str:
        """The entity tag of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        connection.request("GET", address, headers=_JSON)
        answer = connection.getresponse()
        answer.read()
        return answer.headers["ETag"]

    def json(self, address: str) -> object:
        """The same, parsed."""
        return json.loads(self.get(address))

    def _wait(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        deadline = time.monotonic() + _START_LIMIT_S
        for line in self._process.stdout:
            if "running on" in line or time.monotonic() > deadline:
                break
        else:
            raise RuntimeError(f"perfdb did not start; see {self.home.log}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
