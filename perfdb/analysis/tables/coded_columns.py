"""Columns as codes of distinct values, so that rows are grouped with numpy.

A table may have thousands of rows, and a key tuple per row is slow.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from perfdb.analysis.dimensions import Value
from perfdb.analysis.query.parameters import value_order

Places = NDArray[np.intp]
# The most combinations of values that an int64 can number.
_MOST_CODES = 2**62
# Above this ratio of possible to given numbers, sorting beats a table of flags.
_SPARSE = 16


class CodedColumn(NamedTuple):
    """A column: its distinct ``values`` and, per row, the index in ``values``."""

    values: Sequence[Value]
    codes: Places

    @classmethod
    def encode(cls, listed: Sequence[Value]) -> Self:
        """Encode the values of rows."""
        places: dict[Value, int] = {value: place for place, value in enumerate(dict.fromkeys(listed))}
        if len(places) < 2:
            return cls(list(places), np.zeros(len(listed), np.intp))
        return cls(list(places), np.fromiter(map(places.__getitem__, listed), np.intp, len(listed)))

    def values_at(self, rows: Places) -> list[Value]:
        """Return the values of some rows."""
        if len(self.values) == 1:
            return [self.values[0]] * len(rows)
        return list(map(self.values.__getitem__, self.codes[rows].tolist()))

    def distinct_values(self, rows: Places) -> list[Value]:
        """Return the distinct values of some rows."""
        if len(self.values) < 2 or len(rows) == len(self.codes):
            return list(self.values) if len(rows) else []
        return [self.values[code] for code in np.unique(self.codes[rows]).tolist()]

    def distinct_by_group(self, rows: Places, sizes: Sequence[int]) -> list[tuple[Value, ...]]:
        """Return the sorted distinct values of groups of consecutive rows."""
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
        """Return the rank of each row's value in natural order."""
        if len(self.values) < 2:
            return self.codes
        found: Places = _ranks(self._in_order())[self.codes]
        return found

    def _in_order(self) -> list[int]:
        return sorted(range(len(self.values)), key=lambda place: value_order(self.values[place]))


def _ranks(in_order: Sequence[int]) -> Places:
    """Return the rank of each index in an order, the inverse permutation."""
    ranks = np.empty(len(in_order), np.intp)
    ranks[in_order] = np.arange(len(ranks))
    return ranks


def _distinct(numbers: Places, end: int) -> Places:
    """Return the sorted distinct numbers, all below ``end``."""
    if end > _SPARSE * len(numbers):
        return np.unique(numbers)
    there = np.zeros(end, np.bool_)
    there[numbers] = True
    return np.flatnonzero(there)


class Groups(NamedTuple):
    """Row indexes group by group, by first appearance, with the groups' sizes."""

    rows: Places
    sizes: list[int]

    @property
    def firsts(self) -> Places:
        """Return the first row of each group."""
        sizes = np.array(self.sizes, np.intp)
        found: Places = self.rows[np.cumsum(sizes) - sizes]
        return found

    def select(self, groups: Sequence[int]) -> "Groups":
        """Return some of the groups, in this order."""
        ends = np.cumsum(np.array(self.sizes, np.intp))
        sizes = [self.sizes[group] for group in groups]
        rows = [self.rows[ends[group] - size : ends[group]] for group, size in zip(groups, sizes, strict=True)]
        return Groups(np.concatenate(rows), sizes)


def group_rows(columns: Iterable[CodedColumn], rows: Places) -> Groups:
    """Group rows by their values in all columns."""
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
    # Move each group's rows as a block behind the groups before.
    moved = np.arange(len(rows)) + np.repeat(starts - (np.cumsum(sizes) - sizes), sizes)
    return Groups(rows[together[moved]], sizes.tolist())


def _combined(columns: Iterable[CodedColumn], rows: Places) -> NDArray[np.int64] | None:
    """Return a number per row, equal for equal rows; None if all are."""
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
