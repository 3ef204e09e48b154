"""The audit of printed percentages: a row of differences against the two rows that it compares."""

from collections.abc import Iterable
from dataclasses import dataclass

from perfdb.analysis.audit.disagreement import Disagreement, Kind, ends, grade
from perfdb.analysis.audit.operands import Bound, Operand, compute, in_words
from perfdb.analysis.audit.printed_values import Interval, Printed
from perfdb.analysis.audit.wording import name, number
from perfdb.analysis.checks.finding import Quantity
from perfdb.analysis.formulas.expression import Expression, Number
from perfdb.analysis.units import decimals, round_half_up


@dataclass(frozen=True, slots=True)
class PercentRow:
    """A printed difference in per cent between two printed figures of one measure: ``other`` against ``base``."""

    base: Printed
    other: Printed
    percent: Quantity
    place: str = ""


def _unknown(view: object, role: str) -> Bound | None:
    return None


_BASE = Operand("base", "base", _unknown)
_OTHER = Operand("other", "value", _unknown)
PERCENT: Expression = Number(100) * (_OTHER / _BASE - Number(1))
PERCENT_TEXT = in_words(PERCENT)


def percent_interval(base: Interval, other: Interval) -> Interval | None:
    """What 100 × (other / base − 1) can be, given the rounding of both; None for a base of zero."""
    return compute(PERCENT, {"base": Bound(base, ""), "other": Bound(other, "")})


def audit_percent(row: PercentRow) -> Disagreement | None:
    """The disagreement of a printed percentage with its operands; None when it is consistent or cannot be checked.

    It is consistent when it lies within half its last digit of what the operands' rounding allows. How far it is off
    is graded by the ratio of the two figures that it stands for: −21 % for −31 % is 0.79 for 0.69.
    """
    base, other, printed = row.base.interval, row.other.interval, row.percent.value
    wanted = percent_interval(base, other) if base is not None and other is not None else None
    if wanted is None or printed is None:
        return None
    half = row.percent.half_step
    if Interval(printed - half, printed, printed + half).meets(wanted):
        return None
    text = PERCENT.write({"base": row.base.in_own_unit, "other": row.other.in_own_unit})
    formula = f"{text} = {round_half_up(wanted.value, decimals(row.percent.text) + 1)} %"
    meant = _reading(row, printed, wanted)
    message = (
        f"The difference of {name(row.base.measure)} is printed as {row.percent.text} %, but follows to be {formula}"
    )
    return Disagreement(
        kind=Kind.PERCENT,
        severity=grade(1 + printed / 100, 1 + wanted.value / 100),
        measure=row.base.measure,
        printed=row.percent.text,
        recomputed=wanted.value,
        interval=ends(wanted),
        unit="%",
        formula=formula,
        message=f"{message}; {meant}." if meant else f"{message}.",
        reading=meant,
        place=row.place,
        line=row.percent.line,
    )


def audit_percents(rows: Iterable[PercentRow]) -> list[Disagreement]:
    """The disagreements of many percentages, in their order."""
    return [found for row in rows if (found := audit_percent(row))]


def _reading(row: PercentRow, printed: float, wanted: Interval) -> str:
    """What may have been meant: the sign is wrong, or the base and the other were taken the other way round."""
    half = row.percent.half_step
    if Interval(-printed - half, -printed, -printed + half).meets(wanted):
        return "its sign is probably wrong"
    base, other = row.base.interval, row.other.interval
    turned = percent_interval(other, base) if base is not None and other is not None else None
    if turned is not None and Interval(printed - half, printed, printed + half).meets(turned):
        return f"it is {number(turned.value)} % the other way round"
    return ""
