"""Experiments that can be a device's best, among too many runs.

An index has the runs of each workload and device, the highest first. The mean of an experiment is not above its highest
run: once the best mean reaches the lowest run read, no other experiment can be better. So a few experiments answer a
pick and give the noise.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import Any, NamedTuple

from django.db import connections
from django.db.models import Avg, QuerySet, Sum

from perfdb.analysis.metrics import Measure
from perfdb.analysis.query.query import Pick, Query, Summary
from perfdb.analysis.tables.observations import Key, Note
from perfdb.results.database.sql import compile_query
from perfdb.results.models import Device, DimensionCount, Experiment, Run, StudyActivity, Workload
from perfdb.results.runs.experiments import hash_value
from perfdb.results.runs.vocabulary import find_named_rows

MANY = 20_000
"""With more runs in all studies, only the highest are read."""

HIGHEST = 50
"""The number of runs read for each workload and device; more where these do not decide which experiment is the best."""

NOTE = Note(
    "highest-only",
    "there are too many runs to look through all of them: the best is the best of all, but runners-up, and how much "
    f"results vary, are told from experiments with one of the {HIGHEST} highest runs of a workload and device, or more",
)

# Beyond these numbers all runs are read.
_MOST_HIGHEST, _MOST_PAIRS = 3200, 2000
_INDEXED = {Measure("trans_per_s"): "trans_per_s", Measure("mb_per_s"): "mb_per_s"}
_MODELS: Mapping[str, Any] = {"workload": Workload, "device": Device}
# The mean by SQL may differ in its last digit from the mean by which the best is picked.
_NOISE = 1e-9

_HIGHEST_OF_PAIR = """
    SELECT w.id, d.id, highest.* FROM {workloads} CROSS JOIN {devices} CROSS JOIN LATERAL (
        SELECT experiment_id, {column} FROM ({runs}) AS run WHERE {pair} ORDER BY {column} DESC NULLS LAST LIMIT %s
    ) AS highest
"""


class _High(NamedTuple):
    """One of the highest runs of a workload and device."""

    workload: int | None
    device: int | None
    experiment: int
    value: float | None


def find_top_experiments(query: Query, runs: QuerySet[Run]) -> list[int] | None:
    """Return the experiments that a pick must look at; None means all.

    With each best come the experiments that are equal but for the users. ``runs`` are the runs of the query.
    """
    pick = query.pick
    if pick is None or not _is_about_very_many(query, pick):
        return None
    column = _INDEXED[pick.measure]
    pairs = {name: _numbers(query, name) for name in _MODELS}
    if len(pairs["workload"]) * len(pairs["device"]) > _MOST_PAIRS:
        return None
    most = HIGHEST
    while most <= _MOST_HIGHEST:
        found = _highest(column, pairs, runs, most)
        tried = runs.filter(experiment__in=sorted({each.experiment for each in found})).order_by()
        means = dict(tried.values("experiment").annotate(mean=Avg(column)).values_list("experiment", "mean"))
        best = _best(pick, found, {pk: mean for pk, mean in means.items() if mean is not None}, most)
        if best is not None:
            return sorted({each.experiment for each in found} | _find_curves(best))
        most *= 4
    return None


def _is_about_very_many(query: Query, pick: Pick) -> bool:
    """Return whether a query picks by index among very many runs."""
    by_index = pick.measure in _INDEXED and set(pick.dimensions) <= set(_MODELS)
    if not by_index or query.summary is Summary.TRIAL or "study" in query.filters:
        return False
    runs: int = StudyActivity.objects.aggregate(runs=Sum("runs", default=0))["runs"]
    return runs > MANY


def _numbers(query: Query, name: str) -> list[int | None]:
    """Return the ids of a query's workloads or devices; None is a missing one."""
    values = query.filters.get(name)
    if values is None:
        return [*_MODELS[name].objects.values_list("pk", flat=True), None]
    named = find_named_rows({name: [str(value) for value in values if value is not None]})[name]
    there = {*named.by_name, *(pk for ids in named.by_alias.values() for pk in ids)}
    return [*sorted(there), *([None] if None in values else [])]


def _highest(column: str, pairs: Mapping[str, Sequence[int | None]], runs: QuerySet[Run], most: int) -> list[_High]:
    """Return the ``most`` highest runs of each workload and device."""
    wanted, parameters = compile_query(runs.order_by().values("experiment_id", "workload_id", "device_id", column))
    parts, given = [], []
    for workloads, workload, of_workload in _halves("w", "workload_id", pairs["workload"]):
        for devices, device, of_device in _halves("d", "device_id", pairs["device"]):
            pair = f"{workload} AND {device}"
            parts.append(
                _HIGHEST_OF_PAIR.format(workloads=workloads, devices=devices, column=column, pair=pair, runs=wanted)
            )
            given += [of_workload, of_device, *parameters, most]
    with connections[Run.objects.db].cursor() as cursor:
        cursor.execute(" UNION ALL ".join(parts), given)
        return [_High(*row) for row in cursor.fetchall()]


def _halves(alias: str, column: str, numbers: Sequence[int | None]) -> Iterable[tuple[str, str, list[int | None]]]:
    """Yield SQL for runs that refer to a row, and for others.

    Each time: a table of ids, the condition on runs, and the ids as parameter.
    """
    known = [number for number in numbers if number is not None]
    if known:
        yield f"unnest(%s::bigint[]) AS {alias}(id)", f"run.{column} = {alias}.id", [*known]
    if None in numbers:
        yield f"unnest(%s::bigint[]) AS {alias}(id)", f"run.{column} IS NULL", [None]


def _best(pick: Pick, found: Iterable[_High], means: Mapping[int, float], most: int) -> list[int] | None:
    """Return each group's best experiments with ties; None if unread ones may win."""
    pairs: dict[tuple[int | None, int | None], list[_High]] = defaultdict(list)
    for each in found:
        pairs[each.workload, each.device].append(each)
    groups: dict[Key, set[int]] = defaultdict(set)
    unseen: dict[Key, float] = {}
    for (workload, device), those in pairs.items():
        group = tuple({"workload": workload, "device": device}[name] for name in pick.dimensions)
        groups[group] |= {each.experiment for each in those} & means.keys()
        values = [each.value for each in those if each.value is not None]
        if len(values) == most:
            unseen[group] = max(min(values), unseen.get(group, -inf))
    tops = {group: max(map(means.__getitem__, known), default=-inf) for group, known in groups.items()}
    if any(tops[group] < bound for group, bound in unseen.items()):
        return None
    return [each for group, known in groups.items() for each in known if means[each] >= tops[group] * (1 - _NOISE)]


def _find_curves(experiments: Iterable[int]) -> set[int]:
    """Return the experiments that are equal except in users, by key."""
    best = list(Experiment.objects.filter(pk__in=experiments).values_list("study", "key", "users"))
    counts = DimensionCount.objects.filter(study__in={study for study, *_ in best}, name="users", runs__gt=0)
    known: dict[int, set[str]] = defaultdict(set)
    for study, users in counts.values_list("study", "value"):
        known[study].add(users)
    wanted = {
        (study, key ^ _key_of_users(own) ^ _key_of_users(other)) for study, key, own in best for other in known[study]
    }
    there = Experiment.objects.filter(study__in=known, key__among={key for _, key in wanted})
    return {pk for pk, study, key in there.values_list("pk", "study", "key") if (study, key) in wanted}


def _key_of_users(users: int | str | None) -> int:
    """Return the users' part of an experiment's key, or 0."""
    return hash_value("users", users) if users else 0
