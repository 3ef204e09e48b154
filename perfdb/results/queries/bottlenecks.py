"""Bottlenecks of stored runs, and the best experiments that a query picks."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, isfinite
from typing import Any

from perfdb.analysis.insights.best_evidence import Evidence, best_evidence
from perfdb.analysis.insights.bottleneck import Bottleneck, Load, find_bottleneck
from perfdb.analysis.metrics import TOTAL, Measure
from perfdb.analysis.query.query import Query, Summary
from perfdb.analysis.tables.observations import Observations
from perfdb.analysis.tables.table import key_order
from perfdb.analysis.workloads import TCP_HEADERS
from perfdb.results.models import Device, Run, System, Workload
from perfdb.results.queries.observations import add_campaigns
from perfdb.results.runs import measures, recorded_reads

_BUSY = ("cpu_util", "processor_util", "run_wait")
_JUDGED = frozenset({*_BUSY, "processors"})
_LPAR = Measure("processors", "lpar")
_RATE, _BYTES = Measure("trans_per_s"), Measure("mb_per_s")


def judge_limit(runs: Sequence[Run], slots: Mapping[Measure, int] | None = None) -> Bottleneck:
    """Return the bottleneck of an experiment's trials, by mean values.

    Reads ``workload``, ``device`` and ``system`` of the first run, best fetched along. ``slots`` are the places of
    measures in ``values``, by default from the registry.
    """
    means = _mean_values(runs, measures.read_slots() if slots is None else slots)
    first = runs[0]
    workload, device, system = first.workload, first.device, first.system
    return find_bottleneck(
        Load(
            mb_per_s=means.get(_BYTES),
            trans_per_s=means.get(_RATE),
            request_bytes=workload.request_bytes if workload else None,
            response_bytes=workload.response_bytes if workload else None,
            line_bits_per_s=device.speed_bits_per_s if device else None,
            # An MTU with room for headers alone does not help to find a limit.
            mtu=first.mtu if first.mtu is not None and first.mtu > TCP_HEADERS else None,
            processors=means.get(_LPAR) or (system.processors if system else None),
            utilisations={measure: value for measure, value in means.items() if measure.metric in _BUSY},
            virtual_processors={
                measure.role: round(value)
                for measure, value in means.items()
                if measure.metric == "processors" and measure.role not in (TOTAL, _LPAR.role)
            },
        )
    )


def _mean_values(runs: Sequence[Run], slots: Mapping[Measure, int]) -> dict[Measure, float]:
    """Return the means of the measures that tell a bottleneck, over runs with values."""
    rows, means = [run.values for run in runs], {}
    judged = {each: slot for each, slot in slots.items() if each.metric in _JUDGED or each in (_RATE, _BYTES)}
    for measure, slot in judged.items():
        found = [row[slot - 1] for row in rows if slot <= len(row)]
        if values := [value for value in found if value is not None and isfinite(value)]:
            means[measure] = fsum(values) / len(values)
    return means


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
    behind = sorted(best_evidence(query, add_campaigns(found)).values(), key=lambda each: key_order(each.group))
    runs = read_runs_behind([run for each in behind for run in each.runs])
    samples = [sorted((runs[run] for run in each.runs), key=lambda run: (run.trial, run.pk)) for each in behind]
    slots = measures.read_slots()
    return [Best(each, sample, judge_limit(sample, slots)) for each, sample in zip(behind, samples, strict=True)]


def _pack(runs: Mapping[int, Run]) -> list[dict[str, Any]]:
    related = {name: fields for name, (_, fields) in _RELATED.items()}
    return [
        _fields_of(run, _OWN) | {name: _fields_of(getattr(run, name), fields) for name, fields in related.items()}
        for _, run in sorted(runs.items())
    ]


def _fields_of(row: Any, names: Iterable[str]) -> dict[str, Any]:
    return row and {name: getattr(row, name) for name in names}


def _unpack(kept: Iterable[Mapping[str, Any]]) -> dict[int, Run]:
    runs = {}
    for each in kept:
        related = {name: each[name] and model(**each[name]) for name, (model, _) in _RELATED.items()}
        runs[each["id"]] = Run(**{**each, **related})
    return runs


@recorded_reads.recorded("behind", lambda runs: ",".join(map(str, sorted(runs))), _pack, _unpack)
def read_runs_behind(runs: Sequence[int]) -> dict[int, Run]:
    """Return these runs by id, with their workloads, devices and systems."""
    return Run.objects.select_related(*_RELATED).in_bulk(runs)
