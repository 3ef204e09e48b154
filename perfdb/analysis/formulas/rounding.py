"""Agreement of a derived value with a printed one, within the rounding of all numbers involved."""

from collections import defaultdict
from collections.abc import Mapping
from math import inf

from perfdb.analysis.formulas.formula import Expression
from perfdb.analysis.formulas.run_values import Derived, Input, InputKind, Known
from perfdb.analysis.metrics import Measure
from perfdb.analysis.units import read_number, step

# Clocks of CPU time count hundredths, or whole seconds; snapshots tell whole seconds.
_HUNDREDTH, _SECOND = 0.01, 1.0
_NOISE = 1e-9


def agrees_with_printed(known: Known, derived: Derived, expressions: Mapping[str, Expression]) -> bool:
    """Return whether no other value of its measure is printed; ``expressions`` by formula."""
    printed = known.figures.metrics.get(derived.measure)
    if printed is None:
        return True
    apart = abs(derived.value - printed) - abs(printed) * _NOISE - _printed_error(known, derived.measure)
    return apart <= 0 or apart <= _error(known, derived, expressions)


def _error(known: Known, derived: Derived, expressions: Mapping[str, Expression]) -> float:
    """Return the largest error of a derived value that rounded inputs cause."""
    values: dict[str, float] = defaultdict(float)
    for one in derived.inputs:
        values[one.term] += one.value
    expression, total = expressions[derived.formula], 0.0
    for one in derived.inputs:
        if error := _input_error(known, one, expressions):
            try:
                moved = expression.evaluate({**values, one.term: values[one.term] - error})
            except ZeroDivisionError:
                return inf
            total += abs(moved - derived.value)
    return total


def _input_error(known: Known, one: Input, expressions: Mapping[str, Expression]) -> float:
    if one.kind is InputKind.SNAPSHOT:
        return _SECOND
    if one.kind is InputKind.COUNTER and one.unit == "s":
        whole = all(isinstance(end, float) and end.is_integer() for end in (one.before, one.after))
        return _SECOND if whole else _HUNDREDTH
    if one.kind is not InputKind.METRIC:
        return 0.0
    measure = Measure(one.name, one.role)
    made = next((each for each in known.answers if each.measure == measure), None)
    return _printed_error(known, measure) if made is None else _error(known, made, expressions)


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
