"""HTTP client of a benchmarked instance."""

import http.client
import json
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

_LIMIT_S = 600
_WAIT_S = 30
_JSON = {"Accept": "application/json"}
_UNSETTLED = frozenset({"received", "parsing", "loading"})


class Client:
    """Requests to an instance on this machine, over one connection that stays open."""

    def __init__(self, port: int, token: str = "") -> None:
        self._port, self._token = port, token
        self._connection: http.client.HTTPConnection | None = None

    def get(self, address: str, headers: Mapping[str, str] = _JSON) -> bytes:
        """Return the body of an answer. Raise RuntimeError for any status but 200."""
        return self._request("GET", address, headers)

    def json(self, address: str) -> Any:
        """Return an answer as JSON data."""
        return json.loads(self.get(address))

    def send_records(self, body: bytes, study: str) -> int:
        """Send JSON records, one a line; return the upload's id once they are stored."""
        address = f"/api/v1/runs/?study={study}&wait={_WAIT_S}"
        answer = json.loads(self._request("POST", address, {"Content-Type": "application/x-ndjson"}, body))
        return int(answer["upload"]["id"]) if "runs" in answer else self.wait(answer["id"])

    def send_log(self, body: bytes, study: str) -> int:
        """Upload a driver's log; return the upload's id once its runs are stored."""
        mark = uuid4().hex
        head = f'--{mark}\r\nContent-Disposition: form-data; name="files"; filename="bench.awm.log"\r\n\r\n'
        form = b"".join((head.encode(), body, f"\r\n--{mark}--\r\n".encode()))
        media_type = f"multipart/form-data; boundary={mark}"
        answer = self._request("POST", f"/api/v1/uploads/?study={study}", {"Content-Type": media_type}, form)
        return self.wait(json.loads(answer)["id"])

    def wait(self, upload: int) -> int:
        """Wait until an upload has settled. Raise RuntimeError unless its runs are stored."""
        for _ in range(_LIMIT_S // _WAIT_S):
            state = self.json(f"/api/v1/uploads/{upload}/?wait={_WAIT_S}")["state"]
            if state not in _UNSETTLED:
                break
        if state != "done":
            raise RuntimeError(f"upload {upload} is {state}")
        return upload

    def _request(self, method: str, address: str, headers: Mapping[str, str], body: bytes | None = None) -> bytes:
        """Return the body of an answer, reconnecting if needed."""
        sent = _JSON | dict(headers) | ({"Authorization": f"Bearer {self._token}"} if self._token else {})
        for is_last in (False, True):
            self._connection = self._connection or http.client.HTTPConnection("127.0.0.1", self._port, timeout=_LIMIT_S)
            try:
                self._connection.request(method, address, body, sent)
                answer = self._connection.getresponse()
                content = answer.read()
                break
            except ConnectionError:
                self._connection = None
                if is_last:
                    raise
        if answer.status >= 400:
            raise RuntimeError(f"{address} answered {answer.status}: {content[:300]!r}")
        return content
