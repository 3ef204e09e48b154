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

_RUNS = 1000
_Place = tuple[int, tuple[str | None, int | None]]


class Fragments:
    """Fragments in the order in which they are read."""

    def __init__(self) -> None:
        self._held: list[Fragment] = []
        self._named = True
        self._shelf: Shelf[Fragment] | None = None
        # Where the fragments of each run stand, and which of its fragments each is.
        self._places: dict[str, list[_Place]] = {}

    def add(self, fragment: Fragment) -> None:
        """Take one more."""
        self._held.append(fragment)
        self._named = self._named and fragment.kind is Kind.DRIVER and fragment.run_id is not None
        if self._named and (self._shelf is not None or len(self._held) > FEW):
            self._shelf = self._shelf or Shelf()
            for each in self._held:
                place = self._shelf.put(each), (each.role, each.trial)
                self._places.setdefault(each.run_id or "", []).append(place)
            self._held.clear()

    @property
    def are_many(self) -> bool:
        """Whether they come in several batches."""
        return self._shelf is not None and self._named

    @property
    def are_distinct(self) -> bool:
        """Whether they come in several batches and no two are the same end of the same trial."""
        return self.are_many and all(
            len({which for _, which in places}) == len(places) for places in self._places.values()
        )

    @property
    def run_ids(self) -> Collection[str]:
        """The runs that they name, where they come in several batches."""
        return self._places.keys()

    def batches(self) -> Iterator[list[Fragment]]:
        """All of them, those of one run together: at once, or some runs at a time."""
        if not self.are_many:
            every = sorted(place for places in self._places.values() for place, _ in places)
            yield [*self._from_shelf(every), *self._held]
            return
        runs = iter(self._places.values())
        while some := list(islice(runs, _RUNS)):
            yield self._from_shelf(sorted(place for places in some for place, _ in places))

    def _from_shelf(self, places: list[int]) -> list[Fragment]:
        return [self._shelf.at(place) for place in places] if self._shelf is not None else []
