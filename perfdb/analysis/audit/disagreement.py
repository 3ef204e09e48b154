"""Disagreement: a printed number that does not follow from its inputs."""

from dataclasses import dataclass
from enum import StrEnum
from math import isfinite

from perfdb.analysis.audit.printed_values import Printed
from perfdb.analysis.checks.finding import Severity
from perfdb.analysis.metrics import BY_NAME, TOTAL, Measure
from perfdb.analysis.units import round_half_up

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
    PERCENT = "percent"
    CONTRADICTION = "contradiction"


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A number that does not follow from its own inputs.

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


def result_text(value: float, decimals: int = 0) -> str:
    """Return a value with one decimal more than ``decimals``, at least four significant digits."""
    if not isfinite(value):
        return "∞"
    magnitude = int(f"{value:e}".partition("e")[2]) if value else 0
    return round_half_up(value, max(3 - magnitude, decimals + 1, 0))


def measure_name(measure: Measure) -> str:
    """Return the measure in words: ``CPU time per transaction of tcpip1``."""
    title = BY_NAME[measure.metric].title
    return title if measure.role == TOTAL else f"{title} of {measure.role}"


def printed_text(figure: Printed) -> str:
    """Return ``0.14 msec/trans``, in the printed unit."""
    return f"{figure.quantity.text.strip()} {figure.quantity.unit or figure.own_unit}"
