"""A list that spills to a temporary file."""

import pickle
from collections.abc import Iterator
from tempfile import TemporaryFile
from typing import Generic, TypeVar

T = TypeVar("T")

_BLOCK = 100  # Items that are pickled together: they share most of their strings.
_BLOCKS_IN_MEMORY = 8


class SpooledList(Generic[T]):
    """A growing list, on disk beyond ``in_memory`` items.

    An item that is read from the file is a copy of the appended one.
    """

    def __init__(self, in_memory: int) -> None:
        self._in_memory = in_memory
        self._newest: list[T] = []
        self._file = TemporaryFile()  # noqa: SIM115 - open as long as the list exists
        self._offsets: list[int] = []
        self._read: dict[int, list[T]] = {}

    def __len__(self) -> int:
        return len(self._offsets) * _BLOCK + len(self._newest)

    def append(self, item: T) -> None:
        """Add an item at the end."""
        self._newest.append(item)
        if len(self) > self._in_memory:
            self._spill()

    def __getitem__(self, index: int) -> T:
        block, within = divmod(index, _BLOCK)
        return (
            self._block(block)[within]
            if block < len(self._offsets)
            else self._newest[index - len(self._offsets) * _BLOCK]
        )

    def __iter__(self) -> Iterator[T]:
        return (self[index] for index in range(len(self)))

    def _spill(self) -> None:
        while len(self._newest) >= _BLOCK:
            self._offsets.append(self._file.seek(0, 2))
            pickle.dump(self._newest[:_BLOCK], self._file, pickle.HIGHEST_PROTOCOL)
            del self._newest[:_BLOCK]

    def _block(self, number: int) -> list[T]:
        block = self._read.get(number)
        if block is None:
            if len(self._read) >= _BLOCKS_IN_MEMORY:
                del self._read[next(iter(self._read))]
            self._file.seek(self._offsets[number])
            block = self._read[number] = pickle.load(self._file)
        return block
