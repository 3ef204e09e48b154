"""The broker, for the little that is said there beside jobs: nothing that would be missed."""

from functools import cache

import redis
from django.conf import settings


def connected() -> "redis.Redis":
    """A client that waits no longer than a second for anything."""
    return _client(settings.REDIS_URL)


@cache
def _client(url: str) -> "redis.Redis":
    return redis.Redis.from_url(url, socket_timeout=1.0, socket_connect_timeout=1.0)
