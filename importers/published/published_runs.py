"""Content of a published table: runs, values, differences, and problems."""

from dataclasses import dataclass, field

from importers.model import Problem
from importers.published.mapping import What


@dataclass(frozen=True, slots=True)
class PrintedValue:
    """A dimension's value, normalised and printed, with line (0: by a person)."""

    value: str
    printed: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class Figure:
    """A printed number.

    ``number`` is its text without marks; ``read_as`` is its unit for conversion.
    """

    metric: str
    role: str
    printed: str
    number: str
    unit: str
    read_as: str
    decimals: int
    row_label: str
    column_label: str
    line: int
    column: int


@dataclass(slots=True)
class PublishedRun:
    """A run, or a mean over trials, with facts and values."""

    facts: dict[str, PrintedValue]
    figures: list[Figure] = field(default_factory=list)

    def figure(self, metric: str, role: str) -> Figure | None:
        """Return the run's value of a metric and role, or None."""
        return next((each for each in self.figures if (each.metric, each.role) == (metric, role)), None)


@dataclass(frozen=True, slots=True)
class Percent:
    """A printed difference of ``compared`` relative to ``baseline``, both indexes of runs.

    ``kind`` is one of DIFFERENCES.
    """

    metric: str
    role: str
    printed: str
    number: str
    decimals: int
    compared: int
    baseline: int
    row_label: str
    column_label: str
    line: int
    column: int
    kind: What = What.DIFFERENCE


@dataclass(slots=True)
class Applied:
    """The runs and differences of a table by its mapping, and problems."""

    runs: list[PublishedRun] = field(default_factory=list)
    percents: list[Percent] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
