"""Numbers and names as the messages of an audit write them."""

from math import isfinite

from perfdb.analysis.audit.printed_values import Printed
from perfdb.analysis.metrics import BY_NAME, TOTAL, Measure
from perfdb.analysis.units import round_half_up

_SIGNIFICANT = 4


def number(value: float, decimals: int = 0) -> str:
    """A recomputed value: one decimal more than the printed figure has, and as many as four digits need."""
    if not isfinite(value):
        return "∞"
    magnitude = int(f"{value:e}".partition("e")[2]) if value else 0
    return round_half_up(value, max(_SIGNIFICANT - 1 - magnitude, decimals + 1, 0))


def name(measure: Measure) -> str:
    """The measure in words: ``CPU time per transaction of tcpip1``."""
    title = BY_NAME[measure.metric].title
    return title if measure.role == TOTAL else f"{title} of {measure.role}"


def as_printed(figure: Printed) -> str:
    """``0.14 msec/trans``, in the unit it is printed in."""
    return f"{figure.quantity.text.strip()} {figure.quantity.unit or figure.own_unit}"
