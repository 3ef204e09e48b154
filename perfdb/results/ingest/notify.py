"""Waking those who wait for an upload once a job of it has ended: asking again and again takes from what they wait for.

Nothing depends on it: whoever waits looks by himself every now and then, and without the broker does only that.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic, sleep

import redis
from redis.client import PubSub

from perfdb.results import broker

_SOON_S, _LAG_S = 0.02, 1.0
"""Answers that come from a replica may not show at once what was told: how often it is worth looking, and how long."""

_logger = logging.getLogger(__name__)


def tell(upload: int) -> None:
    """A job of this upload has ended, and all can see it."""
    try:
        broker.connected().publish(_channel_of(upload), b"")
    except redis.RedisError as error:
        _logger.warning("who waits for upload %s will look by himself, for the broker is away: %s", upload, error)


class Waiting:
    """For an upload, through a subscription where the broker is there."""

    def __init__(self, heard: PubSub | None) -> None:
        self._heard = heard
        self._until = 0.0

    def wait(self, seconds: float) -> None:
        """Until it is worth looking, at most so long."""
        if self._heard is None:
            sleep(seconds)
        elif monotonic() < self._until:
            sleep(min(seconds, _SOON_S))
        elif self._is_told(self._heard, monotonic() + seconds):
            self._until = monotonic() + _LAG_S

    def _is_told(self, heard: PubSub, until: float) -> bool:
        """Whether it is told until then that a job has ended."""
        try:
            while (left := until - monotonic()) > 0:
                # What tells that the subscription has begun is no message, and ends the waiting for one.
                if heard.get_message(ignore_subscribe_messages=True, timeout=left) is not None:
                    return True
        except redis.RedisError:
            self._heard = None
        return False


@contextmanager
def waiting(upload: int) -> Iterator[Waiting]:
    """Listen for this upload. What was told before is not heard: look at the upload once this has begun."""
    heard: PubSub = broker.connected().pubsub()  # type: ignore[no-untyped-call]
    try:
        heard.subscribe(_channel_of(upload))
    except redis.RedisError as error:
        _logger.warning("nothing is heard of upload %s, for the broker is away: %s", upload, error)
        yield Waiting(None)
        return
    try:
        yield Waiting(heard)
    finally:
        heard.close()


def _channel_of(upload: int) -> str:
    return f"perfdb:ended:{upload}"
