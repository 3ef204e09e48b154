"""Audit of one run: every rule at every place of printed numbers.

Numbers of the same place are used first, since a table was calculated from its own numbers; missing ones come from
other places, unless those contradict each other.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

from perfdb.analysis.audit.printed_values import (
    Disagreement,
    Interval,
    Kind,
    Printed,
    PrintedRun,
    View,
    grade,
    measure_name,
    printed_text,
)
from perfdb.analysis.audit.rules import Bound, Operand, Rule, applicable_rules, compute
from perfdb.analysis.checks.finding import Quantity
from perfdb.analysis.formulas.formula import Expression, Number, Operation
from perfdb.analysis.metrics import Measure
from perfdb.analysis.units import decimals, rescale, result_text, round_half_up

_TIMES = {"s": "sec", "ms": "msec", "us": "usec"}
_MEGABYTES = 2**20 / 10**6


@dataclass(frozen=True, slots=True)
class Case:
    """A number that disagrees, with both values of ``others``, which may be swapped."""

    view: View
    printed: Printed
    wanted: Interval
    others: dict[str, tuple[Printed, Interval]]


def _fits(case: Case, factor: float) -> bool:
    """Return whether the printed number, times a factor, would agree with the rule."""
    return Interval(*(end * factor for end in case.printed.interval)).meets(case.wanted)


def _unit(case: Case) -> Iterator[str]:
    for unit, word in _TIMES.items():
        if _fits(case, rescale(1, unit, case.printed.own_unit) / case.printed.factor):
            yield f"unit is probably {word}"


def _bytes(case: Case) -> Iterator[str]:
    if _fits(case, 1 / _MEGABYTES):
        yield "its MB are probably of 10^6 bytes"
    work = case.view.run.workload
    if work is None or not work.request_bytes or not work.response_bytes:
        return
    both = work.request_bytes + work.response_bytes
    for what, size in (("responses", work.response_bytes), ("requests", work.request_bytes)):
        if _fits(case, both / size):
            yield f"it probably counts the {what} alone"


def _cost(case: Case) -> Iterator[str]:
    for role, (figure, wanted) in case.others.items():
        if case.printed.interval.meets(wanted) and figure.interval.meets(case.wanted):
            yield f"it is probably swapped with that of {role}"
    processors = case.view.run.processors
    if processors and processors != 1:
        if _fits(case, processors):
            yield f"{processors:g} times the figure would fit, as if it had been divided by the processors"
        if _fits(case, 1 / processors):
            yield f"1/{processors:g} of the figure would fit, as if it had been multiplied by the processors"
    for factor, word in ((1e3, "a thousand times"), (1e-3, "a thousandth of")):
        if _fits(case, factor):
            yield f"{word} the figure would fit: its unit may be another"


def _link(case: Case) -> Iterator[str]:
    if case.printed.interval.low / _MEGABYTES <= case.wanted.high:
        yield "its MB are probably of 10^6 bytes"


# The simple causes of a disagreement, by kind.
_READINGS: dict[Kind, Callable[[Case], Iterator[str]]] = {
    Kind.LITTLE: _unit,
    Kind.BYTES: _bytes,
    Kind.CPU: _cost,
    Kind.MESSAGE: _cost,
    Kind.LINK: _link,
}


def audit_run(run: PrintedRun, without: Container[Kind] = ()) -> list[Disagreement]:
    """Return the printed numbers that do not match others, once, except kinds ``without``."""
    count = Counter(figure.place for figure in run.figures)
    views = [View(run, place) for place in sorted(run.places(), key=lambda place: -count[place])]
    printed = run.measures()
    asked = (
        _ask(rule, view, role)
        for view in views
        for rule, role in applicable_rules(printed, view.roles)
        if rule.kind not in without
    )
    broken = {
        (found.kind, found.measure, found.printed, found.formula): found for found in reversed([*filter(None, asked)])
    }
    return [*reversed(broken.values()), *_contradictions(run)]


def _bounds(rule: Rule, view: View, role: str) -> dict[str, Bound] | None:
    """Return the rule's operands in this run; None if one is unknown."""
    found: dict[str, Bound] = {}
    for each in rule.operands:
        bound = each.find(view, role)
        if bound is None:
            return None
        found[each.name] = bound
    return found


def _asked(rule: Rule, view: View, role: str) -> tuple[Printed, dict[str, Bound]] | None:
    """Return a rule's printed number and operands; None if the rule cannot be checked."""
    printed = view.here(Measure(rule.metric, role))
    if printed is None or not rule.holds(view, role):
        return None
    bounds = _bounds(rule, view, role)
    return None if bounds is None else (printed, bounds)


def _holds_as_printed(rule: Rule, printed: Printed, bounds: dict[str, Bound]) -> bool:
    """Return whether a number agrees with its operands without rounding."""
    own = printed.interval
    try:
        value = rule.expression.evaluate({name: bound.interval.value for name, bound in bounds.items()})
    except ZeroDivisionError:
        return True
    return (rule.at_least or own.low <= value) and (rule.at_most or value <= own.high)


def expect(rule: Rule, view: View, role: str) -> tuple[Printed, dict[str, Bound], Interval] | None:
    """Return a rule's printed number, operands, and calculated value with its allowance; None without a value."""
    asked = _asked(rule, view, role)
    value = None if asked is None else compute(rule.expression, asked[1])
    if asked is None or value is None:
        return None
    return *asked, value.widened(rule.allowance(view.run.trials))


def _ask(rule: Rule, view: View, role: str) -> Disagreement | None:
    asked = _asked(rule, view, role)
    if asked is None or _holds_as_printed(rule, *asked):
        return None
    found = expect(rule, view, role)
    if found is None or rule.agrees(found[0], found[2]):
        return None
    printed, bounds, wanted = found
    formula = in_numbers(rule, bounds, printed, wanted)
    other, read = _elsewhere(rule, view, role, printed), _READINGS.get(rule.kind)
    if read and not other:
        other = next(read(Case(view, printed, wanted, _others(rule, view, role))), "")
    relation = "cannot pass" if rule.at_most else "cannot be below" if rule.at_least else "should be"
    message = f"{measure_name(printed.measure)} is printed as {printed_text(printed)}, but {relation} {formula}"
    message += f"; {other}." if other else "."
    return disagreement(rule.kind, printed, wanted, formula=formula, message=message, other=other)


def in_numbers(rule: Rule, bounds: dict[str, Bound], printed: Printed, wanted: Interval) -> str:
    """Return the rule with numbers inserted and the result; a lone number has none."""
    text = rule.expression.write({key: bound.text for key, bound in bounds.items()})
    if not isinstance(rule.expression, Operation) and text.replace(".", "").isdecimal():
        return f"{text} {printed.own_unit}"
    return f"{text} = {result_text(wanted.value, printed.decimals)} {printed.own_unit}"


def _elsewhere(rule: Rule, view: View, role: str, printed: Printed) -> str:
    """Return a remark that the number follows from another place; "" if from none."""
    for place in view.run.places():
        bounds = _bounds(rule, View(view.run, place), role) if place != view.place else None
        value = None if bounds is None else compute(rule.expression, bounds)
        if value is not None and rule.agrees(printed, value.widened(rule.allowance(view.run.trials))):
            return f"it matches the numbers of {place}"
    return ""


def _others(rule: Rule, view: View, role: str) -> dict[str, tuple[Printed, Interval]]:
    """Return the same rule's values for the other roles."""
    others = [other for other in view.roles if rule.role is None and other != role]
    expected = {other: found for other in others if (found := expect(rule, view, other)) is not None}
    return {other: (printed, wanted) for other, (printed, _, wanted) in expected.items()}


def disagreement(
    kind: Kind, printed: Printed, wanted: Interval, *, formula: str, message: str, other: str = ""
) -> Disagreement:
    """Return the disagreement of a printed number with ``wanted``."""
    return Disagreement(
        kind=kind,
        severity=grade(printed.interval.value, wanted.value),
        measure=printed.measure,
        printed=printed.quantity.text,
        recomputed=wanted.value,
        interval=(wanted.low, wanted.high),
        unit=printed.own_unit,
        formula=formula,
        message=message,
        reading=other,
        place=printed.place,
        line=printed.quantity.line,
    )


def _contradictions(run: PrintedRun) -> Iterator[Disagreement]:
    """Yield numbers printed with different values, compared with the first printing."""
    if len(run.figures) == len(run.measures()):
        return
    for measure in dict.fromkeys(figure.measure for figure in run.figures):
        told: set[str] = set()
        for first, later in combinations(run.printings(measure), 2):
            if first.interval.meets(later.interval) or printed_text(later) in told:
                continue
            told.add(printed_text(later))
            where = f" in {first.place}" if first.place else ""
            formula = f"{printed_text(first)}{where}"
            message = f"{measure_name(measure)} is printed as {printed_text(later)}, but as {formula}."
            yield disagreement(Kind.CONTRADICTION, later, first.interval, formula=formula, message=message)


@dataclass(frozen=True, slots=True)
class PercentRow:
    """A printed difference to ``base`` in per cent, or ``absolute``; a ``reduction`` is turned."""

    base: Printed
    other: Printed
    percent: Quantity
    place: str = ""
    absolute: bool = False
    reduction: bool = False


_BASE = Operand("base", "base", lambda view, role: None)
_OTHER = Operand("other", "value", lambda view, role: None)
PERCENT: Expression = Number(100) * (_OTHER / _BASE - Number(1))
PERCENT_TEXT = PERCENT.in_words()
_ABSOLUTE: Expression = _OTHER - _BASE


def percent_interval(base: Interval, other: Interval, expression: Expression = PERCENT) -> Interval | None:
    """Return the interval of a difference, by default 100 × (other / base − 1) in per cent; None for base zero."""
    return compute(expression, {"base": Bound(base, ""), "other": Bound(other, "")})


def audit_percent(row: PercentRow) -> Disagreement | None:
    """Return the disagreement of a percentage with the interval of rounded operands, or None."""
    base, other, value = row.base.interval, row.other.interval, row.percent.value
    if value is None or not (row.base.is_number and row.other.is_number):
        return None
    expression, unit, factor = (_ABSOLUTE, row.base.own_unit, row.base.factor) if row.absolute else (PERCENT, "%", 1.0)
    half = row.percent.half_step * factor
    wanted, turned = percent_interval(base, other, expression), percent_interval(other, base, expression)
    value *= -factor if row.reduction else factor
    printed = Interval(value - half, value, value + half)
    if wanted is None or printed.meets(wanted):
        return None
    text = expression.write({"base": row.base.in_own_unit, "other": row.other.in_own_unit})
    formula = f"{text} = {round_half_up(wanted.value, decimals(row.percent.text) + 1)} {unit}"
    meant = _percent_reading(printed, wanted, turned, unit)
    name = measure_name(row.base.measure)
    said = f"{row.percent.text} {row.base.quantity.unit or unit}" if row.absolute else f"{row.percent.text} %"
    said = f"a reduction of {said}" if row.reduction else said
    message = f"The difference of {name} is printed as {said}, but should be {formula}"
    return Disagreement(
        kind=Kind.PERCENT,
        severity=grade(base.value + value, other.value)
        if row.absolute
        else grade(1 + value / 100, 1 + wanted.value / 100),
        measure=row.base.measure,
        printed=row.percent.text,
        recomputed=wanted.value,
        interval=(wanted.low, wanted.high),
        unit=unit,
        formula=formula,
        message=f"{message}; {meant}." if meant else f"{message}.",
        reading=meant,
        place=row.place,
        line=row.percent.line,
    )


def audit_percents(rows: Iterable[PercentRow]) -> list[Disagreement]:
    """Return the disagreements of many percentages in order."""
    return [found for row in rows if (found := audit_percent(row))]


def _percent_reading(printed: Interval, wanted: Interval, turned: Interval | None, unit: str) -> str:
    """Return the likely error, a wrong sign or exchanged operands (``turned``); "" without one."""
    if Interval(-printed.high, -printed.value, -printed.low).meets(wanted):
        return "its sign is probably wrong"
    if turned is not None and printed.meets(turned):
        return f"it is {result_text(turned.value)} {unit} the other way round"
    return ""
