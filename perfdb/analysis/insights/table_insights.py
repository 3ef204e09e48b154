"""Insights of a table: its curves' level, and trials to check."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from perfdb.analysis.comparison.samples import Samples
from perfdb.analysis.comparison.trial_checks import Flag, Trials, check_samples, numbers_of
from perfdb.analysis.dimensions import Value, describe_values
from perfdb.analysis.insights.throughput_curve import FEWEST, Curve, Edge, Point, describe_sorted
from perfdb.analysis.metrics import Better
from perfdb.analysis.tables.baseline_comparison import cell_pattern, full_key
from perfdb.analysis.tables.observations import Key
from perfdb.analysis.tables.table import CellKey, Table

# The rates whose course over users tells how a system scales.
_RATES = ("trans_per_s", "mb_per_s", "gbit_per_s")


class TableCurve(NamedTuple):
    """One line of a table over users, with its other dimensions as ``key``."""

    key: Mapping[str, Value]
    points: tuple[Point, ...]
    curve: Curve
    edge: Edge | None

    @property
    def title(self) -> str:
        """Return the line's name; "" for a single line."""
        return describe_values(self.key.keys(), self.key.values())


def table_curves(table: Table) -> list[TableCurve]:
    """Return the curve of each line of a throughput table over users.

    Lines of fewer than three user counts are left out.
    """
    shown = table.query.layout_names
    if "users" not in shown or table.measure.metric not in _RATES or table.metric.better is not Better.HIGHER:
        return []
    # Where the users tell tables apart, no line has more than one number of them.
    if "users" in table.query.split:
        return []
    rows, columns = _users_of(table.query.rows, table.rows), _users_of(table.query.columns, table.columns)
    lines: dict[CellKey, list[Point]] = defaultdict(list)
    for (row, column), cell in table.cells.items():
        (users, line_row), (others, line_column), mean = rows[row], columns[column], cell.mean
        users = users or others
        if users and (mean is None or mean >= 0):
            lines[line_row, line_column].append((users, mean))
    names = tuple(name for name in shown if name != "users")
    known = ((table.split + row + column, points) for (row, column), points in lines.items())
    return [found for key, points in known if (found := _curve(names, key, points)) is not None]


def _users_of(names: tuple[str, ...], keys: Iterable[Key]) -> dict[Key, tuple[int, Key]]:
    """Return each key's number of users (0 without) and the rest."""
    if "users" not in names:
        return {key: (0, key) for key in keys}
    at = names.index("users")
    return {
        key: (users if isinstance(users := key[at], int) and users > 0 else 0, key[:at] + key[at + 1 :]) for key in keys
    }


def _curve(names: tuple[str, ...], key: Key, points: list[Point]) -> TableCurve | None:
    line = sorted(points)
    # A line has a number of users once, and a table's means are finite.
    known = [(users, mean) for users, mean in line if mean is not None]
    if len(known) < FEWEST:
        return None
    found, edge = describe_sorted([users for users, _ in known], [mean for _, mean in known])
    return TableCurve(dict(zip(names, key, strict=True)), tuple(line), found, edge)


def trial_flags(table: Table) -> list[Flag]:
    """Return flags of outliers, drift and first runs, by run number."""
    keys, samples = list(table.cells), _samples(table)
    trials = [cell.sample for cell in table.cells.values()]
    numbers = numbers_of(trials) if samples.trials is None else samples.trials
    return check_samples(Trials(lambda place: _Title(table, keys[place]), trials, samples, numbers))


def _samples(table: Table) -> Samples:
    """Return the values of the cells end to end."""
    if table.samples is not None:
        return table.samples
    cells = table.cells.values()
    values = [[point.value for point in cell.sample] for cell in cells]
    patterns = [cell_pattern(table, key) for key in table.cells]
    return Samples.from_samples(values, patterns, [cell.step for cell in cells])


class _Title(NamedTuple):
    """A cell's name, made on demand."""

    table: Table
    key: CellKey

    def __str__(self) -> str:
        return describe_values(self.table.query.layout_names, full_key(self.table, self.key))
