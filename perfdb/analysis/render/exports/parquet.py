"""Tables as Apache Parquet: the tidy rectangle with its types, for data frames."""

import io
from collections.abc import Sequence

import pyarrow as pa
from pyarrow import parquet

from perfdb.analysis.query.query import Query
from perfdb.analysis.render.exports import tidy
from perfdb.analysis.render.exports.tidy import Kind
from perfdb.analysis.tables.table import Table

_TYPES = {
    Kind.TEXT: pa.string(),
    Kind.INTEGER: pa.int64(),
    Kind.NUMBER: pa.float64(),
    Kind.TEXTS: pa.list_(pa.string()),
    Kind.NUMBERS: pa.list_(pa.float64()),
}


def render(query: Query, tables: Sequence[Table]) -> bytes:
    """A file with one row group; its metadata says which query it answers (key ``perfdb.query``)."""
    columns = tidy.columns(query, tables)
    schema = pa.schema(
        [(column.name, _TYPES[column.kind]) for column in columns], metadata={"perfdb.query": query.encode()}
    )
    cells = list(zip(*tidy.lines(query, tables), strict=True)) or [()] * len(columns)
    arrays = [pa.array(values, _TYPES[column.kind]) for column, values in zip(columns, cells, strict=True)]
    out = io.BytesIO()
    parquet.write_table(pa.Table.from_arrays(arrays, schema=schema), out)
    return out.getvalue()
