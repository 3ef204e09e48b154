"""How a figure is drawn, beside what it shows: parameters that travel with the query string of a Query."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from perfdb.analysis.query import parameters
from perfdb.analysis.query.parameters import QueryError


class Draw(StrEnum):
    """What is drawn of the tables: each by itself, or throughput and cost in one figure, or the differences.

    ``both`` has an axis for each of the first two metrics, ``efficiency`` the second over the first, ``heat`` the
    differences from the baseline as a coloured grid.
    """

    EACH = "each"
    BOTH = "both"
    EFFICIENCY = "efficiency"
    HEAT = "heat"


class Marks(StrEnum):
    """Lines over a numeric axis and bars over names, unless said otherwise."""

    AUTO = "auto"
    LINES = "lines"
    BARS = "bars"


class Errors(StrEnum):
    """What error bars reach over: the mean's 95 % interval, or from the smallest to the largest trial."""

    INTERVAL = "interval"
    SPREAD = "spread"
    NONE = "none"


class Trials(StrEnum):
    """Whether the single trials stand as points at their mean."""

    HIDDEN = "hidden"
    POINTS = "points"


class Axes(StrEnum):
    """Which axes are logarithmic."""

    NONE = "none"
    X = "x"
    Y = "y"
    BOTH = "both"


class Scale(StrEnum):
    """Values in the metric's unit, or each cell as a ratio to its baseline."""

    UNIT = "unit"
    BASELINE = "baseline"


class Facets(StrEnum):
    """The tables of a split as figures of their own, or as small figures with common axes in one."""

    APART = "apart"
    TOGETHER = "together"


@dataclass(frozen=True, slots=True)
class Drawing:
    """The choices; every one has a default, which is not written."""

    draw: Draw = Draw.EACH
    marks: Marks = Marks.AUTO
    log: Axes = Axes.NONE
    errors: Errors = Errors.INTERVAL
    trials: Trials = Trials.HIDDEN
    scale: Scale = Scale.UNIT
    facets: Facets = Facets.APART

    @classmethod
    def parse(cls, pairs: Iterable[tuple[str, str]]) -> tuple[Self, list[tuple[str, str]]]:
        """Read the drawing's parameters and leave the others; raises QueryError for a choice that there is not."""
        given: dict[str, list[str]] = {}
        rest = []
        for name, text in pairs:
            if name in DRAWING_PARAMETERS:
                given.setdefault(name, []).append(text)
            else:
                rest.append((name, text))
        chosen = {
            name: parameters.parse_choice(kind, name, parameters.single_value(given, name), kind(_default(name)))
            for name, kind in DRAWING_PARAMETERS.items()
        }
        return cls(**chosen), rest  # type: ignore[arg-type] # each name has the type of its field

    def pairs(self) -> Iterator[tuple[str, str]]:
        """What differs from the default, as it travels."""
        for name in DRAWING_PARAMETERS:
            if (chosen := getattr(self, name)) != _default(name):
                yield name, str(chosen)

    def log_axis(self, axis: str) -> bool:
        """Whether ``x`` or ``y`` is logarithmic."""
        return self.log in (axis, Axes.BOTH)


DRAWING_PARAMETERS: dict[str, type[StrEnum]] = {
    "draw": Draw,
    "marks": Marks,
    "log": Axes,
    "errors": Errors,
    "trials": Trials,
    "scale": Scale,
    "facets": Facets,
}


def _default(name: str) -> str:
    return str(getattr(_DEFAULT, name))


_DEFAULT = Drawing()


def check_drawing(drawing: Drawing, *, compared: bool, measures: int) -> None:
    """Raises QueryError for a drawing that needs what the query does not ask for; ``measures``: how many it has."""
    if not compared and drawing.scale is Scale.BASELINE:
        raise QueryError("scale", f"scale=baseline {_NEEDS_BASELINE}")
    if not compared and drawing.draw is Draw.HEAT:
        raise QueryError("draw", f"draw=heat {_NEEDS_BASELINE}")
    if drawing.draw in (Draw.BOTH, Draw.EFFICIENCY) and measures < 2:
        needed = "two metrics, such as metric=trans_per_s&metric=cpu_ms_per_trans"
        raise QueryError("draw", f"draw={drawing.draw} needs {needed}")


_NEEDS_BASELINE = "needs a baseline, such as baseline=device:QDIO"
