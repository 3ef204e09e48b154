"""What stands behind the best experiments that a query picks, and what limited them, from the database."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import Model

from perfdb.analysis.best import Evidence, evidence
from perfdb.analysis.bottleneck import Bottleneck
from perfdb.analysis.query import Query, Summary
from perfdb.analysis.table import Observations, key_order
from perfdb.results import pinned
from perfdb.results.limits import limits_of
from perfdb.results.models import Device, Run, System, Workload

# What is told of a run behind a maximum, and what judging its limit takes of what it refers to.
_TOLD = frozenset({"id", "run_id", "trial", "mtu", "users", "trans_per_s", "mb_per_s", "values"})
# In the order of the model, as it wants them.
_OF_RUN = tuple(field.attname for field in Run._meta.concrete_fields if field.attname in _TOLD)
_RELATED: Mapping[str, tuple[type[Model], tuple[str, ...]]] = {
    "workload": (Workload, ("id", "name", "request_bytes", "response_bytes")),
    "device": (Device, ("id", "name", "speed_bits_per_s")),
    "system": (System, ("id", "name", "processors")),
}
_COLUMNS = (
    *(f'run."{name}"' for name in _OF_RUN),
    *(f'{name}."{field}"' for name, (_, fields) in _RELATED.items() for field in fields),
)
_JOINS = " ".join(f"LEFT JOIN {name} ON {name}.id = {name}_id" for name in _RELATED)
_STATEMENT = f"SELECT {', '.join(_COLUMNS)} FROM run {_JOINS} WHERE run.id IN "


@dataclass(frozen=True, slots=True)
class Best:
    """The best experiment of one group: its evidence, its runs in the order of their trials, what limited them."""

    evidence: Evidence
    runs: list[Run]
    limit: Bottleneck


def best_of(query: Query, found: Observations) -> list[Best]:
    """The best of each group that a query picks from ``found``, in natural order of the groups.

    Evidence is about experiments: there is none without a pick, and none where the best is a single run.
    """
    if query.pick is None or query.summary is Summary.TRIAL:
        return []
    behind = sorted(evidence(query, found).values(), key=lambda each: key_order(each.group))
    runs = runs_behind([run for each in behind for run in each.runs])
    samples = [sorted((runs[run] for run in each.runs), key=lambda run: (run.trial, run.pk)) for each in behind]
    return [Best(*known) for known in zip(behind, samples, limits_of(samples), strict=True)]


def _pack(runs: Mapping[int, Run]) -> list[dict[str, Any]]:
    return [_packed(runs[number]) for number in sorted(runs)]


def _packed(run: Run) -> dict[str, Any]:
    related = {
        name: row and {field: getattr(row, field) for field in fields}
        for name, (_, fields) in _RELATED.items()
        for row in [getattr(run, name)]
    }
    return {**{name: getattr(run, name) for name in _OF_RUN}, **related}


def _unpack(kept: Iterable[dict[str, Any]]) -> dict[int, Run]:
    shared: dict[tuple[str, int], Model] = {}
    return {each["id"]: _unpacked(each, shared) for each in kept}


def _unpacked(kept: dict[str, Any], shared: dict[tuple[str, int], Model]) -> Run:
    """A run as it was kept; ``shared`` are what the runs before it refer to."""
    # As Django makes a run of which it has read some columns.
    run = Run.from_db(DEFAULT_DB_ALIAS, _OF_RUN, [kept[name] for name in _OF_RUN])
    for name, (model, _) in _RELATED.items():
        if (fields := kept[name]) is not None:
            key = (name, fields["id"])
            if key not in shared:
                shared[key] = model(**fields)
            # As Django itself does with what it has read along: an assignment asks which database that is of.
            reference: Any = Run._meta.get_field(name)
            reference.set_cached_value(run, shared[key])
    return run


@pinned.reading("behind", lambda runs: ",".join(map(str, sorted(runs))), _pack, _unpack)
def runs_behind(runs: Sequence[int]) -> dict[int, Run]:
    """These runs by their number, with what they refer to; they are for reading."""
    # By hand: Django takes longer to make models of whole rows than all else of a maximum takes.
    with connection.cursor() as cursor:
        # Whole numbers stand in the statement as they are; none is called 0.
        cursor.execute(f"{_STATEMENT}({','.join(map(str, runs)) or '0'})")
        return _unpack(map(_kept, cursor.fetchall()))


def _kept(row: Sequence[Any]) -> dict[str, Any]:
    """A row of the statement by the names of its fields; None for what the run does not refer to."""
    at = len(_OF_RUN)
    kept: dict[str, Any] = dict(zip(_OF_RUN, row[:at], strict=True))
    for name, (_, fields) in _RELATED.items():
        values = dict(zip(fields, row[at : at + len(fields)], strict=True))
        kept[name] = values if values["id"] is not None else None
        at += len(fields)
    return kept
