"""Sending results to an instance as a script does, and waiting until its worker has stored them."""

import http.client
import json
from typing import Any
from uuid import uuid4

from bench.instance import Instance

_LIMIT_S = 600
_WAIT_S = 30


class Sender:
    """Requests of the instance's owner, each over a connection of its own."""

    def __init__(self, instance: Instance) -> None:
        self._port = instance.port
        self._token = (instance.home.path / "token").read_text(encoding="ascii").strip()

    def records(self, body: bytes, study: str) -> int:
        """Bring JSON records in; answers the upload's number once they are stored.

        The answer says what became of each record, unless that took too long.
        """
        answer = self._asked("POST", f"/api/v1/runs/?study={study}&wait={_WAIT_S}", body, "application/x-ndjson")
        return int(answer["upload"]["id"]) if "runs" in answer else self.settled(answer["id"])

    def log(self, body: bytes, study: str) -> int:
        """Bring a log in and wait."""
        return self.settled(self.start(body, study))

    def start(self, body: bytes, study: str) -> int:
        """Bring a log in and go on; answers the upload's number."""
        mark = uuid4().hex
        head = f'--{mark}\r\nContent-Disposition: form-data; name="files"; filename="bench.awm.log"\r\n\r\n'
        form = b"".join((head.encode(), body, f"\r\n--{mark}--\r\n".encode()))
        media_type = f"multipart/form-data; boundary={mark}"
        number: int = self._asked("POST", f"/api/v1/uploads/?study={study}", form, media_type)["id"]
        return number

    def settled(self, upload: int) -> int:
        """Wait until an upload has settled; raises RuntimeError where it brought nothing."""
        for _ in range(_LIMIT_S // _WAIT_S):
            state = self.upload(upload, f"?wait={_WAIT_S}")["state"]
            if state == "done":
                return upload
            if state not in ("received", "parsing", "loading"):
                break
        raise RuntimeError(f"upload {upload} is {state}")

    def upload(self, number: int, query: str = "") -> Any:
        """An upload as it is."""
        return self._asked("GET", f"/api/v1/uploads/{number}/{query}")

    def _asked(self, method: str, address: str, body: bytes = b"", media_type: str = "") -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=_LIMIT_S)
        headers = {"Authorization": f"Bearer {self._token}", "Accept": "application/json"}
        connection.request(method, address, body, headers | ({"Content-Type": media_type} if media_type else {}))
        answer = connection.getresponse()
        said = answer.read()
        connection.close()
        if answer.status >= 400:
            raise RuntimeError(f"{address} answered {answer.status}: {said[:300]!r}")
        return json.loads(said)
