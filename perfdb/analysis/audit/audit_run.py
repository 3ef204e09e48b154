"""Audit of printed numbers: every rule at every place of a run, the runs of a document, and percentages.

Numbers of the same place are used first, since a table was calculated from its own numbers; missing ones come from
other places, unless those contradict each other.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, combinations, islice
from statistics import median

from perfdb.analysis.audit.printed_values import (
    Disagreement,
    Interval,
    Kind,
    Printed,
    PrintedRun,
    View,
    detect_padding,
    grade,
    measure_name,
    printed_as,
    printed_text,
)
from perfdb.analysis.audit.rules import Bound, Operand, Rule, applicable_rules, compute, evaluate
from perfdb.analysis.checks.finding import Quantity
from perfdb.analysis.formulas.formula import Expression, Number, Operation
from perfdb.analysis.metrics import Measure
from perfdb.analysis.units import count_text, decimals, rescale, result_text, round_half_up

_TIMES = {"s": "sec", "ms": "msec", "us": "usec"}
_MEGABYTES = 2**20 / 10**6
MAXIMUM_TEXT = "figure in a table of maximum throughput ≥ each other of the same study, workload and device"
OUTLIER_TEXT = "deviation ≤ 10 × the median deviation of the same rule in the table, or within rounding"
TIMES_MEDIAN = 10
_FEWEST_OTHERS = 3
_THROUGHPUT = tuple(map(Measure, ("trans_per_s", "mb_per_s", "gbit_per_s")))
_MAXIMUM = re.compile(
    r"\b(?:max(?:imum|imal|\.)?|highest|peak)\W+(?:\w+\W+){0,2}?(?:throughput|bandwidth|rates?|trans|mb)", re.IGNORECASE
)


@dataclass(frozen=True)
class Case:
    """A printed number with a rule about it, whose operands ``bounds`` in ``view`` give ``exact`` as printed."""

    rule: Rule
    view: View
    role: str
    printed: Printed
    bounds: dict[str, Bound]
    exact: float

    @cached_property
    def value(self) -> Interval:
        """Return the rule's value by rounding of the operands."""
        return compute(self.rule.expression, self.bounds)

    @property
    def allowed(self) -> Interval:
        """Return the rule's value with the allowance."""
        return self.value.widened(self.rule.allowance(self.view.run.trials))

    @property
    def agrees(self) -> bool:
        """Return whether the printed number agrees with the rule, often without any rounding."""
        own, rule = self.printed.interval, self.rule
        plain = (rule.at_least or own.low <= self.exact) and (rule.at_most or self.exact <= own.high)
        return plain or rule.agrees(self.printed, self.allowed)

    def fits(self, factor: float) -> bool:
        """Return whether the printed number, times a factor, would agree."""
        return Interval(*(end * factor for end in self.printed.interval)).meets(self.allowed)

    def formula(self) -> str:
        """Return the rule with numbers inserted and the result; a lone number has none."""
        expression, unit = self.rule.expression, self.printed.own_unit
        text = expression.write({key: bound.text for key, bound in self.bounds.items()})
        if not isinstance(expression, Operation) and text.replace(".", "").isdecimal():
            return f"{text} {unit}"
        return f"{text} = {result_text(self.exact, self.printed.decimals)} {unit}"


def _apply(rule: Rule, view: View, role: str, printed: Printed) -> Case | None:
    """Return the case of a printed number by the operands in a place; None if one is unknown, or no value."""
    bounds: dict[str, Bound] = {}
    for each in rule.operands:
        bound = each.find(view, role)
        if bound is None:
            return None
        bounds[each.name] = bound
    with suppress(ZeroDivisionError):
        return Case(rule, view, role, printed, bounds, evaluate(rule.expression, bounds))
    return None


def find_case(rule: Rule, view: View, role: str) -> Case | None:
    """Return the case of the number printed in a place; None if the rule cannot be checked."""
    printed = view.here(Measure(rule.metric, role))
    return None if printed is None or not rule.holds(view, role) else _apply(rule, view, role, printed)


def _unit(case: Case) -> Iterator[str]:
    for unit, word in _TIMES.items():
        if case.fits(rescale(1, unit, case.printed.own_unit) / case.printed.factor):
            yield f"unit is probably {word}"


def _bytes(case: Case) -> Iterator[str]:
    if case.fits(1 / _MEGABYTES):
        yield "its MB are probably of 10^6 bytes"
    work = case.view.run.workload
    if work is None or not work.request_bytes or not work.response_bytes:
        return
    both = work.request_bytes + work.response_bytes
    for what, size in (("responses", work.response_bytes), ("requests", work.request_bytes)):
        if case.fits(both / size):
            yield f"it probably counts the {what} alone"


def _cost(case: Case) -> Iterator[str]:
    for role in case.view.roles if case.rule.role is None else ():
        other = find_case(case.rule, case.view, role) if role != case.role else None
        if other and case.printed.interval.meets(other.allowed) and other.printed.interval.meets(case.allowed):
            yield f"it is probably swapped with that of {role}"
    processors = case.view.run.processors
    if processors and processors != 1:
        if case.fits(processors):
            yield f"{processors:g} times the figure would fit, as if it had been divided by the processors"
        if case.fits(1 / processors):
            yield f"1/{processors:g} of the figure would fit, as if it had been multiplied by the processors"
    for factor, word in ((1e3, "a thousand times"), (1e-3, "a thousandth of")):
        if case.fits(factor):
            yield f"{word} the figure would fit: its unit may be another"


def _link(case: Case) -> Iterator[str]:
    if case.printed.interval.low / _MEGABYTES <= case.allowed.high:
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


def _ask(rule: Rule, view: View, role: str) -> Disagreement | None:
    case = find_case(rule, view, role)
    if case is None or case.agrees:
        return None
    places = (View(view.run, place) for place in view.run.places() if place != view.place)
    cases = ((other.place, _apply(rule, other, role, case.printed)) for other in places)
    remarks = (f"it matches the numbers of {place}" for place, other in cases if other and other.agrees)
    read = _READINGS.get(rule.kind)
    remark, formula = next(chain(remarks, read(case) if read else ()), ""), case.formula()
    relation = "cannot pass" if rule.at_most else "cannot be below" if rule.at_least else "should be"
    message = f"{printed_as(case.printed)}, but {relation} {formula}"
    message += f"; {remark}." if remark else "."
    return disagreement(rule.kind, case.printed, case.allowed, formula=formula, message=message, other=remark)


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
            message = f"{printed_as(later)}, but as {formula}."
            yield disagreement(Kind.CONTRADICTION, later, first.interval, formula=formula, message=message)


def audit_runs(runs: Sequence[PrintedRun], titles: Mapping[str, str] | None = None) -> list[list[Disagreement]]:
    """Return the disagreements of a document's runs; ``titles`` are those of places."""
    figures = iter(detect_padding([figure for run in runs for figure in run.figures]))
    padded = [replace(run, figures=tuple(islice(figures, len(run.figures)))) for run in runs]
    found = [audit_run(run) for run in padded]
    for at, each in chain(_find_larger(padded, titles or {}), _find_outliers(padded)):
        found[at].append(each)
    return found


def _find_larger(runs: Sequence[PrintedRun], titles: Mapping[str, str]) -> Iterator[tuple[int, Disagreement]]:
    """Yield (index of a run, disagreement) for maximum figures that another run passes."""
    places = {place for place, title in titles.items() if _MAXIMUM.search(title)}
    for at, run in enumerate(runs if places else ()):
        for place in filter(places.__contains__, run.places()):
            view = View(run, place)
            printed = (figure for measure in _THROUGHPUT if (figure := view.here(measure)) is not None)
            others = [other for number, other in enumerate(runs) if number != at and other.peers == run.peers]
            yield from islice(((at, found) for each in printed if (found := _larger(each, others))), 1)


def _larger(printed: Printed, others: Sequence[PrintedRun]) -> Disagreement | None:
    """Return the disagreement of a figure with the largest of other runs, or None."""
    figures = [(each, other) for other in others for each in other.printings(printed.measure)]
    if not figures:
        return None
    figure, run = max(figures, key=lambda each: each[0].interval.value)
    if figure.interval.reaches(printed.interval):
        return None
    under = [count_text(run.users, "user") if run.users else "", f"MTU {run.mtu}" if run.mtu else ""]
    circumstances = ", ".join(filter(None, under))
    formula = f"{printed_text(figure)} in {figure.place}" + (f" ({circumstances})" if circumstances else "")
    message = f"{printed_as(printed)}, as the maximum, but there is {formula}."
    return disagreement(Kind.MAXIMUM, printed, figure.interval, formula=formula, message=message)


def _find_outliers(runs: Sequence[PrintedRun]) -> Iterator[tuple[int, Disagreement]]:
    """Yield (index of a run, disagreement) for figures that only a rule's tolerance, needless elsewhere, allows."""
    tables = defaultdict[tuple[str, Rule, str], list[tuple[int, Case]]](list)
    for at, run in enumerate(runs):
        for view in (View(run, place) for place in run.places()):
            for rule, role in applicable_rules(run.measures(), view.roles):
                # A rule without tolerance finds each such figure alone.
                exact = not (rule.at_most or rule.at_least)
                case = find_case(rule, view, role) if exact and rule.allowance(run.trials) else None
                if case and case.exact:
                    tables[view.place, rule, role].append((at, case))
    for (place, rule, _), table in tables.items():
        deviations = [abs(case.printed.interval.value - case.exact) / abs(case.exact) for _, case in table]
        for number, (at, case) in enumerate(table):
            others = [*deviations[:number], *deviations[number + 1 :]]
            if (
                len(others) < _FEWEST_OTHERS
                or deviations[number] <= TIMES_MEDIAN * median(others)
                or rule.agrees(case.printed, case.value)
                or not case.agrees
            ):
                continue
            formula = case.formula()
            message = (
                f"{printed_as(case.printed)}, but should be {formula}: "
                f"{_percent(deviations[number])} off, while half of the {len(others)} others of {place} are "
                f"within {_percent(median(others))}."
            )
            yield at, disagreement(Kind.OUTLIER, case.printed, case.value, formula=formula, message=message)


def _percent(share: float) -> str:
    return f"{share * 100:.2g}%"


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
    with suppress(ZeroDivisionError):
        return compute(expression, {"base": Bound(base, ""), "other": Bound(other, "")})
    return None


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
