"""Tables reduced for a page: without empty rows and columns, with few series.

Exports hold everything.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from perfdb.analysis.dimensions import Value
from perfdb.analysis.query.parameters import value_order
from perfdb.analysis.render.charts.chart_series import series_names, split_key
from perfdb.analysis.tables.observations import Key
from perfdb.analysis.tables.table import Cell, CellKey, Table, layout_order

# The most series that are distinguishable in one chart.
MOST_LINES = 12


@dataclass(frozen=True, slots=True)
class FilledTable:
    """A table without empty rows and columns, and how many were removed."""

    table: Table
    rows: int = 0
    columns: int = 0

    @property
    def remark(self) -> str:
        """Return the removed rows and columns in words, empty if none."""
        counted = ((self.rows, "row"), (self.columns, "column"))
        parts = [f"{number} {one if number == 1 else one + 's'}" for number, one in counted if number]
        return f"without any value, and left out: {' and '.join(parts)}" if parts else ""


def drop_empty(table: Table) -> FilledTable:
    """Remove rows and columns without value and note, unless all are."""
    if not table.has_values:
        return FilledTable(table)
    kept = {key for key, cell in table.cells.items() if cell.n or cell.noted}
    at_rows, at_columns = {row for row, _ in kept}, {column for _, column in kept}
    rows = tuple(row for row in table.rows if row in at_rows)
    columns = tuple(column for column in table.columns if column in at_columns)
    cells = {key: cell for key, cell in table.cells.items() if key[0] in at_rows and key[1] in at_columns}
    less = replace(table, rows=rows, columns=columns, cells=cells)
    return FilledTable(less, len(table.rows) - len(rows), len(table.columns) - len(columns))


def line_keys(tables: Sequence[Table]) -> list[Key]:
    """Return the ordered keys of the series of tables with equal layout."""
    query = tables[0].query
    found = {split_key(query, *key)[1] for table in tables for key, cell in table.cells.items() if cell.n}
    return sorted(found, key=layout_order(query, series_names(query)))


def limit_lines(tables: Sequence[Table], most: int = MOST_LINES) -> tuple[list[Table], int]:
    """Return tables with the first ``most`` series, by whole rows, and the number."""
    known, query = line_keys(tables), tables[0].query
    if len(known) <= most:
        return list(tables), len(known)
    rows = max(len(query.rows) - 1, 0)
    number = most
    while number and known[number][:rows] == known[number - 1][:rows]:
        number -= 1
    shown = set(known[: number or most])
    kept = [{key: cell for key, cell in each.cells.items() if split_key(query, *key)[1] in shown} for each in tables]
    return [replace(table, cells=cells) for table, cells in zip(tables, kept, strict=True)], len(shown)


def turn_lone_position(tables: Sequence[Table]) -> list[Table]:
    """Return tables of a single position with the series along the axis."""
    query = tables[0].query
    found = {split_key(query, *key) for table in tables for key, cell in table.cells.items() if cell.n}
    if not query.rows or len({x for x, _ in found}) != 1 or len(found) < 2:
        return list(tables)
    ((value,),) = {x for x, _ in found}
    return [_turned(table, query.rows[-1], value) for table in tables]


def _turned(table: Table, axis: str, value: Value) -> Table:
    query = table.query.with_filter(axis, value).replace(rows=(), columns=series_names(table.query))
    cells: dict[CellKey, Cell] = {
        ((), split_key(table.query, *key)[1]): cell for key, cell in table.cells.items() if cell.n
    }
    columns = tuple(sorted((column for _, column in cells), key=layout_order(query, query.columns)))
    return replace(table, query=query, rows=((),), columns=columns, cells=cells, common={**table.common, axis: value})


def count_lines_by(tables: Sequence[Table], known: Iterable[Key]) -> dict[str, dict[Value, int]]:
    """Count the series that a filter leaves, by varying or mixed dimension and value."""
    found: dict[str, dict[Value, set[Key]]] = {}
    names = series_names(tables[0].query)
    for line in known:
        for name, value in zip(names, line, strict=True):
            found.setdefault(name, {}).setdefault(value, set()).add(line)
    for table in tables:
        for key, cell in table.cells.items():
            for name, values in cell.hidden.items() if cell.n else ():
                for value in values:
                    found.setdefault(name, {}).setdefault(value, set()).add(split_key(table.query, *key)[1])
    return {
        name: {value: len(values[value]) for value in sorted(values, key=value_order)}
        for name, values in found.items()
        if len(values) > 1
    }
