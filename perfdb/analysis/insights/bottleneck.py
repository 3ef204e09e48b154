"""Bottleneck of a run: link, processors, a single-processor component, or none.

The first rule that applies gives the verdict. Unknown values decide nothing; if too little is known to exclude a
limit, the verdict is *unknown*.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from perfdb.analysis.declaration import Declaration, Example
from perfdb.analysis.metrics import TOTAL, Measure
from perfdb.analysis.units import round_half_up
from perfdb.analysis.workloads import FRAME_BYTES, LIMIT_TEXT, MB, TCP_HEADERS, busier_share, payload_limit

LINK_FROM = 0.97
BUSY_FROM = 95.0
NEAR_FROM = 85.0


class Verdict(StrEnum):
    """Kinds of bottlenecks, in order of the rules."""

    LINK = "link"
    PROCESSORS = "processors"
    COMPONENT = "component"
    NEAR_LIMIT = "near its limit"
    NOT_PROCESSORS = "processors are not the limit"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Load:
    """Known values of one run; None or absent if unknown.

    ``mb_per_s``: MB of 2^20 bytes per second, else calculated from ``trans_per_s`` and the sizes. ``utilisations`` by
    measure, in per cent: ``cpu_util`` of the whole system, ``processor_util`` and ``run_wait`` of one processor.
    ``virtual_processors`` are the number that a role may use at once. A role is a single-processor component if this
    number is 1, or if the number is unknown and ``run_wait`` is reported, which is sampled of a single stack or guest;
    other values may be of groups of guests.
    """

    mb_per_s: float | None = None
    trans_per_s: float | None = None
    request_bytes: int | None = None
    response_bytes: int | None = None
    line_bits_per_s: float | None = None
    mtu: int | None = None
    processors: float | None = None
    utilisations: Mapping[Measure, float] = field(default_factory=dict)
    virtual_processors: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reason:
    """A deciding number, in "% of the system", "% of one processor" or "MB/s"."""

    name: str
    value: float
    unit: str


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """The verdict with ``formula`` in numbers; ``component`` is the limiting role, ``reasons`` decided."""

    verdict: Verdict
    sentence: str
    formula: str
    component: str | None = None
    reasons: tuple[Reason, ...] = ()


class _Busy(NamedTuple):
    """Utilisation of the system, or of a role in per cent of one processor."""

    percent: float
    formula: str
    words: str
    reason: Reason
    role: str | None = None


def find_bottleneck(load: Load) -> Bottleneck:
    """Return the first verdict that applies. Raise ValueError like ``payload_limit``."""
    worst = max(_components(load), key=lambda one: one.percent, default=None)
    return _link(load) or _busiest(_system(load), worst)


def _busiest(system: _Busy | None, worst: _Busy | None) -> Bottleneck:
    """Judge the utilisation of the system and of its busiest component."""
    if system is not None and system.percent >= BUSY_FROM:
        return _limit(Verdict.PROCESSORS, f"the processors limit: {system.words}", system, BUSY_FROM)
    if worst is not None and worst.percent >= BUSY_FROM:
        sentence = f"{worst.role} limits: it {worst.words}, and cannot use more than one processor"
        return _limit(Verdict.COMPONENT, sentence, worst, BUSY_FROM)
    if system is not None and system.percent >= max(NEAR_FROM, worst.percent if worst else 0):
        return _limit(Verdict.NEAR_LIMIT, f"the processors are near their limit: {system.words}", system, NEAR_FROM)
    if worst is not None and worst.percent >= NEAR_FROM:
        return _limit(Verdict.NEAR_LIMIT, f"{worst.role} is near its limit: it {worst.words}", worst, NEAR_FROM)
    if system is None:
        sentence = "bottleneck unknown: the utilisation of the whole system is not known"
        return Bottleneck(Verdict.UNKNOWN, sentence, f"CPU utilisation < {NEAR_FROM:g}%")
    known = [system] if worst is None else [system, worst]
    also = "" if worst is None else f", and {worst.role}, the busiest component, {worst.words}"
    return Bottleneck(
        Verdict.NOT_PROCESSORS,
        f"the processors are not the limit: {system.words}{also}",
        f"{' and '.join(each.formula for each in known)} < {NEAR_FROM:g}%",
        reasons=tuple(each.reason for each in known),
    )


def _limit(verdict: Verdict, sentence: str, busy: _Busy, least: float) -> Bottleneck:
    return Bottleneck(verdict, sentence, f"{busy.formula} ≥ {least:g}%", busy.role, (busy.reason,))


def _link(load: Load) -> Bottleneck | None:
    rate, sizes = load.mb_per_s, (load.request_bytes, load.response_bytes)
    if rate is None and load.trans_per_s is not None and None not in sizes:
        rate = load.trans_per_s * sum(filter(None, sizes)) / MB
    if rate is None or load.line_bits_per_s is None or load.mtu is None:
        return None
    rate *= busier_share(*sizes)
    limit = payload_limit(load.line_bits_per_s, load.mtu)
    if rate < LINK_FROM * limit * (1 - 1e-12):
        return None
    shown, most = round_half_up(rate, 2), round_half_up(limit, 2)
    share = round_half_up(rate / limit * 100, 1)
    return Bottleneck(
        Verdict.LINK,
        f"the link limits: {shown} MB/s are {share}% of the {most} MB/s of payload that it can carry",
        f"{shown} ≥ {LINK_FROM * 100:g}% of {load.line_bits_per_s:.12g} / 8 × ({load.mtu} − {TCP_HEADERS}) / "
        f"({load.mtu} + {FRAME_BYTES}) / 2^20 = {most}",
        reasons=(Reason("mb_per_s", rate, "MB/s"), Reason("payload limit", limit, "MB/s")),
    )


def _system(load: Load) -> _Busy | None:
    total = load.utilisations.get(Measure("cpu_util"))
    if total is None:
        return None
    words = f"the system is {round_half_up(total, 1)}% busy"
    return _Busy(total, f"CPU utilisation {total:.6g}%", words, Reason("cpu_util", total, "% of the system"))


def _components(load: Load) -> Iterator[_Busy]:
    """Yield each utilisation of single-processor components."""
    known = load.utilisations
    for role in sorted({measure.role for measure in known} - {TOTAL}):
        # Without known processors, a reported run_wait shows a single stack or guest.
        if load.virtual_processors.get(role, int(Measure("run_wait", role) in known)) != 1:
            continue
        for metric, title in (("processor_util", "utilisation"), ("run_wait", "running and waiting")):
            percent = known.get(Measure(metric, role))
            if percent is not None:
                yield _busy(role, metric, percent, f"{title} of {role} {percent:.6g}%")
        share = known.get(Measure("cpu_util", role))
        if share is not None and load.processors is not None:
            percent = share * load.processors
            formula = f"{share:.6g}% × {load.processors:g} processors = {percent:.6g}%"
            yield _busy(role, "cpu_util", percent, f"CPU utilisation of {role} {formula}")


def _busy(role: str, metric: str, percent: float, formula: str) -> _Busy:
    shown = round_half_up(percent, 1)
    waits = f"runs or waits for the CPU {shown}% of the time"
    words = waits if metric == "run_wait" else f"uses {shown}% of one processor"
    return _Busy(percent, formula, words, Reason(f"{metric}@{role}", percent, "% of one processor"), role)


_BUSY_SOURCE = "utilisation law; Jain, The Art of Computer Systems Performance Analysis, 1991"
_LINK_SOURCE = "frame format of IEEE 802.3; headers of IPv4 and of TCP with time stamps"


def _example(given: str, load: Load) -> Example:
    return Example(given, lambda: find_bottleneck(load).sentence)


def _utilisations(**values: float) -> dict[Measure, float]:
    return {Measure.parse(name.replace("__", "@")): value for name, value in values.items()}


LIMIT_RULES: tuple[Declaration, ...] = (
    Declaration(
        "limit.payload",
        "What a link can carry",
        LIMIT_TEXT,
        "Of each packet the headers of IP and TCP are no payload, and on the line each packet has a preamble, a "
        "header, a check sequence and a gap beside it. The limit is one way; a link carries both ways at once, so the "
        "busier direction is held against it.",
        Example(
            "1 Gbit/s, MTU 1492 and 8992",
            lambda: (
                f"{round_half_up(payload_limit(1e9, 1492), 2)} and {round_half_up(payload_limit(1e9, 8992), 2)} MB/s"
            ),
        ),
        source=_LINK_SOURCE,
    ),
    Declaration(
        f"verdict.{Verdict.LINK.name.lower()}",
        "The link limits",
        f"MB/s ≥ {LINK_FROM * 100:g}% of {LIMIT_TEXT}",
        "The rate is what the line carries at this MTU, so faster processors would change nothing. It is asked before "
        "everything else, and only where line speed and MTU are known.",
        _example("118.0 MB/s over 1 Gbit/s with MTU 8992", Load(mb_per_s=118.0, line_bits_per_s=1e9, mtu=8992)),
        source=_LINK_SOURCE,
    ),
    Declaration(
        f"verdict.{Verdict.PROCESSORS.name.lower()}",
        "The processors limit",
        f"CPU utilisation ≥ {BUSY_FROM:g}%",
        "All processors of the system together are busy nearly all the time. Only work that costs less CPU time could "
        "go faster.",
        _example("CPU utilisation 99.20%", Load(utilisations=_utilisations(cpu_util=99.20))),
        source=_BUSY_SOURCE,
    ),
    Declaration(
        f"verdict.{Verdict.COMPONENT.name.lower()}",
        "A component limits",
        f"utilisation, or running and waiting, of a single-processor component ≥ {BUSY_FROM:g}% of one processor; "
        "CPU utilisation of the component × processors where it is of the whole system",
        "A stack or a guest with one virtual processor can be at its limit while the system is half idle. Time in "
        "which it waits for a processor counts, for it can do nothing else meanwhile. A group of guests is no such "
        "component.",
        _example(
            "CPU utilisation of the system 81.57%, of the server 49.26% of 2 processors; the server has one",
            Load(
                processors=2,
                utilisations=_utilisations(cpu_util=81.57, cpu_util__server=49.26),
                virtual_processors={"server": 1},
            ),
        ),
        source=_BUSY_SOURCE,
    ),
    Declaration(
        f"verdict.{Verdict.NEAR_LIMIT.name.lower()}",
        "Near its limit",
        f"CPU utilisation, or that of a component, ≥ {NEAR_FROM:g}%",
        "Nothing is at its limit by the rules above, but the system or a component is not far from it. Whichever is "
        "the busier is named.",
        _example(
            "CPU utilisation 67.10%, running and waiting of tcpip1 92.50%",
            Load(utilisations=_utilisations(cpu_util=67.10, processor_util__tcpip1=85.80, run_wait__tcpip1=92.50)),
        ),
        source=_BUSY_SOURCE,
    ),
    Declaration(
        f"verdict.{Verdict.NOT_PROCESSORS.name.lower()}",
        "The processors are not the limit",
        f"CPU utilisation, and that of each component, < {NEAR_FROM:g}%",
        "Something else holds the run back: latency, buffers, the other end. It is said only when the utilisation of "
        "the whole system is known.",
        _example("CPU utilisation 64.00%", Load(utilisations=_utilisations(cpu_util=64.0))),
        source=_BUSY_SOURCE,
    ),
    Declaration(
        f"verdict.{Verdict.UNKNOWN.name.lower()}",
        "Not known",
        "none of the rules above applies, and the utilisation of the whole system is not known",
        "What was not measured is not taken to be idle.",
        _example(
            "running and waiting of tcpip1 48.60%, and nothing else",
            Load(utilisations=_utilisations(run_wait__tcpip1=48.60)),
        ),
        source=_BUSY_SOURCE,
    ),
)
