"""Checks of lost datagrams: the figures of one result against each other, before they are stored.

The receiver counts: its report replaces the sender's, and a loss that the counts contradict is only a fact.
"""

from collections.abc import Iterator
from typing import NamedTuple

from importers.model import Problem, RunDraft, Severity
from perfdb.analysis.metrics import TOTAL, Measure
from perfdb.analysis.units import round_half_up
from perfdb.results.runs.derive import fact_number
from perfdb.results.runs.record import FactValue, RunRecord, Value

# Datagrams on their way at the end make a small difference, and a receiver misses none behind the last.
_POINTS = 1.0
_LOSS = "loss_percent"
_COUNTED = (("packets", "packets_{}"), ("messages", "messages_{}"), ("bytes", "datagram_bytes_{}"))
_REMEDY = "Look at the receiver's own log, or measure again."


class _Counts(NamedTuple):
    """Amounts that were sent and that arrived."""

    unit: str
    sent: float
    received: float

    @property
    def percent(self) -> float:
        """Return the share that did not arrive; below zero if more arrived."""
        return (self.sent - self.received) / self.sent * 100

    def __str__(self) -> str:
        return f"{self.received:,.0f} of {self.sent:,.0f} {self.unit} arrived"


def check_losses(record: RunRecord, draft: RunDraft) -> None:
    """Settle each printed loss; contradictions become problems."""
    if _differ(record, draft):
        return
    total = Measure(_LOSS)
    for measure in dict.fromkeys((total, *(each for each in record.values if each.metric == _LOSS))):
        value, counts = record.values.get(measure), next(_counts_of(record, measure.role), None)
        message = _contradiction(value, counts)
        if message and value is not None:
            record.facts[f"refused.{measure}"] = FactValue(value.printed, value.artifact, value.line)
            del record.values[measure]
        if message and (value is not None or not any(each.code.endswith(".duplicates") for each in record.problems)):
            record.problems.append(_problem(record, draft, value, "loss.contradiction", message))


def _contradiction(value: Value | None, counts: _Counts | None) -> str:
    """Return why a loss cannot be, "" if it can; also if more arrived than was sent."""
    printed = f"The log has a loss of {value.printed}%" if value else ""
    if counts is not None and (counts.percent < -_POINTS or (value and value.value > 0 > counts.percent)):
        return (
            f"{printed and f'{printed}, but '}{counts}: more than was sent, so there are duplicates. No loss is stored."
        )
    if value and counts is not None and abs(counts.percent - value.value) > _POINTS:
        return f"{printed}, but {counts}: {round_half_up(counts.percent, 1)}% were lost. The counts are used."
    return f"{printed}, which is more than all; it is not stored." if value and value.value > 100 else ""


def _counts_of(record: RunRecord, role: str) -> Iterator[_Counts]:
    """Yield what was sent and what arrived, datagrams before bytes."""
    for unit, name in _COUNTED if role == TOTAL else ():
        sent, received = (fact_number(record, name.format(end)) for end in ("sent", "received"))
        if sent and received is not None:
            yield _Counts(unit, sent, received)
    moved = [record.values.get(Measure(f"bytes_{end}", role)) for end in ("sent", "received")]
    if record.configuration.factors.get("protocol") == "UDP" and moved[0] and moved[0].value and moved[1]:
        yield _Counts("bytes", moved[0].value, moved[1].value)


def _differ(record: RunRecord, draft: RunDraft) -> bool:
    """Return whether both ends report other losses; the receiver's becomes the run's."""
    workload, total, other = record.configuration.workload, Measure(_LOSS), Measure(_LOSS, "server")
    own, server = record.values.get(total), record.values.get(other)
    if own is None or server is None or abs(own.value - server.value) <= _POINTS:
        return False
    receives = workload is None or workload.pattern != "STRG"
    message = f"The client's log has a loss of {own.printed}%, the server's {server.printed}%: the receiver's counts."
    record.problems.append(_problem(record, draft, own, "loss.sides-differ", message))
    for metric in (_LOSS, "packets_lost") if receives else ():
        if (found := record.values.get(Measure(metric, "server"))) is not None:
            record.values[Measure(metric)] = found
    return True


def _problem(record: RunRecord, draft: RunDraft, value: Value | None, code: str, message: str) -> Problem:
    file = draft.driver.file if draft.driver else ""
    return Problem(Severity.WARNING, code, message, _REMEDY, file, value.line or None if value else None, record.run_id)
