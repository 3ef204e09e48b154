"""Rules of an audit within one run, one declaration each.

A rule declares the other printed numbers from which one follows, or which are its upper limit.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from math import inf
from typing import NamedTuple

from perfdb.analysis.audit.printed_values import Interval, Kind, Method, Printed, View
from perfdb.analysis.formulas.formula import Expression, Leaf, Number
from perfdb.analysis.formulas.terms import PARTS_OF_TOTAL
from perfdb.analysis.metrics import BY_NAME, TOTAL, Measure
from perfdb.analysis.workloads import FRAME_BYTES, LEAST_HEADERS, ONE_WAY, busier_share, message_mb, payload_limit


class Bound(NamedTuple):
    """An operand's interval in one run, with its text."""

    interval: Interval
    text: str


@dataclass(frozen=True, slots=True)
class Operand(Leaf):
    """A quantity of a rule; of the measures in ``reads`` one may be ``required``."""

    find: Callable[[View, str], Bound | None]
    reads: Callable[[str], tuple[Measure, ...]] = lambda role: ()
    required: bool = False


def evaluate(expression: Expression, bounds: Mapping[str, Bound]) -> float:
    """Return an expression's value without rounding. Raise ZeroDivisionError."""
    return expression.evaluate({name: bound.interval.value for name, bound in bounds.items()})


def compute(expression: Expression, bounds: Mapping[str, Bound]) -> Interval:
    """Return an expression's value with its interval. Raise ZeroDivisionError."""
    value = evaluate(expression, bounds)
    ends = [{bound.interval.low, bound.interval.high} for bound in bounds.values()]
    values = [value, *(_at(expression, dict(zip(bounds, corner, strict=True))) for corner in product(*ends))]
    return Interval(min(values), value, max(values))


def _at(expression: Expression, values: Mapping[str, float]) -> float:
    try:
        return expression.evaluate(values)
    except ZeroDivisionError:
        return inf


def figure(metric: str, role: str | None = None, title: str = "") -> Operand:
    """Return the operand of a printed number, of ``role`` or the checked role."""
    name = metric if role is None else f"{metric}@{role}"

    def reads(at_hand: str) -> tuple[Measure, ...]:
        return (Measure(metric, role or at_hand),)

    def find(view: View, at_hand: str) -> Bound | None:
        printed = view.find(*reads(at_hand))
        return None if printed is None else Bound(printed.interval, printed.in_own_unit)

    own = BY_NAME[metric].title
    words = own if own.startswith("CP") else own[0].lower() + own[1:].replace("cpu", "CPU")
    words = title or (f"{words} of the {role}" if role not in {None, TOTAL} else words)
    return Operand(name, words, find, reads, required=True)


def _exactly(value: float | None) -> Bound | None:
    """Return an exact number as a bound."""
    return None if value is None else Bound(Interval.exact(value), f"{value:.12g}")


def _of_processors(role: str) -> tuple[Measure, ...]:
    return Measure("processors", role), Measure("processors", "lpar")


def _processors(view: View, role: str) -> Bound | None:
    """Return a host's own processors if printed, else the system's."""
    own, system = map(view.find, _of_processors(role))
    printed = own or system
    return _exactly(view.run.processors if printed is None else printed.interval.value)


def _bytes(view: View, role: str) -> Bound | None:
    work = view.run.workload
    if work is None or work.sizes is None:
        return None
    request, response = work.sizes
    return Bound(Interval.exact(request + response), f"({request} + {response})")


def _message(view: View, role: str) -> Bound | None:
    work = view.run.workload
    if work is None or work.pattern not in ONE_WAY or work.sizes is None:
        return None
    return _exactly(message_mb(work.pattern, *work.sizes))


def _of_driver_seconds(role: str) -> tuple[Measure, ...]:
    return Measure("driver_s"), Measure("elapsed_s")


def _driver_seconds(view: View, role: str) -> Bound | None:
    """Return the printed seconds; else between the requested time and the time between snapshots."""
    printed, elapsed = map(view.find, _of_driver_seconds(role))
    if printed is not None:
        return Bound(printed.interval, printed.in_own_unit)
    asked = view.run.asked_s
    if asked is None or elapsed is None or elapsed.interval.high < asked:
        return None
    middle = (asked + elapsed.interval.high) / 2
    return Bound(Interval(asked, middle, elapsed.interval.high), f"({asked:.12g} … {elapsed.in_own_unit})")


def _parts(view: View, role: str) -> Bound | None:
    """Return the sum of one processor's utilisations by all roles of a table."""
    found = [view.here(Measure("processor_util", each)) for each in view.roles if each not in {TOTAL, "lpar"}]
    parts = [each for each in found if each is not None]
    if len(parts) < 2:
        return None
    elapsed = view.find(Measure("elapsed_s"))
    seconds = 0.0 if elapsed is None else elapsed.interval.low
    # A monitor counts CPU time in whole seconds, so that each part may be off by one.
    sampling = len(parts) * 100 / seconds if seconds and view.run.method is Method.REPORT else 0.0
    low, value, high = (sum(ends) for ends in zip(*(each.interval for each in parts), strict=True))
    text = " + ".join(each.in_own_unit for each in parts)
    return Bound(Interval(low - sampling, value, high), f"({text} = {value:.12g})")


MB = Number(2**20, "2^20")
TRANS_PER_S = figure("trans_per_s", TOTAL)
MB_PER_S = figure("mb_per_s", TOTAL, "MB per second")
TRANSACTIONS = figure("transactions", TOTAL)
ELAPSED = figure("elapsed_s", TOTAL, "seconds between the snapshots")
PRINTED_DRIVER_SECONDS = figure("driver_s", TOTAL, "driver's seconds")
DRIVER_SECONDS = Operand("driver_seconds", "driver's seconds", _driver_seconds, _of_driver_seconds, required=True)
USERS = Operand("users", "users", lambda view, role: _exactly(view.run.users))
PROCESSORS = Operand("processors", "processors", _processors, _of_processors)
BYTES = Operand("bytes", "(request bytes + response bytes)", _bytes)
MESSAGE_MB = Operand("message_mb", "MB of a message", _message)
PARTS = Operand("parts", "sum of the utilisations of one processor by all roles", _parts)


LITTLE_TOLERANCE = 0.03
# Rates in MB may or may not count the short message of the other direction, such as 20 bytes of 20 MB.
SHORT_MESSAGE = 1e-4
# Clocks of adapters are accurate to 0.01 %; the rest is for rates that include the last packets' headers.
LINK_TOLERANCE = 0.01
# Products of means differ from means of products by the product of the relative spreads: 1 % for 10 % of each.
MEANS_TOLERANCE = 0.01

_PREFIXES = ("", "virtual_", "cp_")
_SUMMED = ("cpu_util", "processor_util", "cpu_ms_per_trans", "cpu_ms_per_mb")
_RATES = (("cpu_ms_per_trans", TRANS_PER_S), ("cpu_ms_per_mb", MB_PER_S))


Condition = Callable[[View, str], bool]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: ``metric`` equals ``expression``, or does not exceed it (``at_most``) or is not below it (``at_least``).

    ``role``: the only role checked, None for every role. ``when``: whether the rule holds for a run and role;
    ``unless``: a metric that must not be printed for the role. ``tolerance`` is relative and added to rounding;
    ``linear`` rules hold for means over trials too.
    """

    kind: Kind
    metric: str
    expression: Expression
    role: str | None = None
    when: Condition = lambda view, role: True
    unless: str = ""
    tolerance: float = 0.0
    at_most: bool = False
    at_least: bool = False
    linear: bool = True
    operands: tuple[Operand, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        found = {leaf.name: leaf for leaf in self.expression.leaves() if isinstance(leaf, Operand)}
        object.__setattr__(self, "operands", tuple(found.values()))

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

    def agrees(self, printed: Printed, wanted: Interval) -> bool:
        """Return whether a printed number agrees with ``wanted``, or is on the right side of it."""
        own = printed.interval
        return (self.at_least or own.reaches(wanted)) and (self.at_most or wanted.reaches(own))

    def allowance(self, trials: int) -> float:
        """Return the relative tolerance for means over ``trials`` trials."""
        return self.tolerance if self.linear or trials <= 1 else max(self.tolerance, MEANS_TOLERANCE)


def _by(method: Method, one_way: bool = False) -> Condition:
    return lambda view, role: view.run.method is method and not (one_way and not _one_way(view, role))


DRIVER = (
    Rule(
        Kind.LITTLE,
        "response_ms",
        USERS / TRANS_PER_S * 1000,
        TOTAL,
        when=lambda view, role: view.run.think_ms == 0,
        tolerance=LITTLE_TOLERANCE,
        linear=False,
    ),
    Rule(Kind.RATE, "trans_per_s", TRANSACTIONS / PRINTED_DRIVER_SECONDS, TOTAL, linear=False),
    Rule(Kind.BYTES, "mb_per_s", TRANS_PER_S * BYTES / MB, TOTAL),
    Rule(Kind.BYTES, "gbit_per_s", MB_PER_S * Number(8 * 2**20, "(8 × 2^20)") / Number(10**9, "10^9"), TOTAL),
)


def _busy(prefix: str) -> Iterator[tuple[Expression, str]]:
    """Yield per cent of one processor, and a metric that must not be printed."""
    yield figure(f"{prefix}cpu_util") * PROCESSORS, ""
    yield figure(f"{prefix}processor_util"), ""
    if prefix == "cp_":  # Only where none is printed, CP time is total minus virtual time.
        yield (figure("cpu_util") - figure("virtual_cpu_util")) * PROCESSORS, "cp_cpu_util"
        yield figure("processor_util") - figure("virtual_processor_util"), "cp_processor_util"


def _one_way(view: View, role: str) -> bool:
    """Return whether almost all data go one way."""
    work = view.run.workload
    if work is None or work.sizes is None:
        return True
    return min(work.sizes) <= SHORT_MESSAGE * max(work.sizes)


def _costs() -> Iterator[Rule]:
    """Yield the rules of CPU time per unit of work."""
    for prefix, (metric, rate) in product(_PREFIXES, _RATES):
        tolerance = SHORT_MESSAGE if rate is MB_PER_S else 0.0
        for busy, unprinted in _busy(prefix):
            # 1 % of one processor is 10 ms of CPU time in each second; snapshots cover a longer time than the rate.
            report = busy * 10 / rate
            for method, cost in ((Method.REPORT, report), (Method.SNAPSHOT, report * ELAPSED / DRIVER_SECONDS)):
                when = _by(method, one_way=rate is MB_PER_S)
                yield Rule(
                    Kind.CPU, prefix + metric, cost, when=when, unless=unprinted, tolerance=tolerance, linear=False
                )


MESSAGES = tuple(
    Rule(
        Kind.MESSAGE,
        f"{prefix}cpu_ms_per_trans",
        figure(f"{prefix}cpu_ms_per_mb") * MESSAGE_MB,
        when=_one_way,
        tolerance=SHORT_MESSAGE,
    )
    for prefix in _PREFIXES
)

SUMS = tuple(Rule(Kind.SUM, metric, figure(f"virtual_{metric}") + figure(f"cp_{metric}")) for metric in _SUMMED)

_CLIENT, _SERVER = PARTS_OF_TOTAL
ROLES = tuple(
    Rule(
        Kind.ROLES,
        prefix + metric,
        figure(prefix + metric, _CLIENT) + figure(prefix + metric, _SERVER),
        TOTAL,
        _by(Method.SNAPSHOT),
    )
    for metric in ("cpu_util", "cpu_ms_per_trans", "cpu_ms_per_mb")
    for prefix in _PREFIXES
)


BOUNDS = (
    # If both parts are printed, the rule about the sum applies instead.
    *(
        Rule(Kind.BOUND, part + metric, figure(metric), unless=other + metric, at_most=True)
        for metric in _SUMMED
        for part, other in (("virtual_", "cp_"), ("cp_", "virtual_"))
    ),
    Rule(Kind.BOUND, "processor_util", figure("run_wait"), at_most=True),
    Rule(Kind.BOUND, "cpu_util", Number(100), at_most=True),
    # Only tables name roles that do not overlap.
    Rule(Kind.PARTS, "cpu_util", PARTS / PROCESSORS, TOTAL, when=lambda view, role: bool(view.place), at_least=True),
)


def _payload(view: View, role: str) -> Bound | None:
    """Return the most MB per second of both directions, in the run's own proportion."""
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

LINK = Rule(Kind.LINK, "mb_per_s", PAYLOAD, TOTAL, tolerance=LINK_TOLERANCE, at_most=True)

RULES: tuple[Rule, ...] = (*DRIVER, *_costs(), *MESSAGES, *SUMS, *ROLES, *BOUNDS, LINK)


@lru_cache(maxsize=512)
def applicable_rules(printed: frozenset[Measure], roles: tuple[str, ...]) -> tuple[tuple[Rule, str], ...]:
    """Return the rules about printed measures, each with a role, of which an operand's measures are printed."""
    metrics = {measure.metric for measure in printed}
    return tuple(
        (rule, role)
        for rule in RULES
        if rule.metric in metrics
        for role in (roles if rule.role is None else (rule.role,))
        if Measure(rule.metric, role) in printed
        and not any(each.required and printed.isdisjoint(each.reads(role)) for each in rule.operands)
    )


@lru_cache(maxsize=512)
def audited_measures(printed: frozenset[Measure]) -> frozenset[Measure]:
    """Return the printed measures that an audit uses."""
    rules = applicable_rules(printed, tuple({measure.role for measure in printed}))
    return printed & {measure for rule, role in rules for measure in rule.reads(role)}
