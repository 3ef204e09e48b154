"""Tables as one tidy rectangle, for CSV and Parquet.

There is a line per cell, and a column per property. All tables of a query share the rectangle. Numbers are in base
units and not rounded; None is missing.
"""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from perfdb.analysis.dimensions import dimension
from perfdb.analysis.query.query import Query
from perfdb.analysis.render import labels
from perfdb.analysis.tables.table import Cell, Table
from perfdb.analysis.verdicts.cells import Comparison


class Kind(StrEnum):
    """Kind of a column's values."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    TEXTS = "texts"
    NUMBERS = "numbers"


@dataclass(frozen=True, slots=True)
class Column:
    """A column's name and kind."""

    name: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class _Known(Column):
    """A column with a property of cells, and the function that reads the property."""

    read: Callable[[Table, Cell], Any]


def _compared(read: Callable[[Comparison], Any]) -> Callable[[Table, Cell], Any]:
    return lambda table, cell: read(cell.comparison) if cell.comparison else None


def _values(cell: Cell) -> list[float]:
    return [point.value for point in cell.sample]


_KNOWN: tuple[_Known, ...] = (
    _Known("metric", Kind.TEXT, lambda table, cell: table.measure.metric),
    _Known("role", Kind.TEXT, lambda table, cell: table.measure.role),
    _Known("unit", Kind.TEXT, lambda table, cell: table.metric.unit),
    _Known("summary", Kind.TEXT, lambda table, cell: table.query.summary.value),
    _Known("value", Kind.NUMBER, lambda table, cell: cell.centre),
    _Known("n", Kind.INTEGER, lambda table, cell: cell.n),
    _Known("low", Kind.NUMBER, lambda table, cell: cell.interval and cell.interval[0]),
    _Known("high", Kind.NUMBER, lambda table, cell: cell.interval and cell.interval[1]),
    _Known("min", Kind.NUMBER, lambda table, cell: min(_values(cell), default=None)),
    _Known("max", Kind.NUMBER, lambda table, cell: max(_values(cell), default=None)),
    _Known("mixes", Kind.TEXTS, lambda table, cell: cell.mixed_work),
    _Known("run_ids", Kind.TEXTS, lambda table, cell: [point.run_id for point in cell.sample]),
    _Known("values", Kind.NUMBERS, lambda table, cell: _values(cell)),
    _Known("notes", Kind.TEXTS, lambda table, cell: list(labels.cell_notes(cell))),
)

# Only for tables with comparisons.
_AGAINST: tuple[_Known, ...] = (
    _Known("base_mean", Kind.NUMBER, _compared(lambda c: c.base_mean)),
    _Known("base_n", Kind.INTEGER, _compared(lambda c: c.base.trials)),
    _Known("diff_percent", Kind.NUMBER, _compared(lambda c: c.percent)),
    _Known("ratio", Kind.NUMBER, _compared(lambda c: c.ratio)),
    _Known("ratio_low", Kind.NUMBER, _compared(lambda c: c.interval and c.interval[0])),
    _Known("ratio_high", Kind.NUMBER, _compared(lambda c: c.interval and c.interval[1])),
    _Known("p", Kind.NUMBER, _compared(lambda c: c.p)),
    _Known("q", Kind.NUMBER, _compared(lambda c: c.q)),
    _Known("verdict", Kind.TEXT, _compared(lambda c: c.verdict.value)),
    _Known("effect", Kind.TEXT, _compared(lambda c: c.effect.value)),
    _Known("scope", Kind.TEXT, _compared(lambda c: c.scope.value)),
    _Known("campaigns", Kind.INTEGER, _compared(lambda c: c.campaigns)),
    _Known("reason", Kind.TEXT, _compared(lambda c: c.reason and c.reason.value)),
    _Known("noise", Kind.TEXT, _compared(lambda c: c.noise.source)),
)


# Only for published values.
_PRINTED = _Known("printed", Kind.TEXT, lambda table, cell: cell.printed or None)


def columns(query: Query, tables: Sequence[Table]) -> list[Column]:
    """Return the dimensions of the layout, then the properties of a cell."""
    dims = [Column(name, _kind(name)) for name in _shown(query, tables)]
    return [*dims, *_known(query, tables)]


def lines(query: Query, tables: Sequence[Table]) -> Iterator[list[Any]]:
    """Yield a line per cell, in the order of its table."""
    known = _known(query, tables)
    for table in tables:
        for row in table.rows:
            for column in table.columns:
                if (cell := table.cells.get((row, column))) is not None:
                    key = table.split + row + column
                    yield [*key, *(each.read(table, cell) for each in known)]


def _known(query: Query, tables: Sequence[Table]) -> tuple[_Known, ...]:
    published = any(cell.printed for table in tables for cell in table.cells.values())
    return (*_KNOWN, *(_AGAINST if query.baseline else ()), *((_PRINTED,) if published else ()))


def _shown(query: Query, tables: Sequence[Table]) -> tuple[str, ...]:
    # Tables may have an additional column per trial.
    return tables[0].query.layout_names if tables else query.layout_names


def _kind(name: str) -> Kind:
    return Kind.INTEGER if dimension(name).whole else Kind.TEXT


# Spreadsheets execute text with these prefixes as formulas.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def render_csv(query: Query, tables: Sequence[Table]) -> str:
    """Return CSV (RFC 4180) with a header line.

    Lists within a field are joined by semicolons.
    """
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([_safe(column.name) for column in columns(query, tables)])
    for line in lines(query, tables):
        writer.writerow([field(value) for value in line])
    return out.getvalue()


def field(value: Any) -> str:
    """Return a value as a CSV field, never as a spreadsheet formula.

    A missing value is empty.
    """
    if value is None:
        return ""
    if isinstance(value, list):
        return field(value[0]) if len(value) == 1 else _safe(";".join(map(str, value)))
    return repr(value) if isinstance(value, int | float) else _safe(value)


def _safe(text: str) -> str:
    """Return text that no spreadsheet executes: an apostrophe before formulas."""
    return f"'{text}" if text.startswith(_FORMULA) else text


_TYPES = {
    Kind.TEXT: pa.string(),
    Kind.INTEGER: pa.int64(),
    Kind.NUMBER: pa.float64(),
    Kind.TEXTS: pa.list_(pa.string()),
    Kind.NUMBERS: pa.list_(pa.float64()),
}


def render_parquet(query: Query, tables: Sequence[Table]) -> bytes:
    """Return a Parquet file of one row group, with metadata ``perfdb.query``."""
    known = columns(query, tables)
    schema = pa.schema(
        [(column.name, _TYPES[column.kind]) for column in known], metadata={"perfdb.query": query.encode()}
    )
    cells = list(zip(*lines(query, tables), strict=True)) or [()] * len(known)
    arrays = [pa.array(values, _TYPES[column.kind]) for column, values in zip(known, cells, strict=True)]
    out = io.BytesIO()
    parquet.write_table(pa.Table.from_arrays(arrays, schema=schema), out)
    return out.getvalue()
