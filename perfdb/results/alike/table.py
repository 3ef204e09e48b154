"""The printed figures of many runs as a table: a row a run, a column a measure."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from importers.model import Fragment
from importers.packed import Head, Readings
from perfdb.analysis import metrics, units
from perfdb.analysis.metrics import Measure
from perfdb.analysis.units import Numbers

Flags = npt.NDArray[np.bool_]
Whole = npt.NDArray[np.int64]
Texts = npt.NDArray[np.object_]


@dataclass(slots=True)
class Table:
    """``printed`` are the numbers as printed, ``values`` the same in the measures' own units; NaN where there is none.

    ``texts`` and ``lines`` are empty and 0 there. ``odd``: rows with figures that are no matter of columns.
    """

    measures: list[Measure]
    texts: Texts
    lines: Whole
    printed: Numbers
    values: Numbers
    odd: Flags

    @property
    def rows(self) -> int:
        """How many runs there are."""
        return len(self.odd)

    @property
    def present(self) -> Flags:
        """Which figures there are."""
        there: Flags = ~np.isnan(self.values)
        return there

    def column(self, measure: Measure) -> int | None:
        """Where a measure stands."""
        return self.measures.index(measure) if measure in self.measures else None

    def number(self, measure: Measure) -> Numbers:
        """A measure's values."""
        at = self.column(measure)
        return np.full(self.rows, np.nan) if at is None else self.values[:, at]


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where the readings of runs that have these heads stand: their columns, and numbers of their heads."""

    columns: Whole
    heads: Whole
    odd: bool


@dataclass(slots=True)
class _Heads:
    """What is measured, numbered as it first appears."""

    measures: dict[Measure, int] = field(default_factory=dict)
    heads: dict[Head, int] = field(default_factory=dict)
    known: dict[tuple[Head, ...], _Layout] = field(default_factory=dict)

    def layout(self, heads: tuple[Head, ...]) -> _Layout:
        found = self.known.get(heads)
        if found is None:
            found = self.known[heads] = self._new(heads)
        return found

    def _new(self, heads: tuple[Head, ...]) -> _Layout:
        columns = [self.measures.setdefault(Measure(name, role), len(self.measures)) for name, _, role in heads]
        numbers = [self.heads.setdefault(head, len(self.heads)) for head in heads]
        # The first of two counts, and what is no metric is a circumstance.
        strange = any(name not in metrics.BY_NAME or not role for name, _, role in heads)
        odd = strange or len(set(columns)) < len(columns)
        return _Layout(np.array(columns, np.int64), np.array(numbers, np.int64), odd)


_Figures = tuple[tuple[Head, ...], list[str], list[int], bool]


def _figures(fragment: Fragment) -> _Figures:
    """A run's heads, texts and lines, and whether they are of something within a role."""
    readings = fragment.readings
    if isinstance(readings, Readings):
        return readings.heads, readings.texts, list(readings.lines), False
    heads = tuple([(each.name, each.unit, each.role) for each in readings])
    texts, lines = [each.text for each in readings], [each.line for each in readings]
    return heads, texts, lines, any(each.subject for each in readings)


def table_of(fragments: Sequence[Fragment]) -> Table:
    """The figures that some logs print, each of a run of its own."""
    known = _Heads()
    figures = [_figures(fragment) for fragment in fragments]
    layouts = [known.layout(heads) for heads, *_ in figures]
    odd = np.array([layout.odd or within for layout, (*_, within) in zip(layouts, figures, strict=True)], bool)
    texts = list(chain.from_iterable(own for _, own, *_ in figures))
    rows = np.repeat(np.arange(len(fragments)), [len(layout.columns) for layout in layouts])
    columns = np.concatenate([layout.columns for layout in layouts]) if layouts else np.empty(0, np.int64)
    heads = np.concatenate([layout.heads for layout in layouts]) if layouts else np.empty(0, np.int64)
    put: Any = partial(_put, (len(fragments), len(known.measures)), rows, columns)
    printed = units.read_numbers(texts)
    values = _in_own_units(list(known.heads), heads, texts, printed)
    odd[rows[np.isnan(values)]] = True
    lines = np.fromiter(chain.from_iterable(own for *_, own, _ in figures), np.int64, len(texts))
    return Table(
        list(known.measures),
        put(np.array(texts, object), ""),
        put(lines, 0),
        put(printed, np.nan),
        put(values, np.nan),
        odd,
    )


def _put(shape: tuple[int, int], rows: Whole, columns: Whole, content: npt.NDArray[Any], blank: object) -> Any:
    made = np.full(shape, blank, content.dtype)
    made[rows, columns] = content
    return made


def _in_own_units(known: Sequence[Head], heads: Whole, texts: Sequence[str], printed: Numbers) -> Numbers:
    """The numbers in the units of their metrics; NaN for what cannot be converted."""
    values = printed.copy()
    for number, (name, unit, _) in enumerate(known):
        if name in metrics.BY_NAME and not _is_own(unit, name):
            places = np.flatnonzero(heads == number)
            values[places] = units.converted([texts[place] for place in places.tolist()], unit, name)
    return values


def _is_own(unit: str, name: str) -> bool:
    try:
        return units.is_own(unit, name)
    except ValueError:
        return False
