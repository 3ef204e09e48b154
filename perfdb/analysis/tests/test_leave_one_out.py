"""Cells without one of their trials, against the others added up anew."""

import math
import random
from collections.abc import Sequence

import numpy as np
import pytest

from perfdb.analysis.comparison.leave_one_out import leave_one_out
from perfdb.analysis.comparison.spreads import Logs, spread

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
    others_of = [[value for place, value in enumerate(values) if place != at] for at in range(len(values))]
    # Beside other cells, and trials without a logarithm.
    logs = Logs.from_samples([[1.0, 2.0], [0.0, *values], [5.0, 5.5, 7.0]])
    means, spreads = leave_one_out(logs, [None, step, 1.0], np.arange(2, 2 + len(values)))
    for at, others in enumerate(others_of):
        expected, own = spread((others,), step), spreads.spread_at(at)
        assert own.variance == pytest.approx(expected.variance, rel=1e-6)
        assert own.freedom == expected.freedom
        assert own.is_known == expected.is_known
        assert means[at] == pytest.approx(sum(map(math.log, others)) / len(others), rel=1e-9)
