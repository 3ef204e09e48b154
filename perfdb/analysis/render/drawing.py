"""How a figure is drawn, beside what it shows: parameters that travel with the query string of a Query."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from perfdb.analysis import parameters
from perfdb.analysis.parameters import QueryError


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

    marks: Marks = Marks.AUTO
    log: Axes = Axes.NONE
    errors: Errors = Errors.INTERVAL
    scale: Scale = Scale.UNIT
    facets: Facets = Facets.APART

    @classmethod
    def take(cls, pairs: Iterable[tuple[str, str]]) -> tuple[Self, list[tuple[str, str]]]:
        """Read the drawing's parameters and leave the others; raises QueryError for a choice that there is not."""
        given: dict[str, list[str]] = {}
        rest = []
        for name, text in pairs:
            if name in DRAWING_PARAMETERS:
                given.setdefault(name, []).append(text)
            else:
                rest.append((name, text))
        chosen = {
            name: parameters.choice(kind, name, parameters.single(given, name), kind(_default(name)))
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
    "marks": Marks,
    "log": Axes,
    "errors": Errors,
    "scale": Scale,
    "facets": Facets,
}


def _default(name: str) -> str:
    return str(getattr(_DEFAULT, name))


_DEFAULT = Drawing()


def check(drawing: Drawing, *, compared: bool) -> None:
    """Raises QueryError for a drawing that needs what the query does not ask for."""
    if drawing.scale is Scale.BASELINE and not compared:
        raise QueryError("scale", "scale=baseline needs a baseline, such as baseline=device:QDIO")
