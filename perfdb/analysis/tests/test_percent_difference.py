"""The difference in per cent: calculated and printed."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfdb.analysis.percent_difference import percent_difference, printed_percent
from perfdb.analysis.verdicts.cells import Cell
from perfdb.analysis.verdicts.judge import judge


@pytest.mark.parametrize(
    ("base", "new", "percent", "printed"),
    [
        (2127.32, 2539.11, 19.357, "19%"),
        (13823.21, 14341.54, 3.750, "4%"),
        (31914.04, 31966.42, 0.164, "0%"),
        (0.065, 0.0559, -14.0, "-14%"),
        (44.6, 54.5, 22.197, "22%"),
        (100.0, 100.5, 0.5, "1%"),
        (8.0, 7.88, -1.5, "-2%"),
    ],
)
def test_differences(base: float, new: float, percent: float, printed: str) -> None:
    own = percent_difference(base, new)
    assert own == pytest.approx(percent, abs=5e-4)
    assert printed_percent(own) == printed


@pytest.mark.parametrize(
    ("percent", "printed"),
    [
        (0.5, "1%"),
        (-0.5, "-1%"),
        (-0.49, "0%"),
        (-0.0, "0%"),
        (2.5, "3%"),
        (-2.5, "-3%"),
        (1234.5, "1235%"),
        (None, "n/a"),
    ],
)
def test_printing_rounds_half_away_from_zero(percent: float | None, printed: str) -> None:
    assert printed_percent(percent) == printed


@pytest.mark.parametrize(("percent", "printed"), [(3.2, "+3%"), (0.2, "0%"), (-3.2, "-3%"), (None, "n/a")])
def test_a_rise_can_be_printed_with_its_sign(percent: float | None, printed: str) -> None:
    assert printed_percent(percent, plus=True) == printed


@pytest.mark.parametrize("base", [0.0, -0.0, -3.0, None, math.inf, math.nan, 5e-324])
def test_a_base_without_meaning_has_no_difference(base: float | None) -> None:
    assert percent_difference(base, 7.0) is None


@pytest.mark.parametrize("new", [0.0, -1.0, None])
def test_a_new_side_without_a_positive_value_has_no_difference(new: float | None) -> None:
    assert percent_difference(4.0, new) is None


def test_a_missing_side_leaves_the_mean_of_the_other() -> None:
    (empty,) = judge([Cell({"a": [4.0]}, {})]).comparisons
    assert (empty.percent, empty.base_mean) == (None, 4.0)
    (lacking,) = judge([Cell({}, {"b": [4.0]})]).comparisons
    assert (lacking.percent, lacking.base_mean) == (None, None)


def test_means_are_not_rounded_before() -> None:
    (found,) = judge([Cell({"a": [100.0, 100.4]}, {"b": [104.7, 104.8]})]).comparisons
    assert printed_percent(found.percent) == "5%"
    # Both means printed without decimals would give 4.8%, and the first figures alone 4.7%.
    assert found.percent == pytest.approx(4.541, abs=1e-3)


@given(st.floats(-1e6, 1e6))
def test_what_is_printed_is_at_most_half_a_per_cent_off(percent: float) -> None:
    text = printed_percent(percent)
    assert abs(float(text.removesuffix("%")) - percent) <= 0.5 + 1e-9
    assert not text.startswith("-0")
