"""Checks of a driver's log against its own records, in its own units, and of a monitor's report against its time.

Rules 3 (cross-checks, warnings) and 4 (mixed units, refused) of log format 1 of the Application Workload Modeler.
Missing values are not checked.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations
from typing import NamedTuple

from perfdb.analysis.checks.finding import Finding, Quantity, Severity
from perfdb.analysis.units import rescale, round_half_up

TOLERANCE = 0.01

_UNIT_WORDS = {"s": "seconds", "ms": "milliseconds", "us": "microseconds"}
MEGABYTES = (2**20, 10**6)
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class DriverRecord:
    """One connection, one measured interval, or the run as a whole.

    ``label`` is its name in messages (``connection 4``, ``interval 2``, ``the summary``). ``seconds`` is its
    measured time. A response time printed in two units is two quantities; ``unit`` is a unit of time.
    """

    label: str
    line: int | None = None
    transactions: Quantity | None = None
    seconds: float | None = None
    response_mean: tuple[Quantity, ...] = ()
    response_min: tuple[Quantity, ...] = ()
    response_max: tuple[Quantity, ...] = ()

    @property
    def count(self) -> float | None:
        """Return the number of transactions, or None."""
        return None if self.transactions is None else self.transactions.value


@dataclass(frozen=True, slots=True)
class DriverLog:
    """Log of one run by its driver.

    ``intervals`` are the measured ones, without warm-up. ``mb_bytes``: bytes of the log's megabyte. ``think_ms`` None:
    unknown whether users pause between transactions. ``peer_transactions`` is the total of the server's log of the same
    run.
    """

    run_id: str
    summary: DriverRecord | None = None
    trans_per_s: Quantity | None = None
    mb_per_s: Quantity | None = None
    connections: tuple[DriverRecord, ...] = ()
    intervals: tuple[DriverRecord, ...] = ()
    users: int | None = None
    think_ms: float | None = None
    request_bytes: int | None = None
    response_bytes: int | None = None
    mb_bytes: int = 2**20
    peer_transactions: Quantity | None = None

    @property
    def total(self) -> float | None:
        """Return the summary's number of transactions, or None."""
        return None if self.summary is None else self.summary.count

    @property
    def rate(self) -> float | None:
        """Return transactions per second, unrounded."""
        if self.total is None or self.summary is None or not self.summary.seconds:
            return None
        return self.total / self.summary.seconds

    @property
    def bytes_per_s(self) -> float | None:
        """Return bytes per second in both directions, unrounded."""
        rate = self.rate
        if rate is None or self.request_bytes is None or self.response_bytes is None:
            return None
        return rate * (self.request_bytes + self.response_bytes)


class Reason(NamedTuple):
    """A part of a finding's message, with line and subject."""

    text: str
    line: int | None
    subject: str


def _in_seconds(time: Quantity) -> float | None:
    """Return a printed time in seconds, or None."""
    try:
        return None if time.value is None else rescale(time.value, time.unit, "s")
    except ValueError:
        return None


def _fits(time: Quantity, own: float, unit: str) -> bool:
    """Return whether a time, read in ``unit``, is the record's time per transaction."""
    return time.matches(rescale(own, "s", unit), TOLERANCE)


def _judge_responses(record: DriverRecord, own: float | None, usual: str) -> tuple[list[str], list[str]]:
    """Return messages on response times in another unit than printed, and on means odd for another reason.

    ``own`` is the record's time per transaction in seconds, ``usual`` most records' unit.
    """
    foreign = [
        (mean, own, _foreign_mean(mean, own, usual))
        for mean in record.response_mean
        if own is not None and _in_seconds(mean) is not None and not _fits(mean, own, mean.unit)
    ]
    printed = {"mean": record.response_mean, "least": record.response_min, "largest": record.response_max}
    wrong = [text for _, _, text in foreign if text] or [
        f"gives its {name} response time both as {one} and as {other}"
        for name, times in printed.items()
        for one, other in combinations(times, 2)
        if _disagree(one, other)
    ]
    odd = [
        f"gives a mean response time of {mean}, but its own time per transaction is {_ms(own)}"
        for mean, own, text in foreign
        if text is None
    ]
    return [*wrong, *_out_of_order(record, own, usual)], odd


def _foreign_mean(mean: Quantity, own: float, usual: str) -> str | None:
    """Return the error in a mean's unit, or None for another cause."""
    fitting = next((unit for unit in _UNIT_WORDS if _fits(mean, own, unit)), None)
    claimed = _UNIT_WORDS.get(mean.unit, mean.unit)
    if fitting is not None:
        return f"gives its response time in {claimed} with a value that fits {_UNIT_WORDS[fitting]}"
    if mean.unit != usual:
        return f"gives its response time in {claimed}, {mean}, while its own time per transaction is {_ms(own)}"
    return None


def _disagree(one: Quantity, other: Quantity) -> bool:
    """Return whether the same quantity has different values in two units."""
    if one.unit == other.unit or other.value is None or _in_seconds(one) is None or _in_seconds(other) is None:
        return False
    wanted = rescale(one.value or 0.0, one.unit, other.unit)
    rounding = rescale(one.half_step, one.unit, other.unit) + other.half_step
    return abs(other.value - wanted) > rounding + TOLERANCE * abs(wanted)


def _out_of_order(record: DriverRecord, own: float | None, usual: str) -> list[str]:
    """Return messages about a least time above the mean or a largest below."""
    middle = own if own is not None else next((_in_seconds(mean) for mean in record.response_mean), None)
    if middle is None:
        return []
    units = {mean.unit for mean in record.response_mean} or {usual}
    sides = [("least", time, 1) for time in record.response_min]
    sides += [("largest", time, -1) for time in record.response_max]
    return [
        f"gives its {name} response time as {time}, on the wrong side of its mean of {_ms(middle)}"
        for name, time, sign in sides
        if time.unit not in units
        and (seconds := _in_seconds(time)) is not None
        and sign * (seconds - middle) > 0
        and not _fits(time, middle, time.unit)
    ]


def _ms(seconds: float) -> str:
    return f"{round_half_up(seconds * 1000, 3)} ms"


def check_driver(log: DriverLog) -> list[Finding]:
    """Return all findings about one driver log; an error refuses the run."""
    times = list(_own_times(log))
    units = Counter(mean.unit for record, _ in times for mean in record.response_mean)
    usual = max(units, key=units.__getitem__, default="")
    judged = [(record, _judge_responses(record, own, usual)) for record, own in times]
    foreign, odd = (
        [Reason(f"{record.label} {text}", record.line, record.label) for record, texts in judged for text in texts[at]]
        for at in (0, 1)
    )
    return [
        *_mixed_units(log, foreign, _fitting_megabyte(log)),
        *_check_sum(log, log.connections, "connections"),
        *_check_sum(log, log.intervals, "intervals"),
        *_check_rates(log),
        *_check_responses(odd),
        *_check_peer(log),
    ]


def _warning(code: str, message: str, remedy: str, line: int | None, subject: str) -> Finding:
    return Finding(Severity.WARNING, f"driver.{code}", message, remedy, line, subject)


def _check_sum(log: DriverLog, records: Sequence[DriverRecord], name: str) -> Iterator[Finding]:
    """Check that the records' transactions add up to the summary's."""
    counts = [record.count for record in records]
    together = sum(filter(None, counts))
    if counts and None not in counts and log.total is not None and together != log.total:
        message = f"The {name} made {together:.0f} transactions together, but the summary says {log.total:.0f}."
        remedy = f"The summary was used; see whether {name} are missing from the log."
        yield _warning(f"{name}-sum", message, remedy, log.summary.line if log.summary else None, name)


def _fitting_megabyte(log: DriverLog) -> int | None:
    """Return the megabyte, in bytes, that mb_per_sec fits, preferring the log's own."""
    printed, flow = log.mb_per_s, log.bytes_per_s
    if printed is None or flow is None:
        return None
    return next((size for size in (log.mb_bytes, *MEGABYTES) if printed.matches(flow / size)), None)


def _check_rates(log: DriverLog) -> Iterator[Finding]:
    """Check the printed rates against the summary's transactions and seconds, and the sizes."""
    flow = log.bytes_per_s
    # A number that fits another megabyte than the log's is left to ``_mixed_units``, which refuses it.
    megabytes = None if flow is None or _fitting_megabyte(log) is not None else flow / log.mb_bytes
    for code, name, printed, value, inputs in (
        ("rate", "trans_per_sec", log.trans_per_s, log.rate, "the summary's transactions and seconds"),
        ("megabytes", "mb_per_sec", log.mb_per_s, megabytes, "transactions, sizes and seconds"),
    ):
        if printed is not None and printed.value is not None and value is not None and not printed.matches(value):
            # One decimal more than printed.
            recomputed = round_half_up(value, len(printed.text.partition(".")[2]) + 1)
            message = f"{name}={printed.text}, but {inputs} give {recomputed}."
            yield _warning(code, message, "The recomputed value was used.", printed.line, name.removesuffix("ec"))


def _check_peer(log: DriverLog) -> Iterator[Finding]:
    """Check that client and server count the same transactions."""
    peer = log.peer_transactions
    if peer is not None and peer.value is not None and log.total is not None and peer.value != log.total:
        message = f"The server's log counts {peer.value:.0f} transactions, the client's {log.total:.0f}."
        remedy = "The client's count was used; see whether both logs are of the same run."
        yield _warning("peer", message, remedy, peer.line, "transactions")


def _own_times(log: DriverLog) -> Iterator[tuple[DriverRecord, float | None]]:
    """Yield each record with its seconds per transaction; None if unknown or users pause."""
    alone = [(record, 1) for record in log.connections]
    shared = [(record, log.users) for record in (*log.intervals, *filter(None, [log.summary]))]
    for record, users in (*alone, *shared):
        if log.think_ms == 0 and record.count and record.seconds and users:
            yield record, users * record.seconds / record.count
        else:
            yield record, None


def _mixed_units(log: DriverLog, foreign: Sequence[Reason], megabyte: int | None) -> Iterator[Finding]:
    """Yield one error (rule 4) that names every wrong unit."""
    reasons = list(foreign)
    if megabyte not in (None, log.mb_bytes) and log.mb_per_s is not None:
        text = f"mb_per_sec={log.mb_per_s.text} fits {megabyte}-byte megabytes while the file says {log.mb_bytes}"
        reasons.append(Reason(text, log.mb_per_s.line, "mb_per_s"))
    if not reasons:
        return
    message = f"Units disagree inside run {log.run_id}: {_listed([reason.text for reason in reasons])}."
    if lines := list(dict.fromkeys(str(reason.line) for reason in reasons if reason.line is not None)):
        message += f" See line{'s' * (len(lines) > 1)} {_listed(lines).replace(', and', ' and')}."
    remedy = "Correct the units in the log and upload it again; nothing of this run was stored."
    yield Finding(Severity.ERROR, "driver.mixed-units", message, remedy, reasons[0].line, reasons[0].subject)


def _listed(texts: Sequence[str]) -> str:
    """Join texts as ``a, and b``; of many the first few and a count."""
    shown = list(texts) if len(texts) <= _SHOWN + 1 else [*texts[:_SHOWN], f"{len(texts) - _SHOWN} more"]
    return ", and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def _check_responses(odd: Sequence[Reason]) -> Iterator[Finding]:
    """Yield one warning on all mean response times that differ from the record's own."""
    if odd:
        more = f" ({len(odd) - 1} more records differ likewise)" if len(odd) > 1 else ""
        remedy = "The response time was worked out from users and throughput."
        yield _warning("response", f"{odd[0].text}{more}.", remedy, odd[0].line, odd[0].subject)


@dataclass(frozen=True, slots=True)
class Window:
    """Start and end of a measurement, local times."""

    start: datetime
    end: datetime

    def __str__(self) -> str:
        shape = "%H:%M:%S" if self.start.date() == self.end.date() else "%Y-%m-%d %H:%M:%S"
        return f"{self.start:{shape}} to {self.end:{shape}}"


def overlap(report: Window, driver: Window) -> bool:
    """Return whether both windows have any time in common."""
    return report.start < driver.end and driver.start < report.end


def check_window(report: Window, driver: Window) -> Finding | None:
    """Return a finding if a report reaches beyond the driver's time."""
    days = {moment.date() for moment in (report.start, report.end)}
    shown = str(report) if len(days) > 1 or driver.start.date() in days else f"{report} on {report.start:%Y-%m-%d}"
    covers = f"The report covers {shown}, but the driver log of this run covers {driver}: "
    remedy = "Make the report again for the time that the driver measured."
    if not overlap(report, driver):
        message = f"{covers}they do not overlap, so no CPU per transaction is worked out."
        return Finding(Severity.WARNING, "report.other-window", message, remedy)
    if report.start < driver.start or driver.end < report.end:
        message = f"{covers}the report reaches beyond it, so its figures hold time that was not measured."
        return Finding(Severity.WARNING, "report.partial-window", message, remedy)
    return None
