"""Maximum tables whose title asks for other runs than the document prints."""

from collections.abc import Mapping, Sequence

from perfdb.analysis.dimensions import Value, describe_values
from perfdb.analysis.query.query import Query
from perfdb.analysis.tables.observations import Key
from perfdb.analysis.tables.table import Cell, Table
from perfdb.analysis.units import round_half_up


def differing(asked: Query, answers: Sequence[Table], printed: Sequence[Table]) -> list[str]:
    """For each group of the pick whose printed run is not the best by the numbers, which one is."""
    if asked.pick is None:
        return []
    best, shown = (_by_group(tables, asked) for tables in (answers, printed))
    found = []
    for group, (table, key, cell) in best.items():
        there = shown.get(group)
        if there is not None and _runs(there[2]) != _runs(cell):
            picked = asked.pick.dimensions
            best_said, printed_said = _said(picked, table, key, cell), _said(picked, *there)
            found.append(f"{describe_values(picked, group)}: {best_said}; printed is {printed_said}")
    return found


def _by_group(tables: Sequence[Table], asked: Query) -> Mapping[Key, tuple[Table, Key, Cell]]:
    """The cell of the measure that is picked by, for each group of the pick."""
    assert asked.pick is not None  # for the type checker
    found = {}
    for table in tables:
        if table.measure == asked.pick.measure and set(asked.pick.dimensions) <= set(table.query.layout_names):
            for (row, column), cell in table.cells.items():
                named = _named(table, row + column)
                found[tuple(named[name] for name in asked.pick.dimensions)] = (table, row + column, cell)
    return found


def _named(table: Table, key: Key) -> dict[str, Value]:
    return dict(zip(table.query.layout_names, table.split + key, strict=True))


def _runs(cell: Cell) -> set[int]:
    return {point.run for point in cell.sample}


def _said(picked: Sequence[str], table: Table, key: Key, cell: Cell) -> str:
    """``11941.14 trans/s (MTU 8192 · 20 users)``."""
    value = cell.printed or ("–" if cell.centre is None else round_half_up(cell.centre, table.decimals))
    named = {name: each for name, each in _named(table, key).items() if name not in picked}
    return f"{value} {table.metric.unit} ({describe_values(named.keys(), named.values())})"
