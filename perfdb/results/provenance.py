"""Where a run's numbers come from: each figure with origin, printed text, formula, inputs and log lines."""

from collections.abc import Sequence
from dataclasses import dataclass

from perfdb.analysis.metrics import Measure, Metric
from perfdb.results.models import Run


@dataclass(frozen=True, slots=True)
class Place:
    """A line of an artifact."""

    artifact: int
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Input:
    """One input of a derived figure: a ``metric`` (facts such as users too) or a ``counter``.

    For a counter ``value`` is after minus before, both given with their places; units are base units.
    """

    kind: str
    name: str
    role: str
    value: float
    unit: str
    place: Place | None
    subject: str = ""
    before: float | None = None
    after: float | None = None
    before_place: Place | None = None


@dataclass(frozen=True, slots=True)
class AppliedFormula:
    """A formula with the numbers put in."""

    id: str
    version: int
    text: str
    source: str
    worked: str
    inputs: Sequence[Input]


@dataclass(frozen=True, slots=True)
class Figure:
    """One measurement of a run. ``origin``: reported, derived, published or given."""

    measure: Measure
    metric: Metric
    value: float
    origin: str
    printed: str
    place: Place | None
    formula: AppliedFormula | None


def figures(run: Run) -> list[Figure]:
    """All measurements of a run in the metrics' order, total first, then the roles by name."""
    raise NotImplementedError
