"""Insights on tables: where throughput curves level off, and flags of trials."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import partial
from typing import NamedTuple

from perfdb.analysis.dimensions import Value, describe_values
from perfdb.analysis.insights.throughput_curve import FEWEST, Curve, Edge, Point, describe_curve
from perfdb.analysis.tables.baseline_comparison import full_key
from perfdb.analysis.tables.observations import Key
from perfdb.analysis.tables.table import Cell, CellKey, Table
from perfdb.analysis.tables.tabulate import pattern_reader
from perfdb.analysis.verdicts.flags import Flag, Trial, TrialCell, check_trials

# Rates whose curve over users shows scaling.
_RATES = ("trans_per_s", "mb_per_s", "gbit_per_s")


class TableCurve(NamedTuple):
    """One line of a table over users; ``key`` has its other dimensions."""

    key: Mapping[str, Value]
    points: tuple[Point, ...]
    curve: Curve
    edge: Edge | None

    @property
    def title(self) -> str:
        """Return the line's name; empty for the only line."""
        return describe_values(self.key.keys(), self.key.values())


def table_curves(table: Table) -> list[TableCurve]:
    """Return a throughput table's curves over users, of lines with three or more."""
    shown = table.query.layout_names
    if "users" not in table.query.rows + table.query.columns or table.measure.metric not in _RATES:
        return []
    rows, columns = _users_of(table.query.rows, table.rows), _users_of(table.query.columns, table.columns)
    lines: dict[CellKey, dict[int, Cell]] = defaultdict(dict)
    for (row, column), cell in table.cells.items():
        (users, line_row), (others, line_column) = rows[row], columns[column]
        users = users or others
        if users and (cell.mean is None or cell.mean >= 0):
            lines[line_row, line_column][users] = cell
    names = tuple(name for name in shown if name != "users")
    known = ((table.split + row + column, points) for (row, column), points in lines.items())
    return [found for key, points in known if (found := _curve(names, key, points)) is not None]


def _users_of(names: tuple[str, ...], keys: Iterable[Key]) -> dict[Key, tuple[int, Key]]:
    """Split each key into its number of users, 0 without, and the rest."""
    if "users" not in names:
        return {key: (0, key) for key in keys}
    at = names.index("users")
    return {
        key: (users if isinstance(users := key[at], int) and users > 0 else 0, key[:at] + key[at + 1 :]) for key in keys
    }


def _curve(names: tuple[str, ...], key: Key, cells: Mapping[int, Cell]) -> TableCurve | None:
    points = tuple((users, cells[users].mean) for users in sorted(cells))
    if sum(mean is not None for _, mean in points) < FEWEST:
        return None
    in_order = [cells[users] for users, _ in points]
    found, edge = describe_curve(points, [cell.noise for cell in in_order], [max(cell.n, 1) for cell in in_order])
    return TableCurve(dict(zip(names, key, strict=True)), points, found, edge)


def trial_flags(table: Table) -> list[Flag]:
    """Return flags of a table's trials by run number, without cells of mixed work."""
    pattern = pattern_reader(table.query, table.common)
    return check_trials(
        [
            TrialCell(
                partial(describe_values, table.query.layout_names, full_key(table, key)),
                [Trial(run, trial if isinstance(trial, int) else None, value) for run, _, trial, value in cell.sample],
                pattern(full_key(table, key)),
                cell.step,
            )
            for key, cell in table.cells.items()
            if not cell.mixed_work
        ]
    )
