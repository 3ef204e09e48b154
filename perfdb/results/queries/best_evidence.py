"""What stands behind the best experiments that a query picks, and what limited them, from the database."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np
from django.db import connections

from perfdb.analysis.insights.best_evidence import Evidence, evidence
from perfdb.analysis.insights.bottleneck import Bottleneck
from perfdb.analysis.query.query import Query, Summary
from perfdb.analysis.tables.observations import Observations
from perfdb.analysis.tables.table import key_order
from perfdb.results.models import Run
from perfdb.results.queries.limits import limits_of
from perfdb.results.runs import recorded_reads


class WorkloadBehind(NamedTuple):
    """The workload of a run behind a maximum."""

    id: int
    name: str
    request_bytes: int | None
    response_bytes: int | None


class DeviceBehind(NamedTuple):
    """Its device."""

    id: int
    name: str
    speed_bits_per_s: int | None


class SystemBehind(NamedTuple):
    """The system that it was measured on."""

    id: int
    name: str
    processors: int | None


class RunBehind(NamedTuple):
    """What is told of a run behind a maximum, and what judging its limit takes; ``values`` as runs keep them.

    What is missing among the values is NaN, or None where they come from a frozen link. (No model: Django takes longer
    to make one than all else of a maximum takes.)
    """

    id: int
    run_id: str
    trial: int
    mtu: int | None
    users: int | None
    trans_per_s: float | None
    mb_per_s: float | None
    values: Sequence[float | None]
    workload: WorkloadBehind | None
    device: DeviceBehind | None
    system: SystemBehind | None


_RELATED: Mapping[str, type[WorkloadBehind | DeviceBehind | SystemBehind]] = {
    "workload": WorkloadBehind,
    "device": DeviceBehind,
    "system": SystemBehind,
}
# Its values are the last of a run's own fields.
_OWN = tuple(name for name in RunBehind._fields if name not in _RELATED)
# With a number in place of NULL all elements are equally long: each 4 bytes that say so, and 8 bytes of a number.
_VALUES = "array_send(array_replace(run.values, NULL, 'NaN'))"
_HEADER, _ELEMENT = 20, np.dtype([("length", ">i4"), ("value", ">f8")])
_COLUMNS = (
    *(_VALUES if name == "values" else f"run.{name}" for name in _OWN),
    *(f"{name}.{field}" for name, made in _RELATED.items() for field in made._fields),
)
_ENDS = list(accumulate((len(made._fields) for made in _RELATED.values()), initial=len(_OWN)))
_PARTS = [(made, slice(*ends)) for made, ends in zip(_RELATED.values(), pairwise(_ENDS), strict=True)]
_JOINS = " ".join(f"LEFT JOIN {name} ON {name}.id = {name}_id" for name in _RELATED)
_STATEMENT = f"SELECT {', '.join(_COLUMNS)} FROM run {_JOINS} WHERE run.id IN "


@dataclass(frozen=True, slots=True)
class Best:
    """The best experiment of one group: its evidence, its runs in the order of their trials, what limited them."""

    evidence: Evidence
    runs: list[RunBehind]
    limit: Bottleneck


def best_of(query: Query, found: Observations) -> list[Best]:
    """The best of each group that a query picks from ``found``, in natural order of the groups.

    Evidence is about experiments: there is none without a pick, and none where the best is a single run.
    """
    if query.pick is None or query.summary is Summary.TRIAL:
        return []
    behind = sorted(evidence(query, found).values(), key=lambda each: key_order(each.group))
    runs = runs_behind([run for each in behind for run in each.runs])
    samples = [sorted((runs[run] for run in each.runs), key=lambda run: (run.trial, run.id)) for each in behind]
    return [Best(*known) for known in zip(behind, samples, limits_of(samples), strict=True)]


def _pack(runs: Mapping[int, RunBehind]) -> list[dict[str, Any]]:
    return [_packed(runs[number]) for number in sorted(runs)]


def _packed(run: RunBehind) -> dict[str, Any]:
    related = {name: each and each._asdict() for name in _RELATED for each in [getattr(run, name)]}
    return run._asdict() | related


def _unpack(kept: Iterable[dict[str, Any]]) -> dict[int, RunBehind]:
    return {each["id"]: _unpacked(each) for each in kept}


def _unpacked(kept: Mapping[str, Any]) -> RunBehind:
    related = {name: made(**kept[name]) if kept[name] else None for name, made in _RELATED.items()}
    return RunBehind(**{**kept, **related})


@recorded_reads.reading("behind", lambda runs: ",".join(map(str, sorted(runs))), _pack, _unpack)
def runs_behind(runs: Sequence[int]) -> dict[int, RunBehind]:
    """These runs by their number, with what they refer to."""
    with connections[Run.objects.db].cursor() as cursor:
        # Whole numbers stand in the statement as they are; none is called 0.
        cursor.execute(f"{_STATEMENT}({','.join(map(str, runs)) or '0'})")
        return {row[0]: _read(row) for row in cursor.fetchall()}


def _read(row: Sequence[Any]) -> RunBehind:
    """A run from a row of the statement; None for what it does not refer to."""
    *own, values = row[: len(_OWN)]
    listed = np.frombuffer(values[_HEADER:], _ELEMENT)["value"].tolist()
    related = [made(*row[at]) if row[at.start] is not None else None for made, at in _PARTS]
    return RunBehind._make([*own, listed, *related])
