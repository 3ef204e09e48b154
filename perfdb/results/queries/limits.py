"""Bottlenecks of stored runs, judged by ``perfdb.analysis.insights.bottleneck``."""

from collections.abc import Iterable, Mapping, Sequence
from math import fsum, isfinite

from perfdb.analysis.insights.bottleneck import Bottleneck, Load, find_bottleneck
from perfdb.analysis.metrics import TOTAL, Measure
from perfdb.analysis.workloads import TCP_HEADERS
from perfdb.results.models import Run
from perfdb.results.runs import measures

_BUSY = ("cpu_util", "processor_util", "run_wait")
_JUDGED = frozenset({*_BUSY, "processors"})
_LPAR = Measure("processors", "lpar")
_RATE, _BYTES = Measure("trans_per_s"), Measure("mb_per_s")


def judge_limit(runs: Sequence[Run], slots: Mapping[Measure, int] | None = None) -> Bottleneck:
    """Return the bottleneck of an experiment's trials, by mean values.

    Reads ``workload``, ``device`` and ``system`` of the first run, best fetched along. ``slots`` are the places of
    measures in ``values``, by default from the registry.
    """
    return _judge(runs, _select_slots(measures.read_slots() if slots is None else slots))


def judge_limits(samples: Iterable[Sequence[Run]]) -> list[Bottleneck]:
    """Return the bottleneck of each of several experiments, as ``judge_limit`` does."""
    slots = _select_slots(measures.read_slots())
    return [_judge(runs, slots) for runs in samples]


def _select_slots(slots: Mapping[Measure, int]) -> dict[Measure, int]:
    """Return the slots of the measures that a bottleneck is judged by, rates first."""
    rates = {measure: slots[measure] for measure in (_RATE, _BYTES) if measure in slots}
    busy = {measure: slot for measure, slot in slots.items() if measure.metric in _JUDGED}
    return {**rates, **busy}


def _judge(runs: Sequence[Run], slots: Mapping[Measure, int]) -> Bottleneck:
    means = _mean_values(runs, slots)
    first = runs[0]
    workload, device, system = first.workload, first.device, first.system
    # An MTU with room for headers alone does not help to find a limit.
    mtu = first.mtu if first.mtu is not None and first.mtu > TCP_HEADERS else None
    return find_bottleneck(
        Load(
            mb_per_s=means.get(_BYTES),
            trans_per_s=means.get(_RATE),
            request_bytes=workload.request_bytes if workload else None,
            response_bytes=workload.response_bytes if workload else None,
            line_bits_per_s=device.speed_bits_per_s if device else None,
            mtu=mtu,
            processors=means.get(_LPAR) or (system.processors if system else None),
            utilisations={measure: value for measure, value in means.items() if measure.metric in _BUSY},
            virtual_processors=_virtual_processors(means),
        )
    )


def _mean_values(runs: Sequence[Run], slots: Mapping[Measure, int]) -> dict[Measure, float]:
    """Return the mean of each measure over the runs that have a value."""
    rows, means = [run.values for run in runs], {}
    for measure, slot in slots.items():
        found = [row[slot - 1] for row in rows if slot <= len(row)]
        if values := [value for value in found if value is not None and isfinite(value)]:
            means[measure] = fsum(values) / len(values)
    return means


def _virtual_processors(means: Mapping[Measure, float]) -> dict[str, int]:
    """Return the number of virtual processors of each guest, where captured."""
    return {
        measure.role: round(value)
        for measure, value in means.items()
        if measure.metric == "processors" and measure.role not in (TOTAL, _LPAR.role)
    }
