"""What may have been meant by a figure that does not follow: another unit, another megabyte, another role's figure.

A reading is offered when the printed figure, read so, would follow. It is a guess for a person to judge and changes
nothing.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from perfdb.analysis.audit.disagreement import Kind
from perfdb.analysis.audit.printed_values import Interval, Printed, View
from perfdb.analysis.units import rescale

_TIMES = {"s": "sec", "ms": "msec", "us": "usec"}
_MEGABYTES = 2**20 / 10**6


@dataclass(frozen=True, slots=True)
class Case:
    """A figure that disagrees: where it was seen, and what it should be.

    ``others``: for each other role what the rule gives for it; ``swapped`` readings are looked for among these.
    """

    kind: Kind
    view: View
    printed: Printed
    wanted: Interval
    others: dict[str, tuple[Printed, Interval]]


def reading(case: Case) -> str:
    """The first simple reading that fits; empty when none does."""
    return next(_READINGS.get(case.kind, _none)(case), "")


def _none(case: Case) -> Iterator[str]:
    yield from ()


def _fits(case: Case, factor: float) -> bool:
    """Whether the figure, times a factor, would follow."""
    own = case.printed.interval
    if own is None:
        return False
    return Interval(own.low * factor, own.value * factor, own.high * factor).meets(case.wanted)


def _unit(case: Case) -> Iterator[str]:
    for unit, word in _TIMES.items():
        if _fits(case, rescale(1, unit, case.printed.own_unit) / case.printed.factor):
            yield f"unit is probably {word}"


def _bytes(case: Case) -> Iterator[str]:
    if _fits(case, 1 / _MEGABYTES):
        yield "its MB are probably of 10^6 bytes"
    work = case.view.run.workload
    if work is None or not work.request_bytes or not work.response_bytes:
        return
    both = work.request_bytes + work.response_bytes
    for what, size in (("responses", work.response_bytes), ("requests", work.request_bytes)):
        if _fits(case, both / size):
            yield f"it probably counts the {what} alone"


def _cost(case: Case) -> Iterator[str]:
    own = case.printed.interval
    for role, (figure, wanted) in case.others.items():
        theirs = figure.interval
        if own and theirs and own.meets(wanted) and theirs.meets(case.wanted):
            yield f"it is probably swapped with that of {role}"
    processors = case.view.run.processors
    if processors and processors != 1:
        if _fits(case, processors):
            yield f"{processors:g} times the figure would fit, as if it had been divided by the processors"
        if _fits(case, 1 / processors):
            yield f"1/{processors:g} of the figure would fit, as if it had been multiplied by the processors"
    for factor, word in ((1e3, "a thousand times"), (1e-3, "a thousandth of")):
        if _fits(case, factor):
            yield f"{word} the figure would fit: its unit may be another"


def _link(case: Case) -> Iterator[str]:
    own = case.printed.interval
    if own is not None and own.low / _MEGABYTES <= case.wanted.high:
        yield "its MB are probably of 10^6 bytes"


_READINGS: dict[Kind, Callable[[Case], Iterator[str]]] = {
    Kind.LITTLE: _unit,
    Kind.BYTES: _bytes,
    Kind.CPU: _cost,
    Kind.MESSAGE: _cost,
    Kind.LINK: _link,
}
