"""Formulas for load tools that print parts: operations, several rates, both ends' bytes.

Inputs are facts: numbers as printed in the log. Each formula holds only if the tool prints no such metric itself.
"""

from collections.abc import Callable, Sequence
from statistics import median

from perfdb.analysis.formulas.formula import Expression, Formula, Number, Term, always, role_formula, streams
from perfdb.analysis.formulas.run_values import Input, InputKind, Known, RunFigures
from perfdb.analysis.formulas.terms import (
    DRIVER_SECONDS,
    MB,
    MB_PER_S,
    REQUEST_BYTES,
    RESPONSE_BYTES,
    TRANS_PER_S,
    USERS,
    reported_term,
    run_term,
    unless,
)
from perfdb.analysis.metrics import TOTAL


def fact_term(key: str, title: str, unit: str = "") -> Term:
    """Return the term of a fact that is one number, in ``unit``."""

    def find(known: Known, role: str) -> tuple[Input, ...]:
        numbers = known.figures.facts.get(key, ())
        return (Input(key, InputKind.FACT, key, numbers[0], unit),) if len(numbers) == 1 else ()

    return Term(key, title, find)


def _samples(name: str, key: str, title: str, reduce: Callable[[Sequence[float]], float], unit: str) -> Term:
    """Return what ``reduce`` makes of the numbers of fact ``key``, ``key@role`` per role."""

    def find(known: Known, role: str) -> tuple[Input, ...]:
        fact = key if role == TOTAL else f"{key}@{role}"
        numbers = known.figures.facts.get(fact, ())
        return (Input(name, InputKind.FACT, fact, float(reduce(numbers)), unit),) if numbers else ()

    return Term(name, title, find)


def plateau(samples: Sequence[float]) -> list[float]:
    """Return the samples under load, those of at least half the median."""
    least = median(samples) / 2
    return [sample for sample in samples if sample >= least]


def _unprinted(
    name: str, expression: Expression, source: str, other: str = "", when: Callable[[RunFigures], bool] = always
) -> Formula:
    """Return the formula of a metric for runs whose tool prints neither the metric nor ``other``."""
    printed = [(metric, TOTAL) for metric in (name.partition(".")[0], other)]

    def lacks(figures: RunFigures) -> bool:
        return figures.metrics.keys().isdisjoint(printed) and when(figures)

    return Formula(name, expression, source, when=lacks)


def _of_role(metric: str, title: str) -> Term:
    """Return the term of a role's reported metric; there is none for the total."""
    return unless(reported_term(metric, title), lambda figures, role: role == TOTAL)


def _one_way(direction: str) -> Term:
    """Return the term of one direction's throughput."""

    def find(known: Known, role: str) -> tuple[Input, ...]:
        value = known.figures.metrics.get(("mb_per_s", direction))
        return () if value is None else (Input(direction, InputKind.METRIC, "mb_per_s", value, "MB/s", direction),)

    return Term(direction, f"MB per second {direction.replace('_', ' ')}", find)


_OPERATIONS_EACH = fact_term("operations_per_transaction", "operations per transaction")
_RAW_SECONDS = (
    fact_term("raw.last_ms", "last time stamp in ms") - fact_term("raw.first_ms", "first time stamp in ms")
) / 1000
_RAW_BYTES = fact_term("raw.last_bytes", "bytes at the end") - fact_term("raw.first_bytes", "bytes at the start")
_LAST_OPERATIONS = fact_term("raw.last_operations", "operations at the end")
_RAW_OPERATIONS = _LAST_OPERATIONS - fact_term("raw.first_operations", "operations at the start")
_SENT = fact_term("datagram_bytes_sent", "bytes sent", "bytes")
_ARRIVED = fact_term("datagram_bytes_received", "bytes received", "bytes")
_PACKETS_SENT = fact_term("packets_sent", "packets sent")
_PACKETS_ARRIVED = fact_term("packets_received", "packets received")
_MESSAGES_SENT = fact_term("messages_sent", "messages sent")
_MESSAGES_ARRIVED = fact_term("messages_received", "messages received")
_DATAGRAMS = _samples("datagrams", "datagrams", "all datagrams", sum, "packets")
_TIMES = _samples("times", "samples_response_ms", "sum of the times in ms", sum, "ms")
_TIME_COUNT = _samples("time_count", "samples_response_ms", "how many times", len, "")
_RATES = _samples("rates", "samples_kbytes_per_s", "sum of the rates in KB/s", sum, "KB/s")
_RATE_COUNT = _samples("rate_count", "samples_kbytes_per_s", "how many rates", len, "")
_LOADS = _samples("loads", "load_percent", "sum of the loads under way in %", lambda each: sum(plateau(each)), "%")
_LOAD_COUNT = _samples("load_count", "load_percent", "how many of them", lambda each: len(plateau(each)), "")
_SENT_RATE = fact_term("sent_bits_per_second", "bits per second sent", "bits/s")
_LOSS = run_term("loss_percent", "loss in %")
_BYTES_SENT = run_term("bytes_sent", "bytes sent")
_PROCESS_UTIL = _of_role("processor_util", "utilisation of one processor by the process in %")
_PROCESS_CPU = _of_role("process_cpu_s", "CPU seconds of the process")
_HOST_PROCESSORS = _of_role("processors", "processors")

RATES = (
    _unprinted("driver_s.raw", _RAW_SECONDS, "uperf's time stamps of the measured transaction"),
    _unprinted(
        "trans_per_s.operations",
        fact_term("operations_per_s", "operations per second", "1/s") / _OPERATIONS_EACH,
        "uperf counts each write, read and connect; its profile says how many make a transaction",
        other="transactions",
    ),
    _unprinted(
        "trans_per_s.raw",
        _RAW_OPERATIONS / _OPERATIONS_EACH / DRIVER_SECONDS,
        "uperf's raw counts of operations; its profile says how many make a transaction",
        other="transactions",
    ),
    _unprinted(
        "trans_per_s.response",
        USERS / run_term("response_ms", "response time in ms") * 1000,
        "the response time of users without think time",
        other="transactions",
        when=lambda figures: figures.think_ms == 0,
    ),
    _unprinted(
        "trans_per_s.bytes",
        MB_PER_S * MB / (REQUEST_BYTES + RESPONSE_BYTES),
        "netperf -f prints the bits or bytes of both directions instead of transactions",
        other="transactions",
        when=lambda figures: figures.pattern in {"RR", "CRR"},
    ),
    Formula(
        "mb_per_s.data",
        run_term("data_bytes", "bytes in both directions") / DRIVER_SECONDS / MB,
        "the bytes that the driver counted, both directions",
    ),
    _unprinted(
        "mb_per_s.raw",
        _RAW_BYTES / DRIVER_SECONDS / MB,
        "uperf's raw counts of bytes, both directions",
        other="data_bytes",
    ),
    _unprinted(
        "mb_per_s.both_ways",
        _one_way("to_server") + _one_way("to_client"),
        "a stream in both directions at once, whose tool prints each by itself",
    ),
    _unprinted(
        "mb_per_s.arrived",
        _SENT_RATE * (Number(1) - _LOSS / 100) / 8 / MB,
        "iperf3 before 3.12 prints of UDP the sender's rate and what was lost",
    ),
    _unprinted(
        "mb_per_s.users",
        _RATES / _RATE_COUNT * USERS / 1024,
        "zcs prints a rate every five seconds for each connection",
    ),
    _unprinted(
        "mb_per_s.samples",
        _RATES / _RATE_COUNT / 1024,
        "zcs prints a rate every five seconds; taken as of one connection, for nothing says how many",
    ),
    _unprinted(
        "loss_percent.bytes", (_SENT - _ARRIVED) / _SENT * 100, "bytes that the sender sent and the receiver got"
    ),
    _unprinted(
        "loss_percent.packets",
        (_PACKETS_SENT - _PACKETS_ARRIVED) / _PACKETS_SENT * 100,
        "packets sent and packets that came back or arrived",
    ),
    _unprinted(
        "loss_percent.moved",
        (_BYTES_SENT - run_term("bytes_received", "bytes received")) / _BYTES_SENT * 100,
        "bytes sent and received, where they contradict the printed loss",
        when=lambda figures: "refused.loss_percent" in figures.facts,
    ),
    _unprinted(
        "loss_percent.messages",
        (_MESSAGES_SENT - _MESSAGES_ARRIVED) / _MESSAGES_SENT * 100,
        "netperf's messages that the sender sent and the receiver got",
    ),
    _unprinted(
        "loss_percent.datagrams",
        run_term("packets_lost", "datagrams lost") / _DATAGRAMS * 100,
        "iperf 2 prints lost and all datagrams of each connection, and no sum",
    ),
    _unprinted(
        "response_ms.samples", _TIMES / _TIME_COUNT, "fping -C prints the time of each echo that came back, and no mean"
    ),
)

COUNTS = (
    _unprinted(
        "transactions.rate",
        TRANS_PER_S * DRIVER_SECONDS,
        "rate and seconds of a driver that prints operations",
        when=lambda figures: "operations_per_transaction" in figures.facts,
    ),
)

_PROCESS_SOURCE = "the load tool's utilisation of one processor, 1% being 10 ms of CPU time in each second"
LOADS = (
    role_formula(
        "cpu_util.soaked",
        _LOADS / _LOAD_COUNT,
        "cyclesoak: what is left of the idle time, mean of the samples above half of their median",
    ),
    role_formula(
        "cpu_ms_per_mb.soaked",
        _LOADS / _LOAD_COUNT * 10 * _HOST_PROCESSORS / MB_PER_S,
        "cyclesoak's load, 1% of a processor being 10 ms of CPU time in each second",
        when=streams,
    ),
    role_formula(
        "processor_util.process",
        _PROCESS_CPU / DRIVER_SECONDS * 100,
        "CPU seconds and real seconds of the load tool's process",
    ),
    role_formula(
        "process_cpu_ms_per_mb.process",
        _PROCESS_CPU * 1000 / (MB_PER_S * DRIVER_SECONDS),
        "CPU seconds of the load tool's process",
        when=streams,
    ),
    role_formula(
        "process_cpu_ms_per_trans.percent",
        _PROCESS_UTIL * 10 / TRANS_PER_S,
        _PROCESS_SOURCE,
        when=lambda figures: figures.of_processes,
    ),
    role_formula(
        "process_cpu_ms_per_mb.percent",
        _PROCESS_UTIL * 10 / MB_PER_S,
        _PROCESS_SOURCE,
        when=lambda figures: figures.of_processes and streams(figures),
    ),
)
