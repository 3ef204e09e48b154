"""What a published table says: runs with their figures, differences in per cent, and what could not be read."""

from dataclasses import dataclass, field

from importers.model import Problem


@dataclass(frozen=True, slots=True)
class Said:
    """A dimension's value, made plain, as it is printed, and the line; line 0 means that a person gave it."""

    value: str
    printed: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class Figure:
    """A printed figure. ``number`` is its text without marks; ``read_as`` is its unit for the conversion."""

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
    """A run, or a mean over trials, as one table has it: what is said of it, and its figures."""

    facts: dict[str, Said]
    figures: list[Figure] = field(default_factory=list)

    def figure(self, metric: str, role: str) -> Figure | None:
        """The run's figure of a measure; None where the table has none."""
        return next((each for each in self.figures if (each.metric, each.role) == (metric, role)), None)


@dataclass(frozen=True, slots=True)
class Percent:
    """A printed difference: how much larger the figure of ``compared`` is; both are indexes of runs."""

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


@dataclass(slots=True)
class Applied:
    """What a table says by its mapping, and what could not be read."""

    runs: list[PublishedRun] = field(default_factory=list)
    percents: list[Percent] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
