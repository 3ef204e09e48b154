"""Rules of an audit within one run, one declaration each.

A rule says which printed number follows from which others, or which one is its upper limit.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from perfdb.analysis.audit.disagreement import Kind
from perfdb.analysis.audit.operands import (
    BYTES,
    DRIVER_SECONDS,
    ELAPSED,
    MB,
    MB_PER_S,
    MESSAGE_MB,
    PRINTED_DRIVER_SECONDS,
    PROCESSORS,
    TRANS_PER_S,
    TRANSACTIONS,
    USERS,
    Bound,
    Operand,
    figure,
    in_words,
    operands,
)
from perfdb.analysis.audit.printed_values import Interval, Method, View
from perfdb.analysis.formulas.formula import Expression, Number
from perfdb.analysis.formulas.terms import PARTS_OF_TOTAL
from perfdb.analysis.metrics import TOTAL, Measure
from perfdb.analysis.workloads import FRAME_BYTES, LEAST_HEADERS, busier_share, payload_limit

LITTLE_TOLERANCE = 0.03
# Whether a rate in MB counts the short message that goes the other way, such as 20 bytes of 20 MB, is not told.
SHORT_MESSAGE = 1e-4
# Clocks of adapters are good to 0.01 %; the rest is for rates that count the last packets' headers in.
LINK_TOLERANCE = 0.01
# Products and quotients of means over trials are the means of products and quotients up to the product of the
# trials' relative spreads: 10 % of each leave 1 %.
MEANS_TOLERANCE = 0.01

_PREFIXES = ("", "virtual_", "cp_")
_SUMMED = ("cpu_util", "processor_util", "cpu_ms_per_trans", "cpu_ms_per_mb")
_RATES = (("cpu_ms_per_trans", TRANS_PER_S), ("cpu_ms_per_mb", MB_PER_S))


Condition = Callable[[View, str], bool]


def _always(view: View, role: str) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: ``metric`` equals ``expression`` or, with ``at_most``, does not exceed it.

    ``role``: the only role checked, None for every role. ``when``: whether the rule holds for a run and role;
    ``unless``: a metric that must not be printed for the role. ``tolerance`` is relative and added to rounding;
    ``linear`` rules hold for means over trials too.
    """

    kind: Kind
    metric: str
    expression: Expression
    role: str | None = None
    when: Condition = _always
    unless: str = ""
    tolerance: float = 0.0
    at_most: bool = False
    linear: bool = False
    operands: tuple[Operand, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "operands", tuple(operands(self.expression)))

    @property
    def text(self) -> str:
        """Return the rule in words."""
        return in_words(self.expression)

    def holds(self, view: View, role: str) -> bool:
        """Return whether the rule applies to a run and role by its circumstances."""
        return self.when(view, role) and not (self.unless and view.find(Measure(self.unless, role)))

    def reads(self, role: str) -> Iterator[Measure]:
        """Yield the measures that the rule uses for a role."""
        yield Measure(self.metric, role)
        if self.unless:
            yield Measure(self.unless, role)
        for each in self.operands:
            yield from each.reads(role)

    def agrees(self, own: Interval, wanted: Interval) -> bool:
        """Return whether the interval ``own`` agrees with ``wanted``, or does not exceed it."""
        return own.reaches(wanted) if self.at_most else own.meets(wanted)

    def allowance(self, trials: int) -> float:
        """Return the relative tolerance for means over ``trials`` trials."""
        return self.tolerance if self.linear or trials <= 1 else max(self.tolerance, MEANS_TOLERANCE)


def _without_pauses(view: View, role: str) -> bool:
    return view.run.think_ms == 0


def _by(method: Method) -> Condition:
    def when(view: View, role: str) -> bool:
        return view.run.method is method

    return when


DRIVER = (
    Rule(Kind.LITTLE, "response_ms", USERS / TRANS_PER_S * 1000, TOTAL, _without_pauses, tolerance=LITTLE_TOLERANCE),
    Rule(Kind.RATE, "trans_per_s", TRANSACTIONS / PRINTED_DRIVER_SECONDS, TOTAL),
    Rule(Kind.BYTES, "mb_per_s", TRANS_PER_S * BYTES / MB, TOTAL, linear=True),
    Rule(
        Kind.BYTES, "gbit_per_s", MB_PER_S * Number(8 * 2**20, "(8 × 2^20)") / Number(10**9, "10^9"), TOTAL, linear=True
    ),
)


def _busy(prefix: str) -> Iterator[tuple[Expression, str]]:
    """Yield per cent of one processor, from the system's utilisation or one processor's.

    CP time is total minus virtual time if the named metric is not printed.
    """
    yield figure(f"{prefix}cpu_util") * PROCESSORS, ""
    yield figure(f"{prefix}processor_util"), ""
    if prefix == "cp_":
        yield (figure("cpu_util") - figure("virtual_cpu_util")) * PROCESSORS, "cp_cpu_util"
        yield figure("processor_util") - figure("virtual_processor_util"), "cp_processor_util"


def _one_way(view: View, role: str) -> bool:
    """Return whether almost all data go one way."""
    work = view.run.workload
    if work is None or work.request_bytes is None or work.response_bytes is None:
        return True
    return min(work.request_bytes, work.response_bytes) <= SHORT_MESSAGE * max(work.request_bytes, work.response_bytes)


def _both(one: Condition, other: Condition) -> Condition:
    return lambda view, role: one(view, role) and other(view, role)


def _costs() -> Iterator[Rule]:
    """Yield CPU time per unit of work (1 % is 10 ms/s).

    With snapshots, utilisation is of a longer time than the driver's rate.
    """
    for prefix, (metric, rate) in product(_PREFIXES, _RATES):
        tolerance = SHORT_MESSAGE if rate is MB_PER_S else 0.0
        for busy, unprinted in _busy(prefix):
            report = busy * 10 / rate
            for method, cost in ((Method.REPORT, report), (Method.SNAPSHOT, report * ELAPSED / DRIVER_SECONDS)):
                when = _both(_by(method), _one_way) if rate is MB_PER_S else _by(method)
                yield Rule(Kind.CPU, prefix + metric, cost, when=when, unless=unprinted, tolerance=tolerance)


MESSAGES = tuple(
    Rule(
        Kind.MESSAGE,
        f"{prefix}cpu_ms_per_trans",
        figure(f"{prefix}cpu_ms_per_mb") * MESSAGE_MB,
        when=_one_way,
        tolerance=SHORT_MESSAGE,
        linear=True,
    )
    for prefix in _PREFIXES
)

SUMS = tuple(
    Rule(Kind.SUM, metric, figure(f"virtual_{metric}") + figure(f"cp_{metric}"), linear=True) for metric in _SUMMED
)

_CLIENT, _SERVER = PARTS_OF_TOTAL
ROLES = tuple(
    Rule(
        Kind.ROLES,
        prefix + metric,
        figure(prefix + metric, _CLIENT) + figure(prefix + metric, _SERVER),
        TOTAL,
        _by(Method.SNAPSHOT),
        linear=True,
    )
    for metric in ("cpu_util", "cpu_ms_per_trans", "cpu_ms_per_mb")
    for prefix in _PREFIXES
)


def _parts_of_a_whole() -> Iterator[Rule]:
    """Yield rules that a part, or the sum, does not exceed its whole."""
    for metric in _SUMMED:
        for part, other in (("virtual_", "cp_"), ("cp_", "virtual_")):
            yield Rule(Kind.BOUND, part + metric, figure(metric), unless=other + metric, at_most=True, linear=True)


BOUNDS = (
    *_parts_of_a_whole(),
    Rule(Kind.BOUND, "processor_util", figure("run_wait"), at_most=True, linear=True),
    Rule(Kind.BOUND, "cpu_util", Number(100), at_most=True, linear=True),
)


def _payload(view: View, role: str) -> Bound | None:
    """Return the line's maximum MB per second in the run's proportion."""
    run, work = view.run, view.run.workload
    if run.line_bits_per_s is None or run.mtu is None:
        return None
    share = busier_share(work.request_bytes, work.response_bytes) if work is not None else 1.0
    limit = payload_limit(run.line_bits_per_s, run.mtu, LEAST_HEADERS) / share
    text = (
        f"{run.line_bits_per_s:.12g} / 8 × ({run.mtu} − {LEAST_HEADERS}) / ({run.mtu} + {FRAME_BYTES}) / 2^20"
        + f" / {share:.4g}" * (share < 1)
    )
    return Bound(Interval.exact(limit), text)


PAYLOAD = Operand(
    "payload",
    f"line rate / 8 × (MTU − {LEAST_HEADERS}) / (MTU + {FRAME_BYTES}) / 2^20 / share of the busier direction",
    _payload,
)

LINK = Rule(Kind.LINK, "mb_per_s", PAYLOAD, TOTAL, tolerance=LINK_TOLERANCE, at_most=True, linear=True)

RULES: tuple[Rule, ...] = (*DRIVER, *_costs(), *MESSAGES, *SUMS, *ROLES, *BOUNDS, LINK)


class _Candidate(NamedTuple):
    """A rule about a printed number; each set of ``needs`` needs one."""

    number: int
    rule: Rule
    role: str
    needs: tuple[frozenset[Measure], ...]
    reads: frozenset[Measure]


@lru_cache(maxsize=4096)
def _about(measure: Measure) -> tuple[_Candidate, ...]:
    """Return the rules about a measure in order."""
    role = measure.role
    return tuple(
        _Candidate(
            number,
            rule,
            role,
            tuple(frozenset(each.reads(role)) for each in rule.operands if each.required),
            frozenset(rule.reads(role)),
        )
        for number, rule in enumerate(RULES)
        if rule.metric == measure.metric and rule.role in (None, role)
    )


def _candidates(printed: frozenset[Measure]) -> list[_Candidate]:
    """Return the rules whose numbers are printed."""
    about = (candidate for measure in printed for candidate in _about(measure))
    return [each for each in about if not any(need.isdisjoint(printed) for need in each.needs)]


@lru_cache(maxsize=512)
def applicable_rules(printed: frozenset[Measure], roles: tuple[str, ...]) -> tuple[tuple[Rule, str], ...]:
    """Return the rules that apply to the printed measures, each with a role."""
    asked = [each for each in _candidates(printed) if each.rule.role is not None or each.role in roles]
    asked.sort(key=lambda each: (each.number, each.rule.role is None and roles.index(each.role)))
    return tuple((each.rule, each.role) for each in asked)


@lru_cache(maxsize=512)
def audited_measures(printed: frozenset[Measure]) -> frozenset[Measure]:
    """Return the printed measures that an audit uses."""
    return frozenset().union(*(each.reads for each in _candidates(printed))) & printed
