"""Chart options: parameters in the query string that change drawing, not content."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Self

from perfdb.analysis.query import parameters
from perfdb.analysis.query.parameters import QueryError


class Draw(StrEnum):
    """Kind of chart.

    ``each``: a chart per table. ``both``: an axis for each of the first two metrics. ``efficiency``: the second over
    the first. ``heat``: differences from the baseline as a coloured grid.
    """

    EACH = "each"
    BOTH = "both"
    EFFICIENCY = "efficiency"
    HEAT = "heat"


class Marks(StrEnum):
    """Lines or bars; by default lines over a numeric axis and bars over names."""

    AUTO = "auto"
    LINES = "lines"
    BARS = "bars"


class Errors(StrEnum):
    """Error bars: the mean's 95% interval, or smallest to largest trial."""

    INTERVAL = "interval"
    SPREAD = "spread"
    NONE = "none"


class Trials(StrEnum):
    """Single trials: hidden, or drawn as points."""

    HIDDEN = "hidden"
    POINTS = "points"


class Axes(StrEnum):
    """Logarithmic axes; by default users that span more than a factor of 16."""

    AUTO = "auto"
    NONE = "none"
    X = "x"
    Y = "y"
    BOTH = "both"


class Scale(StrEnum):
    """Values in the metric's unit, or relative to the baseline."""

    UNIT = "unit"
    BASELINE = "baseline"


class Facets(StrEnum):
    """The tables of a split as separate charts, or as small multiples."""

    APART = "apart"
    TOGETHER = "together"


@dataclass(frozen=True, slots=True)
class Drawing:
    """Chart options; the query string holds only those that are not default."""

    draw: Draw = Draw.EACH
    marks: Marks = Marks.AUTO
    log: Axes = Axes.AUTO
    errors: Errors = Errors.INTERVAL
    trials: Trials = Trials.HIDDEN
    scale: Scale = Scale.UNIT
    facets: Facets = Facets.APART

    @classmethod
    def parse(cls, pairs: Iterable[tuple[str, str]]) -> tuple[Self, list[tuple[str, str]]]:
        """Split parameters into chart options and the others. Raise QueryError for unknown choices."""
        given: dict[str, list[str]] = {}
        rest = []
        for name, text in pairs:
            if name in DRAWING_PARAMETERS:
                given.setdefault(name, []).append(text)
            else:
                rest.append((name, text))
        chosen = {
            name: parameters.parse_choice(type(default), name, parameters.single_value(given, name), default)
            for name, default in _DEFAULTS.items()
        }
        return cls(**chosen), rest  # type: ignore[arg-type] # each name has the type of its field

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Yield options that differ from the default."""
        for name, default in _DEFAULTS.items():
            if (chosen := getattr(self, name)) != default:
                yield name, str(chosen)

    def log_axis(self, axis: str) -> bool:
        """Return whether ``x`` or ``y`` is logarithmic."""
        return self.log in (axis, Axes.BOTH)


_DEFAULTS: dict[str, StrEnum] = {each.name: getattr(Drawing(), each.name) for each in fields(Drawing)}
DRAWING_PARAMETERS: dict[str, type[StrEnum]] = {name: type(default) for name, default in _DEFAULTS.items()}


def check_drawing(drawing: Drawing, *, compared: bool, measures: int) -> None:
    """Raise QueryError for options that need a baseline or two measures."""
    if not compared and drawing.scale is Scale.BASELINE:
        raise QueryError("scale", f"scale=baseline {_NEEDS_BASELINE}")
    if not compared and drawing.draw is Draw.HEAT:
        raise QueryError("draw", f"draw=heat {_NEEDS_BASELINE}")
    if drawing.draw in (Draw.BOTH, Draw.EFFICIENCY) and measures < 2:
        needed = "two metrics, such as metric=trans_per_s&metric=cpu_ms_per_trans"
        raise QueryError("draw", f"draw={drawing.draw} needs {needed}")


_NEEDS_BASELINE = "needs a baseline, such as baseline=device:QDIO"
