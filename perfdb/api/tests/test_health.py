"""/healthz and /readyz"""

from collections.abc import Iterator

import pytest
from django.db import connection
from django.test import Client
from pytest_django import Settings


def test_healthz_works_without_a_database(client: Client) -> None:
    response = client.get("/healthz")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})
    assert "no-store" in response.headers["Cache-Control"]


@pytest.mark.django_db
def test_readyz_works(client: Client) -> None:
    response = client.get("/readyz")
    assert (response.status_code, response.json()) == (200, {"status": "ok", "missing": {}})


@pytest.mark.django_db
def test_a_broker_that_is_away_is_missing(client: Client, settings: Settings) -> None:
    settings.REDIS_URL = "unix:///nowhere/valkey.sock"
    response = client.get("/readyz")
    assert response.status_code == 503
    assert list(response.json()["missing"]) == ["broker"]


@pytest.fixture
def database_is_away(transactional_db: None) -> Iterator[None]:
    """Connections lead nowhere until the test ends."""
    host = connection.settings_dict["HOST"]
    connection.close()
    connection.settings_dict["HOST"] = "/nowhere"
    yield
    connection.close()
    connection.settings_dict["HOST"] = host


def test_a_database_that_is_away_is_missing(client: Client, database_is_away: None) -> None:
    response = client.get("/readyz")
    assert response.status_code == 503
    assert list(response.json()["missing"]) == ["database"]
    assert client.get("/healthz").status_code == 200


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_writing_is_refused(client: Client, path: str) -> None:
    assert client.post(path).status_code == 405
