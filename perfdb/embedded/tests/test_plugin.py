"""The plugin that gives the tests their servers."""

import pytest
from django.core.cache import cache
from django.db import connection


@pytest.mark.django_db
def test_database_answers() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('server_encoding'), current_database()")
        assert cursor.fetchone() == ("UTF8", f"test_{connection.settings_dict['NAME'].removeprefix('test_')}")


def test_cache_answers() -> None:
    cache.set("perfdb-test", 7, 60)
    assert cache.get("perfdb-test") == 7
