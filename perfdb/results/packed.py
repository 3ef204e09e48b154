"""Columns of a statement, each strung together by PostgreSQL, which are arrays as they come.

A driver that makes an object of each number takes as long as all else of a question.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import orjson
from django.db import connection
from numpy.typing import NDArray

Numbers = NDArray[np.int64]

# Stand for NULL: rows count from 1, and no other whole number of a run is as small as that.
NO_ROW, NO_NUMBER = 0, -(2**31) + 1

BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)
"""From which PostgreSQL counts time."""


class Column(NamedTuple):
    """What reads a column, what strings it together, and the form of each number; none of a list of JSON."""

    read: str
    joined: str
    form: str = ""


def row_number(read: str) -> Column:
    """The numbers of rows, ``NO_ROW`` for none."""
    return Column(read, f"string_agg(int8send(coalesce({{}}, {NO_ROW})), '')", ">i8")


def number(read: str) -> Column:
    """Whole numbers, ``NO_NUMBER`` for none."""
    return Column(read, f"string_agg(int4send(coalesce({{}}, {NO_NUMBER})), '')", ">i4")


def moment(read: str) -> Column:
    """Moments of time, none of them missing, in microseconds since ``BEGINNING``."""
    return Column(read, "string_agg(timestamptz_send({}), '')", ">i8")


def real(read: str) -> Column:
    """Numbers, NaN for none."""
    return Column(read, "string_agg(float8send(coalesce({}, 'NaN')), '')", ">f8")


def text(read: str) -> Column:
    """Texts, as a list with None for none."""
    return Column(read, "json_agg({})::text")


FIRST = "c0"
"""The first column, in SQL for what is read beside columns."""


def read(
    columns: Mapping[str, Column], rows: str, given: Sequence[Any], beside: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Any]:
    """These columns of ``rows`` (what stands from FROM on, and its values) as arrays and lists, and others ``beside``.

    All by their names; only what stands beside them where there is no row.
    """
    each = ", ".join(f"{column.read} AS c{at}" for at, column in enumerate(columns.values()))
    joined = [column.joined.format(f"c{at}") for at, column in enumerate(columns.values())]
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {', '.join([*joined, *beside.values()])} FROM (SELECT {each} FROM {rows}) AS found", given
        )
        found = cursor.fetchone()
    others = dict(zip(beside, found[len(columns) :], strict=True))
    if found[0] is None:
        return others
    unpacked = {name: _unpacked(*known) for name, *known in zip(columns, columns.values(), found, strict=False)}
    return unpacked | others


def _unpacked(column: Column, joined: Any) -> Any:
    if not column.form:
        return orjson.loads(joined)
    # In this machine's own order of bytes, and aligned.
    return np.frombuffer(joined, column.form).astype(np.float64 if column.form == ">f8" else np.int64)
