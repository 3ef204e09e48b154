"""The pytest plugin that starts the servers."""

import pytest
import redis
from django.conf import settings
from django.db import connection

from perfdb.embedded.pytest_plugin import with_broker_database


@pytest.mark.django_db
def test_database_answers() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('server_encoding'), current_database()")
        assert cursor.fetchone() == ("UTF8", f"test_{connection.settings_dict['NAME'].removeprefix('test_')}")


def test_broker_answers() -> None:
    with redis.Redis.from_url(settings.REDIS_URL) as broker:
        assert broker.ping()


@pytest.mark.parametrize(
    ("url", "second"),
    [
        ("unix:///run/valkey.sock", "unix:///run/valkey.sock?db=2"),
        ("unix:///run/valkey.sock?db=1", "unix:///run/valkey.sock?db=2"),
        ("redis://:secret@cache.example.org:6380/0", "redis://:secret@cache.example.org:6380/2"),
    ],
)
def test_each_process_takes_a_database_of_the_broker_for_itself(url: str, second: str) -> None:
    assert with_broker_database(url, 2) == second
