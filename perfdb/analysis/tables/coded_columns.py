"""Columns whose values repeat, as numbers: each value once, and for each row the place of its value among them.

Rows are grouped by whole columns at once: a table may rest on thousands of rows, and a key for each of them costs more
than all that is made of it.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from perfdb.analysis.dimensions import Value
from perfdb.analysis.query.parameters import value_order

Places = NDArray[np.intp]
# So many combinations of values can be told apart by a number.
_MOST_CODES = 2**62
# Where more numbers than so many times those given might occur, these are sorted instead of ticked off.
_SPARSE = 16


class CodedColumn(NamedTuple):
    """``values``: each that occurs, once. ``codes``: for each row the place of its value among them."""

    values: Sequence[Value]
    codes: Places

    @classmethod
    def encode(cls, listed: Sequence[Value]) -> Self:
        """The values of rows, one after the other."""
        places: dict[Value, int] = {value: place for place, value in enumerate(dict.fromkeys(listed))}
        if len(places) < 2:
            return cls(list(places), np.zeros(len(listed), np.intp))
        return cls(list(places), np.fromiter(map(places.__getitem__, listed), np.intp, len(listed)))

    @classmethod
    def constant(cls, value: Value, rows: int) -> Self:
        """The same value in all of so many rows."""
        return cls([value] if rows else [], np.zeros(rows, np.intp))

    def values_at(self, rows: Places) -> list[Value]:
        """The values of some rows."""
        if len(self.values) == 1:
            return [self.values[0]] * len(rows)
        return list(map(self.values.__getitem__, self.codes[rows].tolist()))

    def distinct_values(self, rows: Places) -> list[Value]:
        """The values that occur in some rows, each once."""
        if len(self.values) < 2 or len(rows) == len(self.codes):
            return list(self.values) if len(rows) else []
        return [self.values[code] for code in np.unique(self.codes[rows]).tolist()]

    def distinct_by_group(self, rows: Places, sizes: Sequence[int]) -> list[tuple[Value, ...]]:
        """The values that occur in each of some groups of rows, end to end; each value once, in natural order."""
        number = len(self.values)
        if number < 2:
            return [tuple(self.values) if size else () for size in sizes]
        in_order = self._in_order()
        groups = np.repeat(np.arange(len(sizes)) * number, sizes)
        there = _distinct(groups + _ranks(in_order)[self.codes[rows]], len(sizes) * number)
        ends = np.searchsorted(there, np.arange(len(sizes) + 1) * number).tolist()
        values = [self.values[in_order[rank]] for rank in (there % number).tolist()]
        return [tuple(values[start:end]) for start, end in pairwise(ends)]

    def ranks(self) -> Places:
        """For each row the place of its value in natural order."""
        if len(self.values) < 2:
            return self.codes
        found: Places = _ranks(self._in_order())[self.codes]
        return found

    def _in_order(self) -> list[int]:
        """The places of the values, in their natural order."""
        return sorted(range(len(self.values)), key=lambda place: value_order(self.values[place]))


def _ranks(in_order: Sequence[int]) -> Places:
    """The place that each has in an order."""
    ranks = np.empty(len(in_order), np.intp)
    ranks[in_order] = np.arange(len(ranks))
    return ranks


def _distinct(numbers: Places, end: int) -> Places:
    """Each of the numbers, all of which are below an end, once, in their order."""
    if end > _SPARSE * len(numbers):
        return np.unique(numbers)
    there = np.zeros(end, np.bool_)
    there[numbers] = True
    return np.flatnonzero(there)


class Groups(NamedTuple):
    """Rows that are equal in some columns together, in the order in which each group first appears.

    ``rows`` are those of the first group first, within a group as they were given; ``sizes`` how many each has.
    """

    rows: Places
    sizes: list[int]

    @property
    def firsts(self) -> Places:
        """The first row of each group."""
        sizes = np.array(self.sizes, np.intp)
        found: Places = self.rows[np.cumsum(sizes) - sizes]
        return found

    def select(self, groups: Sequence[int]) -> "Groups":
        """Some of the groups, in their order."""
        ends = np.cumsum(np.array(self.sizes, np.intp))
        sizes = [self.sizes[group] for group in groups]
        rows = [self.rows[ends[group] - size : ends[group]] for group, size in zip(groups, sizes, strict=True)]
        return Groups(np.concatenate(rows), sizes)


def group_rows(columns: Iterable[CodedColumn], rows: Places) -> Groups:
    """Some of the rows, by their values in all these columns."""
    if not len(rows):
        return Groups(rows, [])
    codes = _combined(columns, rows)
    if codes is None:
        return Groups(rows, [len(rows)])
    together = np.argsort(codes, kind="stable")
    sorted_codes = codes[together]
    starts = np.flatnonzero(np.concatenate(([True], sorted_codes[1:] != sorted_codes[:-1])))
    sizes = np.diff(starts, append=len(rows))
    by_appearance = np.argsort(together[starts])
    starts, sizes = starts[by_appearance], sizes[by_appearance]
    # Each group's rows move as a block to where the blocks before it end.
    moved = np.arange(len(rows)) + np.repeat(starts - (np.cumsum(sizes) - sizes), sizes)
    return Groups(rows[together[moved]], sizes.tolist())


def _combined(columns: Iterable[CodedColumn], rows: Places) -> NDArray[np.int64] | None:
    """A number for each row, equal for rows that are equal in all columns; None where all of them are."""
    codes: NDArray[np.int64] | None = None
    number = 1
    for column in columns:
        size = len(column.values)
        if size < 2:
            continue
        own = column.codes[rows]
        if codes is None:
            codes, number = own.astype(np.int64), size
            continue
        if number * size > _MOST_CODES:
            distinct, codes = np.unique(codes, return_inverse=True)
            number = len(distinct)
        codes, number = codes * size + own, number * size
    return codes
