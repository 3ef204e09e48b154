"""Formulas for two Linux hosts, from their counters before and after the run.

Busy time is all CPU time except idle and waiting for disks. Steal time counts as busy, since it was not available.
Guests' time is part of user time. If client and server ran on one machine (containers, network namespaces), its CPU
time belongs to both together; each side's processes, and the processors each was bound to, still tell the sides apart.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import product

from perfdb.analysis.formulas.formula import Expression, Formula, Number, Term, always, role_formula, streams
from perfdb.analysis.formulas.run_values import Input, InputKind, Known, RunFigures
from perfdb.analysis.formulas.terms import (
    DRIVER_SECONDS,
    ELAPSED,
    MB_PER_S,
    PARTS_OF_TOTAL,
    TRANS_PER_S,
    TRANSACTIONS,
    join_parts,
    one_machine,
    parts_term,
    reported_term,
)
from perfdb.analysis.metrics import TOTAL

BUSY_TIMES = ("user", "nice", "system", "irq", "softirq", "steal")
ALL_TIMES = (*BUSY_TIMES, "idle", "iowait")

CPU, CGROUP, SNMP, KERNEL = "cpu", "cgroup/", "snmp", "kernel"
_ADAPTERS = ("link/", "adapter/")
_LOOPBACK = "lo"
_DROPS = ("rx_dropped", "tx_dropped", "rx_missed")

_Select = Callable[[Known, str], "frozenset[str]"]


def _growth(
    known: Known, role: str, subjects: Iterable[str], term: str, names: Iterable[str], *, unit: str = "s"
) -> Iterator[Input]:
    """Yield the increases of counters of these names for a role; a small decrease counts as no increase."""
    for subject, name in product(subjects, names):
        pair = known.figures.counters.get((role, subject, name))
        if pair is not None:
            yield Input(term, InputKind.COUNTER, name, max(pair[1] - pair[0], 0.0), unit, role, subject, *pair)


def _roles(known: Known, role: str) -> tuple[str, ...]:
    """Return the roles whose counters make a role's value, on one machine the first."""
    machine = one_machine(known.figures.counters, one_host=known.figures.one_host)
    if role != TOTAL:
        return () if machine and role in PARTS_OF_TOTAL else (role,)
    counted = tuple(part for part in PARTS_OF_TOTAL if part in known.subjects)
    return counted[:1] if machine else PARTS_OF_TOTAL


def _host_time(term: str, title: str, times: tuple[str, ...]) -> Term:
    """Return the term of seconds that whole hosts spent in these kinds of time."""

    def find(known: Known, role: str) -> tuple[Input, ...]:
        return join_parts(_growth(known, part, (CPU,), term, times) for part in _roles(known, role))

    return Term(term, title, find, counted=True)


def _bound_time(term: str, title: str, times: tuple[str, ...]) -> Term:
    """Return the term of seconds of processors listed in ``client_cpus`` or ``server_cpus``."""

    def of_side(known: Known, role: str) -> Iterator[Input]:
        numbers = known.figures.facts.get(f"{role}_cpus", ())
        return _growth(known, role, [f"processor/{number:g}" for number in numbers], term, times)

    return parts_term(term, title, of_side)


def _subjects(known: Known, role: str, prefix: str) -> frozenset[str]:
    return frozenset(of for of in known.subjects.get(role, ()) if of.startswith(prefix))


def _test_adapters(known: Known, role: str) -> frozenset[str]:
    """Return the adapter that is the run's device, else those of ``ip link`` or /proc/net/dev without loopback."""
    named = [f"{prefix}{known.figures.device}" for prefix in _ADAPTERS]
    if found := _subjects(known, role, "").intersection(named):
        return frozenset((min(found, key=named.index),))
    others = (_subjects(known, role, prefix) - {f"{prefix}{_LOOPBACK}"} for prefix in _ADAPTERS)
    return next(filter(None, others), frozenset())


def _grown(term: str, title: str, names: tuple[str, ...], select: _Select, unit: str = "packets") -> Term:
    """Return the term of a counter's increase; none for the total, since both sides count the same packets."""

    def find(known: Known, role: str) -> tuple[Input, ...]:
        return tuple(_growth(known, role, sorted(select(known, role)), term, names, unit=unit))

    return Term(term, title, find, counted=True)


def _resent(known: Known, role: str) -> tuple[Input, ...]:
    """Return the segments sent again by the sending side of a stream, or by both sides."""
    senders = {"STRP": PARTS_OF_TOTAL[:1], "STRG": PARTS_OF_TOTAL[1:]}
    sides = senders.get(known.figures.pattern or "", PARTS_OF_TOTAL) if role == TOTAL else (role,)
    return join_parts(_growth(known, side, (SNMP,), "resent", ("Tcp.RetransSegs",), unit="segments") for side in sides)


def _process(known: Known, role: str) -> Iterator[Input]:
    """Yield CPU seconds of a side's only control group, from the finest counter."""
    subjects = _subjects(known, role, CGROUP)
    if len(subjects) > 1:
        return
    fine = list(_growth(known, role, subjects, "process_cpu", ("usage",)))
    yield from fine or _growth(known, role, subjects, "process_cpu", ("user", "system"))


_BUSY = _host_time("busy", "busy CPU seconds", BUSY_TIMES)
_ALL = _host_time("all", "CPU seconds in all", ALL_TIMES)
_STOLEN = _host_time("stolen", "stolen CPU seconds", ("steal",))
_BOUND_BUSY = _bound_time("bound_busy", "busy seconds of the processors bound to", BUSY_TIMES)
_BOUND_ALL = _bound_time("bound_all", "seconds of the processors bound to", ALL_TIMES)
_PROCESS_CPU = parts_term("process_cpu", "CPU seconds of the control group", _process)
_RETRANSMITS = Term("resent", "segments sent again", _resent, counted=True)
_RECEIVED = _grown("received", "packets received", ("rx_packets",), _test_adapters)
_SENT = _grown("sent", "packets sent", ("tx_packets",), _test_adapters)
_DROPPED = _grown("dropped", "packets dropped", _DROPS, _test_adapters)
_INTERRUPTS = _grown("interrupts", "interrupts", ("interrupts",), lambda known, role: frozenset({KERNEL}), "interrupts")

# The log line has the ticks; the inputs are seconds.
_TICKS = "; the file counts ticks of 1/100 s, and the inputs are ticks / 100"
_PROC = f"/proc/stat before and after the run{_TICKS}"
_BOUND = f"/proc/stat before and after the run, of the processors that the side was bound to{_TICKS}"
_GROUP = "CPU time of the side's control group before and after the run"


def _per_unit_of_work(prefix: str, seconds: Expression, method: str, source: str) -> Iterator[Formula]:
    """Yield formulas of CPU time per transaction, counted or by rate, and per MB."""
    works: tuple[tuple[str, Expression, str, Callable[[RunFigures], bool]], ...] = (
        ("cpu_ms_per_trans", TRANSACTIONS, "", always),
        ("cpu_ms_per_trans", TRANS_PER_S * DRIVER_SECONDS, "_rate", always),
        # Not by whole messages: at the end of a short run as much again may be under way.
        ("cpu_ms_per_mb", MB_PER_S * DRIVER_SECONDS, "", streams),
    )
    for name, work, suffix, when in works:
        metric = prefix + (name.removeprefix("cpu_") if prefix == "steal_" else name)
        yield role_formula(f"{metric}.{method}{suffix}", seconds * 1000 / work, source, when=when)


HOSTS: tuple[Formula, ...] = (
    role_formula("cpu_util.host", _BUSY / _ALL * 100, _PROC),
    role_formula("steal_util.host", _STOLEN / _ALL * 100, _PROC),
    role_formula("bound_cpu_util.bound", _BOUND_BUSY / _BOUND_ALL * 100, _BOUND),
    *_per_unit_of_work("", _BOUND_BUSY, "bound", _BOUND),
    *_per_unit_of_work("", _BUSY, "host", _PROC),
    *_per_unit_of_work("steal_", _STOLEN, "host", _PROC),
    role_formula("process_cpu_s.group", _PROCESS_CPU, _GROUP),
    *_per_unit_of_work("process_", _PROCESS_CPU, "group", _GROUP),
    role_formula(
        "retransmits.tcp",
        _RETRANSMITS,
        "TCP's counter of the sender before and after the run",
        when=lambda figures: ("retransmits", TOTAL) not in figures.metrics,
    ),
    role_formula("packets_dropped.adapter", _DROPPED, "the adapter's counters"),
    role_formula("packets_received_per_s.adapter", _RECEIVED / ELAPSED, "the adapter's counters"),
    role_formula("packets_sent_per_s.adapter", _SENT / ELAPSED, "the adapter's counters"),
    role_formula("interrupts_per_s.host", _INTERRUPTS / ELAPSED, _PROC),
)

_IDLE, _WAITING = reported_term("idle_util", "idle in %"), reported_term("iowait_util", "idle while waiting in %")
_UNUSED = Number(100) - _IDLE - _WAITING
_OF_HOST = reported_term("processors", "processors")
_REPORT = "a monitor's report: what is neither idle nor waiting for disks"

REPORTED = (
    role_formula("cpu_util.idle", _UNUSED, _REPORT),
    # 1% of a processor is 10 ms of CPU time in each second.
    role_formula("cpu_ms_per_trans.idle", _UNUSED * 10 * _OF_HOST / TRANS_PER_S, _REPORT),
    role_formula("cpu_ms_per_mb.idle", _UNUSED * 10 * _OF_HOST / MB_PER_S, _REPORT, when=streams),
)
