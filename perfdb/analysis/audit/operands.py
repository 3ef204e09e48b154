"""Operands of audit rules: printed numbers and circumstances of the run.

Operands are leaves of the same expressions as in formulas, so a rule is declared once and can be written in words, with
numbers, and calculated. An operand has an interval; a rule's value is between the values at the corners of its
operands' intervals, since each rule is monotonic in each operand.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import inf
from typing import NamedTuple

from perfdb.analysis.audit.printed_values import Interval, View, span
from perfdb.analysis.formulas.formula import Expression, Number, Operation
from perfdb.analysis.metrics import BY_NAME, TOTAL, Measure
from perfdb.analysis.workloads import ONE_WAY, message_mb


class Bound(NamedTuple):
    """An operand's interval in one run, with its text."""

    interval: Interval
    text: str


Finder = Callable[[View, str], Bound | None]
Reader = Callable[[str], tuple[Measure, ...]]


def _of_no_figure(role: str) -> tuple[Measure, ...]:
    return ()


@dataclass(frozen=True, slots=True)
class Operand(Expression):
    """A leaf of a rule; ``find`` returns a role's numbers or None.

    ``reads``: the measures used; ``required``: whether at least one of the measures must be printed.
    """

    name: str
    title: str
    find: Finder
    reads: Reader = _of_no_figure
    required: bool = False

    def evaluate(self, values: Mapping[str, float]) -> float:
        """Return the operand's value."""
        return values[self.name]

    def write(self, texts: Mapping[str, str]) -> str:
        """Return the operand's text."""
        return texts[self.name]


def operands(expression: Expression) -> Iterator[Operand]:
    """Yield the operands of an expression from left to right, with repetitions."""
    if isinstance(expression, Operand):
        yield expression
    elif isinstance(expression, Operation):
        yield from operands(expression.left)
        yield from operands(expression.right)


def in_words(expression: Expression) -> str:
    """Return the expression with its operands' titles."""
    return expression.write({each.name: each.title for each in operands(expression)})


def compute(expression: Expression, bounds: Mapping[str, Bound]) -> Interval | None:
    """Return the value of an expression with its interval, or None.

    If a divisor's interval reaches zero, the result has no upper end.
    """
    try:
        value = expression.evaluate({name: bound.interval.value for name, bound in bounds.items()})
    except ZeroDivisionError:
        return None
    ends = [{bound.interval.low, bound.interval.high} for bound in bounds.values()]
    return span((_at(expression, dict(zip(bounds, corner, strict=True))) for corner in product(*ends)), value)


def _at(expression: Expression, values: Mapping[str, float]) -> float:
    try:
        return expression.evaluate(values)
    except ZeroDivisionError:
        return inf


def figure(metric: str, role: str | None = None, title: str = "") -> Operand:
    """Return the operand of a printed number, of this or another role."""
    name = metric if role is None else f"{metric}@{role}"

    def reads(at_hand: str) -> tuple[Measure, ...]:
        return (Measure(metric, role or at_hand),)

    def find(view: View, at_hand: str) -> Bound | None:
        printed = view.find(*reads(at_hand))
        if printed is None or printed.interval is None:
            return None
        return Bound(printed.interval, printed.in_own_unit)

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
    value = printed.interval.value if printed is not None and printed.interval is not None else view.run.processors
    return _exactly(value)


def _users(view: View, role: str) -> Bound | None:
    return _exactly(view.run.users)


def _bytes(view: View, role: str) -> Bound | None:
    work = view.run.workload
    if work is None or work.request_bytes is None or work.response_bytes is None:
        return None
    return Bound(
        Interval.exact(work.request_bytes + work.response_bytes), f"({work.request_bytes} + {work.response_bytes})"
    )


def _message(view: View, role: str) -> Bound | None:
    work = view.run.workload
    if work is None or work.pattern not in ONE_WAY or work.request_bytes is None or work.response_bytes is None:
        return None
    return _exactly(message_mb(work.pattern, work.request_bytes, work.response_bytes))


def _of_driver_seconds(role: str) -> tuple[Measure, ...]:
    return Measure("driver_s"), Measure("elapsed_s")


def _driver_seconds(view: View, role: str) -> Bound | None:
    """Return the printed seconds; else between the requested time and the time between snapshots."""
    printed, elapsed = map(view.find, _of_driver_seconds(role))
    if printed is not None and printed.interval is not None:
        return Bound(printed.interval, printed.in_own_unit)
    asked = view.run.asked_s
    if asked is None or elapsed is None or elapsed.interval is None or elapsed.interval.high < asked:
        return None
    middle = (asked + elapsed.interval.high) / 2
    return Bound(Interval(asked, middle, elapsed.interval.high), f"({asked:.12g} … {elapsed.in_own_unit})")


MB = Number(2**20, "2^20")
TRANS_PER_S = figure("trans_per_s", TOTAL)
MB_PER_S = figure("mb_per_s", TOTAL, "MB per second")
TRANSACTIONS = figure("transactions", TOTAL)
ELAPSED = figure("elapsed_s", TOTAL, "seconds between the snapshots")
PRINTED_DRIVER_SECONDS = figure("driver_s", TOTAL, "driver's seconds")
DRIVER_SECONDS = Operand("driver_seconds", "driver's seconds", _driver_seconds, _of_driver_seconds, required=True)
USERS = Operand("users", "users", _users)
PROCESSORS = Operand("processors", "processors", _processors, _of_processors)
BYTES = Operand("bytes", "(request bytes + response bytes)", _bytes)
MESSAGE_MB = Operand("message_mb", "MB of a message", _message)
