"""Tables as comma-separated values (RFC 4180), tidy: a line for each cell, a column for each thing known of it.

All tables of a query are in one rectangle, so that spreadsheets and data frames need no knowledge of the layout.
Numbers are in base units and unrounded.
"""

import csv
import io
from collections.abc import Iterator, Sequence

from perfdb.analysis.dimensions import Value
from perfdb.analysis.query import Query
from perfdb.analysis.render import labels
from perfdb.analysis.table import Cell, Key, Table

_OF_CELL = (
    "metric",
    "role",
    "unit",
    "summary",
    "value",
    "n",
    "min",
    "max",
    "run_ids",
    "values",
    "notes",
)
# A spreadsheet takes text that begins like this for a formula and runs it.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def render(query: Query, tables: Sequence[Table]) -> str:
    """A header line, then a line for each cell; lines end in CR LF. Lists within a field are joined by semicolons."""
    out = io.StringIO()
    writer = csv.writer(out)
    # The tables may show more than was asked: a column for each trial.
    shown = tables[0].query.shown if tables else query.shown
    writer.writerow([_safe(name) for name in shown] + list(_OF_CELL))
    for table in tables:
        writer.writerows(_lines(table))
    return out.getvalue()


def _lines(table: Table) -> Iterator[list[str]]:
    for row in table.rows:
        for column in table.columns:
            if (cell := table.cells.get((row, column))) is not None:
                yield _key(table.split + row + column) + _cell(table, cell)


def _key(key: Key) -> list[str]:
    return [_value(value) for value in key]


def _value(value: Value) -> str:
    if value is None:
        return ""
    # A whole number is no formula, also when it is negative.
    return str(value) if isinstance(value, int) else _safe(value)


def _cell(table: Table, cell: Cell) -> list[str]:
    values = [point.value for point in cell.sample]
    return [
        table.measure.metric,
        _safe(table.measure.role),
        table.metric.unit,
        table.query.summary.value,
        "" if cell.centre is None else repr(cell.centre),
        str(cell.n),
        repr(min(values)) if values else "",
        repr(max(values)) if values else "",
        _safe(";".join(point.run_id for point in cell.sample)),
        _safe(";".join(repr(value) for value in values)) if cell.n > 1 else "".join(map(repr, values)),
        _safe("; ".join(labels.notes(cell))),
    ]


def _safe(text: str) -> str:
    """Text that no spreadsheet runs: an apostrophe before what looks like a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text
