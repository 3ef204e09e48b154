"""The fragments of an upload: in memory while they are few, on disk where they are very many.

Whatever names its run has nothing to do with other runs, so that a few runs at a time can be put together. Evidence
that must first find its run among all of them keeps everything in memory.
"""

from collections.abc import Collection, Iterable, Iterator
from itertools import chain

from importers.collate import Apart, RunIdPattern
from importers.model import Fragment, Kind
from importers.packed import Facts, Readings
from perfdb.results.pile import Pile

FEW = 1000
"""So many fragments are put together at once."""

_ROOM = 32 * 1024 * 1024
"""So many bytes of those that have nothing but figures and facts stay in memory."""

_EACH = 1000
"""What one takes beside its texts."""

# Logs that may be alike are worked out in columns, ever more at once: the database is to have something to do soon. Of
# anything else each run becomes a record, which takes more room.
_FIRST, _LOGS, _OTHERS = 500, 2000, 250

# Fewer while the log is still read: what is stored last has nothing done beside it. Of much fewer, PostgreSQL would
# plan to look for what the first rows refer to by going through all, and stay with that.
_SOON = 400


def growing(largest: int = _LOGS) -> Iterator[int]:
    """How many runs are worked out together, batch by batch."""
    most = min(_FIRST, largest)
    while True:
        yield most
        most = min(2 * most, largest)


def as_they_come(fragments: Iterable[Fragment]) -> Iterator[list[Fragment]]:
    """Batches of logs before all of them are there, those of one run that follow each other in the same one.

    Where there are no more logs than in the first batch there is none.
    """
    some, are_more = list[Fragment](), False
    for fragment in fragments:
        if len(some) >= _SOON and fragment.run_id != some[-1].run_id:
            yield some
            some, are_more = [], True
        some.append(fragment)
    if are_more:
        yield some


class Fragments:
    """Fragments in the order in which they are read."""

    def __init__(self) -> None:
        self._pile: Pile[Fragment] = Pile()
        self._apart = Apart()
        self._groups: list[list[int]] | None = None
        self._room, self._are_several = _ROOM, False
        # The ends of trials that logs name; None once there is anything else, or one of them twice.
        self._ends: set[tuple[str, str | None, int | None]] | None = set()

    def add(self, fragment: Fragment) -> None:
        """Take one more."""
        self._apart.add(fragment, len(self._pile))
        self._pile.add(fragment)
        if self._ends is not None:
            end = fragment.run_id or "", fragment.role, fragment.trial
            known = len(self._ends)
            self._ends.add(end)
            if fragment.kind is not Kind.DRIVER or fragment.run_id is None or len(self._ends) == known:
                self._ends = None
        self._room -= size_of(fragment)
        if self._apart.are_possible and len(self._pile) > FEW:
            self._are_several = True
            if self._room < 0:
                self._pile.put_away()

    @property
    def are_many(self) -> bool:
        """Whether they come in several batches; known once the first of them has come."""
        return self._groups is not None

    @property
    def are_distinct(self) -> bool:
        """Whether they are logs that come in several batches, and no two are the same end of the same trial."""
        return self._are_several and self._ends is not None

    @property
    def run_ids(self) -> Collection[str]:
        """The runs that they name, but for manifests."""
        return self._apart.run_ids

    def batches(self, pattern: RunIdPattern | None = None) -> Iterator[list[Fragment]]:
        """All of them, those of one run together: at once, or some runs at a time.

        ``pattern``: how run ids may be known in the names of files.
        """
        if self._are_several and self._groups is None:
            self._groups = self._apart.groups(pattern, self._pile.__getitem__)
        if self._groups is None:
            yield [self._pile[number] for number in range(len(self._pile))]
            return
        some: list[list[int]] = []
        sizes = growing(_LOGS if self.are_distinct else _OTHERS)
        count, most = 0, next(sizes)
        for group in self._groups:
            some.append(group)
            count += len(group)
            if count >= most:
                yield self._all(some)
                some, count, most = [], 0, next(sizes)
        if some:
            yield self._all(some)

    def _all(self, groups: list[list[int]]) -> list[Fragment]:
        return [self._pile[number] for number in sorted(chain.from_iterable(groups))]


def size_of(fragment: Fragment) -> int:
    """About how many bytes a fragment takes; more than there is room for if it has anything but figures and facts."""
    facts, readings = fragment.facts, fragment.readings
    if isinstance(facts, Facts) and isinstance(readings, Readings) and not (fragment.listings or fragment.counters):
        return _EACH + len(facts.text) + len(readings.text)
    return _ROOM + 1
