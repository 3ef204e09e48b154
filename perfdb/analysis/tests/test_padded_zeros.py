"""Figures padded with zeros: recognised in rows, never in single figures."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfdb.analysis.audit.printed_values import Printed, detect_padding
from perfdb.analysis.checks.finding import Quantity
from perfdb.analysis.metrics import Measure


def half_steps(*texts: str, place: str = "Table 7") -> list[float | None]:
    figures = [Printed(Measure("processor_util", "one"), Quantity(text), place) for text in texts]
    return [figure.half_step for figure in detect_padding(figures)]


def test_a_padded_row() -> None:
    assert half_steps("88.70", "85.80", "86.70", "84.70", "92.70") == [0.05] * 5


def test_the_exact_figure_in_a_padded_row_keeps_its_digits() -> None:
    assert half_steps("22.00", "19.30", "19.33", "22.70", "20.70") == [0.05, 0.05, None, 0.05, 0.05]


def test_two_digits_of_padding() -> None:
    assert half_steps("150.00", "120.00", "330.00", "600.00") == [0.5] * 4
    assert half_steps("150.00", "120.00", "330.00", "601.10") == [0.05] * 4


def test_padding_stops_at_the_decimal_point() -> None:
    assert half_steps("100", "200", "300", "400") == [None] * 4


@pytest.mark.parametrize(
    "texts",
    [
        ("88.70", "85.80"),
        ("88.71", "85.82", "86.70", "84.77"),
        ("118.0", "118.0", "118.0", "118.0", "118.0", "36.4"),
        ("0.00", "1.10", "2.20"),
        ("98.50", "89.00", "92.97", "86.61", "76.39"),
        (),
        ("junk", "n/a"),
    ],
)
def test_what_is_not_padded(texts: tuple[str, ...]) -> None:
    assert half_steps(*texts) == [None] * len(texts)


def test_rows_are_judged_apart() -> None:
    first = [Printed(Measure("cpu_util"), Quantity(text), "Table 6") for text in ("1.10", "2.20", "3.30", "4.40")]
    other = [Printed(Measure("cpu_util"), Quantity(text), "Table 7") for text in ("5.50", "6.67", "7.71")]
    digit = [Printed(Measure("cpu_util"), Quantity("9.0"), "Table 6")]
    found = detect_padding([*first, *other, *digit])
    assert [figure.half_step for figure in found] == [pytest.approx(0.05)] * 4 + [None] * 4


def test_a_given_half_step_stays() -> None:
    figures = [Printed(Measure("cpu_util"), Quantity(text), half_step=1.0) for text in ("1.10", "2.20", "3.30")]
    assert detect_padding(figures) == figures


@given(st.lists(st.integers(0, 9999), max_size=8), st.integers(0, 3))
def test_padding_only_widens(numbers: list[int], decimals: int) -> None:
    figures = [Printed(Measure("cpu_util"), Quantity(f"{number / 10**decimals:.{decimals}f}")) for number in numbers]
    for before, after in zip(figures, detect_padding(figures), strict=True):
        assert before.interval is not None
        assert after.interval is not None
        assert after.interval.low <= before.interval.low
        assert after.interval.high >= before.interval.high
        assert after.quantity == before.quantity
