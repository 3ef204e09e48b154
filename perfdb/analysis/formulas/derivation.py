"""Derivation of metrics within one run, with explanations, in agreement with printed values."""

from collections import defaultdict
from collections.abc import Hashable, Iterable
from contextlib import suppress
from datetime import datetime
from functools import lru_cache
from math import inf, isfinite
from typing import NamedTuple

from perfdb.analysis.formulas.catalogue import BY_ID, FORMULAS, LATENCIES
from perfdb.analysis.formulas.formula import Formula, Term
from perfdb.analysis.formulas.run_values import Derived, Input, InputKind, Known, RunFigures
from perfdb.analysis.formulas.terms import PARTS_OF_TOTAL, one_machine
from perfdb.analysis.metrics import BY_NAME, TOTAL, Measure
from perfdb.analysis.units import read_number, result_text, step

# The most shapes of runs in the cache; the runs of a study have few.
_SHAPES = 4096
# Clocks of CPU time count hundredths, or whole seconds; snapshots tell whole seconds.
_HUNDREDTH, _SECOND = 0.01, 1.0
_NOISE = 1e-9
_PROCESSORS_OF_SIDES = tuple(f"{role}_cpus" for role in PARTS_OF_TOTAL)


class _Step(NamedTuple):
    """A formula for a role, with its terms and the derived measure."""

    formula: Formula
    terms: tuple[Term, ...]
    role: str
    measure: Measure


class _NoValueError(Exception):
    """All terms are present, but their numbers have no finite result."""


_TERMS = tuple((formula, formula.terms) for formula in FORMULAS)
READ = frozenset(name for formula, terms in _TERMS for name in (formula.metric, *(term.name for term in terms)))
"""The metrics that formulas read, besides latencies."""

_steps: dict[Hashable, tuple[_Step, ...]] = {}


def derive(figures: RunFigures) -> list[Derived]:
    """Return all derived values of one run, each measure once, inputs before results.

    Whether a formula applies depends on which metrics a run has, hardly on their numbers, so useless formulas are not
    tried again for the next run of the same shape.
    """
    known = Known(figures)
    roles = tuple(known.roles())
    shape = _shape(figures, roles)
    steps = _steps.get(shape)
    if steps is None:
        _learn(shape, known, roles)
    else:
        for each in steps:
            with suppress(_NoValueError):
                _apply(each, known)
    return known.answers


def _learn(shape: Hashable, known: Known, roles: tuple[str, ...]) -> None:
    """Try every formula for every role, and remember the useful ones for this shape."""
    useful, complete = [], True
    for each in _every_step(roles, counted=bool(known.figures.counters)):
        superseded = each.measure in known.derived
        try:
            if _apply(each, known) or superseded:
                useful.append(each)
        except _NoValueError:
            # Formulas that need this value were not tried.
            complete = False
    if complete:
        if len(_steps) >= _SHAPES:
            _steps.clear()
        _steps[shape] = tuple(useful)


@lru_cache(maxsize=64)
def _every_step(roles: tuple[str, ...], *, counted: bool) -> tuple[_Step, ...]:
    return tuple(
        _Step(formula, terms, role, Measure(formula.metric, role))
        for formula, terms in _TERMS
        if counted or not any(term.counted for term in terms)
        for role in ((TOTAL, *roles) if formula.per_role else (TOTAL,))
    )


def _shape(figures: RunFigures, roles: tuple[str, ...]) -> Hashable:
    """Return a key that is equal for runs with the same terms."""
    counters, facts = figures.counters, figures.facts
    return (
        frozenset([measure for measure in figures.metrics if measure[0] in READ]),
        any(metric in LATENCIES and role == TOTAL for metric, role in figures.metrics),
        roles,
        frozenset(counters),
        frozenset(figures.taken),
        frozenset([(key, len(numbers) == 1) for key, numbers in facts.items() if numbers]),
        tuple(facts.get(key) for key in _PROCESSORS_OF_SIDES),
        bool(counters) and one_machine(counters, one_host=figures.one_host),
        figures.device if counters else None,
        figures.pattern,
        tuple(each is None for each in (figures.users, figures.request_bytes, figures.response_bytes)),
        figures.think_ms == 0,
        (figures.system_processors is None, figures.given_processors is None),
        (figures.reports_whole, figures.one_host, figures.of_processes),
    )


def _apply(tried: _Step, known: Known) -> bool:
    """Add a formula's value for a role, and return whether there is one.

    False: the formula does not hold, a term is missing, or the measure was derived before. A printed value stays if
    contradicted. Raise _NoValueError if a divisor is zero, or the result negative or not finite.
    """
    formula, measure = tried.formula, tried.measure
    if measure in known.derived or not formula.when(known.figures):
        return False
    inputs: list[Input] = []
    for term in tried.terms:
        found = term.find(known, tried.role)
        if not found:
            return False
        inputs += found
    try:
        value = formula.expression.evaluate(_values(inputs))
    except ZeroDivisionError:
        raise _NoValueError from None
    if not isfinite(value) or value < 0:
        raise _NoValueError
    derived = Derived(measure, value, formula.id, formula.version, tuple(inputs))
    if _agrees_with_printed(known, derived):
        known.derived[measure] = value
        known.answers.append(derived)
    return True


def _values(inputs: Iterable[Input]) -> dict[str, float]:
    """Return the terms' values, each the sum of its inputs."""
    values: dict[str, float] = defaultdict(float)
    for one in inputs:
        values[one.term] += one.value
    return values


def _agrees_with_printed(known: Known, derived: Derived) -> bool:
    """Return whether the value is the printed one of the measure, within all rounding, or none is printed."""
    printed = known.figures.metrics.get(derived.measure)
    if printed is None:
        return True
    apart = abs(derived.value - printed) - abs(printed) * _NOISE - _printed_error(known, derived.measure)
    return apart <= 0 or apart <= _error(known, derived)


def _error(known: Known, derived: Derived) -> float:
    """Return the largest error of a derived value that rounded inputs cause."""
    values, expression, total = _values(derived.inputs), BY_ID[derived.formula].expression, 0.0
    for one in derived.inputs:
        if error := _input_error(known, one):
            try:
                moved = expression.evaluate({**values, one.term: values[one.term] - error})
            except ZeroDivisionError:
                return inf
            total += abs(moved - derived.value)
    return total


def _input_error(known: Known, one: Input) -> float:
    if one.kind is InputKind.SNAPSHOT:
        return _SECOND
    if one.kind is InputKind.COUNTER and one.unit == "s":
        whole = all(isinstance(end, float) and end.is_integer() for end in (one.before, one.after))
        return _SECOND if whole else _HUNDREDTH
    if one.kind is not InputKind.METRIC:
        return 0.0
    measure = Measure(one.name, one.role)
    made = next((each for each in known.answers if each.measure == measure), None)
    return _printed_error(known, measure) if made is None else _error(known, made)


def _printed_error(known: Known, measure: tuple[str, str]) -> float:
    """Return half of one in the last printed digit, in the storage unit; 0 for texts that are no number.

    Values of several processes are printed as ``9.5 + 10.2``, or ``9.5, 10.2`` where the largest counts.
    """
    value = known.figures.metrics.get(measure, 0.0)
    text = known.figures.printed.get(measure) or repr(value)
    parts, join = (text.split(" + "), sum) if " + " in text else (text.split(", "), max)
    try:
        half = join([step(part) / 2 for part in parts])
    except ValueError:
        return 0.0
    try:
        number = join(map(read_number, parts))
    except ValueError:
        return half  # A time such as 10:00.03, in seconds.
    return half * abs(value / number) if number else half


def explain_derivation(derived: Derived) -> str:
    """Return the formula in numbers with the result. Raise KeyError if no longer declared."""
    terms: dict[str, list[str]] = defaultdict(list)
    for one in derived.inputs:
        terms[one.term].append(_in_numbers(one))
    texts = {term: parts[0] if len(parts) == 1 else f"({' + '.join(parts)})" for term, parts in terms.items()}
    value, printed = derived.value, BY_NAME[derived.measure.metric].decimals
    result = f"{value:.0f}" if value.is_integer() else result_text(value, printed)
    return f"{BY_ID[derived.formula].expression.write(texts)} = {result}"


def _in_numbers(one: Input) -> str:
    """Return an input's number without the noise of subtraction; for snapshots both times."""
    if isinstance(one.before, datetime):
        return f"{one.after} − {one.before}"
    return f"{one.value:.0f}" if one.value.is_integer() else f"{one.value:.12g}"
