"""Files in pieces over REST: begin, append, break, go on, hand over; each refusal."""

import base64
import hashlib
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from rest_framework.test import APIClient

from perfdb.api.tests.answers import check, problem
from perfdb.api.tests.conftest import client_of
from perfdb.results.models import PartialFile, Upload

ONE = "/api/v1/pieces/{token}/"
CONTENT = b"0123456789"


def begin(api: APIClient, **more: Any) -> Any:
    """Say what is to come."""
    return api.post("/api/v1/pieces/", {"path": "day1/big.log", "size": 10, "fingerprint": "mine", **more})


def append(api: APIClient, token: str, offset: object, data: bytes, **headers: str) -> Any:
    """Send some bytes."""
    about = {"Upload-Offset": str(offset), **{name.replace("_", "-"): text for name, text in headers.items()}}
    return api.patch(ONE.format(token=token), data, content_type="application/octet-stream", headers=about)


def digest(data: bytes) -> str:
    """As a header says it."""
    return f"sha-256=:{base64.b64encode(hashlib.sha256(data).digest()).decode()}:"


def test_the_whole_way(api: APIClient) -> None:
    first = begin(api, sha256=hashlib.sha256(CONTENT).hexdigest())
    body = check(first, "/api/v1/pieces/", 201, "post")
    assert (body["received"], first.headers["Upload-Offset"], first.headers["Location"]) == (0, "0", body["url"])
    token = body["token"]
    check(append(api, token, 0, b"0123", Content_Digest=digest(b"0123")), ONE, method="patch")
    assert check(api.get(ONE.format(token=token)), ONE)["received"] == 4
    assert check(begin(api, sha256=hashlib.sha256(CONTENT).hexdigest()), "/api/v1/pieces/", 200, "post") == check(
        api.get(ONE.format(token=token)), ONE
    )
    assert [each["token"] for each in check(api.get("/api/v1/pieces/"), "/api/v1/pieces/")["results"]] == [token]
    assert append(api, token, 4, b"456789").json()["received"] == 10

    answer = api.post("/api/v1/uploads/", {"pieces": token, "preview": "1"}, format="multipart")

    assert answer.status_code == 202
    assert Upload.objects.get().files.get().path == "day1/big.log"
    assert api.get(ONE.format(token=token)).json()["upload"] == answer.json()["id"]


def test_a_wrong_offset_is_told_the_right_one(api: APIClient) -> None:
    token = begin(api).json()["token"]
    append(api, token, 0, b"0123")
    refused = append(api, token, 0, b"0123")
    assert problem(refused, 409)["received"] == 4
    assert refused.headers["Upload-Offset"] == "4"


@pytest.mark.parametrize(
    ("offset", "headers", "why"),
    [
        ("", {}, "Upload-Offset: nothing is not a number"),
        ("-1", {}, "-1 is not a number"),
        (0, {"Content_Digest": "md5=:abc:"}, "only Content-Digest: sha-256"),
        (0, {"Content_Digest": "sha-256=:a:"}, "not base64"),
        (0, {"Content_Digest": digest(b"other")}, "damaged"),
    ],
)
def test_refused_pieces(api: APIClient, offset: object, headers: dict[str, str], why: str) -> None:
    token = begin(api).json()["token"]
    assert why in problem(append(api, token, offset, b"0123", **headers), 400)["detail"]
    assert PartialFile.objects.get().received == 0


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"path": "../"}, "names no file"),
        ({"size": -1}, "size"),
        ({"size": 2**62}, "at most"),
        ({"sha256": "abc"}, "sha256"),
        ({"path": "a" * 1001}, "longer than 1000"),
    ],
)
def test_refused_beginnings(api: APIClient, given: dict[str, object], why: str) -> None:
    assert why in problem(begin(api, **given), 400)["detail"]
    assert not PartialFile.objects.exists()


def test_a_file_is_its_owners_alone(api: APIClient, reader: APIClient) -> None:
    token = begin(api).json()["token"]
    other = client_of(User.objects.create_user("bob"))
    problem(other.get(ONE.format(token=token)), 404)
    problem(append(other, token, 0, b"0123"), 404)
    problem(other.delete(ONE.format(token=token)), 404)
    problem(reader.get("/api/v1/pieces/"), 401)
    problem(append(reader, token, 0, b"0123"), 401)
    problem(begin(reader), 401)
    assert other.get("/api/v1/pieces/").json()["results"] == []


def test_a_browsers_session_needs_the_forms_secret(api: APIClient, ada: Any) -> None:
    token = begin(api).json()["token"]
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(ada)
    refused = browser.patch(
        ONE.format(token=token), CONTENT, content_type="application/octet-stream", headers={"Upload-Offset": "0"}
    )
    assert refused.status_code == 403
    assert PartialFile.objects.get().received == 0


def test_a_file_can_be_forgotten_until_an_upload_has_it(api: APIClient) -> None:
    token = begin(api).json()["token"]
    append(api, token, 0, CONTENT)
    api.post("/api/v1/uploads/", {"pieces": token}, format="multipart")
    problem(api.delete(ONE.format(token=token)), 404)
    other = begin(api).json()["token"]
    assert other != token
    assert api.delete(ONE.format(token=other)).status_code == 204
    problem(api.get(ONE.format(token=other)), 404)
