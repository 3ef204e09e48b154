"""Printed percentages against their operands: the published examples and the exact limits."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfdb.analysis.audit.audit_run import PercentRow, audit_percent, audit_percents, percent_interval
from perfdb.analysis.audit.printed_values import Disagreement, Interval, Printed
from perfdb.analysis.checks.finding import Quantity, Severity
from perfdb.analysis.metrics import Measure
from perfdb.analysis.tests.published import OSA_AGAINST_VSWITCH
from perfdb.analysis.units import round_half_up

MEASURE = Measure("cpu_ms_per_mb")


def row(base: str, other: str, percent: str) -> PercentRow:
    return PercentRow(
        Printed(MEASURE, Quantity(base)), Printed(MEASURE, Quantity(other)), Quantity(percent, "%", 12), "Table 2"
    )


def audit(base: str, other: str, percent: str) -> Disagreement | None:
    return audit_percent(row(base, other, percent))


def interval(base: str, other: str) -> tuple[float, float]:
    one, two = (Printed(MEASURE, Quantity(text)).interval for text in (base, other))
    assert one is not None
    assert two is not None
    found = percent_interval(one, two)
    assert found is not None
    return found.low, found.high


@pytest.mark.parametrize(
    ("base", "other", "ends"),
    [
        ("0.026", "0.0244", (-8.1, -4.1)),
        ("3.39", "3.68", (8.2, 8.9)),
        ("6.95", "4.79", (-31.2, -31.0)),
    ],
)
def test_published_intervals(base: str, other: str, ends: tuple[float, float]) -> None:
    assert interval(base, other) == pytest.approx(ends, abs=0.06)


def test_published_percentages() -> None:
    assert audit("0.026", "0.0244", "-4") is None
    assert audit("2127.32", "2539.11", "19") is None
    assert audit("0.065", "0.0559", "-14") is None
    assert audit("44.6", "54.5", "22") is None
    found = audit("6.95", "4.79", "-21")
    assert found is not None
    assert (found.severity, found.printed, found.unit, found.line) == (Severity.WARNING, "-21", "%", 12)
    assert found.recomputed == pytest.approx(-31.079, abs=0.001)
    assert found.formula == "100 × (4.79 / 6.95 − 1) = -31.1 %"
    assert found.place == "Table 2"


def test_a_published_study_has_sixteen_percentages_that_do_not_follow() -> None:
    audits = [
        audit(base, new, percent.removesuffix("%"))
        for row in OSA_AGAINST_VSWITCH
        for base, new, percent in zip(*(line.split() for line in row), strict=True)
    ]
    assert len(audits) == 72
    assert sum(found is not None for found in audits) == 16


def test_the_edge_of_the_interval_is_consistent() -> None:
    # 100 and 110 stand for 99.5 … 100.5 and 109.5 … 110.5: 8.9552 … 11.055%, and half a step beyond.
    consistent = {"8.5": False, "9": True, "8.91": False, "8.95": False, "8.96": True, "12": False}
    assert {percent: audit("100", "110", percent) is None for percent in consistent} == consistent


def test_the_grade_is_that_of_the_ratio() -> None:
    mild, bad = audit("2.64", "2.57", "-1"), audit("3.39", "3.68", "27")
    assert mild is not None
    assert bad is not None
    assert (mild.severity, bad.severity) == (Severity.NOTE, Severity.WARNING)


def test_other_readings() -> None:
    sign, turned = audit("10.00", "15.00", "-50"), audit("10.00", "15.00", "-33")
    assert sign is not None
    assert turned is not None
    assert sign.reading == "its sign is probably wrong"
    assert turned.reading == "it is -33.33 % the other way round"


@pytest.mark.parametrize(
    ("base", "other", "percent"), [("0.00", "5.00", "12"), ("junk", "5", "12"), ("5", "x", "12"), ("5", "6", "n/a")]
)
def test_what_cannot_be_checked(base: str, other: str, percent: str) -> None:
    assert audit(base, other, percent) is None


def test_a_base_that_may_be_zero_has_no_upper_end() -> None:
    found = percent_interval(Interval(0.0, 0.004, 0.005), Interval(1.0, 1.0, 1.0))
    assert found is not None
    assert found.high == float("inf")


def test_many_rows_keep_their_order() -> None:
    rows = [row("10.00", "15.00", "10"), row("10.00", "15.00", "50"), row("10.00", "15.00", "70")]
    assert [found.printed for found in audit_percents(rows)] == ["10", "70"]


NUMBERS = st.tuples(st.integers(100, 99_999), st.integers(0, 4))


def _text(number: tuple[int, int]) -> str:
    return round_half_up(number[0] / 10 ** number[1], number[1])


def _ends(text: str) -> tuple[Fraction, Fraction]:
    half = Fraction(1, 2) / 10 ** len(text.partition(".")[2])
    return Fraction(text) - half, Fraction(text) + half


@given(NUMBERS, NUMBERS, st.integers(0, 2), st.integers(-3, 3))
def test_a_percentage_is_found_exactly_when_it_is_out_of_reach(
    base: tuple[int, int], other: tuple[int, int], decimals: int, steps: int
) -> None:
    a, b = _text(base), _text(other)
    true = 100 * (Fraction(b) / Fraction(a) - 1)
    printed = round_half_up(float(true) + steps * 10.0**-decimals, decimals)
    low, high = (100 * (_ends(b)[end] / _ends(a)[1 - end] - 1) for end in (0, 1))
    least, most = _ends(printed)
    apart = max(least - high, low - most)
    # Exactly touching is decided within binary noise.
    if abs(apart) > Fraction(1, 10**9):
        assert (audit(a, b, printed) is not None) == (apart > 0)
