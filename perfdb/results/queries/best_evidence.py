"""The runs and bottlenecks of the best experiments that a query picks."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from perfdb.analysis.insights.best_evidence import Evidence, best_evidence
from perfdb.analysis.insights.bottleneck import Bottleneck
from perfdb.analysis.query.query import Query, Summary
from perfdb.analysis.tables.observations import Observations
from perfdb.analysis.tables.table import key_order
from perfdb.results.models import Device, Run, System, Workload
from perfdb.results.queries.limits import judge_limits
from perfdb.results.runs import recorded_reads

# The fields that frozen links keep of a run and of the rows to which it refers.
_OWN = ("id", "run_id", "trial", "mtu", "users", "trans_per_s", "mb_per_s", "values")
_RELATED: Mapping[str, tuple[Any, tuple[str, ...]]] = {
    "workload": (Workload, ("id", "name", "request_bytes", "response_bytes")),
    "device": (Device, ("id", "name", "speed_bits_per_s")),
    "system": (System, ("id", "name", "processors")),
}


@dataclass(frozen=True, slots=True)
class Best:
    """The best experiment of a group: evidence, runs by trial, and bottleneck."""

    evidence: Evidence
    runs: list[Run]
    limit: Bottleneck


def find_best(query: Query, found: Observations) -> list[Best]:
    """Return the best of each group that a query picks from ``found``.

    Evidence is about experiments: there is none without a pick, and none where the best is a single run.
    """
    if query.pick is None or query.summary is Summary.TRIAL:
        return []
    behind = sorted(best_evidence(query, found).values(), key=lambda each: key_order(each.group))
    runs = read_runs_behind([run for each in behind for run in each.runs])
    samples = [sorted((runs[run] for run in each.runs), key=lambda run: (run.trial, run.pk)) for each in behind]
    return [Best(*known) for known in zip(behind, samples, judge_limits(samples), strict=True)]


def _pack(runs: Mapping[int, Run]) -> list[dict[str, Any]]:
    return [_fields_of(runs[pk], _OWN) | _pack_related(runs[pk]) for pk in sorted(runs)]


def _pack_related(run: Run) -> dict[str, Any]:
    related = {name: (getattr(run, name), fields) for name, (_, fields) in _RELATED.items()}
    return {name: row and _fields_of(row, fields) for name, (row, fields) in related.items()}


def _fields_of(row: Any, names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names}


def _unpack(kept: Iterable[Mapping[str, Any]]) -> dict[int, Run]:
    return {each["id"]: Run(**{**each, **_unpack_related(each)}) for each in kept}


def _unpack_related(kept: Mapping[str, Any]) -> dict[str, Any]:
    return {name: kept[name] and model(**kept[name]) for name, (model, _) in _RELATED.items()}


@recorded_reads.recorded("behind", lambda runs: ",".join(map(str, sorted(runs))), _pack, _unpack)
def read_runs_behind(runs: Sequence[int]) -> dict[int, Run]:
    """Return these runs by id, with their workloads, devices and systems."""
    return Run.objects.select_related(*_RELATED).in_bulk(runs)
