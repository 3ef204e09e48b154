"""GET /api/v1/artifacts/ID/"""

from typing import Any

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from perfdb.api.tests.answers import problem
from perfdb.api.tests.files import post_files
from perfdb.results.models import Artifact

PATH = "/api/v1/artifacts/{id}/"
CONTENT = "<script>alert('größe')</script>\r\n\x1a".encode("latin-1")


@pytest.fixture
def artifact(api: APIClient) -> Artifact:
    post_files(api, {"folder/größe.html": CONTENT})
    return Artifact.objects.get()


def test_it_works(api: APIClient, artifact: Artifact) -> None:
    response: Any = api.get(PATH.format(id=artifact.pk))
    assert b"".join(response.streaming_content) == CONTENT
    assert response.headers["Content-Length"] == str(len(CONTENT))


def test_a_browser_neither_shows_nor_guesses(api: APIClient, artifact: Artifact) -> None:
    headers = api.get(PATH.format(id=artifact.pk)).headers
    assert headers["Content-Type"] == "text/plain"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Disposition"] == "attachment; filename*=utf-8''gr%C3%B6%C3%9Fe.html"


def test_any_accept_header_gets_the_bytes(api: APIClient, artifact: Artifact) -> None:
    assert api.get(PATH.format(id=artifact.pk), HTTP_ACCEPT="text/html").status_code == 200


def test_a_file_of_no_upload_is_called_by_its_digest(ada: User, api: APIClient, artifact: Artifact) -> None:
    artifact.uploadfile_set.all().delete()
    assert artifact.sha256 in api.get(PATH.format(id=artifact.pk)).headers["Content-Disposition"]


def test_an_artifact_that_does_not_exist(api: APIClient) -> None:
    problem(api.get(PATH.format(id=0)), 404)


def test_reading_may_need_a_token(stranger: APIClient, artifact: Artifact) -> None:
    problem(stranger.get(PATH.format(id=artifact.pk)), 401)
