"""The broker, for the little that is said there beside jobs: nothing that would be missed."""

import redis
from django.conf import settings


def connected() -> "redis.Redis":
    """A connection that waits no longer than a second for anything."""
    return redis.Redis.from_url(settings.REDIS_URL, socket_timeout=1.0, socket_connect_timeout=1.0)
