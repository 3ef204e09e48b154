"""The printed figures of many runs as a table: a row a run, a column a measure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from importers.compact import Numbers as Lines
from importers.compact import compact, spread
from importers.model import Fragment
from importers.packed import Head, Readings
from perfdb.analysis import metrics, units, units_columns
from perfdb.analysis.metrics import Measure
from perfdb.analysis.units_columns import Numbers

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


class _Figures(NamedTuple):
    """The figures of a log, their texts with a NUL between each and the next, and whether any is within a role.

    ``lines`` are those of each, or the one line of all.
    """

    heads: tuple[Head, ...]
    text: str
    lines: Lines
    within: bool


def _figures(fragment: Fragment) -> _Figures:
    readings = fragment.readings
    if isinstance(readings, Readings):
        return _Figures(readings.heads, readings.text, readings.compact_lines, within=False)
    heads = tuple([(each.name, each.unit, each.role) for each in readings])
    text, lines = "\0".join([each.text for each in readings]), compact([each.line for each in readings])
    return _Figures(heads, text, lines, any(each.subject for each in readings))


def table_of(fragments: Sequence[Fragment]) -> Table:
    """The figures that some logs print, each of a run of its own."""
    figures = [_figures(fragment) for fragment in fragments]
    heads, numbers = _numbered([each.heads for each in figures])
    measures = {each: at for at, each in enumerate(dict.fromkeys(Measure(name, role) for name, _, role in heads))}
    of_heads = np.array([measures[Measure(name, role)] for name, _, role in heads], np.int64)
    counts = np.array([len(each.heads) for each in figures], np.int64)
    rows = np.repeat(np.arange(len(fragments)), counts)
    places = rows * len(measures) + of_heads[numbers]
    together = "\0".join([each.text for each in figures if each.heads])
    texts = together.split("\0") if len(rows) else []
    put: Any = partial(_put, (len(fragments), len(measures)), places)
    printed = units_columns.read_numbers(texts, together.replace("\0", "\n"))
    values = _in_own_units(heads, numbers, texts, printed)
    odd = np.array([each.within for each in figures], bool)
    odd[rows[~(values >= 0)]] = True
    # What is no metric is a circumstance, and of two figures of one measure the first counts.
    odd[rows[np.array([name not in metrics.BY_NAME or not role for name, _, role in heads], bool)[numbers]]] = True
    odd[np.flatnonzero(np.bincount(places) > 1) // max(len(measures), 1)] = True
    return Table(
        list(measures),
        put(np.fromiter(texts, object, len(texts)), ""),
        put(_lines(figures, counts), 0),
        put(printed, np.nan),
        put(values, np.nan),
        odd,
    )


def _numbered(figures: Iterable[tuple[Head, ...]]) -> tuple[list[Head], Whole]:
    """All heads, each once, and the number among them of each figure.

    Logs mostly have the figures of others, so that only those of few have to be looked up.
    """
    kinds: dict[tuple[Head, ...], int] = {}
    of_each = [kinds.setdefault(each, len(kinds)) for each in figures]
    heads = {head: at for at, head in enumerate(dict.fromkeys(chain.from_iterable(kinds)))}
    numbers = [np.fromiter(map(heads.__getitem__, each), np.int64, len(each)) for each in kinds]
    return list(heads), np.concatenate([np.zeros(0, np.int64), *(numbers[kind] for kind in of_each)])


def _lines(figures: Sequence[_Figures], counts: Whole) -> Whole:
    """The line of each figure."""
    lines = [each.lines for each in figures]
    if all(isinstance(each, int) for each in lines):
        return np.repeat(np.array(lines, np.int64), counts)
    spread_out = map(spread, lines, counts.tolist())
    return np.fromiter(chain.from_iterable(spread_out), np.int64, counts.sum())


def _put(shape: tuple[int, int], places: Whole, content: npt.NDArray[Any], blank: object) -> Any:
    made = np.empty(shape, content.dtype)
    made.fill(blank)
    made.reshape(-1)[places] = content
    return made


def _in_own_units(known: Sequence[Head], heads: Whole, texts: Sequence[str], printed: Numbers) -> Numbers:
    """The numbers in the units of their metrics; NaN for what cannot be converted."""
    values = printed.copy()
    for number, (name, unit, _) in enumerate(known):
        if name in metrics.BY_NAME and not _is_own(unit, name):
            places = np.flatnonzero(heads == number)
            values[places] = units_columns.converted([texts[place] for place in places.tolist()], unit, name)
    return values


def _is_own(unit: str, name: str) -> bool:
    try:
        return units.is_own(unit, name)
    except ValueError:
        return False
