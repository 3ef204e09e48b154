"""Tables as one tidy rectangle, for CSV and Parquet.

There is a line per cell, and a column per property. All tables of a query share the rectangle. Numbers are in base
units and not rounded; None is missing.
"""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from perfdb.analysis.dimensions import dimension
from perfdb.analysis.query.query import Query
from perfdb.analysis.render import labels
from perfdb.analysis.tables.table import Cell, Table
from perfdb.analysis.verdicts.cells import Comparison

_TEXT, _INTEGER, _NUMBER = pa.string(), pa.int64(), pa.float64()


@dataclass(frozen=True, slots=True)
class _Property:
    """A column of a property of cells, and the function that reads the property."""

    name: str
    kind: pa.DataType
    read: Callable[[Table, Cell], Any]


def _compared(name: str, kind: pa.DataType, read: Callable[[Comparison], Any]) -> _Property:
    return _Property(name, kind, lambda table, cell: read(cell.comparison) if cell.comparison else None)


def _values(cell: Cell) -> list[float]:
    return [point.value for point in cell.sample]


_ALWAYS: tuple[_Property, ...] = (
    _Property("metric", _TEXT, lambda table, cell: table.measure.metric),
    _Property("role", _TEXT, lambda table, cell: table.measure.role),
    _Property("unit", _TEXT, lambda table, cell: table.metric.unit),
    _Property("summary", _TEXT, lambda table, cell: table.query.summary.value),
    _Property("value", _NUMBER, lambda table, cell: cell.centre),
    _Property("n", _INTEGER, lambda table, cell: cell.n),
    _Property("low", _NUMBER, lambda table, cell: cell.interval and cell.interval[0]),
    _Property("high", _NUMBER, lambda table, cell: cell.interval and cell.interval[1]),
    _Property("min", _NUMBER, lambda table, cell: min(_values(cell), default=None)),
    _Property("max", _NUMBER, lambda table, cell: max(_values(cell), default=None)),
    _Property("mixes", pa.list_(_TEXT), lambda table, cell: cell.mixed_work),
    _Property("run_ids", pa.list_(_TEXT), lambda table, cell: [point.run_id for point in cell.sample]),
    _Property("values", pa.list_(_NUMBER), lambda table, cell: _values(cell)),
    _Property("notes", pa.list_(_TEXT), lambda table, cell: list(labels.cell_notes(cell))),
)

# Only for tables with comparisons.
_AGAINST: tuple[_Property, ...] = (
    _compared("base_mean", _NUMBER, lambda c: c.base_mean),
    _compared("base_n", _INTEGER, lambda c: c.base.trials),
    _compared("diff_percent", _NUMBER, lambda c: c.percent),
    _compared("ratio", _NUMBER, lambda c: c.ratio),
    _compared("ratio_low", _NUMBER, lambda c: c.interval and c.interval[0]),
    _compared("ratio_high", _NUMBER, lambda c: c.interval and c.interval[1]),
    _compared("p", _NUMBER, lambda c: c.p),
    _compared("q", _NUMBER, lambda c: c.q),
    _compared("verdict", _TEXT, lambda c: c.verdict.value),
    _compared("effect", _TEXT, lambda c: c.effect.value),
    _compared("scope", _TEXT, lambda c: c.scope.value),
    _compared("campaigns", _INTEGER, lambda c: c.campaigns),
    _compared("reason", _TEXT, lambda c: c.reason and c.reason.value),
    _compared("noise", _TEXT, lambda c: c.noise.source),
)

# Only for published values.
_PRINTED = _Property("printed", _TEXT, lambda table, cell: cell.printed or None)


def _properties(query: Query, tables: Sequence[Table]) -> tuple[_Property, ...]:
    published = any(cell.printed for table in tables for cell in table.cells.values())
    return (*_ALWAYS, *(_AGAINST if query.baseline else ()), *((_PRINTED,) if published else ()))


def _columns(query: Query, tables: Sequence[Table]) -> list[tuple[str, pa.DataType]]:
    """Return the columns' names and types: layout dimensions, then properties of a cell."""
    # Tables may have an additional column per trial.
    names = tables[0].query.layout_names if tables else query.layout_names
    dims = [(name, _INTEGER if dimension(name).whole else _TEXT) for name in names]
    return [*dims, *((each.name, each.kind) for each in _properties(query, tables))]


def _lines(query: Query, tables: Sequence[Table]) -> Iterator[list[Any]]:
    """Yield a line per cell, in the order of its table."""
    properties = _properties(query, tables)
    for table in tables:
        for row in table.rows:
            for column in table.columns:
                if (cell := table.cells.get((row, column))) is not None:
                    key = table.split + row + column
                    yield [*key, *(each.read(table, cell) for each in properties)]


# Spreadsheets execute text with these prefixes as formulas.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def render_csv(query: Query, tables: Sequence[Table]) -> str:
    """Return CSV (RFC 4180) with a header line, and semicolons within lists."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([_safe(name) for name, _ in _columns(query, tables)])
    writer.writerows([field(value) for value in line] for line in _lines(query, tables))
    return out.getvalue()


def field(value: Any) -> str:
    """Return a CSV field, empty for None, and never a spreadsheet formula."""
    if value is None:
        return ""
    if isinstance(value, list):
        return field(value[0]) if len(value) == 1 else _safe(";".join(map(str, value)))
    return repr(value) if isinstance(value, int | float) else _safe(value)


def _safe(text: str) -> str:
    """Return text that no spreadsheet executes: an apostrophe before formulas."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def render_parquet(query: Query, tables: Sequence[Table]) -> bytes:
    """Return a Parquet file of one row group, with metadata ``perfdb.query``."""
    columns = _columns(query, tables)
    schema = pa.schema(columns, metadata={"perfdb.query": query.encode()})
    cells = list(zip(*_lines(query, tables), strict=True)) or [()] * len(columns)
    arrays = [pa.array(values, kind) for (_, kind), values in zip(columns, cells, strict=True)]
    out = io.BytesIO()
    parquet.write_table(pa.Table.from_arrays(arrays, schema=schema), out)
    return out.getvalue()
