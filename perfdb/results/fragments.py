"""The fragments of an upload: in memory while they are few, on disk where logs name very many runs.

A driver's log that names its run has nothing to do with other runs, so that a few runs at a time can be put together.
Evidence that must first find its run keeps everything in memory, which it may belong to.
"""

from collections.abc import Collection, Iterator
from itertools import islice

from importers.model import Fragment, Kind
from perfdb.results.shelf import Shelf

FEW = 1000
"""So many fragments are put together at once."""

_RUNS = 2000
_BLOCK = 100
"""So many are kept on disk together: they have most of their words in common."""
_BLOCKS_AT_HAND = 32

_Place = tuple[tuple[int, int], tuple[str | None, int | None]]
"""In which block a fragment is and where, and which of its run's fragments it is."""


class Fragments:
    """Fragments in the order in which they are read."""

    def __init__(self) -> None:
        self._held: list[Fragment] = []
        self._named = True
        self._shelf: Shelf[list[Fragment]] | None = None
        self._blocks: list[int] = []
        self._at_hand: dict[int, list[Fragment]] = {}
        # Where the fragments of each run stand.
        self._places: dict[str, list[_Place]] = {}

    def add(self, fragment: Fragment) -> None:
        """Take one more."""
        self._held.append(fragment)
        self._named = self._named and fragment.kind is Kind.DRIVER and fragment.run_id is not None
        if self._named and len(self._held) > (FEW if self._shelf is None else _BLOCK):
            self._shelf = self._shelf or Shelf()
            self._put()

    def _put(self) -> None:
        """Keep on disk what is held."""
        while self._named and self._shelf is not None and self._held:
            block = self._held[:_BLOCK]
            for at, each in enumerate(block):
                place = (len(self._blocks), at), (each.role, each.trial)
                self._places.setdefault(each.run_id or "", []).append(place)
            self._blocks.append(self._shelf.put(block))
            del self._held[:_BLOCK]

    @property
    def are_many(self) -> bool:
        """Whether they come in several batches."""
        return self._shelf is not None and self._named

    @property
    def are_distinct(self) -> bool:
        """Whether they come in several batches and no two are the same end of the same trial."""
        self._put()
        return self.are_many and all(
            len({which for _, which in places}) == len(places) for places in self._places.values()
        )

    @property
    def run_ids(self) -> Collection[str]:
        """The runs that they name, where they come in several batches."""
        self._put()
        return self._places.keys()

    def batches(self) -> Iterator[list[Fragment]]:
        """All of them, those of one run together: at once, or some runs at a time."""
        self._put()
        if not self.are_many:
            yield [*(each for number in range(len(self._blocks)) for each in self._block(number)), *self._held]
            return
        runs = iter(self._places.values())
        while some := list(islice(runs, _RUNS)):
            places = sorted(place for places in some for place, _ in places)
            yield [self._block(number)[at] for number, at in places]

    def _block(self, number: int) -> list[Fragment]:
        """A block; those that were looked into last are at hand."""
        block = self._at_hand.get(number)
        if block is None and self._shelf is not None:
            if len(self._at_hand) >= _BLOCKS_AT_HAND:
                del self._at_hand[next(iter(self._at_hand))]
            block = self._at_hand[number] = self._shelf.at(self._blocks[number])
        return block or []
