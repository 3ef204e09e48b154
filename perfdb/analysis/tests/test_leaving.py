"""Cells without one of their trials, against the others added up anew."""

import math
import random
from collections.abc import Sequence

import pytest

from perfdb.analysis.comparing.leaving import Leaving
from perfdb.analysis.comparing.spreads import spread

_CHANCE = random.Random(5)
CELLS = {
    "usual": [_CHANCE.lognormvariate(5, 0.05) for _ in range(40)],
    "of very different conditions": [_CHANCE.lognormvariate(5, 3) for _ in range(400)],
    "one beside equal ones": [7.1, 7.1, 7.1, 7.1, 9e9],
    "one beyond all measure": [3.0, 3.1, 3.2, 1e300],
    "three": [1.0, 2.0, 4.0],
}


@pytest.mark.parametrize("step", [None, 0.01])
@pytest.mark.parametrize("values", CELLS.values(), ids=CELLS)
def test_what_is_left_is_as_if_the_trial_had_never_been(values: Sequence[float], step: float | None) -> None:
    leaving = Leaving(values, list(map(math.log, values)), step)
    for at in range(len(values)):
        others = [value for place, value in enumerate(values) if place != at]
        mean, own = leaving.without(at)
        expected = spread((others,), step)
        assert own.variance == pytest.approx(expected.variance, rel=1e-6)
        assert own.freedom == expected.freedom
        assert own.known == expected.known
        assert mean == pytest.approx(sum(map(math.log, others)) / len(others), rel=1e-9)
