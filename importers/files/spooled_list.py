"""A list that spills to a temporary file."""

import pickle
from collections.abc import Iterator
from tempfile import TemporaryFile
from typing import Generic, TypeVar

T = TypeVar("T")

_BLOCK = 100  # Items that are pickled together: they share most of their strings.
_BLOCKS_IN_MEMORY = 8


class SpooledList(Generic[T]):
    """A list with all but the first items on disk, from where items are read as copies."""

    def __init__(self, in_memory: int) -> None:
        self._in_memory = in_memory
        self._first: list[T] = []
        self._newest: list[T] = []
        self._file = TemporaryFile()  # noqa: SIM115 - open as long as the list exists
        self._offsets: list[int] = []
        self._read: dict[int, list[T]] = {}

    def __len__(self) -> int:
        return len(self._first) + len(self._offsets) * _BLOCK + len(self._newest)

    def append(self, item: T) -> None:
        """Add an item at the end."""
        if len(self._first) < self._in_memory:
            self._first.append(item)
            return
        self._newest.append(item)
        if len(self._newest) == _BLOCK:
            self._offsets.append(self._file.seek(0, 2))
            pickle.dump(self._newest, self._file, pickle.HIGHEST_PROTOCOL)
            self._newest = []

    def __getitem__(self, index: int) -> T:
        if index < len(self._first):
            return self._first[index]
        block, within = divmod(index - len(self._first), _BLOCK)
        return (self._block(block) if block < len(self._offsets) else self._newest)[within]

    def __iter__(self) -> Iterator[T]:
        return (self[index] for index in range(len(self)))

    def _block(self, number: int) -> list[T]:
        block = self._read.get(number)
        if block is None:
            if len(self._read) >= _BLOCKS_IN_MEMORY:
                del self._read[next(iter(self._read))]
            self._file.seek(self._offsets[number])
            block = self._read[number] = pickle.load(self._file)
        return block
