"""Response times of one record of a driver's log: are they in the unit they claim?

With users that never pause, a record's mean response time must be its own time per transaction. Records rightly differ
from each other, so they are never compared with one another (rule 4 of the AWM log format).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple, Protocol

from perfdb.analysis.checks.finding import Quantity
from perfdb.analysis.units import rescale, round_half_up

TOLERANCE = 0.01

_UNIT_WORDS = {"s": "seconds", "ms": "milliseconds", "us": "microseconds"}


class Record(Protocol):
    """What is needed of a driver's record; see DriverRecord."""

    @property
    def label(self) -> str: ...
    @property
    def line(self) -> int | None: ...
    @property
    def response_mean(self) -> tuple[Quantity, ...]: ...
    @property
    def response_min(self) -> tuple[Quantity, ...]: ...
    @property
    def response_max(self) -> tuple[Quantity, ...]: ...


@dataclass(frozen=True, slots=True)
class Reason:
    """A part of a finding's message, with its line and what it is about."""

    text: str
    line: int | None
    subject: str


def _in_seconds(time: Quantity) -> float | None:
    """A printed time in seconds; None when it is no number or its unit is not one of time."""
    value = time.value
    if value is None:
        return None
    try:
        return rescale(value, time.unit, "s")
    except ValueError:
        return None


def _fits(time: Quantity, own: float, unit: str) -> bool:
    """Whether the printed number, taken to be in ``unit``, is the record's own time per transaction (seconds)."""
    return time.within(rescale(own, "s", unit), TOLERANCE)


def _fitting_unit(time: Quantity, own: float) -> str | None:
    return next((unit for unit in _UNIT_WORDS if _fits(time, own, unit)), None)


def _deviates(time: Quantity, own: float) -> bool:
    return _in_seconds(time) is not None and not _fits(time, own, time.unit)


class Judged(NamedTuple):
    """What is wrong with the response times of a record.

    Attributes:
        foreign: Those that are not in the unit they claim.
        odd: Means that are off, but no question of units.
    """

    foreign: list[Reason]
    odd: list[Reason]


def judge(record: Record, own: float | None, usual: str) -> Judged:
    """Hold the response times of a record against ``own``, its seconds per transaction.

    ``usual`` is the unit of most records: a time in another unit that does not fit is in the wrong one.
    """
    off = [] if own is None else [(mean, own) for mean in record.response_mean if _deviates(mean, own)]
    foreign = [(mean, own, _foreign_mean(mean, own, usual)) for mean, own in off]
    wrong = [text for _, _, text in foreign if text] or [
        f"gives its {name} response time both as {one} and as {other}"
        for name, times in _named(record)
        for one, other in combinations(times, 2)
        if _disagree(one, other)
    ]
    wrong += _out_of_order(record, own, usual)
    odd = [
        f"gives a mean response time of {mean}, but its own time per transaction is {_ms(own)}"
        for mean, own, text in foreign
        if text is None
    ]
    return Judged(_reasons(record, wrong), _reasons(record, odd))


def _reasons(record: Record, texts: Sequence[str]) -> list[Reason]:
    return [Reason(f"{record.label} {text}", record.line, record.label) for text in texts]


def _foreign_mean(mean: Quantity, own: float, usual: str) -> str | None:
    """What is wrong with the unit of a mean that is off; None where it is no question of units."""
    fitting = _fitting_unit(mean, own)
    claimed = _UNIT_WORDS.get(mean.unit, mean.unit)
    if fitting is not None:
        return f"gives its response time in {claimed} with a value that fits {_UNIT_WORDS[fitting]}"
    if mean.unit != usual:
        return f"gives its response time in {claimed}, {mean}, while its own time per transaction is {_ms(own)}"
    return None


def _named(record: Record) -> Iterator[tuple[str, Sequence[Quantity]]]:
    yield from (("mean", record.response_mean), ("least", record.response_min), ("largest", record.response_max))


def _disagree(one: Quantity, other: Quantity) -> bool:
    """Whether the same quantity in two units has two values."""
    if one.unit == other.unit or other.value is None or _in_seconds(one) is None or _in_seconds(other) is None:
        return False
    wanted = rescale(one.value or 0.0, one.unit, other.unit)
    rounding = rescale(one.half_step, one.unit, other.unit) + other.half_step
    return abs(other.value - wanted) > rounding + TOLERANCE * abs(wanted)


def _out_of_order(record: Record, own: float | None, usual: str) -> list[str]:
    """A least time above the mean or a largest below it, printed in another unit than the mean."""
    middle = own if own is not None else next((_in_seconds(mean) for mean in record.response_mean), None)
    if middle is None:
        return []
    units = {mean.unit for mean in record.response_mean} or {usual}
    sides = [("least", time, 1) for time in record.response_min] + [
        ("largest", time, -1) for time in record.response_max
    ]
    return [
        f"gives its {name} response time as {time}, on the wrong side of its mean of {_ms(middle)}"
        for name, time, sign in sides
        if time.unit not in units and _beyond(time, middle, sign)
    ]


def _beyond(time: Quantity, middle: float, sign: int) -> bool:
    """Whether a time is above (sign 1) or below (sign -1) the mean by more than rounding and tolerance."""
    seconds = _in_seconds(time)
    return seconds is not None and sign * (seconds - middle) > 0 and not _fits(time, middle, time.unit)


def _ms(seconds: float) -> str:
    return f"{round_half_up(seconds * 1000, 3)} ms"
