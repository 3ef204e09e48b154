"""What limited stored runs: their figures and circumstances as ``perfdb.analysis.insights.bottleneck`` takes them."""

from collections.abc import Iterable, Mapping, Sequence
from math import fsum, isfinite
from typing import Any, Protocol

from perfdb.analysis.insights.bottleneck import Bottleneck, Load, judge
from perfdb.analysis.metrics import TOTAL, Measure
from perfdb.analysis.workloads import TCP_HEADERS
from perfdb.results.runs import measures

_BUSY = ("cpu_util", "processor_util", "run_wait")
_TELLING = frozenset({*_BUSY, "processors"})
_LPAR = Measure("processors", "lpar")
_RATE, _BYTES = Measure("trans_per_s"), Measure("mb_per_s")


class Limited(Protocol):
    """A stored run, or as much of it as is read here."""

    @property
    def mtu(self) -> int | None: ...
    @property
    def values(self) -> Sequence[float | None]: ...
    @property
    def workload(self) -> Any: ...
    @property
    def device(self) -> Any: ...
    @property
    def system(self) -> Any: ...


def limit_of(runs: Sequence[Limited], slots: Mapping[Measure, int] | None = None) -> Bottleneck:
    """What limited the trials of one experiment, by the means of their figures. Needs at least one run.

    Reads ``workload``, ``device`` and ``system`` of the first: fetch them along. ``slots``: where runs keep their
    measures, if that is known.
    """
    return _limit(runs, _telling(measures.slots() if slots is None else slots))


def limits_of(samples: Iterable[Sequence[Limited]]) -> list[Bottleneck]:
    """What limited each of several experiments, as ``limit_of`` says of one."""
    slots = _telling(measures.slots())
    return [_limit(runs, slots) for runs in samples]


def _telling(slots: Mapping[Measure, int]) -> dict[Measure, int]:
    """Where the figures stand that tell a limit, among them the rates, which come first."""
    rates = {measure: slots[measure] for measure in (_RATE, _BYTES) if measure in slots}
    busy = {measure: slot for measure, slot in slots.items() if measure.metric in _TELLING}
    return {**rates, **busy}


def _limit(runs: Sequence[Limited], slots: Mapping[Measure, int]) -> Bottleneck:
    figures = _means(runs, slots)
    first = runs[0]
    workload, device, system = first.workload, first.device, first.system
    # A packet that has room for its headers alone is no road to a limit.
    mtu = first.mtu if first.mtu is not None and first.mtu > TCP_HEADERS else None
    return judge(
        Load(
            mb_per_s=figures.get(_BYTES),
            trans_per_s=figures.get(_RATE),
            request_bytes=workload.request_bytes if workload else None,
            response_bytes=workload.response_bytes if workload else None,
            line_bits_per_s=device.speed_bits_per_s if device else None,
            mtu=mtu,
            processors=figures.get(_LPAR) or (system.processors if system else None),
            utilisations={measure: value for measure, value in figures.items() if measure.metric in _BUSY},
            virtual_processors=_virtual_processors(figures),
        )
    )


def _means(runs: Sequence[Limited], slots: Mapping[Measure, int]) -> dict[Measure, float]:
    """The mean of each figure over the runs that have it."""
    rows, means = [run.values for run in runs], {}
    for measure, slot in slots.items():
        found = [row[slot - 1] for row in rows if slot <= len(row)]
        if values := [value for value in found if value is not None and isfinite(value)]:
            means[measure] = fsum(values) / len(values)
    return means


def _virtual_processors(figures: Mapping[Measure, float]) -> dict[str, int]:
    """How many processors a guest may use at once, where its captures say so."""
    return {
        measure.role: round(value)
        for measure, value in figures.items()
        if measure.metric == "processors" and measure.role not in (TOTAL, _LPAR.role)
    }
