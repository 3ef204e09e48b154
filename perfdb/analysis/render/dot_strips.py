"""Dot strips: one dot for each matched pair on a ratio axis, on which half and twice are equally far from 0."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from perfdb.analysis.render.sentences import Pair
from perfdb.analysis.units import short_percent
from perfdb.analysis.verdicts.cells import Effect, Scope
from perfdb.analysis.verdicts.words import describe_comparison

# A strip's width in pixels, and the room at either end for half a tick.
WIDTH, _MARGIN = 200, 22
# Ratios at which the axis may have a tick; the largest that fits is shown on either side.
_TICKS = (1.02, 1.05, 1.1, 1.2, 1.3, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0)
_LEAST, _MOST = math.log(1.1), math.log(25.0)
_CENTRE = WIDTH / 2


class Dot(NamedTuple):
    """A pair's place in pixels. ``low`` and ``high`` are the ends of its interval, None without one.

    ``filled`` for repeated runs, hollow for a side of single runs. ``tone`` is "better", "worse" or "".
    """

    x: float
    low: float | None
    high: float | None
    filled: bool
    tone: str
    title: str


class Tick(NamedTuple):
    """A labelled place on the axis."""

    x: float
    text: str


class Scale(NamedTuple):
    """The axis of several strips; ``limit`` is the logarithm of the largest ratio."""

    limit: float

    @classmethod
    def of(cls, pairs: Iterable[Pair]) -> "Scale":
        """Return the axis on which all ratios and intervals of pairs have room."""
        ratios = [ratio for pair in pairs for ratio in (pair.comparison.ratio, *(pair.comparison.interval or ()))]
        logs = [abs(math.log(ratio)) for ratio in ratios if ratio and 0 < ratio < math.inf]
        return cls(min(max([_LEAST, *logs]), _MOST))

    def place(self, ratio: float) -> float:
        """Return the place of a ratio in pixels, at most at the end."""
        share = max(-1.0, min(1.0, math.log(ratio) / self.limit)) if ratio > 0 else -1.0
        return round(_CENTRE + share * (_CENTRE - _MARGIN), 1)

    @property
    def ticks(self) -> list[Tick]:
        """Return ticks: 0 and, on both sides, the largest round ratio that fits."""
        most = max(tick for tick in _TICKS if math.log(tick) <= self.limit + 1e-9)
        return [
            Tick(self.place(ratio), short_percent(ratio - 1, plus=True).replace("-", "−") if ratio != 1 else "0")
            for ratio in (1 / most, 1.0, most)
        ]

    def band(self, delta: float) -> tuple[float, float]:
        """Return start and width of the band of differences that count as same."""
        start = self.place(1 / (1 + delta))
        return start, round(self.place(1 + delta) - start, 1)


def place_dots(pairs: Sequence[Pair], scale: Scale) -> list[Dot]:
    """Return the pairs' dots; only verdicts that hold for other days have a tone."""
    dots = []
    for pair in pairs:
        comparison = pair.comparison
        low, high = map(scale.place, comparison.interval) if comparison.interval else (None, None)
        repeated = comparison.base.trials > 1 and comparison.new.trials > 1
        known = comparison.scope is Scope.DAYS_KNOWN and comparison.effect in (Effect.BETTER, Effect.WORSE)
        tone = comparison.effect.value if known else ""
        title = ": ".join(filter(None, (pair.name, describe_comparison(comparison))))
        dots.append(Dot(scale.place(comparison.ratio or 1.0), low, high, repeated, tone, title))
    return dots
