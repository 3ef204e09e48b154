"""Clients and workers for the tests of the REST API."""

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings
from rest_framework.test import APIClient

from perfdb.results.runs import access


def client_of(user: User) -> APIClient:
    """A client that sends a token of this user."""
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {access.make_token(user, 'tests')}")
    return client


@pytest.fixture
def ada(db: None) -> User:
    """An ordinary user."""
    return User.objects.create_user("ada")


@pytest.fixture
def api(ada: User) -> APIClient:
    """A client that sends Ada's token."""
    return client_of(ada)


@pytest.fixture
def stranger(db: None) -> APIClient:
    """A client that sends nobody's token, where reading is not open."""
    return APIClient()


@pytest.fixture
def reader(db: None, settings: Settings) -> APIClient:
    """A client that sends nobody's token, where reading is open."""
    settings.PUBLIC_READ = True
    return APIClient()


@pytest.fixture
def worker(transactional_db: None, celery_worker_running: None) -> Iterator[None]:
    """A real worker, on a database that commits."""
    yield
