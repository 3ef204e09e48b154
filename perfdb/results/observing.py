"""Runs for tables, by a statement that is written by hand and answers with columns instead of rows.

Django takes longer to write such a statement and to convert its rows than PostgreSQL takes to answer it, and joining
the vocabulary costs PostgreSQL more planning than reading a thousand runs. So `where` writes the condition, and the
names that the runs refer to are looked up once for each name. PostgreSQL strings the numbers of a column together as
bytes, which are an array as they come: a driver that makes an object of each of them takes as long as the rest.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

import numpy as np
import orjson
from django.db import connection
from django.db.models import Q
from numpy.typing import NDArray

from perfdb.analysis import metrics
from perfdb.analysis.coded import Coded
from perfdb.analysis.dimensions import FACTOR, Value
from perfdb.analysis.metrics import Measure
from perfdb.analysis.parameters import QueryError
from perfdb.analysis.table import Observations
from perfdb.results import measures, notes
from perfdb.results.models import Run
from perfdb.results.naming import NAMES, names_of
from perfdb.results.where import NEVER, Condition, where

# Stand for NULL: rows count from 1, and no other whole number of a run is as small as that.
_NO_ROW, _NO_NUMBER = 0, -(2**31) + 1
_EPOCH = date(1970, 1, 1).toordinal()

# What reads each declared dimension of a run, in the order of their declaration.
_DIMENSIONS: Mapping[str, str] = {
    "study": "study_id",
    "campaign": "NULLIF(campaign, '')",
    "system": "system_id",
    "level": "level_id",
    "workload": "workload_id",
    "device": "device_id",
    "mtu": "mtu",
    "users": "users",
    "layer": "layer",
    "trial": "trial",
    "date": "(started AT TIME ZONE 'UTC')::date - DATE '1970-01-01'",
    "run_id": "run_id",
}
_TEXTS = {"campaign", "run_id"}

Numbers = NDArray[np.int64]


class _Column(NamedTuple):
    """What reads a column of runs, what strings it together, and the bytes of each number, 0 of a text."""

    read: str
    joined: str
    numbers: str = ""


def observe(wanted: Sequence[Q], asked: Sequence[Measure], factors: Iterable[str], most: int) -> Observations:
    """The runs that fulfil all of this, with every dimension that they have and the measures asked for.

    ``factors`` are named as dimensions; they are there also where no run has them. The conditions may not reach
    beyond the runs' own table. Raises QueryError where there are more than ``most`` of them.
    """
    condition, fixed = where(wanted), _fixed(wanted)
    columns = {name: column for name, column in _columns(asked).items() if name not in fixed}
    found = {} if condition == NEVER else _read(condition, columns, most)
    if not found:
        return Observations((*_DIMENSIONS, *sorted(set(factors))), tuple(asked), [])
    runs = found["id"]
    found.update((name, np.broadcast_to(np.int64(number), runs.shape)) for name, number in fixed.items())
    dimensions, written = _dimensions({name: found[name] for name in _DIMENSIONS}, notes.reading(runs))
    dimensions.update(_by_factor(Coded.of(found["factors"].split("\n")), factors))
    made = Observations.of_columns(runs, dimensions, {each: found[str(each)] for each in asked})
    made.read_along = notes.told(runs, written)
    return made


def _fixed(wanted: Iterable[Q]) -> dict[str, int]:
    """The numbers that all these runs have in a dimension, by what they have to fulfil: these need not be read."""
    fixed = {}
    for each in wanted:
        if len(each.children) == 1 and not each.negated and isinstance(each.children[0], tuple):
            (path, values) = each.children[0]
            name, _, lookup = path.partition("__")
            if lookup == "in" and name in _DIMENSIONS and name not in {*_TEXTS, "date"} and len(set(values)) == 1:
                fixed[name] = int(values[0])
    return fixed


def _columns(asked: Sequence[Measure]) -> dict[str, _Column]:
    """Everything that is read of a run, by name."""
    columns = {"id": _row_number("id")}
    for name, read in _DIMENSIONS.items():
        columns[name] = _text(read) if name in _TEXTS else _row_number(read) if name in NAMES else _number(read)
    # A line each: JSON of the database has none within.
    columns["factors"] = _Column("factors", "string_agg({}::text, E'\n')")
    measured = {str(each): _float(read) for each, read in zip(asked, _measure_columns(asked), strict=True)}
    return columns | measured


def _row_number(read: str) -> _Column:
    return _Column(read, f"string_agg(int8send(coalesce({{}}, {_NO_ROW})), '')", ">i8")


def _number(read: str) -> _Column:
    return _Column(read, f"string_agg(int4send(coalesce({{}}, {_NO_NUMBER})), '')", ">i4")


def _float(read: str) -> _Column:
    return _Column(read, "string_agg(float8send(coalesce({}, 'NaN')), '')", ">f8")


def _text(read: str) -> _Column:
    return _Column(read, "json_agg({})::text")


def _read(wanted: Condition, columns: Mapping[str, _Column], most: int) -> dict[str, Any]:
    """The columns of these runs as arrays and texts; empty where there is no run. Raises QueryError for too many."""
    read = ", ".join(f"{column.read} AS c{at}" for at, column in enumerate(columns.values()))
    joined = ", ".join(column.joined.format(f"c{at}") for at, column in enumerate(columns.values()))
    statement = f"SELECT {joined} FROM (SELECT {read} FROM run WHERE {wanted.sql} LIMIT {most + 1:d}) AS found"
    with connection.cursor() as cursor:
        cursor.execute(statement, wanted.given)
        row = cursor.fetchone()
    if row[0] is None:
        return {}
    found = {name: _unpacked(column, each) for (name, column), each in zip(columns.items(), row, strict=True)}
    if len(found["id"]) > most:
        raise QueryError("", f"more than {most} runs match; narrow the question by study, workload or device")
    return found


def _unpacked(column: _Column, packed: Any) -> Any:
    if not column.numbers:
        return packed
    # In this machine's own order of bytes, and aligned.
    return np.frombuffer(packed, column.numbers).astype(np.float64 if column.numbers == ">f8" else np.int64)


def _dimensions(found: Mapping[str, Any], beside: str) -> tuple[dict[str, Coded | list[Value]], list[Any]]:
    """The declared dimensions, with names in place of the numbers of vocabulary rows; and the rows of ``beside``."""
    coded = {name: _told_apart(column) for name, column in found.items() if name not in _TEXTS}
    numbered = {table: [number for number in coded[table][0] if number != _NO_ROW] for table in NAMES}
    names, others = names_of(numbered, beside)
    columns: dict[str, Coded | list[Value]] = {}
    for name, column in found.items():
        if name in _TEXTS:
            columns[name] = orjson.loads(column)
        else:
            numbers, codes = coded[name]
            columns[name] = Coded(numbers, codes).named(list(_said(name, numbers, names)))
    return columns, others


def _told_apart(numbers: Numbers) -> tuple[list[int], NDArray[np.intp]]:
    """Each of these numbers once, and for each row the place of its own."""
    if numbers.strides == (0,) or (numbers == numbers[0]).all():
        return [int(numbers[0])], np.zeros(len(numbers), np.intp)
    distinct, codes = np.unique(numbers, return_inverse=True)
    return distinct.tolist(), codes


def _said(name: str, numbers: Iterable[int], names: Mapping[str, Mapping[int, str]]) -> Iterator[Value]:
    """The values that these numbers stand for; no number has no name."""
    if name in names:
        yield from map(names[name].get, numbers)
    elif name == "date":
        yield from (date.fromordinal(_EPOCH + day).isoformat() for day in numbers)
    else:
        yield from (None if number == _NO_NUMBER else number for number in numbers)


def _by_factor(texts: Coded, factors: Iterable[str]) -> dict[str, Coded]:
    """A column for each factor that any run has or that is named, from the JSON of each run's factors."""
    # Few sets of factors stand at many runs.
    sets: list[dict[str, str]] = [orjson.loads(str(text)) for text in texts.values]
    names = {FACTOR + key for each in sets for key in each}.union(factors)
    return {name: texts.named([each.get(name.removeprefix(FACTOR)) for each in sets]) for name in sorted(names)}


def _measure_columns(asked: Sequence[Measure]) -> list[str]:
    """What reads each measure; what no run has is NULL."""
    slots = {} if all(map(_hot, asked)) else measures.slots()
    return [each.metric if _hot(each) else _slot(slots.get(each)) for each in asked]


def _hot(measure: Measure) -> bool:
    return measure.role == metrics.TOTAL and measure.metric in Run.HOT


def _slot(slot: int | None) -> str:
    return "NULL::double precision" if slot is None else f'"values"[{slot:d}]'
