"""What a table's numbers say beside themselves: where its curves level off, and which trials look wrong."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from perfdb.analysis.against import kinds, whole
from perfdb.analysis.comparing.samples import Samples
from perfdb.analysis.curves import Course, Curve, Edge, Point, describe_with_edge
from perfdb.analysis.dimensions import Value, say
from perfdb.analysis.hygiene import Flag, Trials, check
from perfdb.analysis.metrics import Better
from perfdb.analysis.table import CellKey, Key, Table

# The rates whose course over users tells how a system scales.
_RATES = ("trans_per_s", "mb_per_s", "gbit_per_s")


@dataclass(frozen=True, slots=True)
class TableCurve:
    """One line of a table over users: ``key`` has the values of the other dimensions shown."""

    key: Mapping[str, Value]
    points: tuple[Point, ...]
    curve: Curve
    edge: Edge | None

    @property
    def title(self) -> str:
        """The line's name; empty where the table has one only."""
        return say(self.key.keys(), self.key.values())


def curves(table: Table) -> list[TableCurve]:
    """Where each line of a throughput table over users levels off; none for other tables.

    Lines of fewer than three numbers of users are left out: nothing can be said about them.
    """
    shown = table.query.shown
    if "users" not in shown or table.measure.metric not in _RATES or table.metric.better is not Better.HIGHER:
        return []
    at = shown.index("users")
    lines: dict[Key, list[Point]] = defaultdict(list)
    split = table.split
    for (row, column), cell in table.cells.items():
        whole, mean = split + row + column, cell.mean
        if isinstance(users := whole[at], int) and users > 0 and (mean is None or mean >= 0):
            lines[whole[:at] + whole[at + 1 :]].append((users, mean))
    names = shown[:at] + shown[at + 1 :]
    return [found for key, points in lines.items() if (found := _curve(names, key, points)) is not None]


def _curve(names: tuple[str, ...], key: Key, points: list[Point]) -> TableCurve | None:
    line = sorted(points)
    found, edge = describe_with_edge(line)
    if found.course is Course.TOO_FEW:
        return None
    return TableCurve(dict(zip(names, key, strict=True)), tuple(line), found, edge)


def flags(table: Table) -> list[Flag]:
    """Trials that stand out, drift and first runs; the keys of runs are their numbers. Nothing is ever dropped."""
    keys = list(table.cells)
    trials = list(chain.from_iterable([cell.sample for cell in table.cells.values()]))
    return check(Trials(lambda place: _Title(table, keys[place]), trials, _samples(table)))


def _samples(table: Table) -> Samples:
    """The values of the cells end to end: as they were made, or gathered from the cells."""
    if table.samples is not None:
        return table.samples
    kind, cells = kinds(table), table.cells.values()
    values = [[point.value for point in cell.sample] for cell in cells]
    return Samples.of(values, [kind(key) for key in table.cells], [cell.step for cell in cells])


class _Title(NamedTuple):
    """A cell's name, which is put into words only where it is printed."""

    table: Table
    key: CellKey

    def __str__(self) -> str:
        return say(self.table.query.shown, whole(self.table, self.key))
