"""perfdb on several hosts, as processes: PostgreSQL with a replica, webs and workers."""

import json
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPMessage
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from perfdb.embedded import ROOT
from perfdb.embedded.home import Home
from perfdb.embedded.postgres import NAME, Postgres, change_owner
from perfdb.embedded.processes import Child, Processes, Service
from perfdb.embedded.servers import Broker, build_environment

_START_LIMIT_S = 120.0


class Standby(Postgres):
    """A streaming replica of another PostgreSQL."""

    def __init__(self, processes: Processes, primary: Postgres) -> None:
        super().__init__(processes, primary.env, durable=False)
        self.primary = primary

    def wait(self, child: Child) -> None:
        """Wait for an answer; databases come from the primary."""
        self.processes.wait_until(child, self._answers, _START_LIMIT_S)

    def _make_cluster(self) -> None:
        copy = ["--pgdata", str(self.data), "--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast"]
        self.data.mkdir(mode=0o700)
        change_owner(self.data, self.rights.owner)
        self.processes.run(
            Service(
                name="basebackup",
                argv=[*self.rights.prefix, str(self.folder / "pg_basebackup"), *copy],
                env={**self.env, **self.primary.environment},
                cwd=self.home.path,
                become=self.rights.become,
            )
        )


class Answer(NamedTuple):
    """An answer of a web server."""

    status: int
    headers: HTTPMessage
    text: str


@dataclass(frozen=True)
class Web:
    """One web server.

    ``port`` is the listening port, ``token`` the one for the REST API.
    """

    child: Child
    port: int
    token: str

    def get(self, path: str) -> Any:
        """The JSON at an address."""
        return self._ask("GET", path)

    def upload(self, files: Mapping[str, bytes], study: str) -> str:
        """Send files; answers the address of the upload."""
        sent = [SimpleUploadedFile(name, content) for name, content in files.items()]
        body = encode_multipart(BOUNDARY, {"files": sent, "study": study})
        answer = self._ask("POST", "/api/v1/uploads/", body, MULTIPART_CONTENT)
        return f"/api/v1/uploads/{answer['id']}/"

    def answers(self) -> bool:
        """Return whether the server is up."""
        try:
            return bool(self.get("/healthz"))
        except OSError:
            return False

    def visit(self, path: str, **headers: str) -> Answer:
        """Return a browser's answer, without following redirections."""
        return self._send("GET", path, b"", headers)

    def _ask(self, method: str, path: str, body: bytes = b"", kind: str = "application/json") -> Any:
        answer = self._send(method, path, body, {"Authorization": f"Bearer {self.token}", "Content-Type": kind})
        assert answer.status < 300, (method, path, answer)
        return json.loads(answer.text)

    def _send(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=60)) as connection:
            connection.request(method, path, body, dict(headers))
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read().decode())


class Cluster:
    """The processes of a test, which `stop` ends."""

    def __init__(self, home: Path) -> None:
        self.homes = [Home(home / name) for name in ("first", "second")]
        for each in self.homes:
            each.create()
        self.processes, self._second = map(Processes, self.homes)
        self.primary = Postgres(self.processes, {}, durable=False)
        self.standby = Standby(self._second, self.primary)
        broker = Broker(self.processes, {}, durable=False)
        for server in (self.primary, broker, self.standby):
            server.wait(server.start())
        reach = {
            **self.primary.environment,
            **broker.environment,
            "DATABASE_REPLICA_URL": self.standby.environment["DATABASE_URL"],
            "STATIC_HASHED_NAMES": "0",
        }
        self.env = build_environment(self.homes[0], 0, reach)
        self.manage("migrate", "--verbosity=0")
        self.token = self.manage("apitoken", "lab")

    def manage(self, *arguments: str) -> str:
        """Return the last line of a management command."""
        command = [sys.executable, "manage.py", *arguments]
        done = subprocess.run(command, env=self.env, cwd=ROOT, capture_output=True, text=True, check=True)
        return done.stdout.strip().rpartition("\n")[2]

    def web(self, name: str) -> Web:
        """One more web server, ready."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = int(listener.getsockname()[1])
        argv = [sys.executable, "-m", "gunicorn", "perfdb.wsgi", f"--bind=127.0.0.1:{port}", "--threads=4"]
        web = Web(self._start(name, [*argv, "--no-control-socket"]), port, self.token)
        self.processes.wait_until(web.child, web.answers, _START_LIMIT_S)
        return web

    def worker(self, name: str) -> Child:
        """Start one more worker."""
        argv = [sys.executable, "-m", "celery", "--app=perfdb", "worker", "--pool=solo", f"--hostname={name}@here"]
        return self._start(name, argv)

    def beat(self) -> Child:
        """Start beat, which sends lost jobs again."""
        schedule = self.homes[0].path / "beat"
        return self._start("beat", [sys.executable, "-m", "celery", "--app=perfdb", "beat", f"--schedule={schedule}"])

    def kill(self, child: Child) -> None:
        """End a process at once, as a power cut does."""
        child.process.kill()
        child.process.wait()
        self.processes.forget(child)

    def on_standby(self, sql: str) -> Any:
        """The first value of a question to the replica."""
        address = self.standby.environment
        with psycopg.connect(
            host=address["PGHOST"], port=address["PGPORT"], user=NAME, dbname=NAME, autocommit=True
        ) as connection:
            row = connection.execute(sql).fetchone()
            return row[0] if row else None

    def stop(self) -> None:
        """End everything."""
        for processes in (self._second, self.processes):
            processes.stop()

    def stop_standby(self) -> None:
        """End the replica alone."""
        self._second.stop()

    def _start(self, name: str, argv: list[str]) -> Child:
        return self.processes.start(Service(name=name, argv=argv, env=self.env, cwd=ROOT))
