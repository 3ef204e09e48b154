"""The trials of a cell without one of them: their mean and spread, from sums that are made once for the cell.

Added up anew for each of its trials, a cell of five thousand would take the square of that.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from perfdb.analysis.comparing.spreads import Spread, rounding_variance, spread

# A difference that is so much smaller than what it is of has lost its digits.
_LOST = 1e-9


@dataclass(slots=True)
class Leaving:
    """``values`` of at least three trials, all of which have a logarithm, these ``logs``; ``step`` as in ``spread``."""

    values: Sequence[float]
    logs: Sequence[float]
    step: float | None
    mean: float = field(init=False)
    squares: float = field(init=False)
    total: float = field(init=False)

    def __post_init__(self) -> None:
        self.mean = math.fsum(self.logs) / len(self.logs)
        self.squares = math.fsum([(log - self.mean) ** 2 for log in self.logs])
        self.total = math.fsum(self.values)

    def without(self, at: int) -> tuple[float, Spread]:
        """The mean of the other logarithms, and the spread of the others as ``spread`` has it."""
        others = len(self.logs) - 1
        away = self.logs[at] - self.mean
        squares = self.squares - away**2 * (others + 1) / others
        total = self.total - self.values[at]
        if squares <= _LOST * self.squares or total <= _LOST * self.total:
            return self._anew(at)
        variance = max(squares / (others - 1), rounding_variance(others, total, self.step))
        return self.mean - away / others, Spread(variance, others - 1)

    def _anew(self, at: int) -> tuple[float, Spread]:
        values, logs = ([*each[:at], *each[at + 1 :]] for each in (self.values, self.logs))
        return math.fsum(logs) / len(logs), spread((values,), self.step)
