"""Datasette: a row a run in SQLite, brought in by sqlite-utils; questions are SQL, answered as JSON over HTTP."""

import http.client
import json
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from bench.peers.peer import Answer, Environment

NAME = "Datasette 0.65.2"
PACKAGES = ("datasette==0.65.2", "sqlite-utils==3.39")
_START_LIMIT_S = 60
_QUESTION = """
SELECT mtu, users,
       avg(trans_per_s) FILTER (WHERE device = :old) AS old, avg(trans_per_s) FILTER (WHERE device = :new) AS new
FROM runs WHERE study = :study AND workload = :workload AND device IN (:old, :new)
GROUP BY mtu, users HAVING old IS NOT NULL AND new IS NOT NULL
"""


class Datasette:
    """One database file, and the server that answers from it."""

    def __init__(self, environment: Environment, folder: Path) -> None:
        self._environment = environment
        self._file = folder / "perf.db"
        self._port = 0

    def load(self, records: bytes, study: str) -> float:
        """Bring JSON records in, and index what the question asks for; seconds."""
        rows = b"".join(json.dumps(_row(json.loads(line), study)).encode() + b"\n" for line in records.splitlines())
        start = time.perf_counter()
        self._utils("insert", str(self._file), "runs", "-", "--nl", "--alter", given=rows)
        self._utils("create-index", str(self._file), "runs", "study", "workload", "device")
        return time.perf_counter() - start

    @contextmanager
    def serving(self) -> Iterator[None]:
        """While it runs it can be asked."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        argv = [str(self._environment.program("datasette")), "serve", str(self._file), "--port", str(self._port)]
        server = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            self._wait()
            yield
        finally:
            server.terminate()
            server.wait()

    def compare(self, study: str, workload: str, old: str, new: str) -> Answer:
        """The mean of both devices at every MTU and number of users that both have."""
        given = {"study": study, "workload": workload, "old": old, "new": new}
        rows = self._get(f"/perf.json?{urlencode({'sql': _QUESTION, '_shape': 'array', **given})}")
        return {(row["mtu"], row["users"]): (row["old"], row["new"]) for row in rows}

    def _utils(self, *arguments: str, given: bytes = b"") -> None:
        subprocess.run(
            [self._environment.program("sqlite-utils"), *arguments], input=given, check=True, stdout=subprocess.DEVNULL
        )

    def _get(self, address: str) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        connection.request("GET", address)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        if answer.status != http.client.OK:
            raise RuntimeError(f"{address} answered {answer.status}: {body[:300]!r}")
        return json.loads(body)

    def _wait(self) -> None:
        deadline = time.monotonic() + _START_LIMIT_S
        while True:
            try:
                self._get("/-/versions.json")
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
            else:
                return


def _row(record: dict[str, Any], study: str) -> dict[str, Any]:
    """A record without depth: its dimensions, factors and metrics as columns, its workload and sizes as two."""
    about = {name: record[name] for name in ("run_id", "trial", "started")}
    workload, _, sizes = record["dimensions"]["workload"].partition(" ")
    dimensions = record["dimensions"] | {"workload": workload, "sizes": sizes}
    return {"study": study, **about, **dimensions, **record["factors"], **record["metrics"]}
