"""What an audit answers: a printed figure that does not follow from the others it should follow from."""

from dataclasses import dataclass
from enum import StrEnum

from perfdb.analysis.audit.printed_values import Interval
from perfdb.analysis.checks.finding import Severity
from perfdb.analysis.metrics import Measure

NOTE_UP_TO = 0.05


class Kind(StrEnum):
    """Which rule is broken; stable codes, made for scripts."""

    LITTLE = "little"
    RATE = "rate"
    BYTES = "bytes"
    CPU = "cpu"
    MESSAGE = "message"
    SUM = "sum"
    ROLES = "roles"
    BOUND = "bound"
    LINK = "link"
    PERCENT = "percent"
    CONTRADICTION = "contradiction"


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A figure that does not follow from its own inputs.

    ``printed`` is the text as printed, ``recomputed`` the value that follows and ``interval`` what it can be, given the
    rounding of its inputs (and the rule's tolerance), both in ``unit``, the metric's own. ``formula`` has the numbers
    put in. ``reading`` says what may have been meant, empty when nothing simple fits. ``place`` is where the figure is
    printed, ``line`` its line there.
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
    """A deviation of up to 5 % of the recomputed value is a note, more is a warning."""
    deviation = abs(printed - recomputed)
    return Severity.NOTE if deviation <= NOTE_UP_TO * abs(recomputed) * (1 + 1e-12) else Severity.WARNING


def ends(interval: Interval) -> tuple[float, float]:
    """The ends of an interval."""
    return (interval.low, interval.high)
