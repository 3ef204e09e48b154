"""Notifications of the end of a job to requests that wait for an upload.

Waiting requests also look at the upload periodically, so that a lost notification only costs time.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from time import monotonic, sleep

import redis
from django.conf import settings
from redis.client import PubSub

_SOON_S, _LAG_S = 0.02, 1.0
"""After a notification a replica may lag behind: the interval and the duration of further looks."""

_logger = logging.getLogger(__name__)


_client = cache(partial(redis.Redis.from_url, socket_timeout=1.0, socket_connect_timeout=1.0))


def redis_client() -> "redis.Redis":
    """Return a client whose calls wait at most a second."""
    return _client(settings.REDIS_URL)


def notify(upload: int) -> None:
    """Wake requests that wait for this upload, after the commit that ends the job."""
    try:
        redis_client().publish(_channel_of(upload), b"")
    except redis.RedisError as error:
        _logger.warning("requests waiting for upload %s are not notified: %s", upload, error)


class Waiting:
    """A wait for an upload; without a subscription it only sleeps."""

    def __init__(self, subscription: PubSub | None) -> None:
        self._subscription = subscription
        self._until = 0.0

    def wait(self, seconds: float) -> None:
        """Wait until the upload may have changed, at most so many seconds."""
        if self._subscription is None:
            sleep(seconds)
        elif monotonic() < self._until:
            sleep(min(seconds, _SOON_S))
        elif self._is_notified(self._subscription, monotonic() + seconds):
            self._until = monotonic() + _LAG_S

    def _is_notified(self, subscription: PubSub, until: float) -> bool:
        try:
            while (left := until - monotonic()) > 0:
                # The confirmation of the subscription ends a wait without being a message.
                if subscription.get_message(ignore_subscribe_messages=True, timeout=left) is not None:
                    return True
        except redis.RedisError:
            self._subscription = None
        return False


@contextmanager
def waiting(upload: int) -> Iterator[Waiting]:
    """Subscribe to an upload; look at the upload inside the block."""
    subscription: PubSub = redis_client().pubsub()  # type: ignore[no-untyped-call]
    try:
        subscription.subscribe(_channel_of(upload))
    except redis.RedisError as error:
        _logger.warning("no notifications of upload %s: %s", upload, error)
        yield Waiting(None)
        return
    try:
        yield Waiting(subscription)
    finally:
        subscription.close()


def _channel_of(upload: int) -> str:
    return f"perfdb:ended:{upload}"
