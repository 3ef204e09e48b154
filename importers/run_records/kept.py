"""What records say, kept for a short while as plain JSON: whoever has checked them spares others reading them again.

They go portion by portion. What comes again and again, heads and keys of facts, is in the first one that needs it.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, Generic, TypeVar

import orjson

from importers.model import Fragment, Status
from importers.packed import Facts, Head, Readings
from importers.run_records.log import fragment_saying
from importers.run_records.record import Stated

LAYOUT = 2
"""Rises with each change of what ``Packing`` writes."""

_T = TypeVar("_T")


class Packing:
    """Records of a file on their way, those of its first line first."""

    def __init__(self) -> None:
        self._heads: dict[Head, int] = {}
        self._keys: dict[tuple[str, ...], int] = {}
        self._sets = _Places[tuple[Head, ...]]()

    def packed(self, records: Sequence[Stated], encoding: str) -> bytes:
        """The next records of the file, and how their lines are encoded."""
        heads, keys, sets = len(self._heads), len(self._keys), len(self._sets.known)
        rows = [
            (
                *(each.run_id, each.trial, each.started and each.started.isoformat(), each.status),
                *(self._keys.setdefault(each.facts.keys, len(self._keys)), each.facts.text),
                *(self._sets.of(each.readings.heads), each.readings.text),
            )
            for each in records
        ]
        numbers = [[self._heads.setdefault(head, len(self._heads)) for head in own] for own in self._sets.known[sets:]]
        return orjson.dumps([encoding, _from(self._heads, heads), numbers, _from(self._keys, keys), rows])


def _from(those: Iterable[_T], first: int) -> list[_T]:
    return list(islice(those, first, None))


class _Places(Generic[_T]):
    """The places of things in a list. One object is there once; others that are equal to it may come besides."""

    def __init__(self) -> None:
        self.known: list[_T] = []
        self._places: dict[int, int] = {}

    def of(self, each: _T) -> int:
        """The place of one; comparing tuples of many takes longer than writing some twice."""
        place = self._places.get(id(each))
        if place is None:
            place = self._places[id(each)] = len(self.known)
            self.known.append(each)
        return place


class Unpacking:
    """The portions of a ``Packing``, in their order; ``encoding`` is that of the lines so far."""

    def __init__(self, file: str) -> None:
        self.encoding = "ascii"
        self._file = file
        self._heads: list[Head] = []
        self._keys: list[tuple[str, ...]] = []
        self._sets: list[tuple[Head, ...]] = []
        self._lines = 0

    def fragments(self, portion: bytes) -> Iterator[Fragment]:
        """The fragments that ``log.each`` finds in these lines of the file."""
        encoding, heads, numbers, keys, rows = orjson.loads(portion)
        if encoding != "ascii":
            self.encoding = encoding
        self._heads += map(tuple, heads)
        self._keys += map(tuple, keys)
        self._sets += [tuple([self._heads[at] for at in own]) for own in numbers]
        first, self._lines = self._lines + 1, self._lines + len(rows)
        return self._made(rows, first)

    def _made(self, rows: list[Any], first: int) -> Iterator[Fragment]:
        keys, sets, file = self._keys, self._sets, self._file
        statuses = {str(each): each for each in Status}
        for line, (run_id, trial, started, status, at, texts, of_set, figures) in enumerate(rows, start=first):
            facts, readings = Facts.joined(keys[at], texts, line), Readings.joined(sets[of_set], figures, line)
            moment = None if started is None else datetime.fromisoformat(started)
            yield fragment_saying(Stated(run_id, trial, moment, statuses[status], "", facts, readings), line, file)
