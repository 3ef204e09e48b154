"""What records say, kept for a short while as plain JSON: whoever has checked them spares others reading them again.

What comes again and again, heads and keys of facts, is there once.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Generic, TypeVar

import orjson

from importers.model import Fragment, Status
from importers.packed import Facts, Head, Readings
from importers.run_records.log import fragment_saying
from importers.run_records.record import Stated

LAYOUT = 1
"""Rises with each change of what ``packed`` writes."""

_T = TypeVar("_T")


def packed(records: Sequence[Stated], encoding: str) -> bytes:
    """Records that stand in the first line of a file and those that follow; and how the file is encoded."""
    heads: dict[Head, int] = {}
    keys: dict[tuple[str, ...], int] = {}
    sets = _Places[tuple[Head, ...]]()
    rows = [
        (
            *(each.run_id, each.trial, each.started and each.started.isoformat(), each.status),
            *(keys.setdefault(each.facts.keys, len(keys)), each.facts.text),
            *(sets.of(each.readings.heads), each.readings.text),
        )
        for each in records
    ]
    numbers = [[heads.setdefault(head, len(heads)) for head in own] for own in sets.known]
    return orjson.dumps([encoding, list(heads), numbers, list(keys), rows])


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


def unpacked(content: bytes, file: str) -> tuple[str, Iterator[Fragment]]:
    """The encoding of that file, and the fragments that ``log.each`` finds in it."""
    encoding, heads, numbers, keys, rows = orjson.loads(content)
    return encoding, _fragments(file, heads, numbers, keys, rows)


def _fragments(
    file: str, heads: list[Any], numbers: list[list[int]], keys: list[list[str]], rows: list[Any]
) -> Iterator[Fragment]:
    of_heads: list[Head] = list(map(tuple, heads))
    sets = [tuple([of_heads[at] for at in own]) for own in numbers]
    known = list(map(tuple, keys))
    statuses = {str(each): each for each in Status}
    for line, (run_id, trial, started, status, at, texts, of_set, figures) in enumerate(rows, start=1):
        facts, readings = Facts.joined(known[at], texts, line), Readings.joined(sets[of_set], figures, line)
        moment = None if started is None else datetime.fromisoformat(started)
        yield fragment_saying(Stated(run_id, trial, moment, statuses[status], "", facts, readings), line, file)
