"""Printed numbers of a run with intervals, and numbers that match no others.

A printed number is any value that would be printed so: half a step of its last digit either way.
"""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import combinations, takewhile
from math import comb, nan
from typing import NamedTuple

from perfdb.analysis.checks.finding import Quantity, Severity
from perfdb.analysis.metrics import BY_NAME, TOTAL, Measure
from perfdb.analysis.units import decimals, read_number, rescale, step
from perfdb.analysis.workloads import Workload

# Tolerance for binary noise of numbers exactly their half-steps apart.
_NOISE = 1e-12


class Method(StrEnum):
    """Method of CPU measurement.

    *Snapshot*: counters before and after the run. Utilisation is of the time between snapshots, the rate of the
    driver's shorter time, and the roles add up to the total. *Report*: a monitor's report over a window inside the
    run; its total comes from the system and is not the sum of the roles.
    """

    SNAPSHOT = "snapshot"
    REPORT = "report"


class Interval(NamedTuple):
    """A value with its lower and upper bound."""

    low: float
    value: float
    high: float

    @classmethod
    def exact(cls, value: float) -> "Interval":
        """Return the interval of an exact number."""
        return cls(value, value, value)

    def widened(self, tolerance: float) -> "Interval":
        """Return the interval widened by a relative tolerance."""
        return Interval(self.low - abs(self.low) * tolerance, self.value, self.high + abs(self.high) * tolerance)

    def reaches(self, other: "Interval") -> bool:
        """Return whether the value can be as small as the other one, or smaller."""
        return self.low <= other.high + _NOISE * max(abs(self.low), abs(self.value), abs(other.value))

    def meets(self, other: "Interval") -> bool:
        """Return whether both can be the same number."""
        return self.reaches(other) and other.reaches(self)


_NO_NUMBER = Interval(nan, nan, nan)


@dataclass(slots=True)
class Printed:
    """A printed number. ``place`` is its table, such as ``Table 6``.

    The unit of the quantity is the printed one, "" for the metric's own. ``half_step`` is given, in the printed
    unit, if the source is coarser than its last digit.
    """

    measure: Measure
    quantity: Quantity
    place: str = ""
    half_step: float | None = None
    interval: Interval = field(init=False, repr=False, compare=False)
    """Interval in the metric's own unit. All metrics are non-negative, so a zero has half a step upwards."""

    def __post_init__(self) -> None:
        self.interval = _NO_NUMBER
        with suppress(ValueError):
            value, factor = read_number(self.quantity.text), self.factor
            if value >= 0:
                half = step(self.quantity.text) / 2 if self.half_step is None else self.half_step
                self.interval = Interval(max(0.0, value - half) * factor, value * factor, (value + half) * factor)

    @property
    def is_number(self) -> bool:
        """Return whether the text is a number in a unit that fits."""
        return self.interval is not _NO_NUMBER

    @property
    def factor(self) -> float:
        """Return the factor from printed to own unit. Raise ValueError for another kind."""
        return rescale(1, self.quantity.unit, self.own_unit) if self.quantity.unit else 1.0

    @property
    def own_unit(self) -> str:
        """Return the metric's own unit."""
        return BY_NAME[self.measure.metric].unit

    @property
    def decimals(self) -> int:
        """Return the number of printed decimals."""
        return decimals(self.quantity.text)

    @property
    def in_own_unit(self) -> str:
        """Return the number's text in the metric's own unit, for formulas."""
        value = self.quantity.value
        if self.factor == 1 or value is None:
            return self.quantity.text.strip()
        return f"{value * self.factor:.12g}"


@dataclass(frozen=True, slots=True)
class PrintedRun:
    """Printed numbers of one run with its circumstances; None is unknown.

    ``think_ms`` 0: users never pause between transactions. ``asked_s``: the requested duration, a lower bound; the time
    between the snapshots is the upper bound. ``trials`` above 1: the numbers are means over trials, so that
    products and quotients hold only approximately. ``peers`` is equal for runs that differ in users and MTU alone.
    """

    figures: tuple[Printed, ...]
    users: int | None = None
    processors: float | None = None
    workload: Workload | None = None
    mtu: int | None = None
    line_bits_per_s: float | None = None
    think_ms: float | None = None
    method: Method | None = None
    asked_s: float | None = None
    trials: int = 1
    peers: Hashable = None
    _by_measure: dict[Measure, list[Printed]] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        for figure in self.figures:
            if figure.is_number:
                self._by_measure.setdefault(figure.measure, []).append(figure)

    def places(self) -> list[str]:
        """Return the places of the numbers, in order of appearance."""
        return list(dict.fromkeys(figure.place for figure in self.figures))

    def measures(self) -> frozenset[Measure]:
        """Return the measures with a printed number."""
        return frozenset(self._by_measure)

    def printings(self, measure: Measure) -> Sequence[Printed]:
        """Return every printing of a measure that is a number."""
        return self._by_measure.get(measure, ())


class View:
    """A run's numbers as in one place, with missing ones from other places."""

    def __init__(self, run: PrintedRun, place: str) -> None:
        self.run, self.place = run, place
        figures = [figure for figure in run.figures if figure.place == place]
        self.roles = tuple(dict.fromkeys(figure.measure.role for figure in figures))
        self._here = {figure.measure: figure for figure in reversed(figures) if figure.is_number}

    def here(self, measure: Measure) -> Printed | None:
        """Return the number printed in this place."""
        return self._here.get(measure)

    def find(self, measure: Measure) -> Printed | None:
        """Return this place's number, else the most exact elsewhere; None if other places disagree."""
        here = self.here(measure)
        if here is not None:
            return here
        others = self.run.printings(measure)
        if any(not one.interval.meets(other.interval) for one, other in combinations(others, 2)):
            return None
        return min(others, key=lambda figure: figure.interval.high - figure.interval.low, default=None)


# The probability below which zeros are taken for padding: four of five, or three of three.
CHANCE = 0.001


def detect_padding(figures: Sequence[Printed]) -> list[Printed]:
    """Return a document's numbers in order, zero-padded ones with their true half-step.

    Numbers of one measure, place and number of decimals are judged together. Numbers printed twice, which may be one,
    and zeros, which end in zero anyway, do not count. A given half-step stays.
    """
    groups: dict[tuple[object, ...], list[str]] = defaultdict(list)
    for figure in figures:
        if figure.is_number:
            groups[_group(figure)].append(figure.quantity.text.strip())
    padding = {key: _padding(texts) for key, texts in groups.items()}
    return [_with_half_step(each, padding[_group(each)]) if each.is_number else each for each in figures]


def _group(figure: Printed) -> tuple[object, ...]:
    return figure.measure, figure.place, figure.quantity.unit, figure.decimals


def _padding(texts: Sequence[str]) -> int:
    """Return the number of trailing zeros, at most, that are padding in these numbers."""
    judged = [text for text in dict.fromkeys(texts) if text.strip("0.")]
    places = min((len(text.partition(".")[2]) for text in judged), default=0)
    zeros = (sum(text.endswith("0" * digits) for text in judged) for digits in range(1, places + 1))
    return sum(1 for _ in takewhile(lambda ending: _improbable(len(judged), ending), zeros))


def _improbable(count: int, zeros: int) -> bool:
    """Return whether so many or more zeros among so many last digits are improbable."""
    tail = sum(comb(count, each) * 0.1**each * 0.9 ** (count - each) for each in range(zeros, count + 1))
    return tail <= CHANCE * (1 + 1e-9)


def _with_half_step(figure: Printed, padding: int) -> Printed:
    digits = figure.quantity.text.strip()
    zeros = min(padding, len(digits) - len(digits.rstrip("0")))
    if not zeros or figure.half_step is not None:
        return figure
    return replace(figure, half_step=figure.quantity.half_step * 10.0**zeros)


NOTE_UP_TO = 0.05


class Kind(StrEnum):
    """The rule that a number breaks; stable codes for scripts."""

    LITTLE = "little"
    RATE = "rate"
    BYTES = "bytes"
    CPU = "cpu"
    MESSAGE = "message"
    SUM = "sum"
    ROLES = "roles"
    BOUND = "bound"
    LINK = "link"
    PARTS = "parts"
    MAXIMUM = "maximum"
    OUTLIER = "outlier"
    PERCENT = "percent"
    CONTRADICTION = "contradiction"


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A number that does not match its inputs.

    ``printed`` is the text as printed, ``recomputed`` the calculated value and ``interval`` its bounds by the inputs'
    rounding (and the rule's tolerance), both in ``unit``, the metric's own. ``formula`` has numbers inserted.
    ``reading`` is a likely cause, "" if nothing simple fits. ``place`` and ``line`` are where the number is printed.
    """

    kind: Kind
    severity: Severity
    measure: Measure
    printed: str
    recomputed: float
    interval: tuple[float, float]
    unit: str
    formula: str
    message: str
    reading: str = ""
    place: str = ""
    line: int | None = None


def grade(printed: float, recomputed: float) -> Severity:
    """Return a note for deviations up to 5 %, a warning above."""
    deviation = abs(printed - recomputed)
    return Severity.NOTE if deviation <= NOTE_UP_TO * abs(recomputed) * (1 + 1e-12) else Severity.WARNING


def measure_name(measure: Measure) -> str:
    """Return the measure in words: ``CPU time per transaction of tcpip1``."""
    title = BY_NAME[measure.metric].title
    return title if measure.role == TOTAL else f"{title} of {measure.role}"


def printed_text(figure: Printed) -> str:
    """Return ``0.14 msec/trans``, in the printed unit."""
    return f"{figure.quantity.text.strip()} {figure.quantity.unit or figure.own_unit}"


def printed_as(figure: Printed) -> str:
    """Return the beginning of a message: ``Throughput of client is printed as 11.9 MB/s``."""
    return f"{measure_name(figure.measure)} is printed as {printed_text(figure)}"
