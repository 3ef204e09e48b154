"""Checks of a run's printed figures against each other (METHODS section 5): Little's law, bytes, CPU and sums.

Each allows what rounding of the printed figures can have done. A deviation up to 5 % is a note, more is a warning.
Figures that are no numbers, and rates of zero, are not checked.
"""

from dataclasses import dataclass

from perfdb.analysis.checks.finding import Finding, Quantity, Severity
from perfdb.analysis.units import rescale, round_half_up

LITTLE_TOLERANCE = 0.03
NOTE_UP_TO = 0.05
# Binary noise, so that figures that are exactly their half-steps apart agree.
_NOISE = 1e-12


@dataclass(frozen=True, slots=True)
class _Range:
    """A value with the least and the largest that rounding allows; all positive."""

    low: float
    value: float
    high: float

    @classmethod
    def of(cls, printed: Quantity, factor: float = 1.0) -> "_Range | None":
        if printed.value is None or printed.value <= printed.half_step:
            return None
        low, high = printed.value - printed.half_step, printed.value + printed.half_step
        return cls(low * factor, printed.value * factor, high * factor)

    def __mul__(self, other: "_Range | float") -> "_Range":
        by = other if isinstance(other, _Range) else _Range(other, other, other)
        return _Range(self.low * by.low, self.value * by.value, self.high * by.high)

    def __truediv__(self, other: "_Range") -> "_Range":
        return _Range(self.low / other.high, self.value / other.value, self.high / other.low)

    def meets(self, other: "_Range", tolerance: float = 0.0) -> bool:
        """Whether the two can be the same number, one of them being off by the tolerance."""
        slack = (tolerance + _NOISE) * other.value
        return self.low <= other.high + slack and other.low <= self.high + slack


def _finding(code: str, message: str, deviation: float, subject: str, line: int | None) -> Finding:
    severity = Severity.NOTE if abs(deviation) <= NOTE_UP_TO else Severity.WARNING
    remedy = "Both figures are kept as printed; see which of them is wrong."
    return Finding(severity, f"run.{code}", message, remedy, line, subject)


def _compare(code: str, what: str, printed: Quantity, recomputed: _Range | None, subject: str) -> list[Finding]:
    """A finding when the printed figure is not the recomputed one."""
    own = _Range.of(printed)
    if own is None or recomputed is None or own.meets(recomputed):
        return []
    decimals = len(printed.text.partition(".")[2]) + 2
    message = f"{what} is printed as {printed}, but follows to be {round_half_up(recomputed.value, decimals)}."
    return [_finding(code, message, own.value / recomputed.value - 1, subject, printed.line)]


def check_little(users: int, trans_per_s: Quantity, response: Quantity) -> list[Finding]:
    """Little's law: users = transactions per second × response time, within 3 %. ``response`` has a unit of time.

    A response time in milliseconds that fits as seconds, or the other way round, is said to be in the wrong unit.
    Raises ValueError when the unit is not one of time.
    """
    wanted = _Range(users, users, users)
    rate = _Range.of(trans_per_s)
    time = _Range.of(response, rescale(1, response.unit, "s"))
    if users <= 0 or rate is None or time is None or (rate * time).meets(wanted, LITTLE_TOLERANCE):
        return []
    found = (rate * time).value
    message = f"{trans_per_s.text} transactions per second × {response} are {found:.4g} users, not {users}"
    other = _wrong_unit(wanted, rate, response)
    message += f"; the unit of the response time is probably {other}." if other else "."
    return [_finding("little", message, found / users - 1, "response_ms", response.line)]


def _wrong_unit(wanted: _Range, rate: _Range, response: Quantity) -> str | None:
    """The unit of time in which the response time would fit Little's law."""
    for unit in ("s", "ms", "us"):
        time = _Range.of(response, rescale(1, unit, "s"))
        if time is not None and (rate * time).meets(wanted, LITTLE_TOLERANCE):
            return {"s": "sec", "ms": "msec", "us": "usec"}[unit]
    return None


def check_bytes(trans_per_s: Quantity, bytes_per_transaction: int, mb_per_s: Quantity) -> list[Finding]:
    """MB per second = transactions per second × bytes per transaction / 2^20."""
    rate = _Range.of(trans_per_s)
    flow = rate * (bytes_per_transaction / 2**20) if rate and bytes_per_transaction > 0 else None
    return _compare("bytes", "Throughput", mb_per_s, flow, "mb_per_s")


def check_cpu(
    utilisation: Quantity, processors: float, rate: Quantity, cost: Quantity, subject: str = ""
) -> list[Finding]:
    """CPU ms per unit of work = utilisation / 100 × processors / rate × 1000."""
    busy, work = _Range.of(utilisation), _Range.of(rate)
    recomputed = busy * (processors * 10) / work if busy and work and processors > 0 else None
    return _compare("cpu", "CPU time per unit of work", cost, recomputed, subject)


def check_cpu_sum(total: Quantity, virtual: Quantity, cp: Quantity, subject: str = "") -> list[Finding]:
    """Virtual + CP = total, within the sum of the half-steps."""
    if total.value is None or virtual.value is None or cp.value is None:
        return []
    together = virtual.value + cp.value
    allowed = total.half_step + virtual.half_step + cp.half_step
    if abs(together - total.value) <= allowed + _NOISE * abs(total.value):
        return []
    decimals = len(total.text.partition(".")[2])
    message = f"Virtual {virtual} + CP {cp} are {round_half_up(together, decimals)}, but the total is {total}."
    deviation = (together - total.value) / max(abs(together), abs(total.value))
    return [_finding("cpu-sum", message, deviation, subject, total.line)]
