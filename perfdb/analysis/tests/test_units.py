"""Units: printed text to base and storage units, and rounding for print."""

import math
from decimal import ROUND_HALF_UP, Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from perfdb.analysis.metrics import METRICS
from perfdb.analysis.units import (
    convert,
    count_decimals,
    decimals,
    decimals_for,
    read_number,
    rescale,
    round_half_up,
    scale_unit,
    significant_text,
    step,
    to_base,
)


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("612.36", "s", 612.36),
        ("6.13", "ms", 0.00613),
        ("87", "us", 87e-6),
        ("87", "µs", 87e-6),
        ("87", "\u03bcs", 87e-6),
        ("5558569", "trans", 5558569),
        ("12", "", 12),
        ("1200", "bytes", 1200),
        ("8", "KB", 8192),
        ("20", "MB", 20 * 2**20),
        ("1", "GB", 2**30),
        ("1", "MB/s", 2**20),
        ("1", "MB/sec", 2**20),
        ("1.5", "MB/s 10^6", 1.5e6),
        ("8", "bit/s", 1),
        ("1", "Gbit/s", 125e6),
        ("1", "Gbits/sec", 125e6),
        ("8", "Mbps", 1e6),
        ("8", "Mb/s", 1e6),
        ("8", "10^6bits/s", 1e6),
        ("8", "Mbit/s 2^20", 2**20),
        ("98.5", "%", 98.5),
        ("22.3", "usec/Tran", 22.3e-6),
        ("1631.10", "trans per sec", 1631.10),
        ("022:18.25", "mmm:ss.hs", 22 * 60 + 18.25),
        ("14022:18.25", "mmm:ss.hs", 14022 * 60 + 18.25),
        ("043:51", "mmm:ss", 43 * 60 + 51),
        ("01:23:05", "hh:mm:ss", 4985),
        ("1m8.810s", "mmmss.s", 68.81),
        ("1250: 3:05", "hh:mm:ss", 1250 * 3600 + 185),
        ("01:23", "hh:mm", 4980),
        (" 1,234,567.5 ", "bytes", 1234567.5),
        ("1 234 567", "bytes", 1234567),
        ("1.5e3", "bit/s", 187.5),
    ],
)
def test_to_base(text: str, unit: str, value: float) -> None:
    assert to_base(text, unit) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "unit", "says"),
    [
        ("022:60.25", "mmm:ss.hs", "mmm:ss.hs"),
        ("022:18", "mmm:ss.hs", "mmm:ss.hs"),
        ("01:61:00", "hh:mm:ss", "hh:mm:ss"),
        ("1m61.0s", "mmmss.s", "mmmss.s"),
        ("1:2:3:4", "hh:mm", "hh:mm"),
        ("twelve", "s", "not a number"),
        ("", "s", "not a number"),
        (".", "s", "not a number"),
        ("0,5", "s", "not a number"),
        ("12,34", "s", "not a number"),
        ("12 34", "s", "not a number"),
        ("nan", "s", "not a number"),
        ("1e9999999", "s", "not a number"),
        ("1e999", "s", "too large"),
        ("٣", "s", "not a number"),
        ("5", "furlong", "furlong"),
        ("5", "MB/furlong", "furlong"),
        ("5", "ms 10^6", "not a unit"),
        ("5", "ms/s 10^6", "not a unit"),
        ("5", "MB one way", "not a unit"),
    ],
)
def test_what_does_not_fit_is_refused(text: str, unit: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        to_base(text, unit)


@pytest.mark.parametrize(
    ("text", "unit", "metric", "value"),
    [
        ("6.13", "ms", "response_ms", 6.13),
        ("1.2264", "s", "response_ms", 1226.4),
        ("10.39", "MB/s", "mb_per_s", 10.39),
        ("1.048576", "MB/s 10^6", "mb_per_s", 1.0),
        ("1000", "ns/GB 10^9", "cpu_ms_per_mb", 1.048576e-6),
        ("11.8", "us one way", "response_ms", 0.0236),
        ("941.5", "Mbit/s", "gbit_per_s", 0.9415),
        ("3990010000", "bit/s", "gbit_per_s", 3.99001),
        ("4.740", "us/KB", "cpu_ms_per_mb", 4.740 * 1.024),
        ("68.878", "us/Tr", "cpu_ms_per_trans", 0.068878),
        ("022:18.25", "mmm:ss.hs", "elapsed_s", 1338.25),
        ("8", "KB", "bytes_sent", 8192),
    ],
)
def test_convert_to_the_storage_unit(text: str, unit: str, metric: str, value: float) -> None:
    assert convert(text, unit, metric) == pytest.approx(value, rel=1e-15)


def test_convert_refuses_another_quantity() -> None:
    with pytest.raises(ValueError, match="response_ms is stored in ms"):
        convert("5", "MB/s", "response_ms")


def test_every_metric_has_a_unit_that_converts_to_itself() -> None:
    assert {convert("0.1", metric.unit, metric.name) for metric in METRICS} == {0.1}


@given(st.decimals(min_value=0, max_value=10**12, places=4))
def test_a_figure_in_its_storage_unit_stays_the_printed_number(number: Decimal) -> None:
    assert convert(str(number), "MB/s", "mb_per_s") == float(number)


@given(
    st.floats(min_value=1e-9, max_value=1e12),
    st.sampled_from([("s", "ms"), ("MB/s", "Gbit/s"), ("ms/MB", "us/KB"), ("GB", "bytes"), ("MB/s", "MB/s 10^6")]),
)
def test_units_round_trip(value: float, units: tuple[str, str]) -> None:
    there, back = units
    assert rescale(rescale(value, there, back), back, there) == pytest.approx(value, rel=1e-15)


def test_rescale_refuses_different_quantities() -> None:
    with pytest.raises(ValueError, match="different things"):
        rescale(1, "s", "bytes")


def test_decimals_and_step() -> None:
    texts = ["9077.29", "600", "0.10", "022:18.25", "1.5e3", "-3.0"]
    assert [decimals(text) for text in texts] == [2, 0, 2, 2, 0, 1]
    assert [step(text) for text in texts] == [0.01, 1, 0.01, 0.01, 100, 0.1]


def test_read_number() -> None:
    assert read_number("+1,000.25") == 1000.25


@pytest.mark.parametrize(
    ("value", "places", "text"),
    [
        (2.675, 2, "2.68"),
        (-2.675, 2, "-2.68"),
        (0.5, 0, "1"),
        (1.5, 0, "2"),
        (-0.4, 0, "0"),
        (-0.004, 2, "0.00"),
        (1e22, 1, "10000000000000000000000.0"),
        (1e300, 0, "1" + "0" * 300),
        (5e-324, 3, "0.000"),
    ],
)
def test_round_half_up(value: float, places: int, text: str) -> None:
    assert round_half_up(value, places) == text


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_round_half_up_refuses_what_is_no_number(value: float) -> None:
    with pytest.raises(ValueError, match="no decimals"):
        round_half_up(value, 2)


@given(st.floats(min_value=-1e15, max_value=1e15), st.integers(0, 6))
def test_round_half_up_is_that_of_the_printed_number(value: float, places: int) -> None:
    expected = Decimal(repr(value)).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    assert Decimal(round_half_up(value, places)) == expected
    assert float(round_half_up(value, places)) != 0 or not round_half_up(value, places).startswith("-")


@pytest.mark.parametrize(
    ("values", "least", "decimals"),
    [
        ((0.35, 12.0), 2, 2),
        ((0.0374,), 2, 3),
        ((0.00374, 5.0), 2, 4),
        ((0.09, 0.11), 2, 2),
        ((1e-9,), 2, 6),
        ((0.0,), 2, 2),
        ((), 3, 3),
        ((9e4,), 0, 0),
    ],
)
def test_small_numbers_are_printed_with_two_digits(values: tuple[float, ...], least: int, decimals: int) -> None:
    assert decimals_for(values, least) == decimals


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**18), 10**18)))
@example([0.1, 118.0, 1e15, 1e16, 123456789012345678.0, 1.25e-5, 1e-7, 5e-324, -0.0, 7, 1.7e308])
def test_the_last_digit_of_a_number_is_that_which_python_prints(values: list[float]) -> None:
    for value in values:
        assert count_decimals(value) == -int(Decimal(repr(float(value))).as_tuple().exponent)


@pytest.mark.parametrize(
    ("text", "unit", "metric", "value"),
    [
        ("6 + 19", "count", "packets_lost", 25.0),
        ("1.98 Mbits/sec + 970 Kbits/sec", "Mbits/sec", "gbit_per_s", 0.00295),
    ],
)
def test_a_sum_of_printed_numbers_is_added_up(text: str, unit: str, metric: str, value: float) -> None:
    assert convert(text, unit, metric) == pytest.approx(value)
    assert step("1.98 Mbits/sec + 1.95 Mbits/sec") == 0.01


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (13265.4, 4, "13\u202f270"),
        (0.14614, 4, "0.1461"),
        (9.9996, 4, "10.00"),
        (4846.13, 3, "4850"),
        (0, 4, "0"),
        (-0.5, 3, "-0.500"),
        (float("inf"), 3, "inf"),
    ],
)
def test_significant_digits(value: float, digits: int, text: str) -> None:
    assert significant_text(value, digits) == text


@pytest.mark.parametrize(
    ("unit", "largest", "scaled"),
    [
        ("ms", 10437.78, ("s", 1e3)),
        ("ms", 9999.0, ("ms", 1.0)),
        ("bytes", 8_070_123_456.0, ("GB", 1e9)),
        ("bytes", 64.0, ("bytes", 1.0)),
        ("trans/s", 123_456.0, ("trans/s", 1.0)),
    ],
)
def test_amounts_are_printed_in_a_unit_that_keeps_them_short(
    unit: str, largest: float, scaled: tuple[str, float]
) -> None:
    assert scale_unit(unit, largest) == scaled
