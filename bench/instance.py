"""A running perfdb with a synthetic archive, and the HTTP client.

Archives are kept in the benchmark's folder and used again while ``archive.py`` and the migrations stay the same.
"""

import hashlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from uuid import uuid4

from perfdb.embedded.home import Home
from perfdb.embedded.postgres import postgres_folder
from perfdb.embedded.servers import build_environment, find_running_servers

ROOT = Path(__file__).parent.parent
ARCHIVES = ROOT / "var" / "bench"
_LIMIT_S, _WAIT_S = 600, 30


class Client:
    """Requests to a server on this machine, over one connection that stays open."""

    def __init__(self, port: int, token: str = "") -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=_LIMIT_S)
        self._headers = {"Accept": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})

    def get(self, address: str) -> bytes:
        """Return the body of an answer. Raise RuntimeError for an error status."""
        return self._request("GET", address)

    def json(self, address: str) -> Any:
        """Return an answer as JSON data."""
        return json.loads(self.get(address))

    def send_records(self, body: bytes, study: str) -> int:
        """Send JSON records, one a line; return the stored upload's id."""
        address = f"/api/v1/runs/?study={study}&wait={_WAIT_S}"
        answer = json.loads(self._request("POST", address, "application/x-ndjson", body))
        return int(answer["upload"]["id"]) if "runs" in answer else self._wait(answer["id"])

    def send_log(self, body: bytes, study: str) -> int:
        """Upload a driver's log; return the upload's id once the runs are stored."""
        mark = uuid4().hex
        head = f'--{mark}\r\nContent-Disposition: form-data; name="files"; filename="bench.awm.log"\r\n\r\n'
        form = b"".join((head.encode(), body, f"\r\n--{mark}--\r\n".encode()))
        answer = self._request("POST", f"/api/v1/uploads/?study={study}", f"multipart/form-data; boundary={mark}", form)
        return self._wait(json.loads(answer)["id"])

    def _wait(self, upload: int) -> int:
        """Wait until an upload has settled. Raise RuntimeError unless its runs are stored."""
        for _ in range(_LIMIT_S // _WAIT_S):
            state = self.json(f"/api/v1/uploads/{upload}/?wait={_WAIT_S}")["state"]
            if state not in ("received", "parsing", "loading"):
                break
        if state != "done":
            raise RuntimeError(f"upload {upload} is {state}")
        return upload

    def _request(self, method: str, address: str, media_type: str = "", body: bytes | None = None) -> bytes:
        headers = self._headers | ({"Content-Type": media_type} if media_type else {})
        try:
            self._connection.request(method, address, body, headers)
            answer = self._connection.getresponse()
        except ConnectionError:
            # The server has closed the connection meanwhile; the next request opens another.
            self._connection.close()
            self._connection.request(method, address, body, headers)
            answer = self._connection.getresponse()
        content = answer.read()
        if answer.status >= 400:
            raise RuntimeError(f"{address} answered {answer.status}: {content[:300]!r}")
        return content


@dataclass(frozen=True, slots=True)
class Instance:
    """A running perfdb; ``environment`` is for its processes and PostgreSQL's programs."""

    runs: int
    port: int
    client: Client
    environment: dict[str, str]

    @property
    def database(self) -> str:
        """Return the connection string of the database, for psycopg."""
        env = self.environment
        return f"host={env['PGHOST']} port={env['PGPORT']} user={env['PGUSER']} dbname={env['PGDATABASE']}"


@contextmanager
def run_instance(folder: Path, runs: int) -> Iterator[Instance]:
    """Run perfdb with an archive kept in ``folder``. Raise RuntimeError for a failed start."""
    home, port = Home(folder / f"{runs}-{_archive_version()}"), find_free_port()
    home.create()
    own = {"PERFDB_HOME": str(home.path), "PORT": str(port)}
    failure = f"perfdb did not start; see {home.log}"
    with run_server(["perfdb.embedded", "up"], own, "running on", failure):
        env = build_environment(home, port, find_running_servers(home))
        env["PATH"] = f"{postgres_folder()}{os.pathsep}{env.get('PATH', os.defpath)}"
        subprocess.run([sys.executable, "-m", "bench.archive", str(runs)], env=env, cwd=ROOT, check=True)
        token = (home.path / "token").read_text(encoding="ascii").strip()
        yield Instance(runs, port, Client(port, token), env)


@contextmanager
def run_server(
    argv: Sequence[str], env: Mapping[str, str], ready: str, failure: str, stderr: int | None = None
) -> Iterator[str]:
    """Run a server; yield the output's match of the regular expression ``ready``.

    ``env`` is added to the environment. Raise RuntimeError with ``failure`` if the server ends before.
    """
    command, env = [sys.executable, "-m", *argv], {**os.environ, **env}
    with subprocess.Popen(command, env=env, cwd=ROOT, stdout=subprocess.PIPE, stderr=stderr, text=True) as process:
        try:
            found = next(filter(None, (re.search(ready, line) for line in process.stdout or ())), None)
            if found is None:
                raise RuntimeError(failure)
            yield found[0]
        finally:
            process.send_signal(signal.SIGINT)
            process.wait()


def _archive_version() -> str:
    """Return a digest of everything that decides how an archive is stored."""
    parts = [ROOT / "bench" / "archive.py", *sorted((ROOT / "perfdb" / "results" / "migrations").glob("0*.py"))]
    return hashlib.sha256(b"".join(path.read_bytes() for path in parts)).hexdigest()[:16]


def find_free_port() -> int:
    """Return a port that no server uses now."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port
