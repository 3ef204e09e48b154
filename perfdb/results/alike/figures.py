"""The figures of many runs with where each comes from: printed by their logs, given, or derived."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from perfdb.analysis.metrics import Measure
from perfdb.results.alike.circumstances import Circumstances
from perfdb.results.alike.deriving import Answer
from perfdb.results.alike.table import Flags, Table, Whole
from perfdb.results.runs.normalize.configuration import PROCESSORS
from perfdb.results.runs.record import Origin, Value

ORIGINS = (Origin.REPORTED, Origin.DERIVED, Origin.GIVEN)
REPORTED, DERIVED, GIVEN = range(3)
"""The numbers of origins."""


@dataclass(slots=True)
class Figures:
    """A table and, of the same form: which figures a log has ``told``, their ``origins``, and by what ``formulas``.

    ``origins`` are numbers into ``letters``, ``formulas`` into ``names``. ``slots`` are those of the table's columns,
    once they have some.
    """

    table: Table
    told: Flags
    origins: Whole
    formulas: Whole
    names: list[str]
    slots: Sequence[int] = ()

    @property
    def letters(self) -> npt.NDArray[np.bytes_]:
        """The origins as they are stored."""
        return np.array([each.encode() for each in ORIGINS], "S1")

    def values(self, row: int, artifact: int) -> dict[Measure, Value]:
        """The figures of one row, as those of a single run."""
        table = self.table
        return {
            table.measures[at]: Value(
                float(table.values[row, at]),
                ORIGINS[self.origins[row, at]],
                table.texts[row, at],
                artifact if self.told[row, at] else 0,
                int(table.lines[row, at]),
                self.names[self.formulas[row, at]],
            )
            for at in np.flatnonzero(table.present[row]).tolist()
        }

    def chosen(self, rows: Whole, slots: Mapping[Measure, int]) -> "Figures":
        """Those of some rows, in the order of their slots, without columns that none of them has."""
        used = np.flatnonzero(self.table.present[rows].any(axis=0)).tolist()
        order = sorted(used, key=lambda at: slots[self.table.measures[at]])
        table = self.table
        at = rows[:, None] * len(table.measures) + np.array(order, np.int64)
        texts, lines, printed, values = (
            _at(at, each) for each in (table.texts, table.lines, table.printed, table.values)
        )
        told, origins, formulas = (_at(at, each) for each in (self.told, self.origins, self.formulas))
        return Figures(
            Table([table.measures[each] for each in order], texts, lines, printed, values, table.odd[rows]),
            *(told, origins, formulas, self.names),
            [slots[table.measures[each]] for each in order],
        )


def _at(places: Whole, table: npt.NDArray[Any]) -> Any:
    """What stands in these places of a table, row by row: faster than by rows and columns."""
    return table.reshape(-1).take(places)


def add_given(table: Table, circumstances: Sequence[Circumstances]) -> Flags:
    """Put processors that facts say into the table, where no log prints them; answers which figures are given."""
    given = [(row, each.processors) for row, each in enumerate(circumstances) if each.processors is not None]
    if not given:
        return np.zeros(table.values.shape, bool)
    _add_columns(table, [PROCESSORS])
    at = table.measures.index(PROCESSORS)
    marks = np.zeros(table.values.shape, bool)
    for row, value in given:
        table.texts[row, at], table.values[row, at], marks[row, at] = value.printed, value.value, True
    return marks


def figures_of(table: Table, given: Flags, answers: Iterable[Answer]) -> Figures:
    """The table with what was derived, and where all comes from; rows in which a value is none are odd."""
    known = list(answers)
    told = table.present & ~given
    _add_columns(table, [each.measure for each in known])
    more = len(table.measures) - told.shape[1]
    origins = _wider(np.where(given, GIVEN, REPORTED), more, REPORTED)
    names = {"": 0}
    found = Figures(table, _wider(told, more, False), origins, np.zeros(origins.shape, np.int64), [])
    for each in known:
        at = table.measures.index(each.measure)
        table.values[each.rows, at] = each.values
        origins[each.rows, at] = DERIVED
        found.formulas[each.rows, at] = names.setdefault(each.formula, len(names))
        table.odd[each.rows[~np.isfinite(each.values)]] = True
    found.names = list(names)
    return found


def _add_columns(table: Table, measures: Iterable[Measure]) -> None:
    """Give the table columns for those of these measures that have none."""
    added = dict.fromkeys(each for each in measures if table.column(each) is None)
    if not added:
        return
    table.measures += added
    table.texts = _wider(table.texts, len(added), "")
    table.lines = _wider(table.lines, len(added), 0)
    table.printed = _wider(table.printed, len(added), np.nan)
    table.values = _wider(table.values, len(added), np.nan)


def _wider(table: npt.NDArray[Any], more: int, blank: object) -> Any:
    """A table with so many more columns of something; ``np.pad`` takes several times as long."""
    rows, columns = table.shape
    made = np.empty((rows, columns + more), table.dtype)
    made[:, :columns] = table
    made[:, columns:] = blank
    return made
