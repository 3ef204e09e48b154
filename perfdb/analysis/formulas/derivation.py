"""Working out what follows within one run, and saying how."""

from datetime import datetime
from math import isfinite

from perfdb.analysis.formulas.catalogue import BY_ID, FORMULAS
from perfdb.analysis.formulas.figures import Derived, Input, Known, RunFigures
from perfdb.analysis.formulas.formula import Formula
from perfdb.analysis.metrics import BY_NAME, TOTAL, Measure
from perfdb.analysis.units import round_half_up

_SIGNIFICANT = 4


def derive(figures: RunFigures) -> list[Derived]:
    """Everything that follows from the figures of one run, each measure once, inputs before what uses them."""
    known = Known(figures)
    answers: list[Derived] = []
    for formula in FORMULAS:
        for role in (TOTAL, *known.roles()) if formula.per_role else (TOTAL,):
            derived = _apply(formula, known, role)
            if derived is not None:
                answers.append(derived)
                known.derived[derived.measure] = derived.value
    return answers


def _apply(formula: Formula, known: Known, role: str) -> Derived | None:
    """The formula's value for a role; None where a term is missing, is a zero divisor, or it was derived before."""
    measure = Measure(formula.metric, role)
    if measure in known.derived or not formula.when(known.figures):
        return None
    found = [term.find(known, role) for term in formula.terms]
    if not all(found):
        return None
    inputs = tuple(one for each in found for one in each)
    try:
        value = formula.expression.evaluate(_values(inputs))
    except ZeroDivisionError:
        return None
    return Derived(measure, value, formula.id, formula.version, inputs) if isfinite(value) else None


def _values(inputs: tuple[Input, ...]) -> dict[str, float]:
    """The terms' values: the sums of their inputs."""
    values: dict[str, float] = {}
    for one in inputs:
        values[one.term] = values.get(one.term, 0.0) + one.value
    return values


def explain(derived: Derived) -> str:
    """The formula with the numbers put in: ``(611.78 + 611.27) / (2 × 632) × 100 = 96.760``.

    Raises KeyError for a value of a formula that is no longer declared.
    """
    terms: dict[str, list[str]] = {}
    for one in derived.inputs:
        terms.setdefault(one.term, []).append(_in_numbers(one))
    texts = {term: parts[0] if len(parts) == 1 else f"({' + '.join(parts)})" for term, parts in terms.items()}
    return f"{BY_ID[derived.formula].expression.write(texts)} = {_result(derived)}"


def _in_numbers(one: Input) -> str:
    """An input's number, without the last digits in which subtraction leaves noise; for snapshots both moments."""
    if isinstance(one.before, datetime):
        return f"{one.after} − {one.before}"
    return f"{one.value:.0f}" if one.value.is_integer() else f"{one.value:.12g}"


def _result(derived: Derived) -> str:
    """One decimal more than tables print, and as many as four significant digits need."""
    value = derived.value
    if value.is_integer():
        return f"{value:.0f}"
    needed = _SIGNIFICANT - 1 - int(f"{value:e}".partition("e")[2])
    return round_half_up(value, max(needed, BY_NAME[derived.measure.metric].decimals + 1))
