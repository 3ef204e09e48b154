"""The plugin that gives the tests their servers."""

import pytest
import redis
from django.conf import settings
from django.db import connection


@pytest.mark.django_db
def test_database_answers() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('server_encoding'), current_database()")
        assert cursor.fetchone() == ("UTF8", f"test_{connection.settings_dict['NAME'].removeprefix('test_')}")


def test_broker_answers() -> None:
    with redis.Redis.from_url(settings.REDIS_URL) as broker:
        assert broker.ping()
