"""Working out the next of several things while the database is busy with the one before."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_T = TypeVar("_T")


def ahead(items: Iterator[_T]) -> Iterator[_T]:
    """The same items, each next one made in a thread of its own meanwhile: they may ask nothing of the database."""
    with ThreadPoolExecutor(1, "ahead") as threads:
        coming = threads.submit(next, items, None)
        while (item := coming.result()) is not None:
            coming = threads.submit(next, items, None)
            yield item
