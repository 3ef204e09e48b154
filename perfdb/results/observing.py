"""Runs as rows for tables, by a statement that is written by hand.

Django takes longer to write such a statement and to convert its rows than PostgreSQL takes to answer it, and joining
the vocabulary costs PostgreSQL more planning than reading a thousand runs. So `where` writes the condition, and the
names that the runs refer to are looked up once for each name. Columns are converted as a whole, one after the other.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson
from django.db import connection
from django.db.models import Q

from perfdb.analysis import metrics
from perfdb.analysis.dimensions import FACTOR
from perfdb.analysis.metrics import Measure
from perfdb.analysis.parameters import QueryError
from perfdb.analysis.table import Observations, Row
from perfdb.results import measures
from perfdb.results.models import Run
from perfdb.results.naming import NAMES, names_of
from perfdb.results.where import NEVER, Condition, where

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
    "date": "(started AT TIME ZONE 'UTC')::date::text",
    "run_id": "run_id",
}
# Factors come after the run's number and its dimensions.
_AT_FACTORS = 1 + len(_DIMENSIONS)

_Column = Sequence[Any]


def observe(wanted: Sequence[Q], asked: Sequence[Measure], factors: Iterable[str], most: int) -> Observations:
    """The runs that fulfil all of this, with every dimension that they have and the measures asked for.

    ``factors`` are named as dimensions; they are there also where no run has them. The conditions may not reach
    beyond the runs' own table. Raises QueryError where there are more than ``most`` of them.
    """
    columns = _columns(where(wanted), ["id", *_DIMENSIONS.values(), "factors", *_measure_columns(asked)], most)
    if not columns:
        return Observations((*_DIMENSIONS, *sorted(set(factors))), tuple(asked), [])
    ids, dimensions, measured = columns[0], columns[1:_AT_FACTORS], columns[_AT_FACTORS + 1 :]
    by_factor = _by_factor(columns[_AT_FACTORS], factors)
    named = _named(dict(zip(_DIMENSIONS, dimensions, strict=True)))
    rows: list[Row] = list(zip(ids, *named, *by_factor.values(), *measured, strict=True))
    return Observations((*_DIMENSIONS, *by_factor), tuple(asked), rows)


def _by_factor(texts: _Column, factors: Iterable[str]) -> dict[str, _Column]:
    """A column for each factor that any run has or that is named, from the JSON of each run's factors."""
    # Few sets of factors stand at many runs.
    sets: dict[str, dict[str, str]] = {text: orjson.loads(text) for text in set(texts)}
    names = {FACTOR + key for each in sets.values() for key in each}.union(factors)
    return {name: _factor(name, sets, texts) for name in sorted(names)}


def _factor(name: str, sets: Mapping[str, Mapping[str, str]], texts: _Column) -> _Column:
    values = {text: each.get(name.removeprefix(FACTOR)) for text, each in sets.items()}
    return [values[text] for text in texts]


def _measure_columns(asked: Sequence[Measure]) -> list[str]:
    """What reads each measure; what no run has is NULL."""
    slots = {} if all(map(_hot, asked)) else measures.slots()
    return [each.metric if _hot(each) else _slot(slots.get(each)) for each in asked]


def _hot(measure: Measure) -> bool:
    return measure.role == metrics.TOTAL and measure.metric in Run.HOT


def _slot(slot: int | None) -> str:
    return "NULL::double precision" if slot is None else f'"values"[{slot:d}]'


def _columns(wanted: Condition, columns: Iterable[str], most: int) -> list[_Column]:
    """The columns of these runs; none where there is no run. Raises QueryError for too many."""
    if wanted == NEVER:
        return []
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(columns)} FROM run WHERE {wanted.sql} LIMIT {most + 1:d}", wanted.given)
        if cursor.rowcount > most:
            raise QueryError("", f"more than {most} runs match; narrow the question by study, workload or device")
        return list(zip(*cursor.fetchall(), strict=True))


def _named(columns: Mapping[str, _Column]) -> list[_Column]:
    """The columns with names in place of the numbers of vocabulary rows; no number has no name."""
    names = names_of({table: set(columns[table]) - {None} for table in NAMES})
    return [list(map(names[name].get, column)) if name in names else column for name, column in columns.items()]
