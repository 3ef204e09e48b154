"""Things in their order: in memory, or on disk where they are too many for it."""

from typing import Generic, TypeVar

from perfdb.results.shelf import Shelf

_T = TypeVar("_T")

BLOCK = 100
"""So many are kept on disk together: they have most of their words in common."""
_BLOCKS_AT_HAND = 8


class Pile(Generic[_T]):
    """Things that are found by their numbers, which count from 0 in the order in which they came."""

    def __init__(self) -> None:
        self._held: list[_T] = []
        self._shelf: Shelf[list[_T]] | None = None
        self._blocks: list[int] = []
        self._at_hand: dict[int, list[_T]] = {}

    def __len__(self) -> int:
        return len(self._blocks) * BLOCK + len(self._held)

    def add(self, item: _T) -> None:
        """Put one more behind the others, in memory."""
        self._held.append(item)

    def put_away(self) -> None:
        """Keep on disk what is in memory, but for less than a block."""
        self._shelf = self._shelf or Shelf()
        while len(self._held) >= BLOCK:
            self._blocks.append(self._shelf.put(self._held[:BLOCK]))
            del self._held[:BLOCK]

    def __getitem__(self, number: int) -> _T:
        """One of them; the blocks that were looked into last are at hand."""
        at, within = divmod(number, BLOCK)
        if self._shelf is None or at >= len(self._blocks):
            return self._held[number - len(self._blocks) * BLOCK]
        block = self._at_hand.get(at)
        if block is None:
            if len(self._at_hand) >= _BLOCKS_AT_HAND:
                del self._at_hand[next(iter(self._at_hand))]
            block = self._at_hand[at] = self._shelf.at(self._blocks[at])
        return block[within]
