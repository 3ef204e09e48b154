"""Verdicts about pages on a busy machine."""

import pytest

from bench.browser import verdict
from bench.measure import Verdict


@pytest.mark.parametrize(
    ("value", "load", "expected"),
    [(90, 1.0, Verdict.HOLDS), (150, 1.0, Verdict.OVER), (150, 1.6, Verdict.NOISY), (150, 1.4, Verdict.OVER)],
)
def test_a_busy_machine_explains_a_time_over_the_bar(value: float, load: float, expected: Verdict) -> None:
    assert verdict(value, 100, load) is expected
