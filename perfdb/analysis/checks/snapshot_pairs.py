"""Checks of a run's two snapshots: whether the differences of counters may be used.

The rules of CP QUERY captures are those of "Pairing and counters" in the captures' description. Counters have the names
of their labels: totcpu, virtcpu and connect of QUERY TIME, ttime, vtime and ctime of INDICATE USER, rx_ and tx_ of
network adapters. The rules of Linux hosts are those of the description of Linux snapshots. Subjects of counters are
``cpu``, ``kernel``, ``uptime``, ``snmp``, ``adapter/eth0``, ``link/eth0``, ``ethtool/eth0``, ``softnet/0``,
``cgroup/NAME``.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from perfdb.analysis.checks.finding import Finding, Severity
from perfdb.analysis.formulas.terms import one_machine

CPU_COUNTERS = ("totcpu", "virtcpu", "ttime", "vtime")
CONNECT_COUNTERS = ("connect", "ctime")
ADAPTER_COUNTERS = ("rx_", "tx_")

CONNECT_TOLERANCE_S = 2
ELAPSED_TOLERANCE_S = 1
_HUNDREDTH = 0.01
_EXCHANGE = "Upload the two files again with their phases exchanged."

_Key = tuple[str, str]
_Counters = Mapping[_Key, float]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Counters of one role at one moment.

    ``taken`` is local time without zone, ``zone`` the zone's name as printed; ``line`` the line of TIME IS.
    ``counters`` maps (subject, name) to the reading in base units: ("", "totcpu") in seconds,
    ("VSW1/LNXCL1/0600", "rx_bytes") in bytes. A subject with a slash is not the role's own: an adapter, or another
    user in the same capture (``LINUXB/CPU 00``).
    """

    role: str
    host: str = ""
    taken: datetime | None = None
    zone: str = ""
    line: int | None = None
    counters: _Counters = field(default_factory=dict)

    @property
    def own(self) -> dict[tuple[str, str], float]:
        """Return the role's own counters."""
        return {key: value for key, value in self.counters.items() if "/" not in key[0]}

    @property
    def owner(self) -> str:
        """Return the host or role that messages name as the counters' owner."""
        return self.host or self.role


class PairState(StrEnum):
    """State of a pair: usable, waiting for its other half, or useless."""

    USABLE = "usable"
    WAITING = "waiting"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """Verdict on one pair.

    ``left_out`` are the subjects whose counters must not be used although the rest may. ``elapsed_s`` is None if the
    time between the snapshots is unknown: a time is missing, or the clock was set to another zone.
    ``wrapped`` are the (subject, name) of counters that restarted at 0 after 2^32.
    """

    state: PairState
    findings: tuple[Finding, ...] = ()
    left_out: frozenset[str] = frozenset()
    elapsed_s: float | None = None
    wrapped: frozenset[_Key] = frozenset()


def check_pair(
    run_id: str, before: Snapshot | None, after: Snapshot | None, processors: float | None = None
) -> PairVerdict:
    """Return whether a run's snapshots can be subtracted; ``processors`` are the LPAR's."""
    if before is None or after is None:
        return _waiting(run_id, before, after)
    elapsed, wrong = check_moments(before, after)
    refused = wrong or _reset(before, after) or _impossible(before, after, elapsed, processors)
    if refused is not None:
        return PairVerdict(PairState.REFUSED, (refused,), elapsed_s=elapsed)
    fallen = decreased(before.counters, after.counters)
    cleared = {subject for subject, name in fallen if subject and name.startswith(ADAPTER_COUNTERS)}
    detached = "it was detached or its counters were cleared in between, so it is left out."
    findings = (
        *_clock(before, after),
        *_other_logon(before, after, elapsed),
        *_cleared(after, "adapter ", cleared, detached),
    )
    return PairVerdict(PairState.USABLE, findings, frozenset(cleared), elapsed)


def check_elapsed(taken: Mapping[str, tuple[datetime, datetime]]) -> list[Finding]:
    """Return warnings for roles whose snapshots' times are not the client's, within 1 s."""
    seconds = {role: (after - before).total_seconds() for role, (before, after) in taken.items()}
    client = seconds.get("client")
    if client is None:
        return []
    return [
        warning(
            "elapsed",
            f"The snapshots of {role} are {own:.0f} s apart, those of the client {client:.0f} s: "
            "they do not cover the same time.",
            "Utilisation was worked out with the client's time.",
            None,
            role,
        )
        for role, own in sorted(seconds.items())
        if abs(own - client) > ELAPSED_TOLERANCE_S
    ]


def warning(code: str, message: str, remedy: str, line: int | None, subject: str) -> Finding:
    """Return a finding that leaves the pair usable; ``subject`` is role or adapter."""
    return Finding(Severity.WARNING, f"pair.{code}", message, remedy, line, subject)


def refusal(code: str, message: str, remedy: str, after: Snapshot) -> Finding:
    """Return a finding that makes a pair useless."""
    return Finding(Severity.ERROR, f"pair.{code}", message, remedy, after.line, after.role)


def _waiting(run_id: str, before: Snapshot | None, after: Snapshot | None) -> PairVerdict:
    """Return the verdict on a single snapshot, with a finding on the missing one."""
    there = before or after
    if there is None:
        return PairVerdict(PairState.WAITING)
    have, lack = ("before", "after") if before else ("after", "before")
    message = (
        f"This is a snapshot taken {have} run {run_id} ({' '.join(filter(None, (there.role, there.host)))}); "
        f"upload the one taken {lack} it, no CPU time can be worked out from one snapshot."
    )
    remedy = f"Upload the snapshot taken {lack} the run."
    return PairVerdict(PairState.WAITING, (warning("missing-half", message, remedy, there.line, there.role),))


def check_moments(before: Snapshot, after: Snapshot) -> tuple[float | None, Finding | None]:
    """Return the seconds between snapshots, if known, and a finding on a wrong order."""
    if before.taken is None or after.taken is None or _zone_changed(before, after):
        return None, None
    elapsed = (after.taken - before.taken).total_seconds()
    if elapsed > 0:
        return elapsed, None
    first, second = (f"{half.taken:%H:%M:%S on %m/%d/%y}" for half in (after, before))
    if elapsed == 0:
        message = f"The snapshots marked before and after were taken at the same moment ({first}): one is a copy."
        remedy = "Upload the snapshot that was taken after the run."
        return elapsed, refusal("same-moment", message, remedy, after)
    message = (
        f"The snapshot marked after is older than the one marked before ({first} against {second}): "
        "the two files were probably swapped."
    )
    return elapsed, refusal("swapped", message, _EXCHANGE, after)


def _zone_changed(before: Snapshot, after: Snapshot) -> bool:
    return bool(before.zone and after.zone) and before.zone != after.zone


def growth(before: Snapshot, after: Snapshot, key: _Key) -> float | None:
    """Return the increase of a counter; None if the counter is missing."""
    if key not in before.counters or key not in after.counters:
        return None
    return after.counters[key] - before.counters[key]


def decreased(before: _Counters, after: _Counters) -> set[_Key]:
    """Return the (subject, name) of counters that decreased."""
    return {key for key, value in before.items() if after.get(key, value) < value}


def _reset(before: Snapshot, after: Snapshot) -> Finding | None:
    """Return a finding if CPU or connect time decreased."""
    fallen = {name for _, name in decreased(before.own, after.own)}
    cpu, connect = ([name for name in names if name in fallen][:1] for names in (CPU_COUNTERS, CONNECT_COUNTERS))
    if not cpu and not connect:
        return None
    names, verb = " and ".join(map(str.upper, (*cpu, *connect))), "are" if cpu and connect else "is"
    cause = f"{after.owner} was logged off and on again" if connect else f"the counters of {after.owner} were reset"
    message = f"{names} {verb} smaller after the run than before it: {cause} in between, so this pair cannot be used."
    return refusal("reset", message, "Measure again without logging off between the snapshots.", after)


def _impossible(before: Snapshot, after: Snapshot, elapsed: float | None, processors: float | None) -> Finding | None:
    """Return a finding for impossible CPU times: virtual above total, or total above capacity."""
    remedy = "See whether the snapshots belong to the same guest and were copied whole."
    for total, virtual in (("totcpu", "virtcpu"), ("ttime", "vtime")):
        own = [(half.own, key, value) for half in (before, after) for key, value in half.own.items() if key[1] == total]
        if any(counters.get((subject, virtual), value) > value for counters, (subject, _), value in own):
            message = f"{total.upper()} of {after.owner} is smaller than its {virtual.upper()}, which it contains."
            return refusal("total-below-virtual", message, remedy, after)
    used, virtual_used = growth(before, after, ("", "totcpu")), growth(before, after, ("", "virtcpu"))
    if used is not None and virtual_used is not None and used < virtual_used - 2 * _HUNDREDTH:
        message = (
            f"TOTCPU of {after.owner} grew by {used:.2f} s, less than its VIRTCPU, by {virtual_used:.2f} s, "
            "which it contains."
        )
        return refusal("total-below-virtual", message, remedy, after)
    # TIME IS is truncated to whole seconds, so up to one second more may have passed.
    if used is not None and processors and elapsed is not None and used > processors * (elapsed + 1):
        have = f"{processors:g} processors have in {elapsed:.0f} s"
        message = f"TOTCPU of {after.owner} grew by {used:.2f} s, more than {have}."
        return refusal("more-than-possible", message, "See whether the number of processors is right.", after)
    return None


def _clock(before: Snapshot, after: Snapshot) -> Iterable[Finding]:
    """Yield the reason why the time between the snapshots is unknown."""
    remedy = "CPU time per transaction is worked out, utilisation is not."
    if _zone_changed(before, after):
        message = (
            f"The time zone changed from {before.zone} to {after.zone} between the snapshots of {after.owner}: "
            "the time between them cannot be told."
        )
        yield warning("zone", message, remedy, after.line, after.role)
    elif before.taken is None or after.taken is None:
        half = "before" if before.taken is None else "after"
        message = f"The snapshot of {after.owner} taken {half} the run has no TIME IS line."
        yield warning("no-time", message, remedy, None, after.role)


def _other_logon(before: Snapshot, after: Snapshot, elapsed: float | None) -> Iterable[Finding]:
    connected = growth(before, after, ("", "connect"))
    if elapsed is None or connected is None or abs(connected - elapsed) <= CONNECT_TOLERANCE_S:
        return
    message = (
        f"CONNECT of {after.owner} grew by {connected:.0f} s in the {elapsed:.0f} s between its snapshots: "
        "they are probably not of the same logon."
    )
    yield warning("connect", message, "See whether the guest stayed logged on.", after.line, after.role)


def _cleared(after: Snapshot, kind: str, subjects: Iterable[str], cause: str) -> Iterator[Finding]:
    """Yield a finding for each subject with counters that decreased for a ``cause``."""
    for subject in sorted(subjects):
        message = f"Counters of {kind}{subject} are smaller after the run than before it: {cause}"
        yield warning("adapter-cleared", message, "The other counters of the pair were used.", after.line, subject)


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


def check_host(run_id: str, before: Snapshot | None, after: Snapshot | None) -> PairVerdict:
    """Return the verdict whether the snapshots of run ``run_id`` can be subtracted."""
    if before is None or after is None:
        return _waiting(run_id, before, after)
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
        *_cleared(after, "", reset, "they were cleared or made anew in between, so they are left out."),
    )
    known = None if any(finding.code == "pair.clock" for finding in findings) else elapsed
    return PairVerdict(PairState.USABLE, findings, frozenset(reset), known, frozenset(wrapped))


def check_machine(
    counters: Mapping[tuple[str, str, str], tuple[float, float]], *, one_host: bool = False
) -> list[Finding]:
    """Return a finding if client and server, by counters or ``one_host``, share a machine."""
    if not counters or not one_machine(counters, one_host=one_host):
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
        return refusal("swapped", message, _EXCHANGE, after)
    message = f"{after.owner} restarted between its snapshots, so this pair cannot be used."
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
    """Return whether a counter above 2^31 passed 2^32 no faster than links can."""
    grown = after + WRAP - before
    kind = key[1].rpartition("_")[2]
    limit = _FASTEST.get(kind, _FASTEST_OTHER) * elapsed if elapsed else WRAP / 2
    return WRAP / 2 <= before < WRAP and grown <= min(limit, WRAP / 2)


def _wrapped(after: Snapshot, subject: str) -> Finding:
    message = f"Counters of {subject} passed 2^32 between the snapshots of {after.owner} and began again at 0."
    return Finding(Severity.NOTE, "pair.wrapped", f"{message} 2^32 was added.", "", after.line, subject)
