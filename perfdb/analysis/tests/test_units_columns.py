"""What is done with many numbers at once is what is done with each."""

import math
from random import Random

import numpy as np
import pytest

from perfdb.analysis import units, units_columns

TEXTS = [
    *(
        "1",
        "1.5",
        "-2.50",
        "+3",
        ".5",
        "5.",
        "1,234.5",
        "1 234",
        "0,5",
        "",
        "x",
        "1_0",
        "inf",
        "nan",
        "1e5",
        "1E-3",
        "1e0001",
    ),
    *("9" * 400, "1e999", " 7 ", "\u0663", "0.000", "--1", "1-5", "1\n2", "0x10", "1e", "12345678901234567890"),
]


def _read(text: str) -> float:
    try:
        return units.read_number(text)
    except ValueError:
        return math.nan


@pytest.mark.parametrize("texts", [TEXTS, [text for text in TEXTS if text.strip("0123456789.eE+-") == "" and text], []])
def test_numbers_are_read_as_each_is(texts: list[str]) -> None:
    np.testing.assert_array_equal(units_columns.read_numbers(texts), [_read(text) for text in texts])
    together = units_columns.read_numbers(texts, "\n".join(texts))
    np.testing.assert_array_equal(together, [_read(text) for text in texts])
    for text in texts:
        np.testing.assert_array_equal(units_columns.read_numbers([text]), [_read(text)])


def test_numbers_that_json_writes_are_read_as_each_is() -> None:
    random = Random(7)
    written = [repr(random.uniform(-1, 1) * 10 ** random.randrange(-300, 300)) for _ in range(3000)]
    written += [str(random.getrandbits(random.randrange(1, 100))) for _ in range(3000)]
    written += [f"{random.getrandbits(90)}.{random.getrandbits(60)}" for _ in range(3000)]
    assert units_columns.read_numbers(written).tolist() == list(map(float, written))
    assert units_columns.floats(["1_0", " 2 ", "inf"]).tolist() == [10.0, 2.0, math.inf]
    for other in ("1\n2", "true", "null", "[1", "1,2", ""):
        with pytest.raises(ValueError, match="could not convert"):
            units_columns.floats([other, "3", "2]"])
    signs = np.signbit(units_columns.read_numbers(["-0", "-0.0", "0"])).tolist()
    assert signs == [True, True, False]


def test_half_steps_are_half_of_each_step() -> None:
    plain = ["1", "1.5", "0.045", "5.", ".5", "100"]
    for texts in (plain, [*plain, "1e-3", "-2.50"]):
        assert units_columns.half_steps(texts).tolist() == [units.step(text) / 2 for text in texts]
    assert np.isnan(units_columns.half_steps(["x", "1"])).tolist() == [True, False]


def test_units_are_converted_as_each_is() -> None:
    texts = ["1", "2.345", "x", "1e-3"]
    expected = [units.convert(text, "us", "latency_p50_ms") if text != "x" else math.nan for text in texts]
    np.testing.assert_array_equal(units_columns.converted(texts, "us", "latency_p50_ms"), expected)


@pytest.mark.parametrize("least", [0, 1, 2, 3])
def test_numbers_are_rounded_for_print_as_halves_are(least: int) -> None:
    random = Random(least)
    values = [0.0, -1.25, 2.675, 0.125, 0.5, 1.5, 2.5, 1e-9, 1e16, 1e22, 0.1, 10.0, 1.005, 8.345, 1e15 + 0.5]
    values += [round(random.uniform(0, 100), random.randrange(8)) for _ in range(3000)]
    values += [random.randrange(10**6) / 10 ** (least + 1) + 5 / 10 ** (least + 1) for _ in range(3000)]
    values += [random.lognormvariate(0, 10) for _ in range(2000)]
    for value in values:
        expected = units.round_half_up(value, units.decimals_for([value], least))
        assert units.round_for_print(value, least) == expected, value
