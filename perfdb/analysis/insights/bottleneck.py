"""Bottleneck of a run: link, processors, a single-processor component, or none.

The first rule that applies gives the verdict. Unknown values decide nothing; if too little is known to exclude a
limit, the verdict is *unknown*.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

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

    ``mb_per_s``: MB of 2^20 bytes per second, else calculated from ``trans_per_s`` and the sizes. With both sizes
    the busier direction is compared with the link. ``utilisations`` by measure, in per cent: ``cpu_util`` of the
    whole system, ``processor_util`` and ``run_wait`` of one processor. ``virtual_processors`` of a role. A role is a
    single-processor component if it has 1, or if unknown and its ``run_wait`` is reported, which is sampled of a
    single stack or guest; other values may be of groups of guests.
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
    """A deciding number with its unit ("%" of the system or of one processor, "MB/s")."""

    name: str
    value: float
    unit: str


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """The verdict on a run.

    ``component`` is the role at or near its limit. ``reasons`` begin with the decisive number. ``formula`` is the
    rule with numbers.
    """

    verdict: Verdict
    sentence: str
    formula: str
    component: str | None = None
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class _Busy:
    """A component's utilisation in per cent of one processor, and its formula."""

    role: str
    percent: float
    measure: str
    formula: str


def find_bottleneck(load: Load) -> Bottleneck:
    """Return the first rule that applies. Raise ValueError like ``payload_limit``."""
    busy = _components(load)
    worst = max(busy, key=lambda one: one.percent, default=None)
    total = load.utilisations.get(Measure("cpu_util"))
    return (
        _link(load)
        or _processors(total)
        or _component(worst)
        or _near(total, worst)
        or _not_processors(total, worst)
        or Bottleneck(
            Verdict.UNKNOWN,
            "what limited the run cannot be told: the utilisation of the whole system is not known",
            f"CPU utilisation < {NEAR_FROM:g} %",
        )
    )


def _megabytes(load: Load) -> float | None:
    if load.mb_per_s is not None:
        return load.mb_per_s
    if load.trans_per_s is None or load.request_bytes is None or load.response_bytes is None:
        return None
    return load.trans_per_s * (load.request_bytes + load.response_bytes) / MB


def _link(load: Load) -> Bottleneck | None:
    rate = _megabytes(load)
    if rate is None or load.line_bits_per_s is None or load.mtu is None:
        return None
    rate *= busier_share(load.request_bytes, load.response_bytes)
    limit = payload_limit(load.line_bits_per_s, load.mtu)
    if rate < LINK_FROM * limit * (1 - 1e-12):
        return None
    shown, most = round_half_up(rate, 2), round_half_up(limit, 2)
    share = round_half_up(rate / limit * 100, 1)
    return Bottleneck(
        Verdict.LINK,
        f"the link limits: {shown} MB/s are {share} % of the {most} MB/s of payload that it can carry",
        f"{shown} ≥ {LINK_FROM * 100:g} % of {load.line_bits_per_s:.12g} / 8 × ({load.mtu} − {TCP_HEADERS}) / "
        f"({load.mtu} + {FRAME_BYTES}) / 2^20 = {most}",
        reasons=(Reason("mb_per_s", rate, "MB/s"), Reason("payload limit", limit, "MB/s")),
    )


def _processors(total: float | None) -> Bottleneck | None:
    if total is None or total < BUSY_FROM:
        return None
    shown = round_half_up(total, 1)
    return Bottleneck(
        Verdict.PROCESSORS,
        f"the processors limit: the system is {shown} % busy",
        f"CPU utilisation {_exact(total)} % ≥ {BUSY_FROM:g} %",
        reasons=(Reason("cpu_util", total, "% of the system"),),
    )


def _component(worst: _Busy | None) -> Bottleneck | None:
    if worst is None or worst.percent < BUSY_FROM:
        return None
    return Bottleneck(
        Verdict.COMPONENT,
        f"{worst.role} limits: it {_doing(worst)}, and cannot use more than one processor",
        f"{worst.formula} ≥ {BUSY_FROM:g} %",
        worst.role,
        (_reason(worst),),
    )


def _near(total: float | None, worst: _Busy | None) -> Bottleneck | None:
    """Return the system or component nearest to its limit, if near."""
    own = -1.0 if worst is None else worst.percent
    if total is not None and total >= max(NEAR_FROM, own):
        return Bottleneck(
            Verdict.NEAR_LIMIT,
            f"the processors are near their limit: the system is {round_half_up(total, 1)} % busy",
            f"CPU utilisation {_exact(total)} % ≥ {NEAR_FROM:g} %",
            reasons=(Reason("cpu_util", total, "% of the system"),),
        )
    if worst is None or own < NEAR_FROM:
        return None
    return Bottleneck(
        Verdict.NEAR_LIMIT,
        f"{worst.role} is near its limit: it {_doing(worst)}",
        f"{worst.formula} ≥ {NEAR_FROM:g} %",
        worst.role,
        (_reason(worst),),
    )


def _not_processors(total: float | None, worst: _Busy | None) -> Bottleneck | None:
    if total is None:
        return None
    text = f"the system is {round_half_up(total, 1)} % busy"
    formula = f"CPU utilisation {_exact(total)} %"
    reasons = [Reason("cpu_util", total, "% of the system")]
    if worst is not None:
        text += f", and {worst.role}, the busiest component, {_doing(worst)}"
        formula += f" and {worst.formula}"
        reasons.append(_reason(worst))
    return Bottleneck(
        Verdict.NOT_PROCESSORS,
        f"the processors are not the limit: {text}",
        f"{formula} < {NEAR_FROM:g} %",
        reasons=tuple(reasons),
    )


def _components(load: Load) -> list[_Busy]:
    """Return each utilisation of single-processor components."""
    roles = {measure.role for measure in load.utilisations} - {TOTAL}
    found = (_figures(load, role) for role in sorted(roles) if _is_single(load, role))
    return [one for each in found for one in each]


def _is_single(load: Load, role: str) -> bool:
    if role in load.virtual_processors:
        return load.virtual_processors[role] == 1
    return Measure("run_wait", role) in load.utilisations


def _figures(load: Load, role: str) -> list[_Busy]:
    of_one = [
        _Busy(role, percent, metric, f"{title} of {role} {_exact(percent)} %")
        for metric, title in (("processor_util", "utilisation"), ("run_wait", "running and waiting"))
        if (percent := load.utilisations.get(Measure(metric, role))) is not None
    ]
    share = load.utilisations.get(Measure("cpu_util", role))
    if share is None or load.processors is None:
        return of_one
    percent = share * load.processors
    text = f"CPU utilisation of {role} {_exact(share)} % × {load.processors:g} processors = {_exact(percent)} %"
    return [*of_one, _Busy(role, percent, "cpu_util", text)]


def _doing(busy: _Busy) -> str:
    percent = round_half_up(busy.percent, 1)
    if busy.measure == "run_wait":
        return f"runs or waits for the CPU {percent} % of the time"
    return f"uses {percent} % of one processor"


def _reason(busy: _Busy) -> Reason:
    return Reason(f"{busy.measure}@{busy.role}", busy.percent, "% of one processor")


def _exact(percent: float) -> str:
    """Format without the noise of multiplication."""
    return f"{percent:.6g}"


_BUSY_SOURCE = "utilisation law; Jain, The Art of Computer Systems Performance Analysis, 1991"
_LINK_SOURCE = "frame format of IEEE 802.3; headers of IPv4 and of TCP with time stamps"


def _example(given: str, answer: str, load: Load) -> Example:
    return Example(given, answer, lambda: find_bottleneck(load).sentence)


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
        _LINK_SOURCE,
        Example(
            "1 Gbit/s, MTU 1492 and 8992",
            "112.20 and 118.02 MB/s",
            lambda: (
                f"{round_half_up(payload_limit(1e9, 1492), 2)} and {round_half_up(payload_limit(1e9, 8992), 2)} MB/s"
            ),
        ),
    ),
    Declaration(
        f"verdict.{Verdict.LINK.name.lower()}",
        "The link limits",
        f"MB/s ≥ {LINK_FROM * 100:g} % of {LIMIT_TEXT}",
        "The rate is what the line carries at this MTU, so faster processors would change nothing. It is asked before "
        "everything else, and only where line speed and MTU are known.",
        _LINK_SOURCE,
        _example(
            "118.0 MB/s over 1 Gbit/s with MTU 8992",
            "the link limits: 118.00 MB/s are 100.0 % of the 118.02 MB/s of payload that it can carry",
            Load(mb_per_s=118.0, line_bits_per_s=1e9, mtu=8992),
        ),
    ),
    Declaration(
        f"verdict.{Verdict.PROCESSORS.name.lower()}",
        "The processors limit",
        f"CPU utilisation ≥ {BUSY_FROM:g} %",
        "All processors of the system together are busy nearly all the time. Only work that costs less CPU time could "
        "go faster.",
        _BUSY_SOURCE,
        _example(
            "CPU utilisation 99.20 %",
            "the processors limit: the system is 99.2 % busy",
            Load(utilisations=_utilisations(cpu_util=99.20)),
        ),
    ),
    Declaration(
        f"verdict.{Verdict.COMPONENT.name.lower()}",
        "A component limits",
        f"utilisation, or running and waiting, of a single-processor component ≥ {BUSY_FROM:g} % of one processor; "
        "CPU utilisation of the component × processors where it is of the whole system",
        "A stack or a guest with one virtual processor can be at its limit while the system is half idle. Time in "
        "which it waits for a processor counts, for it can do nothing else meanwhile. A group of guests is no such "
        "component.",
        _BUSY_SOURCE,
        _example(
            "CPU utilisation of the system 81.57 %, of the server 49.26 % of 2 processors; the server has one",
            "server limits: it uses 98.5 % of one processor, and cannot use more than one processor",
            Load(
                processors=2,
                utilisations=_utilisations(cpu_util=81.57, cpu_util__server=49.26),
                virtual_processors={"server": 1},
            ),
        ),
    ),
    Declaration(
        f"verdict.{Verdict.NEAR_LIMIT.name.lower()}",
        "Near its limit",
        f"CPU utilisation, or that of a component, ≥ {NEAR_FROM:g} %",
        "Nothing is at its limit by the rules above, but the system or a component is not far from it. Whichever is "
        "the busier is named.",
        _BUSY_SOURCE,
        _example(
            "CPU utilisation 67.10 %, running and waiting of tcpip1 92.50 %",
            "tcpip1 is near its limit: it runs or waits for the CPU 92.5 % of the time",
            Load(utilisations=_utilisations(cpu_util=67.10, processor_util__tcpip1=85.80, run_wait__tcpip1=92.50)),
        ),
    ),
    Declaration(
        f"verdict.{Verdict.NOT_PROCESSORS.name.lower()}",
        "The processors are not the limit",
        f"CPU utilisation, and that of each component, < {NEAR_FROM:g} %",
        "Something else holds the run back: latency, buffers, the other end. It is said only when the utilisation of "
        "the whole system is known.",
        _BUSY_SOURCE,
        _example(
            "CPU utilisation 64.00 %",
            "the processors are not the limit: the system is 64.0 % busy",
            Load(utilisations=_utilisations(cpu_util=64.0)),
        ),
    ),
    Declaration(
        f"verdict.{Verdict.UNKNOWN.name.lower()}",
        "Not known",
        "none of the rules above applies, and the utilisation of the whole system is not known",
        "What was not measured is not taken to be idle.",
        _BUSY_SOURCE,
        _example(
            "running and waiting of tcpip1 48.60 %, and nothing else",
            "what limited the run cannot be told: the utilisation of the whole system is not known",
            Load(utilisations=_utilisations(run_wait__tcpip1=48.60)),
        ),
    ),
)
