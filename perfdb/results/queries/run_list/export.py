"""Files of listed runs: tables with one row per run, or logs.

Runs are read and written in chunks by id, so that a million runs take the memory of one chunk.
"""

import csv
import io
import json
import zipfile
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import IO, Any

import pyarrow as pa
from django.db.models import QuerySet
from pyarrow import parquet

from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.render.exports.tidy import field
from perfdb.results.ingest.artifacts import read_pieces
from perfdb.results.models import Run, RunSource
from perfdb.results.queries.run_list.columns import ROW_COLUMNS, ListColumn
from perfdb.results.runs import measures

CHUNK = 2000
MOST_LOGGED = 2000
# The columns of every file, which identify the run.
_KEYS = ("run", "run_id", "status")


def read_chunks(runs: QuerySet[Run], shown: Sequence[ListColumn]) -> Iterator[list[list[Any]]]:
    """Yield chunks of rows by id: a run's keys, then the columns."""
    slots = measures.read_slots()
    readers = [each.reader(slots) for each in _columns(shown)]
    last = 0
    while found := list(runs.filter(pk__gt=last).order_by("pk").values_list(*ROW_COLUMNS.values())[:CHUNK]):
        rows = [dict(zip(ROW_COLUMNS, values, strict=True)) for values in found]
        yield [[row["id"], row["run_id"], row["status"], *(read(row) for read in readers)] for row in rows]
        last = rows[-1]["id"]


def _columns(shown: Sequence[ListColumn]) -> list[ListColumn]:
    return [each for each in shown if each.name not in _KEYS]


def name_columns(shown: Sequence[ListColumn]) -> list[str]:
    """Return the names of the columns of a file."""
    return [*_KEYS, *(each.name for each in _columns(shown))]


def render_csv(runs: QuerySet[Run], shown: Sequence[ListColumn]) -> Iterator[str]:
    """Yield CSV (RFC 4180) with a header; tags are joined by semicolons."""
    yield _lines([name_columns(shown)])
    for rows in read_chunks(runs, shown):
        yield _lines([[field(_plain(value)) for value in row] for row in rows])


def _lines(rows: Sequence[Sequence[str]]) -> str:
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue()


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def render_json(runs: QuerySet[Run], shown: Sequence[ListColumn]) -> Iterator[str]:
    """Yield a JSON list of objects by column, a line for each run."""
    header = name_columns(shown)
    between = "[\n"
    for rows in read_chunks(runs, shown):
        lines = (json.dumps(dict(zip(header, map(_plain, row), strict=True)), ensure_ascii=False) for row in rows)
        yield between + ",\n".join(lines)
        between = ",\n"
    yield "[]\n" if between == "[\n" else "\n]\n"


def write_parquet(runs: QuerySet[Run], shown: Sequence[ListColumn], out: IO[bytes]) -> None:
    """Write Apache Parquet with a row group for each chunk."""
    keys = [("run", pa.int64()), ("run_id", pa.string()), ("status", pa.string())]
    schema = pa.schema([*keys, *((each.name, _type(each)) for each in _columns(shown))])
    with parquet.ParquetWriter(out, schema) as writer:
        for rows in read_chunks(runs, shown):
            arrays = [pa.array(values, kind.type) for values, kind in zip(zip(*rows, strict=True), schema, strict=True)]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


def _type(shown: ListColumn) -> pa.DataType:
    if shown.measure is not None:
        return pa.float64()
    if shown.name in ("tags", "notes"):
        return pa.list_(pa.string())
    return pa.timestamp("us", tz="UTC") if shown.name == "started" else pa.int64() if shown.number else pa.string()


def write_logs_zip(runs: QuerySet[Run], out: IO[bytes]) -> int:
    """Write each log once into a zip; return the number. Raise QueryError."""
    chosen = list(runs.order_by("pk").values_list("pk", flat=True)[: MOST_LOGGED + 1])
    if len(chosen) > MOST_LOGGED:
        raise QueryError("", f"the logs of at most {MOST_LOGGED} runs go into one file; choose fewer")
    sources = RunSource.objects.filter(run__in=chosen).order_by("upload", "path").select_related("artifact")
    packed = set[str]()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for source in sources:
            name = f"upload-{source.upload_id}/{source.path}"
            if name not in packed:
                packed.add(name)
                with archive.open(name, "w") as target:
                    target.writelines(read_pieces(source.artifact))
    return len(packed)
