"""Working out the next of several things while the database is busy with the ones before."""

from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_T = TypeVar("_T")

_AHEAD = 2
"""So many are made before they are asked for: neither side waits for the other where some take longer than others."""


def ahead(items: Iterator[_T]) -> Generator[_T, None, None]:
    """The same items, made in a thread of its own: making them may ask nothing of the database."""
    threads = ThreadPoolExecutor(1, "ahead")
    try:
        coming = deque(threads.submit(next, items, None) for _ in range(_AHEAD))
        while (item := coming.popleft().result()) is not None:
            coming.append(threads.submit(next, items, None))
            yield item
    finally:
        # Whoever gave up does not wait for what has not been begun.
        threads.shutdown(cancel_futures=True)
