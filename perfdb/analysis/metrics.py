"""Declared metrics: name, unit, better direction and printed decimals.

A metric is stored in the unit that its name ends in. A metric of a role is a *measure*; the database numbers
measures (``measure.slot``) as they first appear. A new metric is a line here and, if it is derived, a formula in
``formulas/catalogue.py``.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Better(StrEnum):
    """The direction that is an improvement."""

    HIGHER = "higher"
    LOWER = "lower"
    NEUTRAL = "neutral"


@dataclass(frozen=True, slots=True)
class Metric:
    """A named quantity. ``unit`` is printed in headings, with ``decimals`` by default."""

    name: str
    title: str
    unit: str
    better: Better
    decimals: int


_H, _L, _N = Better.HIGHER, Better.LOWER, Better.NEUTRAL

METRICS: tuple[Metric, ...] = (
    Metric("trans_per_s", "Transactions per second", "trans/s", _H, 2),
    Metric("mb_per_s", "Throughput", "MB/s", _H, 2),
    Metric("gbit_per_s", "Throughput", "Gbit/s", _H, 3),
    Metric("response_ms", "Response time", "ms", _L, 3),
    Metric("users_response_ms", "Response time that follows from users and rate", "ms", _L, 3),
    Metric("elapsed_s", "Elapsed time", "s", _N, 2),
    Metric("window_s", "Window of the monitor's report", "s", _N, 0),
    Metric("driver_s", "Driver seconds", "s", _N, 2),
    Metric("transactions", "Transactions", "trans", _N, 0),
    Metric("bytes_sent", "Bytes sent", "bytes", _N, 0),
    Metric("bytes_received", "Bytes received", "bytes", _N, 0),
    Metric("data_bytes", "Data in both directions", "bytes", _N, 0),
    Metric("connects", "Connections made", "connects", _N, 0),
    Metric("errors", "Errors", "errors", _L, 0),
    Metric("retransmits", "Retransmits", "segments", _L, 0),
    Metric("loss_percent", "Datagrams lost", "%", _L, 2),
    Metric("packets_lost", "Datagrams lost", "packets", _L, 0),
    Metric("jitter_ms", "Jitter", "ms", _L, 3),
    Metric("rtt_ms", "Round-trip time seen by TCP", "ms", _L, 3),
    Metric("latency_min_ms", "Latency, minimum", "ms", _L, 3),
    Metric("latency_mean_ms", "Latency, mean", "ms", _L, 3),
    Metric("latency_sd_ms", "Latency, standard deviation", "ms", _L, 3),
    Metric("latency_p50_ms", "Latency, median", "ms", _L, 3),
    Metric("latency_p75_ms", "Latency, 75th percentile", "ms", _L, 3),
    Metric("latency_p90_ms", "Latency, 90th percentile", "ms", _L, 3),
    Metric("latency_p95_ms", "Latency, 95th percentile", "ms", _L, 3),
    Metric("latency_p99_ms", "Latency, 99th percentile", "ms", _L, 3),
    Metric("latency_p999_ms", "Latency, 99.9th percentile", "ms", _L, 3),
    Metric("latency_max_ms", "Latency, maximum", "ms", _L, 3),
    Metric("cpu_util", "CPU utilisation", "%", _N, 2),
    Metric("virtual_cpu_util", "Virtual CPU utilisation", "%", _N, 2),
    Metric("cp_cpu_util", "CP CPU utilisation", "%", _N, 2),
    Metric("steal_util", "Steal time", "%", _N, 2),
    Metric("bound_cpu_util", "Utilisation of the processors a side was bound to", "%", _N, 2),
    Metric("idle_util", "Idle", "%", _N, 2),
    Metric("iowait_util", "Idle while waiting for disks", "%", _N, 2),
    Metric("processor_util", "Utilisation of one processor", "%", _N, 2),
    Metric("virtual_processor_util", "Virtual utilisation of one processor", "%", _N, 2),
    Metric("cp_processor_util", "CP utilisation of one processor", "%", _N, 2),
    Metric("process_cpu_s", "CPU seconds of the load tool's process", "s", _N, 2),
    Metric("run_wait", "Running and waiting for CPU", "%", _N, 2),
    Metric("cpu_wait", "Samples waiting for a processor", "%", _N, 1),
    Metric("tv_ratio", "Total to virtual CPU time", "", _N, 2),
    Metric("cpu_ms_per_trans", "CPU time per transaction", "ms/trans", _L, 2),
    Metric("virtual_cpu_ms_per_trans", "Virtual CPU time per transaction", "ms/trans", _L, 2),
    Metric("cp_cpu_ms_per_trans", "CP CPU time per transaction", "ms/trans", _L, 2),
    Metric("cpu_ms_per_mb", "CPU time per MB", "ms/MB", _L, 2),
    Metric("virtual_cpu_ms_per_mb", "Virtual CPU time per MB", "ms/MB", _L, 2),
    Metric("cp_cpu_ms_per_mb", "CP CPU time per MB", "ms/MB", _L, 2),
    Metric("steal_ms_per_trans", "Steal time per transaction", "ms/trans", _L, 2),
    Metric("steal_ms_per_mb", "Steal time per MB", "ms/MB", _L, 2),
    Metric("process_cpu_ms_per_trans", "CPU time of the test's processes per transaction", "ms/trans", _L, 2),
    Metric("process_cpu_ms_per_mb", "CPU time of the test's processes per MB", "ms/MB", _L, 2),
    Metric("interrupts_per_s", "Interrupts per second", "1/s", _N, 0),
    Metric("packets_received_per_s", "Packets received per second", "1/s", _N, 0),
    Metric("packets_sent_per_s", "Packets sent per second", "1/s", _N, 0),
    Metric("packets_dropped", "Packets dropped", "packets", _L, 0),
    Metric("processors", "Processors", "processors", _N, 0),
)

BY_NAME: dict[str, Metric] = {metric.name: metric for metric in METRICS}

TOTAL = "total"


class Measure(NamedTuple):
    """A metric of a role, ``name@role``; a named tuple, since these hash fast."""

    metric: str
    role: str = TOTAL

    def __str__(self) -> str:
        return self.metric if self.role == TOTAL else f"{self.metric}@{self.role}"

    @classmethod
    def parse(cls, text: str) -> "Measure":
        """Parse ``name`` or ``name@role``. Raise KeyError for an undeclared metric."""
        name, _, role = text.partition("@")
        BY_NAME[name]
        return cls(name, role or TOTAL)
