"""Checks of a Linux host's snapshots: whether their differences may be used.

The rules are those of the description of Linux snapshots. Subjects of counters are ``cpu``, ``kernel``, ``uptime``,
``snmp``, ``adapter/eth0``, ``link/eth0``, ``ethtool/eth0``, ``softnet/0``, ``cgroup/NAME``.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from perfdb.analysis.checks.cp_snapshots import (
    PairState,
    PairVerdict,
    Snapshot,
    check_moments,
    decreased,
    growth,
    missing_half,
    refusal,
    warning,
)
from perfdb.analysis.checks.finding import Finding, Severity
from perfdb.analysis.formulas.terms import one_machine

# Period of 32-bit counters.
WRAP = 2**32

_UPTIME, _STARTED = ("uptime", "uptime"), ("kernel", "btime")
_UPTIME_TOLERANCE_S = 0.05  # Printed in hundredths.
_STARTED_TOLERANCE_S = 1  # Calculated from two clocks.
# Counters that may decrease a little, and settings that drivers call statistics.
_MAY_FALL = frozenset({("cpu", "idle"), ("cpu", "iowait"), ("uptime", "idle")})
_ANYTHING = ("ethtool/",)
_ADAPTERS = ("adapter/", "link/")
_LOOPBACKS = frozenset({"adapter/lo", "link/lo"})
_CPU_TIMES = ("cpu", "processor/")
_FASTEST = {"bytes": 50e9, "packets": 600e6}  # a second, of a link of 400 Gbit/s
_FASTEST_OTHER = 600e6

_Key = tuple[str, str]


def check_host(run_id: str, before: Snapshot | None, after: Snapshot | None) -> PairVerdict:
    """Return the verdict whether the snapshots of run ``run_id`` can be subtracted."""
    if before is None or after is None:
        return PairVerdict(PairState.WAITING, tuple(missing_half(run_id, before, after)))
    elapsed, wrong = check_moments(before, after)
    refused = wrong or _restarted(before, after) or _other_adapters(before, after) or _cpu_fell(before, after)
    if refused is not None:
        return PairVerdict(PairState.REFUSED, (refused,), elapsed_s=elapsed)
    wrapped, fallen = _fallen(before, after, elapsed)
    idle = {"idle", "iowait"}
    reset = {subject for subject, name in fallen if not subject.startswith(_ANYTHING) and name not in idle}
    findings = (
        *_clock_was_set(before, after),
        *_one_sided_adapters(before, after),
        *(_wrapped(after, subject) for subject in sorted({subject for subject, _ in wrapped})),
        *(_reset(after, subject) for subject in sorted(reset)),
    )
    clock_is_good = not any(finding.code == "pair.clock" for finding in findings)
    verdict = PairVerdict(PairState.USABLE, findings, frozenset(reset), elapsed if clock_is_good else None)
    return replace(verdict, wrapped=frozenset(wrapped), fallen=frozenset(fallen))


def check_machine(counters: Mapping[tuple[str, str, str], tuple[float, float]]) -> list[Finding]:
    """Return a finding if client and server ran on one machine.

    ``counters`` are readings before and after by (role, subject, name).
    """
    if not one_machine(counters):
        return []
    message = "Client and server ran on one machine: its CPU time is that of both, and stands for the run as a whole."
    remedy = "Give client_cpus and server_cpus if each side was bound to processors of its own."
    return [Finding(Severity.NOTE, "pair.one-machine", message, remedy)]


def _restarted(before: Snapshot, after: Snapshot) -> Finding | None:
    """Return a finding if the host was restarted between the snapshots."""
    up, started = growth(before, after, _UPTIME), growth(before, after, _STARTED)
    again = up < -_UPTIME_TOLERANCE_S if up is not None else abs(started or 0) > _STARTED_TOLERANCE_S
    if not again:
        return None
    if started == 0:
        message = f"{after.owner} was up for a shorter time in the snapshot marked after: they were probably swapped."
        return refusal("swapped", message, "Upload the two files again with their phases exchanged.", after)
    message = f"{after.owner} was started anew between its snapshots, so this pair cannot be used."
    return refusal("reboot", message, "Measure again without a restart between the snapshots.", after)


def _clock_was_set(before: Snapshot, after: Snapshot) -> Iterator[Finding]:
    """Yield a finding if the boot time changed although the host stayed up."""
    moved = growth(before, after, _STARTED)
    if moved is not None and abs(moved) > _STARTED_TOLERANCE_S:
        message = f"The clock of {after.owner} was set by {moved:+.0f} s between its snapshots."
        remedy = "CPU time and utilisation are worked out, rates per second are not."
        yield warning("clock", message, remedy, after.line, after.role)


def _adapters(snapshot: Snapshot) -> set[str]:
    return {subject for subject, _ in snapshot.counters if subject.startswith(_ADAPTERS)} - _LOOPBACKS


def _other_adapters(before: Snapshot, after: Snapshot) -> Finding | None:
    """Return a finding if the snapshots have no adapter in common."""
    first, second = _adapters(before), _adapters(after)
    if not first or not second or first & second:
        return None
    message = f"The snapshots of {after.owner} show different adapters: {_names(first)} before, {_names(second)} after."
    return refusal("other-adapters", message, "See whether both snapshots are of the same host.", after)


def _one_sided_adapters(before: Snapshot, after: Snapshot) -> Iterator[Finding]:
    first, second = _adapters(before), _adapters(after)
    if first and second and first != second:
        message = f"Only one of the snapshots of {after.owner} shows {_names(first ^ second)}: there is no difference."
        yield warning("adapters", message, "The other adapters were used.", after.line, after.role)


def _names(subjects: Iterable[str]) -> str:
    return ", ".join(sorted({subject.partition("/")[2] for subject in subjects}))


def _cpu_fell(before: Snapshot, after: Snapshot) -> Finding | None:
    """Return a finding if CPU time decreased: another host, or processors were removed."""
    for key, value in before.counters.items():
        own = key[0].startswith(_CPU_TIMES) and key not in _MAY_FALL and key[1] not in {"idle", "iowait"}
        if own and after.counters.get(key, value) < value:
            message = f"The CPU time {key[1]} of {after.owner} is smaller after the run than before it."
            return refusal("reset", message, "See whether both snapshots are of the same host.", after)
    return None


def _fallen(before: Snapshot, after: Snapshot, elapsed: float | None) -> tuple[set[_Key], set[_Key]]:
    """Return the counters that passed 32 bits, and those that decreased for another reason."""
    smaller = decreased(before.counters, after.counters)
    wrapped = {key for key in smaller if _is_wrap(key, before.counters[key], after.counters[key], elapsed)}
    # Clearing affects all counters of a subject, wrapping a single one.
    cleared = {subject for subject, _ in smaller - wrapped if not subject.startswith(_ANYTHING)}
    wrapped = {key for key in wrapped if key[0] not in cleared}
    return wrapped, smaller - wrapped - _MAY_FALL


def _is_wrap(key: _Key, before: float, after: float, elapsed: float | None) -> bool:
    """Return whether passing 2^32 explains a decrease.

    The counter must have been in the upper half before, and have grown no faster than any link could make it.
    """
    grown = after + WRAP - before
    kind = key[1].rpartition("_")[2]
    limit = _FASTEST.get(kind, _FASTEST_OTHER) * elapsed if elapsed else WRAP / 2
    return WRAP / 2 <= before < WRAP and grown <= min(limit, WRAP / 2)


def _wrapped(after: Snapshot, subject: str) -> Finding:
    message = f"Counters of {subject} passed 2^32 between the snapshots of {after.owner} and began again at 0."
    return Finding(Severity.NOTE, "pair.wrapped", f"{message} 2^32 was added.", "", after.line, subject)


def _reset(after: Snapshot, subject: str) -> Finding:
    message = (
        f"Counters of {subject} are smaller after the run than before it: they were cleared or made anew in between, "
        "so they are left out."
    )
    return warning("adapter-cleared", message, "The other counters of the pair were used.", after.line, subject)
