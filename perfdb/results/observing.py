"""Runs for tables, by a statement that is written by hand and answers with columns instead of rows.

Django takes longer to write such a statement and to convert its rows than PostgreSQL takes to answer it, and joining
the vocabulary costs PostgreSQL more planning than reading a thousand runs. So `where` writes the condition, what all
trials of an experiment have in common is `remembered`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

import numpy as np
import orjson
from django.db.models import Q

from perfdb.analysis import metrics
from perfdb.analysis.coded import Coded, Places
from perfdb.analysis.dimensions import DIMENSIONS, FACTOR, Value
from perfdb.analysis.metrics import Measure
from perfdb.analysis.parameters import QueryError
from perfdb.analysis.table import Observations
from perfdb.results import packed, recalled, remembered
from perfdb.results.models import Run
from perfdb.results.packed import NO_NUMBER, Numbers
from perfdb.results.remembered import Experiments
from perfdb.results.runs import measures, notes
from perfdb.results.runs.vocabulary import STATE, Named
from perfdb.results.where import NEVER, Condition, where

_FIRST_DAY = packed.BEGINNING.toordinal()
_DAY = 24 * 60 * 60 * 1_000_000
_DIMENSIONS = tuple(dimension.name for dimension in DIMENSIONS)

# What is a run's own; all else is its experiment's.
_OWN = {
    "id": packed.row_number("id"),
    "experiment": packed.row_number("experiment_id"),
    "trial": packed.number("trial"),
    "started": packed.moment("started"),
    "run_id": packed.text("run_id"),
}


# What is told of all of them together: the notes on them, and whether what is remembered still holds.
_BESIDE = {
    "notes": notes.reading(f"min({packed.FIRST})", f"max({packed.FIRST})"),
    "state": STATE,
}


def observe(
    wanted: Sequence[Q], asked: Sequence[Measure], factors: Iterable[str], most: int, recalled_of: Named | None = None
) -> Observations:
    """The runs that fulfil all of this, with every dimension that they have and the measures asked for.

    ``factors`` are named as dimensions; they are there also where no run has them. The conditions may not reach
    beyond the runs' own table. Raises QueryError where there are more than ``most`` of them. ``recalled_of``: the
    studies whose names are recalled; raises ChangedError where they do not hold any more.
    """
    condition = where(wanted)
    if condition == NEVER and recalled_of is not None:
        # Nothing is read that would tell.
        raise recalled.ChangedError
    found = {} if condition == NEVER else _read(condition, asked, most, recalled_of)
    if not found:
        return Observations((*_DIMENSIONS, *sorted(set(factors))), tuple(asked), [])
    ids, of_run = np.unique(found["experiment"], return_inverse=True)
    known = remembered.MEMORY.experiments(found["state"], ids)
    if len(known.ids) < len(ids):
        # Taken away meanwhile, with its runs.
        return observe(wanted, asked, factors, most, recalled_of)
    dimensions = _dimensions(found, known, of_run) | _by_factor(_texts(known, "factors", of_run), factors)
    made = Observations.of_columns(found["id"], dimensions, {each: found[str(each)] for each in asked})
    made.read_along = notes.told(found["id"], found["notes"])
    return made


def _read(wanted: Condition, asked: Sequence[Measure], most: int, recalled_of: Named | None) -> dict[str, Any]:
    """The columns of these runs, and what stands beside them; none where there is no run."""
    measured = {str(each): packed.real(read) for each, read in zip(asked, _measure_columns(asked), strict=True)}
    columns = _OWN | measured
    beside = _BESIDE if recalled_of is None else _BESIDE | {"versions": recalled.reading(recalled_of)}
    found = packed.read(columns, f"run WHERE {wanted.sql} LIMIT {most + 1:d}", wanted.given, beside)
    if recalled_of is not None:
        recalled.check(recalled_of, found["state"], found["versions"])
    if "id" not in found:
        return {}
    if len(found["id"]) > most:
        raise QueryError("", f"more than {most} runs match; narrow the question by study, workload or device")
    return {**found, **_in_order({name: found[name] for name in columns})}


def _in_order(columns: Mapping[str, Any]) -> Mapping[str, Any]:
    """The same by the runs' numbers: in which order PostgreSQL finds them depends on its plan."""
    ids: Numbers = columns["id"]
    if (ids[1:] > ids[:-1]).all():
        return columns
    order = np.argsort(ids)
    listed = order.tolist()
    return {
        name: [column[at] for at in listed] if isinstance(column, list) else column[order]
        for name, column in columns.items()
    }


def _dimensions(found: Mapping[str, Any], known: Experiments, of_run: Places) -> dict[str, Coded | list[Value]]:
    """The declared dimensions, in their order."""
    columns: dict[str, Coded | list[Value]] = {"campaign": _texts(known, "campaign", of_run), "run_id": found["run_id"]}
    # PostgreSQL takes longer to find out a run's day than to read it.
    for name, own in (("trial", found["trial"]), ("date", found["started"] // _DAY)):
        numbers, codes = _told_apart(own)
        columns[name] = Coded(list(_said(name, numbers)), codes)
    for name in (*remembered.REFERENCES, *remembered.NUMBERS):
        numbers, codes = _told_apart(known.column(name))
        columns[name] = Coded(numbers, codes[of_run]).named(list(_said(name, numbers, known.names.get(name))))
    return {name: columns[name] for name in _DIMENSIONS}


def _told_apart(numbers: Numbers) -> tuple[list[int], Places]:
    """Each of these numbers once, and for each row the place of its own."""
    if (numbers == numbers[0]).all():
        return [int(numbers[0])], np.zeros(len(numbers), np.intp)
    distinct, codes = np.unique(numbers, return_inverse=True)
    return distinct.tolist(), codes


def _texts(known: Experiments, name: str, of_run: Places) -> Coded:
    """A text of each run's experiment."""
    places, codes = _told_apart(known.column(name))
    return Coded([known.texts[place] for place in places], codes[of_run])


def _said(name: str, numbers: Iterable[int], names: Mapping[int, str] | None = None) -> Iterator[Value]:
    """The values that these numbers stand for; no number has no name."""
    if names is not None:
        yield from map(names.get, numbers)
    elif name == "date":
        yield from (date.fromordinal(_FIRST_DAY + day).isoformat() for day in numbers)
    else:
        yield from (None if number == NO_NUMBER else number for number in numbers)


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
